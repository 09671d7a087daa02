// The host of the plugin tests: the fixture of the concurrency tests, and short ways to plugins.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT
//
// A program takes the argument --keep-mapped: then no plugin is unmapped, so that reports of the
// sanitizers keep their names. Or it takes --fault and the name of a seeded fault.

#ifndef TESTS_PLUGINS_HOST_H
#define TESTS_PLUGINS_HOST_H

#include <keyway/plugin.h>

#include "concurrency/fixture.h"

// Path of a plugin of the tests by its name; in a buffer that the next calls but seven reuse.
const char *host_path(const char *name);

void host_begin(int argc, char **argv);
int host_end(void);

// Whether plugins of this run are unmapped.
bool host_unmaps(void);

kw_plugin_options host_options(void);

// Loads and replaces that must succeed.
kw_plugin *host_load(const char *path);
void host_replace(kw_plugin *plugin, const char *path);

// Unloads that must succeed, and loads that must fail with a text that has `piece`.
void host_unload(kw_plugin *plugin);
void host_refuse(const char *path, kw_status status, const char *piece);

// Calls p::f, through its layer if it has one, and checks what it adds; 0 stands for any failure.
void host_expect(int64_t value);
int64_t host_answer(void);

// The info of the newest version with this name; false if there is none. Texts are cut.
typedef struct host_info {
    uint32_t state;
    uint32_t lease_count;
    uint32_t retention;
    uint64_t registration_count;
    bool is_current;
    bool can_roll_back;
    char version[32];
    char path[256];
    char build_id[80];
    char held_by[256];
    char retained[256];
} host_info;
bool host_find(const char *name, host_info *out_info);

// The state of that version; 0 if there is none.
uint32_t host_state(const char *name);

kw_plugin_statistics host_statistics(void);

// Bytes the library holds, without the scratch memory of the reclaim pass.
uint64_t host_live_bytes(void);

// Mappings of the process, and of plugins of ours among them.
unsigned host_mapping_count(void);

// A folder of its own for each program, removed at the end with what is in it.
const char *host_folder(void);

// Copies a file: to a new inode, or over the old one's bytes.
void host_copy(const char *from, const char *to);
void host_overwrite(const char *from, const char *to);

#endif // TESTS_PLUGINS_HOST_H
