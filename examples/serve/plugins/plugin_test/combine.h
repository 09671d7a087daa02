// Combine: plugins alone, in all ordered pairs, and all at once in several orders.
//
// Layer:   example (uses host, answers, operators)
// Threads: the one that started the host
// SPDX-License-Identifier: MIT

#ifndef PLUGIN_TEST_COMBINE_H
#define PLUGIN_TEST_COMBINE_H

#include "host.h"

/// Each plugin alone: images, operators with odd arguments, and weights that change.
void test_combine_alone(test_host *host);

/// Each ordered pair, and all at once in several orders.
void test_combine_all(test_host *host);

#endif // PLUGIN_TEST_COMBINE_H
