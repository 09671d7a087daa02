// Host: what the server has, without its ports: operators, network, plugins, and what answers
// should be.
//
// Layer:   example (uses all of the server but HTTP)
// Threads: one starts it, changes it and ends it; failures are noted by any
// SPDX-License-Identifier: MIT

#ifndef PLUGIN_TEST_HOST_H
#define PLUGIN_TEST_HOST_H

#include <fashion/dataset.h>
#include <fashion/reference.h>
#include <fashion/weights.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/library.h>

#include "network.h"
#include "origin.h"
#include "plugins.h"
#include "watch.h"

enum {
    HOST_PLUGINS_MAX = 16,
    HOST_WEIGHT_SETS = 2,
    HOST_WHY_BYTES = 768
};

/// What the command line says.
typedef struct test_options {
    const char *plugin_folder;
    const char *data_folder;
    const char *only;      // names between commas; "": all of the folder
    const char *inexact;   // names of plugins whose answers need not be those of float kernels
    double agreement;      // the share of their answers that have the reference's class, at least
    double logit_distance; // how far their logits may be from the reference's
    size_t image_count;    // of a plugin alone
    size_t pair_count;     // of each pair, and of each order of all; 0: no pairs, and one image
    size_t round_count;    // rounds of changes under calls
    size_t change_count;   // changes in each
    uint64_t drain_ns;     // how long a plugin that leaves may take
    unsigned long long seed;
} test_options;

typedef struct test_host {
    test_options options;
    kw_dispatcher *dispatcher;
    kw_library *builtin;
    uint64_t listener;
    fashion_dataset dataset;
    fashion_reference reference;
    fashion_weights weights[HOST_WEIGHT_SETS];
    size_t weight_set; // which of them the network has
    serve_network network;
    serve_watch watch;
    serve_origins origins;
    serve_plugins plugins;
    char names[HOST_PLUGINS_MAX][SERVE_PLUGIN_NAME_BYTES]; // of the folder, in alphabetical order
    size_t name_count;

    atomic_uint failure_count;
    atomic_ullong answer_count;
    atomic_ullong batch_count;
    atomic_ullong inexact_count; // answers of inexact plugins, and those with the right class
    atomic_ullong agreeing_count;
} test_host;

/// Notes a failure with a sentence; the first ones are printed.
void test_fail(test_host *host, const char *format, ...) KW_PRINTF(2, 3);

/// Starts everything, or exits with a sentence: the test cannot be made then.
void test_host_start(test_host *host, const test_options *options);

/// Ends everything; whatever does not end is a failure.
void test_host_stop(test_host *host);

/// Makes a change of a plugin. Returns whether it was made; else `out_why`, if not NULL, has a
/// sentence.
bool test_host_change(test_host *host, serve_change change, const char *name,
                      char out_why[HOST_WHY_BYTES]);

/// Loads, or unloads and expects that nothing of it is left in memory; failures are noted.
bool test_host_load(test_host *host, const char *name);
void test_host_unload(test_host *host, const char *name);

/// Gives the network other weights, which are new tensors. Answers are the same, but all logits
/// twice as large with the second set: see Note [Two sets of weights].
void test_host_change_weights(test_host *host, size_t weight_set);

/// What the logits of the set are, as a multiple of the reference's.
float test_host_logit_scale(const test_host *host);

/// Whether a name is in a list of names between commas.
bool test_host_is_listed(const char *names, const char *name);

#endif // PLUGIN_TEST_HOST_H
