// Test host: a dispatcher with the server's operators and built-in kernels, for the tests of single
// plugins.
//
// Layer:   example (uses the server's builtin.h, network.h)
// Threads: one
// SPDX-License-Identifier: MIT

#ifndef SERVE_TEST_HOST_H
#define SERVE_TEST_HOST_H

#include <fashion/weights.h>
#include <stdbool.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/library.h>
#include <keyway/plugin.h>
#include <keyway/tensor_view.h>

#include "network.h"
#include "test_failure.h"

typedef struct test_host {
    kw_dispatcher *dispatcher;
    kw_library *builtin;
    serve_network network; // operators, and parameters once there are weights
    kw_plugin *plugin;     // NULL: none is loaded
    unsigned long long seed;
    unsigned failures;
} test_host;

/// Notes a failure, with a sentence, unless `is_true`. Returns `is_true`.
bool test_check(test_host *host, bool is_true, const char *format, ...) KW_PRINTF(3, 4);

/// Starts without a plugin, with the weights of the data folder.
void test_host_start(test_host *host, const char *data_folder);

/// Ends everything, and checks that no tensor is left. Returns the program's exit status.
int test_host_stop(test_host *host);

void test_host_load(test_host *host, const char *path);

/// Unloads, and checks that nothing of the plugin is left.
void test_host_unload(test_host *host);

/// A contiguous float32 tensor of the CPU with numbers from -1 to 1.
kw_tensor *test_random(test_host *host, uint32_t dim, const int64_t *sizes);

/// The same with numbers that lie apart in a larger storage: each second of every dimension, in the
/// reverse order of dimensions.
kw_tensor *test_random_apart(test_host *host, uint32_t dim, const int64_t *sizes);

/// A copy on the CPU, contiguous.
kw_tensor *test_plain(kw_tensor *tensor);

/// Whether two tensors have the same sizes, and elements that differ by `distance` at most.
bool test_is_close(kw_tensor *a, kw_tensor *b, double distance);

#endif // SERVE_TEST_HOST_H
