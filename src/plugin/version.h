// Versions: one loading of a plugin, from its copy to its unmapping.
//
// Layer:   plugin
// Threads: see the members. A version is brought up, and taken down, by one thread at a time.
// SPDX-License-Identifier: MIT
//
// Z1  While a version is serving, its library is open; from CLOSED on it is closed.
// Z2  The code of a version is unmapped only when its library has been drained and destroyed and
//     its stop has answered KW_OK.
// Z3  Whoever takes a version down has claimed it; nobody else touches its library then.
// Z4  The lock of plugins is never held while code of a plugin, the loader, or a wait runs. It is
//     taken before the writer lock, never inside it.

#ifndef KWI_PLUGIN_VERSION_H
#define KWI_PLUGIN_VERSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/plugin.h>

#include "base/role.h"
#include "plugin/copy.h"
#include "plugin/facts.h"

// The longest name and version of a descriptor.
#define KWI_PLUGIN_WORD_MAX 64

typedef struct kwi_plugin_version {
    // guard: immutable once the version is listed.
    kwi_plugin_copy *copy; // NULL: compiled in
    kwi_plugin_facts facts;
    char *load_name; // what the loader knows it by; NULL: compiled in
    kw_dispatcher *dispatcher;
    const kw_plugin_descriptor *source; // compiled in; else NULL
    bool keep_mapped;
    bool share_unique;
    const char *expected_name; // NULL: any. Borrowed while it is brought up, and not read later

    // guard: thread. Of whoever brings it up or takes it down; others read it from SERVING on.
    void *handle;
    bool is_stopped;       // or was never started: its stop is not called any more
    bool has_refused_stop; // when it was not wanted; nobody asks again
    bool has_thrown;
    kw_dispatcher *own_dispatcher;   // of an inspection; ends with the library
    kw_plugin_descriptor descriptor; // completed by zeros
    char name[KWI_PLUGIN_WORD_MAX + 1];
    char text[KWI_PLUGIN_WORD_MAX + 1];        // its version, for people
    char tensor_type[KWI_PLUGIN_WORD_MAX + 1]; // "" for any; cut if it is longer

    // guard: lock plugin, to take it away; else as above.
    kw_library *library;

    // guard: lock plugin.
    uint64_t number KWI_GUARDED_BY(kwi_role_plugin); // never used again
    uint32_t state KWI_GUARDED_BY(kwi_role_plugin);  // a kw_plugin_state
    uint32_t retention KWI_GUARDED_BY(kwi_role_plugin);
    bool is_claimed KWI_GUARDED_BY(kwi_role_plugin);
    pthread_t claimer KWI_GUARDED_BY(kwi_role_plugin);
    kw_plugin *plugin KWI_GUARDED_BY(kwi_role_plugin); // whose current version it is, or NULL
    struct kwi_plugin_version *next KWI_GUARDED_BY(kwi_role_plugin);
} kwi_plugin_version;

// Where a version comes from.
typedef struct kwi_plugin_source {
    const char *path;                       // a file, or
    const kwi_plugin_copy *copy;            // a copy that was kept, or
    const kw_plugin_descriptor *descriptor; // one that is compiled in
} kwi_plugin_source;

// Makes a version of a source: its copy and facts; nothing of it has run. It is not listed yet.
kw_status kwi_plugin_version_create(const kwi_plugin_source *source,
                                    const kw_plugin_options *options, kwi_plugin_version **out,
                                    kw_error *err);

// For a version that is not listed and not mapped.
void kwi_plugin_version_destroy(kwi_plugin_version *version);

// Maps a listed version and reads its descriptor, checked against this host.
kw_status kwi_plugin_version_map(kwi_plugin_version *version, kw_error *err);

// Registers a mapped version in one commit, which also closes `replaced` unless it is NULL. On
// failure nothing is registered and the plugin has been stopped.
kw_status kwi_plugin_version_start(kwi_plugin_version *version, const kwi_plugin_version *replaced,
                                   kw_error *err);

// Unmaps a version that has no library, as far as the loader lets it go. Returns the reasons for
// which it stays mapped; 0: it is gone.
uint32_t kwi_plugin_version_unmap(kwi_plugin_version *version);

// Whether its object is mapped; and whether it will or does stay so, as far as it can be told.
bool kwi_plugin_version_is_mapped(const kwi_plugin_version *version);

// Checks a descriptor against this host and fills in name, text and descriptor of the version.
// `bytes` is what the object reserves for it.
kw_status kwi_plugin_negotiate(kwi_plugin_version *version, const kw_plugin_descriptor *found,
                               uint64_t bytes, kw_error *err);

// Whether a plugin has the name that a loading of it expects; NULL is any.
kw_status kwi_plugin_check_name(const char *name, const char *expected_name, kw_error *err);

// The function table of this host.
const kw_plugin_api *kwi_plugin_api_table(void);

// Whether the table has a function of this name.
bool kwi_plugin_api_has(const char *name);

#endif // KWI_PLUGIN_VERSION_H
