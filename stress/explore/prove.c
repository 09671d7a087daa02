// Proof: that each seeded fault is found.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "explore/prove.h"

#include <stdio.h>
#include <string.h>

#include "explore/cases.h"
#include "explore/process.h"

#define MOST_PREEMPTIONS 3

// Faults that no order of whole steps can show: those of memory orders, and those of plugins, which
// no case loads.
static const char *const beyond[] = {"relaxed-", "unmapped-before-drained"};

static bool is_beyond(const char *name)
{
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        if (strncmp(name, beyond[i], strlen(beyond[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const explore_case *each, int bound, const explore_options *options)
{
    bool is_named = strcmp(options->name, "all") == 0 || strcmp(options->name, each->name) == 0;
    return is_named && (each->bound == EXPLORE_UNBOUNDED || bound <= each->bound);
}

// Few preemptions in all cases first. Returns the case that found the fault; NULL: none.
static const explore_case *find(const explore_options *options, int *out_bound)
{
    for (int bound = 0; bound <= MOST_PREEMPTIONS; bound++) {
        for (const explore_case *const *each = explore_cases; *each != NULL; each++) {
            *out_bound = bound;
            if (is_wanted(*each, bound, options) && explore_process_run(*each, bound, options) &&
                explore_report_now->is_found) {
                return *each;
            }
        }
    }
    return NULL;
}

static bool prove_one(explore_options options, kwi_fault fault)
{
    const char *name = explore_fault_name(fault);
    options.fault = fault;
    int bound = 0;
    double begin = explore_process_seconds();
    const explore_case *found = find(&options, &bound);
    double seconds = explore_process_seconds() - begin;
    if (found == NULL) {
        (void)printf("%-32s not found in %.1f s\n", name, seconds);
        return false;
    }
    const explore_report *report = explore_report_now;
    (void)printf("%-32s %s, %d preemptions, schedule %llu, %.2f s: (%s) %s\n", name, found->name,
                 bound, (unsigned long long)report->schedules, seconds, report->oracle,
                 report->text);
    return true;
}

int explore_prove(const explore_options *options)
{
    bool is_proved = true;
    for (kwi_fault fault = (kwi_fault)1; fault < explore_fault_count(); fault++) {
        bool is_named = options->fault == fault;
        if (is_named ||
            (options->fault == KWI_FAULT_NONE && !is_beyond(explore_fault_name(fault)))) {
            is_proved = prove_one(*options, fault) && is_proved;
        }
    }
    return is_proved ? 0 : 1;
}
