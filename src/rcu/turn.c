// Turns: who makes the next grace period, when, and for whom.
//
// Layer:   rcu
// Threads: any; waits without a lock.
// SPDX-License-Identifier: MIT

#include "rcu/turn.h"

#include <ck_pr.h>
#include <sched.h>

#include <keyway/inline/cell.h>

#include "base/clock.h"

// Readers lose one part in five at most. A fence that interrupts nobody takes less than a
// microsecond; one beside a reader took 10 on a virtual machine, and 36 lie between two of these.
// Commits of tests are to meet readers often.
#ifdef KWI_TESTING
#define PAUSE_FACTOR 0
#else
#define PAUSE_FACTOR 5
#endif
#define ALONE_NS 1000
#define PAUSE_LIMIT_NS 100000

// So long others wait for a turn before they take one beside it.
#define TURN_LIMIT_NS 1000000

// guard: cell. Grace periods begun. Whoever wants one adds nothing to it: acquire and release.
// [pair: turn-begun]
static kwi_u64_cell begun;

// guard: cell. The largest number of a grace period that is over. Store: release. Load: acquire.
// [pair: turn-ended]
static kwi_u64_cell ended;

// guard: cell. When the next one may begin. Relaxed: it only paces.
static kwi_u64_cell next_ns;

// A pause is shorter than what giving the processor away may take. A grace period that is under way
// may last.
static void wait_a_moment(uint64_t rest_ns)
{
    if (rest_ns > PAUSE_LIMIT_NS) {
        (void)sched_yield();
    } else {
        ck_pr_stall();
    }
}

bool kwi_turn_take(kwi_turn *out_turn)
{
    uint64_t wanted = kwi_u64_add_acq_rel(&begun, 0) + 1; // [pair: turn-begun]
    uint64_t now;
    uint64_t next;
    do {
        now = kwi_clock_ns();
        next = kwi_u64_load_relaxed(&next_ns); // relaxed: see above
        while (now < next) {
            if (kwi_u64_load_acquire(&ended) >= wanted) { // [pair: turn-ended]
                return false;
            }
            wait_a_moment(next - now);
            now = kwi_clock_ns();
            next = kwi_u64_load_relaxed(&next_ns);
        }
    } while (!kwi_u64_compare_exchange_relaxed(&next_ns, &next, now + TURN_LIMIT_NS));
    out_turn->number = kwi_u64_add_acq_rel(&begun, 1) + 1; // [pair: turn-begun]
    return true;
}

static void raise_ended(uint64_t number)
{
    uint64_t before = kwi_u64_load_relaxed(&ended); // relaxed: only compared
    bool is_raised = false;
    while (before < number && !is_raised) {
        // [pair: turn-ended]
        is_raised = kwi_u64_compare_exchange_release_relaxed(&ended, &before, number);
    }
}

void kwi_turn_end(const kwi_turn *turn, uint64_t fence_ns)
{
    raise_ended(turn->number);
    uint64_t pause = fence_ns > ALONE_NS ? PAUSE_FACTOR * (fence_ns - ALONE_NS) : 0;
    uint64_t limited = pause < PAUSE_LIMIT_NS ? pause : PAUSE_LIMIT_NS;
    kwi_u64_store_relaxed(&next_ns, kwi_clock_ns() + limited); // relaxed: see above
}
