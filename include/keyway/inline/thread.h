// The thread's block as calls use it: announcements, pin, local key sets.
//
// Layer:     rcu
// Threads:   a block is written by the thread that holds it; its `scanned` fields are read by the
//            reclaim pass of any committing thread.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT

#ifndef KW_INLINE_THREAD_H
#define KW_INLINE_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/inline/cell.h>

KW_BEGIN_DECLS

// Announcements that fit the block itself; deeper ones go to linked chunks by the cold path. The
// block's hot part is three cache lines, and the first three announcements lie in the first one.
#define KWI_INSIDE_COUNT 19

// A `pinned` word that pins nothing. It is the largest version, so that min() needs no test.
#define KWI_NOT_PINNED UINT64_MAX

// R1  `depth` rises before the slot it covers is written: a signal between the two calls operators
//     itself, above that slot.
// R2  Slots below `depth` hold announced blocks or are stale. Only their writer follows them.
// R3  The block of a thread that never attached is shared, read-only and has capacity 0, so every
//     rare case leaves the fast path through one test.
typedef struct kw_thread {
    // guard: scanned. Store: release. Load: acquire, in the reclaim pass. [pair: announce]
    kwi_u32_cell depth;

    // guard: thread. Announcements that the fast path may write; 0 sends every call to the cold
    // path.
    uint32_t capacity;

    // guard: scanned. Store: release. Load: acquire, in the reclaim pass. [pair: pin]
    kwi_u64_cell pinned;

    // guard: thread. The local include set.
    uint64_t included;

    // guard: thread. What the local exclude set leaves: its complement, with all backend bits.
    uint64_t kept;

    // guard: thread. The newest version that calls may see: where the process has its newest one,
    // or `pinned`. See Note [Limit] in src/rcu/announce.h.
    const kwi_u64_cell *limit;

    // guard: scanned. Store: release. Load: acquire, in the reclaim pass. [pair: announce]
    kwi_ptr_cell inside[KWI_INSIDE_COUNT];

    // guard: thread. The local exclude set as it was set, for queries and capture.
    uint64_t excluded;
} kw_thread;

/// The place of an announcement in the block, in the form that costs compilers no addition.
static inline kwi_ptr_cell *kwi_thread_slot(const kw_thread *thread, size_t index)
{
    uintptr_t base = (uintptr_t)thread + index * sizeof(kwi_ptr_cell);
    return (kwi_ptr_cell *)(base + offsetof(kw_thread, inside));
}

// The calling thread's block. initial-exec: one load at a constant offset from the thread pointer.
extern __thread kw_thread *kwi_thread_self __attribute__((tls_model("initial-exec"))) KW_API;

KW_END_DECLS

#endif // KW_INLINE_THREAD_H
