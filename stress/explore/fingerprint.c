// Fingerprints: what is in the shared memory of the protocol, to check the reduction by.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include "explore/fingerprint.h"

#include "explore/order.h"
#include "explore/scene.h"
#include "rcu/thread.h"
#include "rcu/version.h"
#include "registry/operator.h"
#include "registry/world.h"

static uint64_t first_version;
static uint64_t first_ticket;

void explore_fingerprint_begin(void) KWI_UNCHECKED
{
    first_version = kwi_u64_load_relaxed(&kwi_version.newest); // relaxed, all: one thread runs
    first_ticket = kwi_the_world.reclaimer.tick;
}

// What is as old as the execution may have any age: the numbers before it differ between
// executions.
static uint64_t age_of(uint64_t number, uint64_t first)
{
    return number == UINT64_MAX ? UINT64_MAX : number > first ? number - first : 0;
}

static void add(uint64_t *sum, uint64_t word)
{
    *sum = explore_mix(*sum, word);
}

static void add_blocks(uint64_t *sum, const kwi_block *block)
{
    for (; block != NULL; block = block->next) {
        add(sum, (uintptr_t)block);
        add(sum, block->state);
        add(sum, age_of(block->version, first_version));
        add(sum, age_of(block->hi, first_version));
        add(sum, age_of(block->ticket, first_ticket));
        add(sum, (uintptr_t)kwi_ptr_load_relaxed(&block->older));
    }
    add(sum, 0);
}

static void add_thread(uint64_t *sum, kwi_thread_block *block)
{
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth);
    add(sum, depth);
    add(sum, age_of(kwi_u64_load_relaxed(&block->hot.pinned), first_version));
    for (uint32_t i = 0; i < depth && i < KWI_INSIDE_COUNT; i++) {
        add(sum, (uintptr_t)kwi_ptr_load_relaxed(&block->hot.inside[i]));
    }
}

uint64_t explore_fingerprint(void) KWI_UNCHECKED
{
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    uint64_t sum = age_of(kwi_u64_load_relaxed(&kwi_version.newest), first_version);
    add(&sum, age_of(reclaimer->tick, first_ticket));
    add(&sum, age_of(reclaimer->done, first_ticket));
    add(&sum, reclaimer->retired_count);
    add(&sum, kwi_the_world.kernel_count);
    add_blocks(&sum, reclaimer->retired);
    for (size_t i = 0; i < KWI_BUCKET_COUNT; i++) {
        add_blocks(&sum, reclaimer->buckets[i].blocks);
    }
    add(&sum, (uintptr_t)kwi_ptr_load_relaxed(&scene_f->table));
    add(&sum, (uintptr_t)kwi_ptr_load_relaxed(&scene_g->table));
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        if (kwi_u32_load_relaxed(&block->used) != 0) {
            add_thread(&sum, block);
        }
    }
    return sum;
}
