// Thread blocks: where each thread announces, pins and keeps its local state.
//
// Layer:   rcu
// Threads: a block is written by the thread that holds it and scanned by the reclaim pass.
// SPDX-License-Identifier: MIT
//
// R4  Blocks lie in mapped chunks that are never unmapped and are linked once, so the scan walks
//     them without a lock.
// R5  A block has one holder at a time; `used` goes from 0 to 1 by compare-and-swap only.
// R6  A block that nobody holds announces nothing and pins nothing.

#ifndef KWI_RCU_THREAD_H
#define KWI_RCU_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/cell.h>
#include <keyway/inline/thread.h>
#include <keyway/status.h>

// Bytes for the layer that makes calls: error text and what else a call leaves behind.
#define KWI_CALL_AREA_BYTES 1712
#define KWI_THREAD_BLOCK_BYTES 2048

// Announcements beyond the block: one page, linked on demand, kept with the block for ever.
#define KWI_DEEP_COUNT 511
typedef struct kwi_deep {
    // guard: scanned. Store: release, once. Load: acquire. [pair: deep-link]
    kwi_ptr_cell next;

    // guard: scanned. Store: release. Load: acquire. [pair: announce]
    kwi_ptr_cell inside[KWI_DEEP_COUNT];
} kwi_deep;

typedef struct kwi_thread_block {
    kw_thread hot;

    // guard: scanned. Store: release, once. Load: acquire. [pair: deep-link]
    kwi_ptr_cell deep;

    // guard: cell. 1 while a thread holds the block. Taken with acquire, given back with release,
    // so that the next holder sees the block as the last one left it. [pair: block-holder]
    kwi_u32_cell used;

    // guard: scanned. Sections that the thread is inside of, one in another. Store: release. Load:
    // acquire, in a grace period. [pair: section]
    kwi_u32_cell section_count;

    // guard: thread. Snapshots open on this thread.
    uint32_t snapshot_count;

    // guard: scanned. When the outermost snapshot was opened, by the clock of ticks. Relaxed:
    // `pinned` is stored after it and loaded before it; one that belongs to a later pin only
    // shortens an age.
    kwi_u64_cell opened_ns;

    // guard: cell. The kernel's number of the thread, as in gettid(). Relaxed: a label.
    kwi_u32_cell thread_id;
    // guard: cell. The number of a holder that took the block while it ended, below a count of such
    // times; else 0. Relaxed: see rcu/late.h.
    kwi_u64_cell late;

    // guard: thread. The host's own word, see kw_call_context().
    void *context;

    // guard: thread. Belongs to the call layer.
    _Alignas(16) unsigned char call_area[KWI_CALL_AREA_BYTES];
} kwi_thread_block;

_Static_assert(sizeof(kwi_thread_block) <= KWI_THREAD_BLOCK_BYTES, "a block fits its place");
_Static_assert(offsetof(kw_thread, inside) + 3 * sizeof(kwi_ptr_cell) == 64, "one line, 3 deep");

// Prepares what attaching needs, once; happens when the library is loaded. Every call returns the
// same: KW_NO_MEMORY if the process has no thread-specific key left.
kw_status kwi_threads_init(void);

// The calling thread's block, attached on first use; NULL when no memory or key could be had.
// Async-signal-safe.
kwi_thread_block *kwi_thread_attach(void);

// What a thread has before it attaches: see R3. Never written.
extern kw_thread kwi_unattached __attribute__((visibility("hidden")));

// The calling thread's block, or NULL if it never attached.
static inline kwi_thread_block *kwi_thread_current(void)
{
    kw_thread *self = kwi_thread_self;
    return self != &kwi_unattached ? (kwi_thread_block *)(void *)self : NULL;
}

// The cell for announcement `index`; with `grow`, links a chunk where needed. NULL: no memory.
kwi_ptr_cell *kwi_thread_inside(kwi_thread_block *block, uint32_t index, bool grow);

// Walks all blocks, those that nobody holds among them. A zeroed cursor starts; NULL ends.
typedef struct kwi_thread_cursor {
    const void *chunk;
    size_t index;
    bool begun;
} kwi_thread_cursor;
kwi_thread_block *kwi_thread_next(kwi_thread_cursor *cursor);

// A fork gives the thread that makes it another number.
void kwi_thread_label(kwi_thread_block *block);

// Blocks mapped, and threads that ended inside a call or under a snapshot so far.
// Blocks mapped.
uint64_t kwi_thread_block_count(void);

// After fork, in the child: only the calling thread is left; the others' blocks are cleared.
void kwi_threads_after_fork_child(void);

#endif // KWI_RCU_THREAD_H
