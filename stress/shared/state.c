// States: what a thread is inside of, which nothing that it calls or that interrupts it may change.
//
// Layer:   stress
// Threads: see state.h.
// SPDX-License-Identifier: MIT

#include "shared/state.h"

#include <string.h>

#include "driver/report.h"
#include "rcu/thread.h"

stress_state_of_thread stress_state_look(void)
{
    const kw_thread *thread = kwi_thread_self;
    stress_state_of_thread seen = {
        .local = kw_local_capture(),
        .pinned = kwi_u64_load_relaxed(&thread->pinned), // relaxed: the thread's own words
        .depth = kwi_u32_load_relaxed(&thread->depth),
    };
    for (uint32_t i = 0; i < seen.depth && i < KWI_INSIDE_COUNT; i++) {
        seen.inside[i] = kwi_ptr_load_relaxed(&thread->inside[i]);
    }
    if (seen.depth > KWI_INSIDE_COUNT) {
        const kwi_ptr_cell *cell = kwi_thread_inside(kwi_thread_current(), seen.depth - 1, false);
        seen.innermost = cell != NULL ? kwi_ptr_load_relaxed(cell) : NULL;
    }
    return seen;
}

void stress_state_check(const stress_state_of_thread *before, const char *what)
{
    const stress_state_of_thread now = stress_state_look();
    if (now.local.included.bits != before->local.included.bits ||
        now.local.excluded.bits != before->local.excluded.bits) {
        stress_violation("state", "%s leaves other local sets", what);
    }
    if (now.pinned != before->pinned) {
        stress_violation("state", "%s leaves the pin %llu in place of %llu", what,
                         (unsigned long long)now.pinned, (unsigned long long)before->pinned);
    }
    if (now.depth != before->depth) {
        stress_violation("state", "%s leaves the thread inside %u calls in place of %u", what,
                         now.depth, before->depth);
    } else if (memcmp(now.inside, before->inside, sizeof now.inside) != 0 ||
               now.innermost != before->innermost) {
        stress_violation("state", "%s leaves other announcements", what);
    }
}
