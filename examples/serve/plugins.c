// Plugins: loads, replaces, rolls back and unloads the shared objects of one folder.
//
// Layer:   example (uses keyway/plugin.h, origin)
// Threads: any
// SPDX-License-Identifier: MIT

#include "plugins.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"

// One change on its way.
typedef struct request {
    serve_plugins *plugins;
    serve_change change;
    const char *name;
    char path[4096];
    uint64_t drain_ns;
} request;

void serve_plugins_init(serve_plugins *plugins, const serve_network *network,
                        serve_origins *origins, const char *folder)
{
    *plugins = (serve_plugins){.network = network, .origins = origins, .folder = folder};
    // Changes come first, so that they are made at last, however often somebody looks.
    pthread_rwlockattr_t attributes;
    (void)pthread_rwlockattr_init(&attributes);
    (void)pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&plugins->change_lock, &attributes);
    (void)pthread_rwlockattr_destroy(&attributes);
    (void)pthread_mutex_init(&plugins->table_mutex, NULL);
}

static serve_plugin *find(serve_plugin *table, const char *name)
{
    for (size_t i = 0; i < SERVE_PLUGINS_MAX; i++) {
        if (table[i].lease != NULL && strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static serve_plugin *find_free(serve_plugin *table)
{
    for (size_t i = 0; i < SERVE_PLUGINS_MAX; i++) {
        if (table[i].lease == NULL) {
            return &table[i];
        }
    }
    return NULL;
}

static void set(serve_plugins *plugins, serve_plugin *place, const char *name, kw_plugin *lease,
                uint64_t generation)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    (void)snprintf(place->name, sizeof place->name, "%s", name);
    place->lease = lease;
    place->generation = generation;
    plugins->change_count++;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
}

static void clear(serve_plugins *plugins, serve_plugin *place)
{
    set(plugins, place, "", NULL, 0);
}

// What a change answers: the loading that serves, or that has left.
static serve_answer tell(const char *name, uint64_t generation, const char *state,
                         const char *held_by)
{
    return serve_answer_ok(json_pack(
        "{s:s, s:I, s:s, s:o, s:I}", "name", name, "generation", (json_int_t)generation, "state",
        state, "held_by", serve_json_text(held_by), "version", (json_int_t)kw_version()));
}

// A plugin's version that is held although another one serves.
typedef struct picture {
    const char *name;
    char held_by[KW_ERROR_BYTES]; // what holds a version of the name; "": nothing
} picture;

static void look(const kw_plugin_info *info, void *context)
{
    picture *seen = context;
    if (info->held_by[0] != '\0' && strcmp(info->name, seen->name) == 0) {
        (void)snprintf(seen->held_by, sizeof seen->held_by, "%s", info->held_by);
    }
}

static serve_answer load(const request *made)
{
    serve_plugins *plugins = made->plugins;
    serve_plugin *place = find_free(plugins->serving);
    if (place == NULL) {
        return serve_answer_error(409, "there is room for %d plugins; unload one first",
                                  SERVE_PLUGINS_MAX);
    }
    // The name: answers of the server name plugins, so none may go under the name of another.
    const kw_plugin_options options = {
        .struct_size = sizeof options, .dispatcher = plugins->dispatcher, .name = made->name};
    kw_error err = KW_ERROR_INIT;
    kw_plugin *lease = NULL;
    const uint64_t generation = serve_origins_begin(plugins->origins, plugins->network, made->name);
    const kw_status status = kw_plugin_load(made->path, &options, &lease, &err);
    if (status != KW_OK) {
        serve_origins_cancel(plugins->origins);
        return serve_answer_failure(status, err.text);
    }
    set(plugins, place, made->name, lease, generation);
    return tell(made->name, generation, "serving", "");
}

// The version that was replaced may be held still; it leaves by itself, and the answer says so.
static serve_answer exchange(const request *made, serve_plugin *place)
{
    serve_plugins *plugins = made->plugins;
    // snippet: replace
    const kw_plugin_options options = {.struct_size = sizeof options,
                                       .drain_ns = made->drain_ns,
                                       .keep_previous = true,
                                       .name = made->name};
    kw_error err = KW_ERROR_INIT;
    const uint64_t generation = serve_origins_begin(plugins->origins, plugins->network, made->name);
    const kw_status status = made->change == SERVE_CHANGE_REPLACE
                                 ? kw_plugin_replace(place->lease, made->path, &options, &err)
                                 : kw_plugin_rollback(place->lease, &options, &err);
    if (status != KW_OK) {
        serve_origins_cancel(plugins->origins);
        return made->change == SERVE_CHANGE_ROLLBACK && status == KW_NOT_FOUND
                   ? serve_answer_error(409, "%s", err.text) // nothing was kept
                   : serve_answer_failure(status, err.text);
    }
    // end of snippet
    picture seen = {.name = made->name};
    (void)!kw_plugin_list(look, &seen, &err); // no memory: nothing is known
    set(plugins, place, made->name, place->lease, generation);
    return tell(made->name, generation, "serving", seen.held_by);
}

static uint64_t retained_count(void)
{
    kw_plugin_statistics statistics = {.struct_size = sizeof statistics};
    kw_plugin_statistics_get(&statistics);
    return statistics.retained_count;
}

static serve_answer unload(const request *made, serve_plugin *place)
{
    serve_plugins *plugins = made->plugins;
    serve_plugin *leaving = find_free(plugins->leaving);
    if (leaving == NULL) {
        return serve_answer_error(409, "%d plugins are leaving, and all of them are held",
                                  SERVE_PLUGINS_MAX);
    }
    kw_error err = KW_ERROR_INIT;
    const uint64_t generation = place->generation;
    const uint64_t retained = retained_count();
    const kw_status status = kw_plugin_unload(place->lease, made->drain_ns, &err);
    if (status == KW_PLUGIN_PINNED) {
        return serve_answer_failure(status, err.text);
    }
    if (status != KW_OK) {
        // It is closed: no new call reaches it. Its lease is given back when nothing holds it.
        set(plugins, leaving, made->name, place->lease, generation);
        clear(plugins, place);
        serve_answer answer = tell(made->name, generation, "draining", err.text);
        answer.code = 202;
        return answer;
    }
    clear(plugins, place);
    return tell(made->name, generation, retained_count() > retained ? "retained" : "unmapped", "");
}

static serve_answer change(const request *made)
{
    serve_plugin *place = find(made->plugins->serving, made->name);
    if (made->change == SERVE_CHANGE_LOAD) {
        return place != NULL
                   ? serve_answer_error(409, "plugin %s serves already; replace it", made->name)
                   : load(made);
    }
    if (place == NULL) {
        return serve_answer_error(404, "no plugin %s is loaded", made->name);
    }
    return made->change == SERVE_CHANGE_UNLOAD ? unload(made, place) : exchange(made, place);
}

static bool is_name(const char *name)
{
    const size_t length =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return length > 0 && name[length] == '\0' && length < SERVE_PLUGIN_NAME_BYTES;
}

static bool is_file_name(const char *file)
{
    return file[0] != '\0' && file[0] != '.' && strchr(file, '/') == NULL && strlen(file) < 256;
}

static bool begin_change(serve_plugins *plugins)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    const bool is_open = !plugins->is_closed;
    plugins->is_changing = is_open;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
    return is_open;
}

static void end_change(serve_plugins *plugins)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    plugins->is_changing = false;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
}

