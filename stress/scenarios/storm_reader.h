// The storm's readers, from inside: what one knows of itself, and its parts.
//
// Layer:   stress
// Threads: a reader belongs to its thread; signal handlers of the thread read it too.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_STORM_READER_H
#define STRESS_SCENARIOS_STORM_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/snapshot.h>

#include "scenarios/storm.h"

typedef struct stress_reader {
    uint64_t pinned;      // the version of the open snapshot; 0: none
    uint64_t generation;  // that the snapshot showed first; 0: not yet
    kw_snapshot snapshot; // the outermost
    unsigned nesting;     // calls the thread is inside
    unsigned snapshots;   // open ones
    bool is_shared;       // the outermost is of a version that another thread chose
    bool closes_inside;   // the next kernel closes the snapshot
    uint64_t seen[STRESS_STORM_GROUP_OPS]; // generations; none goes back
    volatile sig_atomic_t is_ready;        // handlers may call
    volatile sig_atomic_t is_handling;
    uint32_t handler_random;
} stress_reader;

extern _Thread_local stress_reader stress_me;

// A call of one operator, or of any, and the check of its answer. `n` calls nest in it.
void stress_storm_call(stress_worker *worker, unsigned which, stress_path path, int64_t n);
void stress_storm_call_any(stress_worker *worker, int64_t n);

// Snapshots of the thread. The close is for the one that was opened last.
void stress_storm_open(kw_snapshot *snapshot);
void stress_storm_close(kw_snapshot *snapshot);
void stress_storm_read_under_snapshot(stress_worker *worker);

// Shared ones: enters what another thread has made, else now and then makes one, else gives way.
void stress_storm_read_shared(stress_worker *worker);

// Gives back what nobody has entered.
void stress_storm_empty_places(void);

#endif // STRESS_SCENARIOS_STORM_READER_H
