// Scenarios: what a run of the stress driver consists of.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_SCENARIO_H
#define STRESS_DRIVER_SCENARIO_H

#include "driver/options.h"

typedef struct stress_scenario {
    const char *name;
    const char *summary;

    // Runs for `options->seconds` or until a violation; what it found is in the report.
    void (*run)(const stress_options *options);
} stress_scenario;

// All of them; the name of the last is NULL.
extern const stress_scenario stress_scenarios[];

const stress_scenario *stress_scenario_find(const char *name);

void stress_storm_run(const stress_options *options);
void stress_parked_run(const stress_options *options);
void stress_torture_run(const stress_options *options);
void stress_churn_run(const stress_options *options);
void stress_nested_run(const stress_options *options);
void stress_signals_run(const stress_options *options);
void stress_oom_run(const stress_options *options);
void stress_plugins_run(const stress_options *options);
void stress_fork_run(const stress_options *options);
void stress_exit_run(const stress_options *options);
void stress_user_run(const stress_options *options);

// Reads what the scenario "user" is about, without running it. False: said on stderr what is wrong.
bool stress_user_prepare(const stress_options *options);

#endif // STRESS_DRIVER_SCENARIO_H
