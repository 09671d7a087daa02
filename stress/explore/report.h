// Reports: what an exploration has found, in memory that outlives its process.
//
// Layer:   stress
// Threads: the one that runs; the parent process when the child has ended.
// SPDX-License-Identifier: MIT
//
// Each exploration is a process of its own, because what a broken promise leaves behind is no place
// to go on from.

#ifndef EXPLORE_REPORT_H
#define EXPLORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct explore_report {
    uint64_t schedules; // executions
    uint64_t states;    // distinct ones
    uint64_t steps;     // of the longest execution
    bool was_cut;       // some order was left out for the bound
    bool was_stopped;   // by the limit of time
    bool is_over;       // the process has come to its end
    bool is_found;
    bool is_refused; // a schedule that does not fit the case
    char oracle[32];
    char text[512];
    char schedule[1024]; // what repeats it
    char trace[64000];   // its steps, for people
} explore_report;

// Shared with child processes; NULL: no memory.
extern explore_report *explore_report_now;

// The steps of the execution that runs.
void explore_trace_begin(void);
void explore_trace_step(unsigned thread, const char *what, const char *place, const void *object);

// What needs no step of its own, for people.
void explore_trace_note(unsigned thread, const char *what, const char *place);

// A choice that was not the usual one: the schedule has to name all steps up to here.
void explore_trace_deviate(void);

// Writes steps and schedule into the report.
void explore_trace_write(void);

#endif // EXPLORE_REPORT_H
