// Test cycles: a plugin comes and goes while threads run the network.
//
// Layer:   example (uses test_host)
// Threads: one calls it, and it starts others
// SPDX-License-Identifier: MIT

#ifndef SERVE_TEST_CYCLES_H
#define SERVE_TEST_CYCLES_H

#include "test_host.h"

enum {
    TEST_IMAGES = 2 // of the sample, which each call classifies
};

/// Loads, replaces and unloads a plugin `count` times, and checks that no call fails, that all
/// logits are within `distance` of the recorded ones, that the plugin leaves each time, and that
/// the memory of the second half is that of the first.
void test_cycles(test_host *host, const char *path, const char *data_folder, unsigned count,
                 float distance);

#endif // SERVE_TEST_CYCLES_H
