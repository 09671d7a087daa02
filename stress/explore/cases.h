// Cases: small pieces of a program whose every order of steps is run.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_CASES_H
#define EXPLORE_CASES_H

#include "explore/engine.h"

extern const explore_case *const explore_cases[]; // ends with NULL

#define EXPLORE_CASE_LIST(X)                                                                       \
    X(replace)                                                                                     \
    X(plain)                                                                                       \
    X(deferred)                                                                                    \
    X(writers)                                                                                     \
    X(snapshot)                                                                                    \
    X(nested_pin)                                                                                  \
    X(closing)                                                                                     \
    X(middle)                                                                                      \
    X(handover)                                                                                    \
    X(nested)                                                                                      \
    X(redispatch)                                                                                  \
    X(fallthrough)                                                                                 \
    X(signal)                                                                                      \
    X(thread_end)                                                                                  \
    X(drain)                                                                                       \
    X(burial)                                                                                      \
    X(closed)                                                                                      \
    X(lease)                                                                                       \
    X(drains)                                                                                      \
    X(redefine)                                                                                    \
    X(wait)

#define EXPLORE_CASE_DECLARATION(name) extern const explore_case explore_case_##name;
EXPLORE_CASE_LIST(EXPLORE_CASE_DECLARATION)
#undef EXPLORE_CASE_DECLARATION

// NULL: there is none of the name.
const explore_case *explore_case_find(const char *name);

#endif // EXPLORE_CASES_H
