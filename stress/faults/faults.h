// Seeded faults: the proof that the project's tests find what they are there to find.
//
// Layer:   stress
// Threads: the main thread; each trial is a process of its own.
// SPDX-License-Identifier: MIT

#ifndef STRESS_FAULTS_FAULTS_H
#define STRESS_FAULTS_FAULTS_H

#include <stdbool.h>

#include "driver/options.h"

// Proves `options->fault`, or every fault: tries its ways until one catches it, each after a run of
// the way without a fault, which must find nothing. Prints a table, writes `options->json`. False
// unless all are caught and no control found anything.
bool stress_faults_prove(const stress_options *options);

#endif // STRESS_FAULTS_FAULTS_H
