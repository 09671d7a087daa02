// The subject: a dispatcher of Keyway's, with the original's in-tree fallbacks.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_SUBJECT_H
#define DIFFERENTIAL_SUBJECT_H

#include <memory>
#include <vector>

#include "side.h"

namespace differential {

// Makes a bare dispatcher with `fallbacks`. Throws std::runtime_error if Keyway refuses what it
// must not; so do the side's functions.
std::unique_ptr<Side> make_subject(const std::vector<InTree> &fallbacks);

} // namespace differential

#endif // DIFFERENTIAL_SUBJECT_H
