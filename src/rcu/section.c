// Sections: the wait for a grace period, and ThreadSanitizer's view of liburcu.
//
// Layer:   rcu
// Threads: any; waits.
// SPDX-License-Identifier: MIT

#include "rcu/section.h"

#include <stddef.h>

#include "base/schedule.h"
#include "base/yield.h"
#include "rcu/urcu.h"

#ifdef KWI_TSAN
char kwi_tsan_token;
#endif

void kwi_section_enter(void)
{
    KWI_STEP(ENTER, NULL);
    _urcu_bp_read_lock();
}

void kwi_section_leave(void)
{
    KWI_TSAN_LEAVE();
    KWI_STEP(LEAVE, NULL);
    _urcu_bp_read_unlock();
}

bool kwi_section_is_ongoing(void)
{
    return _urcu_bp_read_ongoing() != 0;
}

#ifdef KWI_TESTING
const unsigned long *kwi_section_word(void)
{
    kwi_section_enter(); // registers the thread with liburcu-bp
    kwi_section_leave();
    return &URCU_TLS(urcu_bp_reader)->ctr;
}

bool kwi_section_word_is_inside(const unsigned long *word)
{
    return (CMM_LOAD_SHARED(*word) & URCU_BP_GP_CTR_NEST_MASK) != 0;
}
#endif

void kwi_grace_period(void)
{
    if (!KWI_FAULT(NO_GRACE_PERIOD) && !KWI_STEP_WAITS(GRACE, NULL)) {
        synchronize_rcu();
    }
    KWI_TSAN_GRACE();
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
