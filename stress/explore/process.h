// Processes: one exploration of one case, in a process of its own.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_PROCESS_H
#define EXPLORE_PROCESS_H

#include "explore/engine.h"
#include "explore/options.h"
#include "explore/report.h"

// Explores with at most `bound` preemptions, or runs the schedule of the options, and leaves what
// came of it in `explore_report_now`. False: the system has no process for it.
bool explore_process_run(const explore_case *tested, int bound, const explore_options *options);

// Processor time of all explorations so far, which a busy machine does not stretch.
double explore_process_seconds(void);

#endif // EXPLORE_PROCESS_H
