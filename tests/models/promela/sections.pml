// Sections and grace periods, as assumption A1 of docs/concurrency.md has them.
//
// Layer:   tests
// Threads: sections of any thread with a block; a grace period has a number below WAITERS.
// SPDX-License-Identifier: MIT
//
// A grace period waits for exactly the sections that are under way when it begins. liburcu-bp may
// wait for more, never for less: a section is over, or young.

// Inside a step. [code: src/rcu/section.c kwi_section_enter]
#define SECTION_ENTER() thread[me].sections++

// Inside a step. [code: src/rcu/section.c kwi_section_leave]
#define SECTION_LEAVE()                                                                            \
    thread[me].sections--;                                                                         \
    for (i : 0 .. WAITERS - 1) {                                                                   \
        waits_for[i] = waits_for[i] & (255 - (thread[me].sections == 0) * BIT(me))                 \
    }

// The two ends of a grace period, each inside a step; in between nothing is held.
// [code: src/rcu/section.c kwi_grace_period]
#define GRACE_BEGIN(g)                                                                             \
    if                                                                                             \
    :: FAULT(NO_GRACE_PERIOD)                                                                      \
    :: else -> waits_for[g] = (thread[0].sections > 0) + 2 * (thread[1].sections > 0)                   \
    fi
#define GRACE_IS_OVER(g) (waits_for[g] == 0)

// From one to the other.
inline grace_period(g)
{
    d_step {
        GRACE_BEGIN(g);
        printf("writer %d begins a grace period\n", g)
    }
    d_step {
        GRACE_IS_OVER(g) -> printf("writer %d: its grace period is over\n", g)
    }
}