serve_answer serve_plugins_change(serve_plugins *plugins, serve_change change_made,
                                  const char *name, const char *file, uint64_t drain_ns)
{
    request made = {.plugins = plugins, .change = change_made, .name = name, .drain_ns = drain_ns};
    if (!is_name(name)) {
        return serve_answer_error(404, "a plugin's name has letters, digits, - and _");
    }
    if (file != NULL && !is_file_name(file)) {
        return serve_answer_error(400, "file names a file of the plugin folder, without a path");
    }
    if (file != NULL) {
        (void)snprintf(made.path, sizeof made.path, "%s/%s", plugins->folder, file);
    } else {
        (void)snprintf(made.path, sizeof made.path, "%s/serve_%s.so", plugins->folder, name);
    }
    const bool needs_file = change_made == SERVE_CHANGE_LOAD || change_made == SERVE_CHANGE_REPLACE;
    if (needs_file && access(made.path, R_OK) != 0) {
        return serve_answer_error(404, "the plugin folder has no file %s",
                                  strrchr(made.path, '/') + 1);
    }
    (void)pthread_rwlock_wrlock(&plugins->change_lock);
    const serve_answer answer =
        begin_change(plugins) ? change(&made) : serve_answer_error(503, "the server is stopping");
    end_change(plugins);
    (void)pthread_rwlock_unlock(&plugins->change_lock);
    return answer;
}

void serve_plugins_close(serve_plugins *plugins)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    plugins->is_closed = true;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
}

void serve_plugins_reap(serve_plugins *plugins)
{
    if (pthread_rwlock_trywrlock(&plugins->change_lock) != 0) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    (void)!kw_plugin_reap(0, &err); // what is held is looked at again
    for (size_t i = 0; i < SERVE_PLUGINS_MAX; i++) {
        serve_plugin *place = &plugins->leaving[i];
        if (place->lease != NULL && kw_plugin_unload(place->lease, 0, &err) == KW_OK) {
            clear(plugins, place);
        }
    }
    (void)pthread_rwlock_unlock(&plugins->change_lock);
}

uint64_t serve_plugins_change_count(serve_plugins *plugins)
{
    (void)pthread_mutex_lock(&plugins->table_mutex);
    const uint64_t count = plugins->change_count;
    (void)pthread_mutex_unlock(&plugins->table_mutex);
    return count;
}

static uint64_t time_left(uint64_t until_ns)
{
    const uint64_t now_ns = serve_now_ns();
    return now_ns < until_ns ? until_ns - now_ns : 0;
}

kw_status serve_plugins_fini(serve_plugins *plugins, uint64_t timeout_ns, kw_error *err)
{
    const uint64_t until_ns = serve_now_ns() + timeout_ns;
    kw_status first = KW_OK;
    for (size_t i = 0; i < (size_t)2 * SERVE_PLUGINS_MAX; i++) {
        serve_plugin *place =
            i < SERVE_PLUGINS_MAX ? &plugins->serving[i] : &plugins->leaving[i - SERVE_PLUGINS_MAX];
        if (place->lease == NULL) {
            continue;
        }
        kw_error one = KW_ERROR_INIT;
        const kw_status status = kw_plugin_unload(place->lease, time_left(until_ns), &one);
        if (status == KW_OK) {
            clear(plugins, place);
        } else if (first == KW_OK) {
            first = status;
            *err = one;
        }
    }
    if (first == KW_OK) {
        first = kw_plugin_reap(time_left(until_ns), err);
    }
    (void)pthread_mutex_destroy(&plugins->table_mutex);
    (void)pthread_rwlock_destroy(&plugins->change_lock);
    return first;
}
