// Sources: where storages get their memory, one for each device type, replaceable at any time.
//
// Layer:   tensor
// Threads: any; taking and giving back is lock-free.
// SPDX-License-Identifier: MIT
//
// Note [Sources]
//
// A place for each device type holds the source that new storages take. Each storage counts its
// source, and so does the place: a replaced source ends with its last storage, when its context is
// destroyed and its lease on a library with it.
//
// A record is never freed, only used again: so a thread that has loaded a place may still count the
// source that it found there. It counts only what is not at 0, and looks at the place once more: a
// record that was used again meanwhile is then either given back, or the right one after all.
//
// U1  A source's count is 0 exactly if it is on the list of free records, or on its way there.
// U2  What a source calls is not changed while its count is not 0.

#ifndef KWI_TENSOR_SOURCE_H
#define KWI_TENSOR_SOURCE_H

#include <stdbool.h>

#include <keyway/inline/cell.h>
#include <keyway/storage.h>

typedef struct kwi_source {
    // guard: cell. Up: acquire, not from 0. Down: release, then acquire. [pair: source-count]
    kwi_u32_cell references;

    // guard: immutable. True for the CPU's own, which is not counted.
    bool is_static;

    // guard: immutable. While it is counted, see U2.
    kw_storage_allocator calls; // `name` is the source's own copy
    kw_lease *lease;

    // guard: lock leaf.
    struct kwi_source *next_free;
} kwi_source;

// The source for a device type, counted; NULL: it has none.
kwi_source *kwi_source_take(int32_t device_type);

// The last one ends it in the calling thread. NULL is allowed.
void kwi_source_give_back(kwi_source *source);

#endif // KWI_TENSOR_SOURCE_H
