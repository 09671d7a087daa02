// What the plugins of the stress driver and their host agree on.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef STRESS_OBJECTS_FAMILY_H
#define STRESS_OBJECTS_FAMILY_H

#include <stdint.h>

#include <keyway/keyset.h>

// Every operator is (Tensor x, int n) -> int. The host defines `family::<name>_f` and `_g`, for
// which a plugin has kernels, and has two operators of its own: `host::loading` answers the number
// of the loading whose start calls it, `host::rest` stays for a while.
#define FAMILY_SIGNATURE "ti>i"

// The bits of `n`: what a kernel does before it answers the number of its loading.
#define FAMILY_RESTS 1 // calls host::rest
#define FAMILY_NESTS 2 // calls the next member of the family, which may be away

// What a kernel answers besides the library's own statuses.
#define FAMILY_DEAD (KW_STATUS_USER + 1)    // it runs on data that is destroyed
#define FAMILY_NESTED (KW_STATUS_USER + 2)  // a call inside it failed
#define FAMILY_TWO (KW_STATUS_USER + 3)     // one call met two loadings
#define FAMILY_UNREADY (KW_STATUS_USER + 4) // the start of the one that never starts

// The tensor: the layer leaves in it which loading it is of.
typedef struct family_tensor {
    kw_keyset keys; // first: it is the key set of the host's tensors
    uint64_t layer;
} family_tensor;

#endif // STRESS_OBJECTS_FAMILY_H
