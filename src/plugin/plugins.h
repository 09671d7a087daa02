// Plugins: the handles, the list of versions, and the lock over both.
//
// Layer:   plugin
// Threads: under the lock of plugins, unless a function says otherwise.
// SPDX-License-Identifier: MIT
//
// P1  A plugin that is not closed has a current version; the version serves unless the plugin is
//     busy.
// P2  A plugin is busy while one thread loads, replaces or closes it; others wait for their turn.
// P3  Every version in memory is in the list, in the order of its number.

#ifndef KWI_PLUGIN_PLUGINS_H
#define KWI_PLUGIN_PLUGINS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/plugin.h>

#include "base/role.h"
#include "plugin/version.h"

struct kw_plugin {
    // guard: immutable.
    kw_dispatcher *dispatcher;

    // guard: lock plugin.
    kwi_plugin_version *current KWI_GUARDED_BY(kwi_role_plugin); // NULL: taken down
    kwi_plugin_copy *previous KWI_GUARDED_BY(kwi_role_plugin);   // for a rollback, or NULL
    uint32_t lease_count KWI_GUARDED_BY(kwi_role_plugin);
    bool is_pinned KWI_GUARDED_BY(kwi_role_plugin);
    bool is_closed KWI_GUARDED_BY(kwi_role_plugin);
    bool is_busy KWI_GUARDED_BY(kwi_role_plugin);
    pthread_t busy_thread KWI_GUARDED_BY(kwi_role_plugin);
    kw_plugin *next KWI_GUARDED_BY(kwi_role_plugin);
};

typedef struct kwi_plugins {
    kw_plugin *plugins;
    kwi_plugin_version *versions;
    uint64_t last_number;
    uint64_t loaded_count;
    uint64_t unmapped_count;
} kwi_plugins;

extern kwi_plugins kwi_the_plugins KWI_GUARDED_BY(kwi_role_plugin);

void kwi_plugins_lock(void) KWI_ACQUIRES(kwi_role_plugin);
void kwi_plugins_unlock(void) KWI_RELEASES(kwi_role_plugin);

// Gives up the lock until somebody tells of a change.
void kwi_plugins_wait(void) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugins_tell(void) KWI_REQUIRES(kwi_role_plugin);

// Waits until the plugin, of which the caller has a lease, is nobody's business.
// KW_WOULD_WAIT_FOR_SELF if it is the caller's; the second function only checks that.
kw_status kwi_plugin_wait_turn(const kw_plugin *plugin, kw_error *err)
    KWI_REQUIRES(kwi_role_plugin);
kw_status kwi_plugin_check_self(const kw_plugin *plugin, kw_error *err)
    KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_begin(kw_plugin *plugin) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_end(kw_plugin *plugin) KWI_REQUIRES(kwi_role_plugin);

// Puts a version, or a plugin, on its list, and takes it off. A claim is the calling thread's.
void kwi_plugin_version_list(kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_version_claim(kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_version_unlist(kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_list(kw_plugin *plugin) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_unlist(kw_plugin *plugin) KWI_REQUIRES(kwi_role_plugin);

// Frees a plugin that is on no list.
void kwi_plugin_free(kw_plugin *plugin) KWI_EXCLUDES(kwi_role_plugin);

// One reference to a copy more, or fewer; the last one ends it.
void kwi_plugin_copy_retain(kwi_plugin_copy *copy) KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_copy_release(kwi_plugin_copy *copy) KWI_EXCLUDES(kwi_role_plugin);

// Checks the options of a load or replacement. NULL stands for the defaults.
kw_status kwi_plugin_options_read(const kw_plugin_options *options, kw_plugin_options *out_options,
                                  kw_error *err);

// What is compiled in has one state: it cannot start while it serves elsewhere or is leaving.
kw_status kwi_plugin_check_static(const kwi_plugin_version *version, kw_error *err)
    KWI_REQUIRES(kwi_role_plugin);

// Maps and registers a listed version, in the place of `replaced` if that is not NULL. Afterwards
// it serves, or it is gone; `plugin`, whose busy thread calls this, is as it was. An exception from
// the plugin's code passes through: then it has been undone, and the plugin is not busy any more.
kw_status kwi_plugin_bring_up(kw_plugin *plugin, kwi_plugin_version *version,
                              const kwi_plugin_version *replaced, kw_error *err)
    KWI_EXCLUDES(kwi_role_plugin);

// Ends a version that is not wanted and of which nothing is registered: its library, its mapping
// and its place in the list, as far as nothing needs them; the rest is left to a later reap.
void kwi_plugin_give_up(kwi_plugin_version *version) KWI_EXCLUDES(kwi_role_plugin);

// Takes down a version that is closed and that the caller has claimed: drains, stops and disposes
// of it. On failure it is as far as it got, and not claimed any more.
kw_status kwi_plugin_take_down(kwi_plugin_version *version, uint64_t timeout_ns, kw_error *err)
    KWI_EXCLUDES(kwi_role_plugin);

// Runs the stop of a version. An exception from it passes through; then the version is given up.
kw_status kwi_plugin_run_stop(kwi_plugin_version *version, kw_error *err)
    KWI_EXCLUDES(kwi_role_plugin);

// Takes what nobody holds any more, without waiting.
void kwi_plugin_reap_quietly(void) KWI_EXCLUDES(kwi_role_plugin);

// Fails with a text that begins with the version's name and path.
kw_status kwi_plugin_fail(const kwi_plugin_version *version, kw_error *err, kw_status status,
                          const char *what, const kw_error *why);

// The bits for which a version stays mapped, or will.
uint32_t kwi_plugin_retention_of(const kwi_plugin_version *version);

#endif // KWI_PLUGIN_PLUGINS_H
