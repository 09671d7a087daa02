// Sections: the wait for a grace period, and ThreadSanitizer's view of liburcu.
//
// Layer:   rcu
// Threads: any; waits.
// SPDX-License-Identifier: MIT

#include "rcu/section.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/schedule.h"
#include "base/yield.h"
#include "rcu/fence.h"
#include "rcu/thread.h"
#include "rcu/turn.h"
#include "rcu/urcu.h"

#ifdef KWI_TSAN
char kwi_tsan_token;
#endif

// guard: cell. Sections of threads that have no block. Entered: relaxed, as the fences order it;
// left: release. Load: acquire. [pair: section]
static kwi_u64_cell strangers;

kwi_section kwi_section_enter(void)
{
    KWI_STEP(ENTER, NULL);
    kwi_thread_block *block = kwi_thread_current();
    kwi_section section = {block != NULL ? &block->section_count : NULL};
    if (section.word != NULL) {
        // Relaxed, both: its own word, and the fences order the store.
        kwi_u32_store_relaxed(section.word, kwi_u32_load_relaxed(section.word) + 1);
    } else {
        (void)kwi_u64_add_relaxed(&strangers, 1); // relaxed: a count continues what it releases
    }
    kwi_light_fence();
    _urcu_bp_read_lock();
    return section;
}

void kwi_section_leave(kwi_section section)
{
    KWI_TSAN_LEAVE();
    KWI_STEP(LEAVE, NULL);
    _urcu_bp_read_unlock();
    if (section.word != NULL) {
        uint32_t count = kwi_u32_load_relaxed(section.word); // relaxed: its own word
        kwi_u32_store_release(section.word, count - 1);      // [pair: section]
    } else {
        (void)kwi_u64_sub_release(&strangers, 1); // [pair: section]
    }
}

// After a heavy fence: false if every section that had begun before it has been left.
static bool is_any_open(void)
{
    bool is_open = kwi_u64_load_acquire(&strangers) != 0; // [pair: section]
    kwi_thread_cursor cursor = {0};
    for (const kwi_thread_block *block; !is_open && (block = kwi_thread_next(&cursor)) != NULL;) {
        is_open = kwi_u32_load_acquire(&block->section_count) != 0; // [pair: section]
    }
    return is_open;
}

bool kwi_section_is_ongoing(void)
{
    return _urcu_bp_read_ongoing() != 0;
}

#ifdef KWI_TESTING
const unsigned long *kwi_section_word(void)
{
    kwi_section_leave(kwi_section_enter()); // registers the thread with liburcu-bp
    return &URCU_TLS(urcu_bp_reader)->ctr;
}

bool kwi_section_word_is_inside(const unsigned long *word)
{
    return (CMM_LOAD_SHARED(*word) & URCU_BP_GP_CTR_NEST_MASK) != 0;
}
#endif

// Returns what the fence took.
static uint64_t wait_for_sections(void)
{
    uint64_t begun_ns = kwi_clock_ns();
    bool is_fenced = kwi_heavy_fence();
    uint64_t took_ns = kwi_clock_ns() - begun_ns;
    if (!is_fenced || is_any_open()) {
        synchronize_rcu();
    }
    return took_ns;
}

void kwi_grace_period(void)
{
    if (!KWI_FAULT(NO_GRACE_PERIOD) && !KWI_STEP_WAITS(GRACE, NULL)) {
        kwi_turn turn;
        if (kwi_turn_take(&turn)) {
            kwi_turn_end(&turn, wait_for_sections());
        }
    }
    KWI_TSAN_GRACE();
}

void kwi_sections_forget_strangers(void)
{
    kwi_u64_store_relaxed(&strangers, 0); // relaxed: no other thread
}

void kwi_sections_before_fork(void)
{
    urcu_bp_before_fork();
}

void kwi_sections_after_fork_parent(void)
{
    urcu_bp_after_fork_parent();
}

void kwi_sections_after_fork_child(void)
{
    urcu_bp_after_fork_child();
}
