// The slab: where the bodies of tensors come from. Chunks, and a few free slots for each thread.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Slots of a thread]
//
// Each thread keeps some free slots, so that making and releasing tensors takes the leaf lock once
// in many times. They are given back when the thread ends; what destructors of other thread-local
// data take or release after that goes by the lock, each time. They are in two lists, of which the
// one that was used last fills and empties: so those that go back are the ones not used for
// longest, and a thread that makes and releases around a full list does not go by the lock each
// time. A child of fork() has one thread: what the others kept is lost to it, 64 slots each at
// most.

#include "tensor/slab.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tensor/chunk.h"
#include "tensor/leaf_lock.h"

#define BATCH 32 // slots that move under the lock at once

typedef struct kept {
    // guard: thread. At most BATCH each.
    kwi_slots slots;
    kwi_slots older;
    bool is_listed;
    bool is_over; // the thread ends

    // guard: lock leaf.
    struct kept *next;
    struct kept *previous;

    // guard: cell. How many both have, for statistics of other threads. Relaxed.
    kwi_u32_cell count;
} kept;

static _Thread_local kept own;

// guard: lock leaf.
static kept *all_kept;
static uint64_t lost_count; // with threads that a child of fork() does not have

// guard: immutable. Set by create_key(), once.
static pthread_key_t end_key;
static bool has_key;

static void tell_count(void)
{
    kwi_u32_store_relaxed(&own.count, own.slots.count + own.older.count); // relaxed: statistics
}

// Gives all slots of a list back.
static void give_back_all(kwi_slots *slots)
{
    kwi_leaf_lock();
    kwi_chunk *unneeded = kwi_chunks_take_back(slots);
    tell_count();
    kwi_leaf_unlock();
    kwi_chunks_unmap(unneeded);
}

static void exchange_lists(void)
{
    kwi_slots moved = own.slots;
    own.slots = own.older;
    own.older = moved;
}

// The end of a thread ---------------------------------------------------------------------------

static void thread_end(void *argument)
{
    (void)argument;
    give_back_all(&own.slots);
    give_back_all(&own.older);
    kwi_leaf_lock();
    if (own.previous != NULL) {
        own.previous->next = own.next;
    } else {
        all_kept = own.next;
    }
    if (own.next != NULL) {
        own.next->previous = own.previous;
    }
    kwi_leaf_unlock();
    own.is_listed = false;
    own.is_over = true;
}

static void create_key(void)
{
    has_key = pthread_key_create(&end_key, thread_end) == 0;
}

// Whether the thread keeps slots: not at its end, and not if nobody would take them back then.
static bool keeps_slots(void)
{
    if (own.is_listed || own.is_over) {
        return own.is_listed;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, create_key);
    if (!has_key || pthread_setspecific(end_key, &own) != 0) {
        return false;
    }
    kwi_leaf_lock();
    own.previous = NULL;
    own.next = all_kept;
    if (all_kept != NULL) {
        all_kept->previous = &own;
    }
    all_kept = &own;
    kwi_leaf_unlock();
    own.is_listed = true;
    return true;
}

// Taking and giving back ------------------------------------------------------------------------

// Gets slots from the chunks, if need be from one more. Without memory there are none.
static void refill(uint32_t count)
{
    kwi_leaf_lock();
    kwi_chunks_give(&own.slots, count);
    if (own.slots.count == 0) {
        kwi_leaf_unlock();
        kwi_chunk *fresh = kwi_chunk_map();
        if (fresh == NULL) {
            return;
        }
        kwi_leaf_lock();
        kwi_chunks_add(fresh);
        kwi_chunks_give(&own.slots, count);
    }
    tell_count();
    kwi_leaf_unlock();
}

// Whether there is a slot in the list in use.
static bool find_slots(void)
{
    if (own.older.count > 0) {
        exchange_lists();
    } else {
        refill(keeps_slots() ? BATCH : 1);
    }
    return own.slots.count > 0;
}

kw_tensor *kwi_slab_take(void)
{
    if (KW_UNLIKELY(own.slots.count == 0) && !find_slots()) {
        return NULL;
    }
    kw_tensor *slot = kwi_slots_pop(&own.slots);
    tell_count();
    return slot;
}

// Makes room for one more slot.
static void make_room(void)
{
    if (own.older.count > 0) {
        give_back_all(&own.older);
    }
    exchange_lists();
}

void kwi_slab_give_back(kw_tensor *tensor)
{
#ifdef KWI_TESTING
    memset(tensor, 0xdd, sizeof *tensor); // who comes too late sees poison
    __asm__ volatile("" : : "r"(tensor) : "memory");
#endif
    if (KW_UNLIKELY(own.slots.count == BATCH)) {
        make_room();
    }
    kwi_slots_push(&own.slots, tensor);
    tell_count();
    if (KW_UNLIKELY(!own.is_listed) && !keeps_slots()) {
        give_back_all(&own.slots);
    }
}

// Figures and fork ------------------------------------------------------------------------------

uint64_t kwi_slab_count(void)
{
    kwi_leaf_lock();
    uint64_t count = kwi_chunks_given() - lost_count;
    for (const kept *each = all_kept; each != NULL; each = each->next) {
        count -= kwi_u32_load_relaxed(&each->count); // relaxed: statistics
    }
    kwi_leaf_unlock();
    return count;
}

uint64_t kwi_slab_bytes(void)
{
    kwi_leaf_lock();
    uint64_t bytes = kwi_chunks_bytes();
    kwi_leaf_unlock();
    return bytes;
}

void kwi_slab_after_fork_child(void)
{
    for (const kept *each = all_kept; each != NULL; each = each->next) {
        if (each != &own) {
            lost_count += kwi_u32_load_relaxed(&each->count); // relaxed: its thread is not here
        }
    }
    all_kept = own.is_listed ? &own : NULL;
    own.next = NULL;
    own.previous = NULL;
}
