// Copies between devices: who can move bytes from one storage to another.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_COPY_DEVICE_H
#define KWI_TENSOR_COPY_DEVICE_H

#include <keyway/storage.h>

#include "tensor/copy_loops.h"
#include "tensor/source.h"

typedef struct kwi_carrier {
    kw_device to;
    kw_device from;
    const kwi_source *source; // whose allocator moves the bytes. NULL: memcpy does
    kwi_source *counted;      // the source, if no storage counts it
} kwi_carrier;

// Finds it: the allocator that one of the storages was made with, or the device's at this moment
// for external memory. Ended with kwi_carrier_fini(), before either storage ends.
//
// KW_NOT_SUPPORTED: the devices are two of which neither is the CPU, or one has no allocator.
kw_status kwi_carrier_init(kwi_carrier *carrier, const kw_storage *to, const kw_storage *from,
                           kw_error *err);
void kwi_carrier_fini(kwi_carrier *carrier);

// Runs the loops.
kw_status kwi_carrier_run(const kwi_carrier *carrier, const kwi_loops *loops, void *to,
                          const void *from, kw_error *err);

#endif // KWI_TENSOR_COPY_DEVICE_H
