// What the two halves of the scenario "plugins" share: the lines of plugins, and the callers.
//
// Layer:   stress
// Threads: a line is written by its writer; histories are read by all.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_PLUGINS_H
#define STRESS_SCENARIOS_PLUGINS_H

#include <stdint.h>

#include <keyway/plugin.h>

#include "driver/worker.h"
#include "shared/history.h"

#define STRESS_LINES 3
#define STRESS_LINE_OPS 2

// A plugin through its versions. Each loading has a number of its own, which its kernels answer.
typedef struct stress_line {
    const char *name;
    char op_names[STRESS_LINE_OPS][32];
    const kw_operator *ops[STRESS_LINE_OPS];
    stress_history histories[STRESS_LINE_OPS];

    // Of the writer.
    kw_plugin *plugin; // NULL: not loaded
    unsigned version;  // of its file
    unsigned lease_count;
    bool can_roll_back;
} stress_line;

extern stress_line stress_lines[STRESS_LINES];
extern kw_dispatcher *stress_plugins_dispatcher;

// A caller's thread: calls every line in every way until the scenario stops.
void stress_plugins_call(stress_worker *worker);

#endif // STRESS_SCENARIOS_PLUGINS_H
