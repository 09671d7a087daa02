// Swaps, parts: what the two sources of the swaps share.
//
// Layer:     example (uses swaps)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_SWAPS_PARTS_H
#define FASHION_SWAPS_PARTS_H

#include "swaps.h"

// Names of the libraries of `serving`, `patches` and `layers`, for Keyway's texts.
extern const char *const fashion_shelf_names[3];

/// Counts a failure and keeps the first one.
void fashion_swaps_note_failure(fashion_swaps *swaps, const kw_error *err);

/// Creates an empty library for the demo's tensors and the namespace `nn`.
kw_status fashion_swaps_create_library(fashion_swaps *swaps, const char *name,
                                       kw_library **out_library, kw_error *err);

/// Closes a library, if it is not yet, and keeps it until it is out of use. NULL is allowed.
void fashion_swaps_retire(fashion_swaps *swaps, kw_library *take_library);

/// Destroys those of the closed libraries that are out of use, or get there within `wait_ns` each.
void fashion_swaps_sweep(fashion_swaps *swaps, uint64_t wait_ns);

#endif // FASHION_SWAPS_PARTS_H
