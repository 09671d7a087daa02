// Readiness: which threads can go on, and what the state is made of.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include "explore/crew.h"
#include "explore/order.h"
#include "rcu/section.h"

static explore_crew *const crew = &explore_the_crew;

static struct {
    const void *lock;
    const explore_thread *holder; // NULL: nobody
} held[8];                        // more than the library has locks

void explore_forget_holders(void)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        held[i].lock = NULL;
    }
}

bool explore_has_news(const explore_thread *each)
{
    return crew->step_count - each->own_count > each->seen_count;
}

uint64_t explore_state(void)
{
    uint64_t state = crew->is_signal_used;
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        const explore_thread *each = &crew->threads[i];
        uint64_t flags = (uint64_t)each->accepts_signal << 1 | (uint64_t)explore_has_news(each);
        state = explore_mix(explore_mix(state, each->fingerprint), flags);
    }
    return state;
}

static const explore_thread *holder_of(const void *lock)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (held[i].lock == lock) {
            return held[i].holder;
        }
    }
    return NULL;
}

void explore_set_holder(const void *lock, const explore_thread *holder)
{
    size_t i = 0;
    while (held[i].lock != NULL && held[i].lock != lock) {
        i++;
    }
    held[i].lock = lock;
    held[i].holder = holder;
}

void explore_note_section(explore_thread *of)
{
    bool is_inside = kwi_section_word_is_inside(of->section);
    of->section_number += is_inside && !of->was_inside;
    of->was_inside = is_inside;
}

static bool is_grace_over(const explore_thread *waiting)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        const explore_thread *reader = &crew->threads[i];
        if (waiting->grace[i] != 0 && reader->was_inside &&
            reader->section_number == waiting->grace[i]) {
            return false;
        }
    }
    return true;
}

static bool can_go_on(const explore_thread *each)
{
    switch (each->waits) {
    case WAIT_NOTHING:
        return true;
    case WAIT_LOCK:
        return !each->is_asleep && holder_of(each->lock) == NULL;
    case WAIT_GRACE:
        return is_grace_over(each);
    case WAIT_PAUSE:
        return explore_has_news(each);
    case WAIT_END:
        break;
    }
    return false;
}

unsigned explore_enabled(void)
{
    unsigned enabled = 0;
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        enabled |= (unsigned)can_go_on(&crew->threads[i]) << i;
    }
    // Time passes when nothing else can happen.
    for (unsigned i = 0; i < crew->tested->thread_count && enabled == 0; i++) {
        bool passes = crew->threads[i].waits == WAIT_PAUSE && crew->threads[i].has_deadline;
        enabled |= (unsigned)passes << i;
    }
    bool accepts = crew->tested->handler != NULL && crew->threads[0].accepts_signal &&
                   !crew->is_signal_used && crew->threads[0].waits != WAIT_END;
    return enabled | (unsigned)accepts << EXPLORE_SIGNAL;
}

bool explore_is_all_over(void)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        if (crew->threads[i].waits != WAIT_END) {
            return false;
        }
    }
    return true;
}
