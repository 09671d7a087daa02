// Proof: that each seeded fault is found.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_PROVE_H
#define EXPLORE_PROVE_H

#include "explore/options.h"

// With each fault, or that of the options, explores the cases until one finds it. The exit status:
// 0 all are found.
int explore_prove(const explore_options *options);

#endif // EXPLORE_PROVE_H
