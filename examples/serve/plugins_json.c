// Plugins as JSON: the files of the folder, the versions in memory and what holds them.
//
// Layer:   example (uses plugins)
// Threads: any
// SPDX-License-Identifier: MIT

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugins.h"

// The name in serve_<name>.so; false for other files.
static bool name_of(const char *file, char out_name[SERVE_PLUGIN_NAME_BYTES])
{
    static const char prefix[] = "serve_";
    static const char suffix[] = ".so";
    const size_t length = strlen(file);
    const size_t around = sizeof prefix + sizeof suffix - 2;
    if (length <= around || length - around >= SERVE_PLUGIN_NAME_BYTES ||
        strncmp(file, prefix, sizeof prefix - 1) != 0 ||
        strcmp(file + length - (sizeof suffix - 1), suffix) != 0) {
        return false;
    }
    (void)snprintf(out_name, SERVE_PLUGIN_NAME_BYTES, "%.*s", (int)(length - around),
                   file + sizeof prefix - 1);
    return true;
}

static bool is_serving(serve_plugins *plugins, const char *name)
{
    bool is_found = false;
    (void)pthread_mutex_lock(&plugins->table_mutex);
    for (size_t i = 0; i < SERVE_PLUGINS_MAX; i++) {
        is_found = is_found || (plugins->serving[i].lease != NULL &&
                                strcmp(plugins->serving[i].name, name) == 0);
    }
    (void)pthread_mutex_unlock(&plugins->table_mutex);
    return is_found;
}

static bool is_changing(serve_plugins *plugins)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    const bool is_found = plugins->is_changing;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
    return is_found;
}

// Adds a file of the folder, if it may be a plugin.
static void add_file(serve_plugins *plugins, const char *file, json_t **files)
{
    char name[SERVE_PLUGIN_NAME_BYTES];
    char path[4096];
    struct stat about;
    if (!name_of(file, name)) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%s", plugins->folder, file);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return;
    }
    serve_json_append(files,
                      json_pack("{s:o, s:o, s:I, s:b}", "name", serve_json_text(name), "file",
                                serve_json_text(file), "bytes", (json_int_t)about.st_size, "loaded",
                                (int)is_serving(plugins, name)));
}

static json_t *describe_folder(serve_plugins *plugins)
{
    json_t *files = json_array();
    struct dirent **entries = NULL;
    const int count = scandir(plugins->folder, &entries, NULL, alphasort);
    if (count < 0 && errno == ENOMEM) {
        json_decref(files);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        add_file(plugins, entries[i]->d_name, &files);
        free(entries[i]);
    }
    free(entries);
    return files;
}

static const char *holder_kind(uint32_t kind)
{
    switch (kind) {
    case KW_HOLDER_CALL:
        return "call";
    case KW_HOLDER_SNAPSHOT:
        return "snapshot";
    case KW_HOLDER_SHARED_SNAPSHOT:
        return "shared snapshot";
    default:
        return "object";
    }
}

static void add_holder(const kw_holder *holder, void *context)
{
    json_t *json = json_pack("{s:s, s:I, s:o, s:I}", "kind", holder_kind(holder->kind), "thread",
                             (json_int_t)holder->thread_id, "operator", serve_json_text(holder->op),
                             "version", (json_int_t)holder->version);
    if (json != NULL && holder->age_ns != KW_AGE_UNKNOWN) {
        serve_json_set(&json, "age_ms", json_integer((json_int_t)(holder->age_ns / 1000000)));
    }
    serve_json_append(context, json);
}

typedef struct listing {
    serve_plugins *plugins;
    json_t *versions;
    bool is_quiet; // no change is being made meanwhile, so leases stay valid
} listing;

static uint64_t generation_of(serve_plugins *plugins, const kw_plugin *lease)
{
    uint64_t generation = 0;
    (void)pthread_mutex_lock(&plugins->table_mutex);
    for (size_t i = 0; i < SERVE_PLUGINS_MAX; i++) {
        if (lease != NULL && plugins->serving[i].lease == lease) {
            generation = plugins->serving[i].generation;
        } else if (lease != NULL && plugins->leaving[i].lease == lease) {
            generation = plugins->leaving[i].generation;
        }
    }
    (void)pthread_mutex_unlock(&plugins->table_mutex);
    return generation;
}

static void add_version(const kw_plugin_info *info, void *context)
{
    listing *list = context;
    const uint64_t generation = generation_of(list->plugins, info->plugin);
    const char *slash = strrchr(info->path, '/');
    json_t *json =
        json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:o}", "name",
                  serve_json_text(info->name), "version", serve_json_text(info->version), "state",
                  kw_plugin_state_name(info->state), "file",
                  serve_json_text(slash != NULL ? slash + 1 : info->path), "held_by",
                  serve_json_text(info->held_by), "retained", serve_json_text(info->retained),
                  "can_roll_back", (int)info->can_roll_back, "bytes", (json_int_t)info->bytes,
                  "registrations", (json_int_t)info->registration_count, "objects",
                  (json_int_t)info->object_count, "build_id", serve_json_text(info->build_id));
    if (generation != 0) {
        serve_json_set(&json, "generation", json_integer((json_int_t)generation));
    }
    const kw_library *library =
        list->is_quiet && info->plugin != NULL ? kw_plugin_library(info->plugin) : NULL;
    if (library != NULL) {
        json_t *holders = json_array();
        (void)!kw_library_holders(library, add_holder, &holders);
        serve_json_set(&json, "holders", holders);
    }
    serve_json_append(&list->versions, json);
}

static json_t *describe_figures(void)
{
    kw_plugin_statistics figures = {.struct_size = sizeof figures};
    kw_plugin_statistics_get(&figures);
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", "loaded", (json_int_t)figures.loaded_count, "unmapped",
        (json_int_t)figures.unmapped_count, "retained", (json_int_t)figures.retained_count,
        "serving", (json_int_t)figures.serving_count, "leaving", (json_int_t)figures.leaving_count);
}

json_t *serve_plugins_describe(serve_plugins *plugins)
{
    kw_error err = KW_ERROR_INIT;
    listing list = {.plugins = plugins, .versions = json_array()};
    list.is_quiet = pthread_rwlock_tryrdlock(&plugins->change_lock) == 0;
    const kw_status status = kw_plugin_list(add_version, &list, &err);
    if (list.is_quiet) {
        (void)pthread_rwlock_unlock(&plugins->change_lock);
    }
    if (status != KW_OK) {
        json_decref(list.versions);
        return NULL;
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:b}", "version", (json_int_t)kw_version(), "available",
                     describe_folder(plugins), "loaded", list.versions, "figures",
                     describe_figures(), "changing", (int)is_changing(plugins));
}
