// The company of a process that ends: operators, and threads that use them.
//
// Layer:   stress
// Threads: any, but for begin, start and end.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_EXIT_COMPANY_H
#define STRESS_SCENARIOS_EXIT_COMPANY_H

#include <stdbool.h>
#include <stdint.h>

#include "concurrency/typed.h"
#include "scenarios/exit.h"

// Makes the operators; returns the one whose kernel is `leave`.
const kw_operator *exit_company_begin(typed_function leave);

// Starts the threads, which go on for ever; end lets them end, and waits.
void exit_company_start(stress_exit_company company);
void exit_company_end(void);

// One call, checked; one library more and less; a dispatcher from its begin to its end.
void exit_company_call(void);
void exit_company_commit(void);
void exit_company_live_again(void);

// Ends the process with a sentence on stderr unless it holds. The status is decided elsewhere, so
// it is the sentence that counts.
void exit_must(bool holds, const char *what);

#endif // STRESS_SCENARIOS_EXIT_COMPANY_H
