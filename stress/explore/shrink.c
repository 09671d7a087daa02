// Shrinking: a finding with as few preemptions as there is one.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "explore/shrink.h"

#include "explore/process.h"

// Without a bound a finding would be a long way down the search, so few preemptions are tried
// first: what few of them show is also what a person can follow.
#define FEW 3

// Looks for a finding with as few preemptions as possible. False: the system failed.
static bool search_upwards(const explore_case *tested, int bound, const explore_options *options,
                           int *out_bound)
{
    int few = bound == EXPLORE_UNBOUNDED ? FEW : bound;
    for (int each = 0; each <= few; each++) {
        *out_bound = each;
        if (!explore_process_run(tested, each, options)) {
            return false;
        }
        if (explore_report_now->is_found || explore_report_now->was_stopped ||
            !explore_report_now->was_cut) {
            return true;
        }
    }
    *out_bound = bound;
    return bound != EXPLORE_UNBOUNDED || explore_process_run(tested, bound, options);
}

bool explore_search_case(const explore_case *tested, int bound, const explore_options *options,
                         int *out_bound)
{
    *out_bound = bound;
    if (options->fault != KWI_FAULT_NONE) {
        return search_upwards(tested, bound, options, out_bound);
    }
    return explore_process_run(tested, bound, options) &&
           (!explore_report_now->is_found || search_upwards(tested, bound, options, out_bound));
}
