// Shrinking: a finding with as few preemptions as there is one.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_SHRINK_H
#define EXPLORE_SHRINK_H

#include <stdbool.h>

#include "explore/engine.h"
#include "explore/options.h"

// Explores a case, and leaves in `explore_report_now` what came of it: a finding with the fewest
// preemptions, `*out_bound`. False: the system has no memory or process for it.
bool explore_search_case(const explore_case *tested, int bound, const explore_options *options,
                         int *out_bound);

#endif // EXPLORE_SHRINK_H
