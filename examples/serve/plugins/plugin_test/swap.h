// Swap: plugins come, go and are exchanged while threads answer, round after round.
//
// Layer:   example (uses host, answers)
// Threads: the one that started the host changes; it starts others that answer
// SPDX-License-Identifier: MIT

#ifndef PLUGIN_TEST_SWAP_H
#define PLUGIN_TEST_SWAP_H

#include "host.h"

/// Makes the rounds. Between them nothing is loaded and nobody calls, and memory is what it was
/// after the rounds before.
void test_swap_rounds(test_host *host);

#endif // PLUGIN_TEST_SWAP_H
