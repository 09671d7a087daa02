// Schedule points and seeded faults: how tests prove that they would find a defect.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/yield.h"

#ifdef KWI_TESTING

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <keyway/inline/cell.h>

#include "base/lock.h"

#define LONG_WAIT_NS 100000
#define OFTEN_WEIGHT 64

// guard: cell. Relaxed: set before the threads that read them are started.
static kwi_u32_cell active_fault;
static kwi_u32_cell wait_one_in;

static _Thread_local uint32_t random_state;

// guard: thread. What the next visit of a place runs.
static _Thread_local const char *interrupted_place;
static _Thread_local void (*interrupting_step)(void);

void kwi_fault_set(kwi_fault fault)
{
    kwi_u32_store_relaxed(&active_fault, (uint32_t)fault);
}

bool kwi_fault_is(kwi_fault fault)
{
    return kwi_u32_load_relaxed(&active_fault) == (uint32_t)fault;
}

void kwi_yield_set(uint32_t one_in)
{
    kwi_u32_store_relaxed(&wait_one_in, one_in);
}

// Mostly as long as a few steps of another thread; sometimes as long as a commit of one. Who holds
// the writer lock sleeps, but does not give the processor away for a whole slice of another thread.
static void wait(uint32_t dice, bool is_often)
{
    if (dice == 0 || (is_often && dice == 1)) {
        const struct timespec pause = {.tv_nsec = LONG_WAIT_NS};
        int cancel = kwi_cancel_hold(); // the sleep would be a point where locks are left behind
        (void)nanosleep(&pause, NULL);
        kwi_cancel_restore(cancel);
    } else if (dice < 8 && !is_often) {
        (void)sched_yield();
    } else {
        for (volatile int i = 0; i < 3000; i++) {
        }
    }
}

void kwi_yield(uint32_t weight)
{
    uint32_t wanted = kwi_u32_load_relaxed(&wait_one_in);
    if (wanted == 0) {
        return;
    }
    if (random_state == 0) {
        random_state = (uint32_t)(uintptr_t)&random_state | 1; // differs by thread
    }
    random_state = random_state * 1664525U + 1013904223U; // Numerical Recipes' generator
    uint32_t one_in = wanted > 2 * weight ? wanted / weight : 2;
    if ((random_state >> 8) % one_in != 0) {
        return;
    }
    wait(random_state >> 27, weight > 1);
}

void kwi_yield_interrupt(const char *place, void (*step)(void))
{
    interrupted_place = place;
    interrupting_step = step;
}

bool kwi_yield_is_awaited(void)
{
    return interrupting_step != NULL;
}

static void interrupt(const char *place)
{
    if (interrupting_step != NULL && strcmp(place, interrupted_place) == 0) {
        void (*step)(void) = interrupting_step;
        interrupting_step = NULL;
        step();
    }
}

void kwi_yield_here(const char *place)
{
    interrupt(place);
    kwi_yield(1);
}

void kwi_yield_often(const char *place)
{
    interrupt(place);
    kwi_yield(OFTEN_WEIGHT);
}

#else

typedef int kwi_yield_is_empty; // ISO C wants a declaration in every file

#endif
