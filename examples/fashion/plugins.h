// Plugins: loads, replaces, rolls back and unloads kernel libraries under running calls.
//
// Layer:     example (uses crowd, options)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_PLUGINS_H
#define FASHION_PLUGINS_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/plugin.h>

#include "options.h"

// One round of changes; each covers the program's own kernels, or uncovers them.
typedef enum fashion_plugin_step {
    FASHION_PLUGIN_LOAD = 0,      // the plain kernels
    FASHION_PLUGIN_REPLACE = 1,   // by those of OpenBLAS
    FASHION_PLUGIN_ROLL_BACK = 2, // to the plain ones
    FASHION_PLUGIN_UNLOAD = 3,
    FASHION_PLUGIN_STEP_COUNT = 4,
} fashion_plugin_step;

enum {
    FASHION_PLUGIN_PATH_BYTES = 1024
};

/// What Keyway holds at one moment, with nothing waiting to be freed.
typedef struct fashion_footprint {
    uint64_t bytes;   // that the library has allocated
    uint64_t kernels; // that are alive
} fashion_footprint;

typedef struct fashion_plugins {
    kw_dispatcher *dispatcher; // borrowed
    char plain_path[FASHION_PLUGIN_PATH_BYTES];
    char openblas_path[FASHION_PLUGIN_PATH_BYTES];
    kw_plugin *plugin; // a lease; NULL: none is loaded
    fashion_plugin_step next;
    uint64_t counts[FASHION_PLUGIN_STEP_COUNT]; // that succeeded
    fashion_footprint before;
} fashion_plugins;

/// Figures of all that the plugins did, after the last one has gone.
typedef struct fashion_plugins_result {
    uint64_t counts[FASHION_PLUGIN_STEP_COUNT];
    uint64_t served_count;   // versions that have served
    uint64_t unmapped_count; // of these, gone from memory
    uint64_t retained_count; // of these, stopped and still mapped
    fashion_footprint before;
    fashion_footprint after;
    char why[KW_ERROR_BYTES]; // what keeps a version that is not unmapped; empty: nothing
} fashion_plugins_result;

/// Finds the files. Makes no change yet.
kw_status fashion_plugins_init(fashion_plugins *plugins, kw_dispatcher *dispatcher,
                               const fashion_options *options, kw_error *err);

/// Notes what Keyway holds without plugins, once its working memory fits so many threads; to be
/// called before the first change.
kw_status fashion_plugins_measure(fashion_plugins *plugins, size_t thread_count, kw_error *err);

/// Makes the next change. If it fails, the same one is next again.
kw_status fashion_plugins_step(fashion_plugins *plugins, kw_error *err);

/// Unloads what is loaded, and waits, for a limited time, until all versions have gone.
kw_status fashion_plugins_end(fashion_plugins *plugins, kw_error *err);

/// Reads the figures. Call it after the end.
fashion_plugins_result fashion_plugins_read(const fashion_plugins *plugins);

/// Returns how many versions are in memory, plus one each if bytes or kernels are not what they
/// were; 0: nothing stayed.
uint64_t fashion_plugins_stayed_count(const fashion_plugins_result *result);

#endif // FASHION_PLUGINS_H
