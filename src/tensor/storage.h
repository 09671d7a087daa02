// Storages, from inside.
//
// Layer:   tensor
// Threads: any; see the fields.
// SPDX-License-Identifier: MIT
//
// G1  `data` is NULL exactly if `bytes` is 0 or the device is Meta; external memory may be
// anything. G2  A storage has a source, or an owner, or neither (Meta, and external memory without
// a destroy
//     function); never both.

#ifndef KWI_TENSOR_STORAGE_H
#define KWI_TENSOR_STORAGE_H

#include <stdbool.h>

#include <keyway/inline/cell.h>
#include <keyway/storage.h>

#include "tensor/counter.h"
#include "tensor/source.h"

// What ends with external memory.
typedef struct kwi_owner {
    void (*destroy)(void *context);
    void *context;
    kw_lease *lease;
} kwi_owner;

struct kw_storage {
    // guard: cell. Up: relaxed. Down: release, then acquire. [pair: storage-count]
    kwi_u32_cell references;

    // guard: immutable.
    uint8_t device_type;
    int8_t device_index;
    bool is_read_only;
    bool is_external;

    // guard: thread. Changed by kw_storage_resize() alone, while nobody else uses the storage.
    void *data;
    size_t bytes;

    // guard: cell. NULL: version 0. Store: release, once. Load: acquire. [pair: storage-counter]
    kwi_ptr_cell counter;

    // guard: immutable. By `is_external`.
    union {
        kwi_source *source;
        kwi_owner *owner; // NULL: nothing to destroy
    } from;
};

// The storage's version counter, made if there is none yet; NULL: no memory. Borrowed.
kwi_counter *kwi_storage_counter(kw_storage *storage);

// Figures for kw_tensor_statistics.
uint64_t kwi_storage_count(void);
uint64_t kwi_storage_allocated_bytes(void);
uint64_t kwi_storage_external_bytes(void);

#endif // KWI_TENSOR_STORAGE_H
