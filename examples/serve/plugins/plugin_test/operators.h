// Operators: calls of one operator after another, with arguments that the network does not have.
//
// Layer:   example (uses host, the generated nn.h)
// Threads: the one that started the host
// SPDX-License-Identifier: MIT

#ifndef PLUGIN_TEST_OPERATORS_H
#define PLUGIN_TEST_OPERATORS_H

#include "host.h"

/// Calls every operator, and compares the results with plain maths. A kernel may refuse what it
/// cannot take, with a sentence; it may not answer anything else. `loaded` says in sentences which
/// plugins are loaded, `is_exact` that none of them is inexact, and `with_canary` that everything
/// is called with the canary's include set, too.
void test_operators_check(test_host *host, const char *loaded, bool is_exact, bool with_canary);

#endif // PLUGIN_TEST_OPERATORS_H
