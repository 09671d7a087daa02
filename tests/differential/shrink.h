// Shrinking: the shortest part of a failing scenario that still fails in the same way.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_SHRINK_H
#define DIFFERENTIAL_SHRINK_H

#include <functional>

#include "scenario.h"

namespace differential {

using Fails = std::function<bool(const Scenario &)>;

// Delta debugging: takes out runs of statements, from halves down to single ones, then keys out of
// lists, and makes schemas plain, until nothing can go. `scenario` must fail.
Scenario shrink(Scenario scenario, const Fails &fails);

} // namespace differential

#endif // DIFFERENTIAL_SHRINK_H
