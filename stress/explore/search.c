// The search: which thread goes on, in this execution and in the next one.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include "explore/search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "explore/engine.h"
#include "explore/fingerprint.h"
#include "explore/report.h"
#include "explore/seen.h"

#define DEPTH_LIMIT 4096
#define ANY_NUMBER 255 // preemptions that are left without a bound

// One choice of the execution that runs.
typedef struct choice {
    uint8_t enabled;
    uint8_t current;
    uint8_t chosen;
    uint8_t untried; // threads that are left to choose
    uint8_t left;    // preemptions, before this choice
} choice;

static choice path[DEPTH_LIMIT];
static size_t path_count;
static size_t at;    // choices made in this execution
static uint8_t left; // preemptions
static bool is_bounded;
static uint8_t bound;
static bool goes_over;
static bool is_known;      // the execution has come to a state that was searched before
static const char *wanted; // the rest of a schedule that is repeated
static unsigned long wanted_count;
static unsigned wanted_thread;

void explore_search_begin(int wanted_bound, bool wants_all)
{
    goes_over = wants_all;
    is_bounded = wanted_bound != EXPLORE_UNBOUNDED;
    bound = is_bounded ? (uint8_t)wanted_bound : ANY_NUMBER;
    path_count = 0;
    wanted = NULL;
    explore_seen_begin();
}

static bool is_enabled(unsigned enabled, unsigned thread)
{
    return thread <= EXPLORE_SIGNAL && (enabled >> thread & 1) != 0;
}

static unsigned lowest(unsigned threads)
{
    return (unsigned)__builtin_ctz(threads);
}

// A handler runs on the first thread, so it is never what goes on by itself.
static unsigned usual(unsigned enabled, unsigned current)
{
    return is_enabled(enabled, current) ? current : lowest(enabled);
}

static uint8_t cost_of(const choice *made, unsigned thread)
{
    return is_bounded && is_enabled(made->enabled, made->current) && thread != made->current;
}

bool explore_search_repeat(const char *schedule)
{
    wanted = schedule;
    wanted_count = 0;
    for (const char *each = schedule; *each != '\0';) {
        char *end = NULL;
        if ((*each < 'a' || *each >= 'a' + EXPLORE_THREADS) && *each != 'h') {
            return false;
        }
        unsigned long count = each[1] >= '0' && each[1] <= '9' ? strtoul(each + 1, &end, 10) : 1;
        const char *after = end != NULL ? end : each + 1;
        if (count == 0 || (*after != '\0' && (*after != ',' || after[1] == '\0'))) {
            return false;
        }
        each = *after == ',' ? after + 1 : after;
    }
    return true;
}

// The next thread of a schedule that is repeated; EXPLORE_NOBODY: the schedule is at its end.
static unsigned next_wanted(void)
{
    if (wanted_count == 0) {
        if (*wanted == '\0') {
            return EXPLORE_NOBODY;
        }
        char *end = NULL;
        wanted_thread = *wanted == 'h' ? EXPLORE_SIGNAL : (unsigned)(*wanted - 'a');
        wanted_count = strtoul(wanted + 1, &end, 10);
        wanted_count = wanted_count == 0 ? 1 : wanted_count;
        wanted = *end == ',' ? end + 1 : end;
    }
    wanted_count--;
    return wanted_thread;
}

static unsigned repeat(unsigned enabled, unsigned current)
{
    unsigned thread = next_wanted();
    if (thread == EXPLORE_NOBODY) {
        return usual(enabled, current);
    }
    if (!is_enabled(enabled, thread)) {
        explore_report_now->is_refused = true;
        explore_fail("schedule", "the schedule names a thread that cannot go on there");
    }
    explore_trace_deviate();
    return thread;
}

void explore_search_execution(void)
{
    at = 0;
    left = bound;
    is_known = false;
    explore_report_now->schedules++;
}

static void push(unsigned enabled, unsigned current)
{
    if (path_count == DEPTH_LIMIT) {
        explore_fail("endless", "an execution has %d choices and does not end", DEPTH_LIMIT);
    }
    choice *made = &path[path_count++];
    *made = (choice){
        .enabled = (uint8_t)enabled,
        .current = (uint8_t)current,
        .chosen = (uint8_t)usual(enabled, current),
        .left = left,
    };
    for (unsigned thread = 0; thread <= EXPLORE_SIGNAL; thread++) {
        if (is_enabled(enabled, thread) && thread != made->chosen) {
            bool is_allowed = cost_of(made, thread) <= left;
            made->untried |= (uint8_t)((unsigned)is_allowed << thread);
            explore_report_now->was_cut |= !is_allowed;
        }
    }
}

unsigned explore_search_choose(unsigned enabled, unsigned current)
{
    if (wanted != NULL) {
        return repeat(enabled, current);
    }
    if (at == path_count && !is_known) {
        // Without a bound every choice is free, whoever runs.
        bool goes_on = is_bounded && is_enabled(enabled, current);
        unsigned runs = goes_on ? current : EXPLORE_NOBODY;
        bool is_new = explore_seen_add(explore_state(), explore_fingerprint(), runs, left);
        is_known = !is_new && !goes_over;
        if (!is_known) {
            push(enabled, current);
        }
    }
    if (is_known) {
        return usual(enabled, current);
    }
    const choice *made = &path[at++];
    if (made->enabled != enabled || made->current != current) {
        explore_fail("repeat", "the same choices lead to another state: the case is not "
                               "deterministic");
    }
    if (made->chosen != usual(enabled, current)) {
        explore_trace_deviate();
    }
    left = (uint8_t)(left - cost_of(made, made->chosen));
    return made->chosen;
}

bool explore_search_next(void)
{
    while (path_count > 0 && path[path_count - 1].untried == 0) {
        path_count--;
    }
    if (path_count == 0) {
        return false;
    }
    choice *last = &path[path_count - 1];
    last->chosen = (uint8_t)lowest(last->untried);
    last->untried &= (uint8_t) ~(1U << last->chosen);
    return true;
}
