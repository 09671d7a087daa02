// The host of the plugin tests: the fixture of the concurrency tests, and short ways to plugins.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include "plugins/host.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/yield.h"
#include "registry/world.h"

static bool keep_mapped;
static char folder[256];

const char *host_path(const char *name)
{
    static _Thread_local char paths[8][512];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s.so", PLUGIN_FOLDER, name);
    return path;
}

// The seeded fault of this name, which the tests are to find.
static void switch_on(const char *name)
{
    static const char *const names[] = {
#define FAULT_NAME(fault, text) text,
        KWI_FAULT_LIST(FAULT_NAME)
#undef FAULT_NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            kwi_fault_set((kwi_fault)i);
            return;
        }
    }
    (void)fprintf(stderr, "there is no fault %s\n", name);
    exit(2);
}

void host_begin(int argc, char **argv)
{
    keep_mapped = argc > 1 && strcmp(argv[1], "--keep-mapped") == 0;
    if (argc > 2 && strcmp(argv[1], "--fault") == 0) {
        switch_on(argv[2]);
    }
    (void)snprintf(folder, sizeof folder, "%s/files-XXXXXX", PLUGIN_FOLDER);
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    fixture_begin();
}

static void remove_folder(void)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(list);
    (void)rmdir(folder);
}

int host_end(void)
{
    remove_folder();
    return fixture_end();
}

bool host_unmaps(void)
{
    return !keep_mapped;
}

kw_plugin_options host_options(void)
{
    return (kw_plugin_options){
        .struct_size = sizeof(kw_plugin_options),
        .dispatcher = fixture_dispatcher,
        .keep_mapped = keep_mapped,
        .share_unique = keep_mapped, // versions are then mapped side by side in any case
    };
}

kw_plugin *host_load(const char *path)
{
    const kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    MUST(kw_plugin_load(path, &options, &plugin, &err));
    return plugin;
}

void host_replace(kw_plugin *plugin, const char *path)
{
    kw_plugin_options options = host_options();
    options.drain_ns = KW_FOREVER;
    MUST(kw_plugin_replace(plugin, path, &options, &err));
}

void host_unload(kw_plugin *plugin)
{
    MUST(kw_plugin_unload(plugin, KW_FOREVER, &err));
}

void host_refuse(const char *path, kw_status status, const char *piece)
{
    const kw_plugin_options options = host_options();
    kw_error err = KW_ERROR_INIT;
    kw_plugin *plugin = NULL;
    kw_status got = kw_plugin_load(path, &options, &plugin, &err);
    CHECK(got == status, "%s gives %s: %s", path, kw_status_name(got), err.text);
    CHECK(plugin == NULL, "%s leaves a plugin", path);
    CHECK(strstr(err.text, piece) != NULL, "\"%s\" is not in: %s", piece, err.text);
}

int64_t host_answer(void)
{
    const kw_operator *op = NULL;
    if (kw_operator_find_typed(fixture_dispatcher, "p::f", TYPED_SIGNATURE, &op, NULL) != KW_OK) {
        return 0;
    }
    // Through the layer, of those that have one.
    kw_keyset keys = keys_of(KW_KEY_CPU);
    if (kw_operator_has_kernel(op, KW_KEY_Tracer)) {
        keys = kw_keyset_add(keys, KW_KEY_Tracer);
    }
    tensor x = typed_tensor(keys);
    int64_t answer = 0;
    return typed_call(op, &x, 1000, &answer) == KW_OK ? answer - 1000 : 0;
}

void host_expect(int64_t value)
{
    int64_t answer = host_answer();
    CHECK(answer == value, "p::f adds %lld, not %lld", (long long)answer, (long long)value);
}

typedef struct search {
    const char *name;
    host_info *info;
    bool is_found;
} search;

static void look(const kw_plugin_info *info, void *context)
{
    search *wanted = context;
    if (strcmp(info->name, wanted->name) != 0) {
        return;
    }
    wanted->is_found = true;
    host_info *out = wanted->info;
    out->state = info->state;
    out->lease_count = info->lease_count;
    out->retention = info->retention;
    out->registration_count = info->registration_count;
    out->is_current = info->plugin != NULL;
    out->can_roll_back = info->can_roll_back;
    (void)snprintf(out->version, sizeof out->version, "%s", info->version);
    (void)snprintf(out->path, sizeof out->path, "%s", info->path);
    (void)snprintf(out->build_id, sizeof out->build_id, "%s", info->build_id);
    (void)snprintf(out->held_by, sizeof out->held_by, "%.250s", info->held_by);
    (void)snprintf(out->retained, sizeof out->retained, "%.250s", info->retained);
}

bool host_find(const char *name, host_info *out_info)
{
    search wanted = {.name = name, .info = out_info};
    *out_info = (host_info){.state = 0};
    MUST(kw_plugin_list(look, &wanted, &err));
    return wanted.is_found;
}

uint32_t host_state(const char *name)
{
    host_info info;
    return host_find(name, &info) ? info.state : 0;
}

kw_plugin_statistics host_statistics(void)
{
    kw_plugin_statistics figures = {.struct_size = sizeof figures};
    kw_plugin_statistics_get(&figures);
    return figures;
}

uint64_t host_live_bytes(void)
{
    kwi_world_lock();
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    size_t scratch = reclaimer->pins.capacity + reclaimer->announced.capacity;
    kwi_world_unlock();
    return kwi_memory_bytes() - scratch * sizeof(uint64_t);
}

unsigned host_mapping_count(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned count = 0;
    char line[4096];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        count += strstr(line, "keyway-plugin") != NULL ? 1 : 0;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return count;
}

const char *host_folder(void)
{
    return folder;
}

static void write_file(const char *from, const char *to, const char *mode)
{
    FILE *source = fopen(from, "rb");
    FILE *target = fopen(to, mode);
    char chunk[4096];
    size_t length;
    if (source == NULL || target == NULL) {
        abort();
    }
    while ((length = fread(chunk, 1, sizeof chunk, source)) > 0) {
        if (fwrite(chunk, 1, length, target) != length) {
            abort();
        }
    }
    (void)fclose(source);
    (void)fclose(target);
}

void host_copy(const char *from, const char *to)
{
    (void)unlink(to);
    write_file(from, to, "wb");
}

void host_overwrite(const char *from, const char *to)
{
    write_file(from, to, "r+b");
}
