// Seeded faults: the proof that the driver finds what it is there to find.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

#include <stdbool.h>

#include "options.h"

// Runs this program once without a fault, which must find nothing, and once with each fault, which
// must be caught within `options->seconds`. Prints a table; true if all is as it should be.
bool stress_faults_prove(const stress_options *options);

#endif // STRESS_FAULTS_H
