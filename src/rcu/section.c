// Sections: the wait for a grace period, and ThreadSanitizer's view of liburcu.
//
// Layer:   rcu
// Threads: any; waits.
// SPDX-License-Identifier: MIT

#include "rcu/section.h"

#include "base/yield.h"
#include "rcu/urcu.h"

#ifdef KWI_TSAN
char kwi_tsan_token;
#endif

void kwi_section_enter(void)
{
    _urcu_bp_read_lock();
}

void kwi_section_leave(void)
{
    KWI_TSAN_LEAVE();
    _urcu_bp_read_unlock();
}

bool kwi_section_is_ongoing(void)
{
    return _urcu_bp_read_ongoing() != 0;
}

void kwi_grace_period(void)
{
    if (!KWI_FAULT(NO_GRACE_PERIOD)) {
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
