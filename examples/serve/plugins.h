// Plugins: loads, replaces, rolls back and unloads the shared objects of one folder.
//
// Layer:   example (uses keyway/plugin.h, origin)
// Threads: any; changes are made one at a time, and may wait for calls to end
// SPDX-License-Identifier: MIT
//
// A plugin <name> is the file serve_<name>.so of the folder, or another file of it that a request
// names; nothing outside of the folder is loaded.

#ifndef SERVE_PLUGINS_H
#define SERVE_PLUGINS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/plugin.h>

#include "answer.h"
#include "network.h"
#include "origin.h"

enum {
    SERVE_PLUGINS_MAX = 32, // that serve, and again as many that leave
    SERVE_PLUGIN_NAME_BYTES = 48,
    SERVE_DRAIN_MS_DEFAULT = 2000,
    SERVE_DRAIN_MS_MAX = 60000
};

typedef struct serve_plugin {
    char name[SERVE_PLUGIN_NAME_BYTES];
    kw_plugin *lease; // NULL: the place is free
    uint64_t generation;
} serve_plugin;

typedef struct serve_plugins {
    kw_dispatcher *dispatcher;    // borrowed, as what follows. Set before the first change
    const serve_network *network; // the operators that plugins bring kernels for
    serve_origins *origins;
    const char *folder;
    pthread_rwlock_t change_lock;            // written for the whole of a change
    pthread_mutex_t table_mutex;             // taken after the other, held shortly
    serve_plugin serving[SERVE_PLUGINS_MAX]; // guard: both to write, either to read
    serve_plugin leaving[SERVE_PLUGINS_MAX]; // likewise; closed, and held by somebody
    uint64_t change_count;                   // guard: table_mutex, as what follows
    bool is_changing;                        // a request's change is being made
    bool is_closed;                          // no more changes are made
} serve_plugins;

typedef enum serve_change {
    SERVE_CHANGE_LOAD = 0,
    SERVE_CHANGE_REPLACE = 1,
    SERVE_CHANGE_ROLLBACK = 2,
    SERVE_CHANGE_UNLOAD = 3
} serve_change;

void serve_plugins_init(serve_plugins *plugins, const serve_network *network,
                        serve_origins *origins, const char *folder);

/// Refuses changes from here on, those that wait for their turn too.
void serve_plugins_close(serve_plugins *plugins);

/// Unloads every plugin, all of them within `timeout_ns`. If that fails `err` says what holds one.
/// No change is being made any more.
kw_status serve_plugins_fini(serve_plugins *plugins, uint64_t timeout_ns, kw_error *err);

/// Makes a change. `file` may be NULL.
serve_answer serve_plugins_change(serve_plugins *plugins, serve_change change, const char *name,
                                  const char *file, uint64_t drain_ns);

/// Takes down what has left by now. Does nothing while a change is made.
void serve_plugins_reap(serve_plugins *plugins);

/// How many changes were made, failed ones apart; also by serve_plugins_reap().
uint64_t serve_plugins_change_count(serve_plugins *plugins);

/// Returns files, versions in memory and figures as JSON; NULL: no memory. Never waits for a
/// change.
json_t *serve_plugins_describe(serve_plugins *plugins);

#endif // SERVE_PLUGINS_H
