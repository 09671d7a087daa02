// Plugins: shared objects are loaded, replaced, rolled back and unloaded under calls.
//
// Layer:   stress
// Threads: callers, and one writer for each line of plugins.
// SPDX-License-Identifier: MIT
//
// It imitates a server whose kernels are updated while it serves. Each loading has a number, which
// its start gets by a call and its kernels answer, so that every answer tells which loading it is
// of. Loads that fail come in between and must change nothing. What runs too late meets destroyed
// data, a stop that sees it, or no code at all. At the end nothing is mapped, open or allocated
// that was not before.

#include "scenarios/plugins.h"

#include <stdio.h>
#include <string.h>

#include <keyway/snapshot.h>

#include "concurrency/typed.h"
#include "driver/process.h"
#include "driver/scenario.h"
#include "objects/family.h"
#include "shared/group.h"
#include "shared/subject.h"

#define VERSIONS 3
#define REST_US 2000
#define NS_OF_MS UINT64_C(1000000)
#define PATH_BYTES 4096

stress_line stress_lines[STRESS_LINES] = {{.name = "alpha"}, {.name = "beta"}, {.name = "gamma"}};
kw_dispatcher *stress_plugins_dispatcher;

static kw_library *base;
static _Thread_local uint64_t loading; // what the start that the thread runs is the number of

// The host's operators ---------------------------------------------------------------------------

static kw_status kernel_loading(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    (void)n;
    *out_0 = (int64_t)loading;
    return KW_OK;
}

static kw_status kernel_rest(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    stress_pause_us(stress_random(stress_worker_self(), REST_US));
    *out_0 = n;
    return KW_OK;
}

static void define(const char *name, typed_function function)
{
    kw_error err = KW_ERROR_INIT;
    char schema[96];
    (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name);
    const kw_definition definition = KW_DEFINE(schema);
    (void)stress_expect(kw_library_define(base, &definition, NULL, &err), "defining an operator",
                        &err);
    if (function != NULL) {
        const kw_kernel_descriptor kernel = KW_UNBOXED(FAMILY_SIGNATURE, function);
        (void)stress_expect(kw_library_impl(base, name, KW_KEY_CPU, &kernel, NULL, &err),
                            "adding a kernel of the host", &err);
    }
}

// Histories --------------------------------------------------------------------------------------

// Before a commit that brings the loading `id`; 0 takes the line away.
static uint64_t enter(stress_line *line, uint64_t id)
{
    const stress_facts facts = {.cpu = id, .autograd = id, .is_visible = true, .is_defined = true};
    uint64_t before = kw_version();
    for (unsigned i = 0; i < STRESS_LINE_OPS; i++) {
        stress_history_enter(&line->histories[i], &facts);
    }
    return before;
}

static void settle(stress_line *line, uint64_t before)
{
    uint64_t latest = kw_version();
    for (unsigned i = 0; i < STRESS_LINE_OPS; i++) {
        stress_history_settle(&line->histories[i], before + 1, latest);
    }
}

// The writers ------------------------------------------------------------------------------------

static void name_object(const stress_line *line, unsigned version, const char *form, char *path)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s%u", line->name, form, version);
    stress_object_path(name, path, PATH_BYTES);
}

static kw_plugin_options options_of(stress_worker *worker)
{
    return (kw_plugin_options){
        .struct_size = sizeof(kw_plugin_options),
        .dispatcher = stress_plugins_dispatcher,
        .drain_ns = stress_chance(worker, 2) ? stress_random(worker, 4) * NS_OF_MS : KW_FOREVER,
        .keep_previous = stress_chance(worker, 2),
    };
}

static void load(stress_line *line, stress_worker *worker)
{
    const kw_plugin_options options = options_of(worker);
    kw_error err = KW_ERROR_INIT;
    char path[PATH_BYTES];
    line->version = 1 + stress_random(worker, VERSIONS);
    name_object(line, line->version, "", path);
    loading = stress_subject_fresh_id();
    uint64_t before = enter(line, loading);
    if (!stress_expect(kw_plugin_load(path, &options, &line->plugin, &err), "loading a plugin",
                       &err)) {
        stress_give_up("a plugin cannot be loaded");
    }
    settle(line, before);
    line->lease_count = 1;
    line->can_roll_back = false;
    stress_count_add(STRESS_LOAD);
}

static void replace(stress_line *line, stress_worker *worker)
{
    const kw_plugin_options options = options_of(worker);
    kw_error err = KW_ERROR_INIT;
    char path[PATH_BYTES];
    line->version = 1 + stress_random(worker, VERSIONS); // the same file too
    name_object(line, line->version, "", path);
    loading = stress_subject_fresh_id();
    uint64_t before = enter(line, loading);
    (void)stress_expect(kw_plugin_replace(line->plugin, path, &options, &err), "replacing a plugin",
                        &err);
    settle(line, before);
    line->can_roll_back = options.keep_previous;
    stress_count_add(STRESS_REPLACE);
}

static void roll_back(stress_line *line, stress_worker *worker)
{
    const kw_plugin_options options = options_of(worker);
    kw_error err = KW_ERROR_INIT;
    if (!line->can_roll_back) {
        kw_status status = kw_plugin_rollback(line->plugin, &options, &err);
        if (status != KW_NOT_FOUND) {
            stress_violation("status", "a rollback without a copy answers %s: %s",
                             kw_status_name(status), err.text);
        }
        stress_count_add(STRESS_LOAD_REFUSED);
        return;
    }
    loading = stress_subject_fresh_id();
    uint64_t before = enter(line, loading);
    (void)stress_expect(kw_plugin_rollback(line->plugin, &options, &err), "rolling a plugin back",
                        &err);
    settle(line, before);
    line->can_roll_back = options.keep_previous;
    line->version = 0; // of whichever file that was
    stress_count_add(STRESS_ROLL_BACK);
}

// What must fail, and how.
static const struct evil {
    const char *form; // of the object's name; NULL: there is no file
    kw_status status;
} evils[] = {
    {"evil", FAMILY_UNREADY},
    {"evil", KW_ALREADY_DEFINED},
    {"evil", KW_PLUGIN_MISMATCH},
    {"absent", KW_FILE_NOT_READABLE},
};

static void fail_to_load(stress_line *line, stress_worker *worker)
{
    const kw_plugin_options options = options_of(worker);
    unsigned which = stress_random(worker, sizeof evils / sizeof evils[0]);
    kw_error err = KW_ERROR_INIT;
    kw_plugin *plugin = NULL;
    char path[PATH_BYTES];
    name_object(line, which + 1, evils[which].form, path);
    kw_status status = line->plugin == NULL ? kw_plugin_load(path, &options, &plugin, &err)
                                            : kw_plugin_replace(line->plugin, path, &options, &err);
    if (status != evils[which].status || plugin != NULL) {
        stress_violation("status", "%s gives %s, not %s: %s", path, kw_status_name(status),
                         kw_status_name(evils[which].status), err.text);
    }
    stress_count_add(STRESS_LOAD_REFUSED);
}

// The same file again: the same plugin, one lease more.
static void lease(stress_line *line, stress_worker *worker)
{
    const kw_plugin_options options = options_of(worker);
    kw_error err = KW_ERROR_INIT;
    kw_plugin *again = NULL;
    char path[PATH_BYTES];
    if (line->version == 0 || line->lease_count > 3) {
        return;
    }
    name_object(line, line->version, "", path);
    (void)stress_expect(kw_plugin_load(path, &options, &again, &err), "loading a plugin again",
                        &err);
    if (again != line->plugin) {
        stress_violation("answer", "the same file gives two plugins");
    }
    line->lease_count++;
}

static void give_back_leases(stress_line *line)
{
    kw_error err = KW_ERROR_INIT;
    while (line->lease_count > 1) {
        (void)stress_expect(kw_plugin_unload(line->plugin, 0, &err), "giving a lease back", &err);
        line->lease_count--;
    }
}

// Tries with patience or without; in between the plugin is closed and not gone.
static void unload(stress_line *line, stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    give_back_leases(line);
    uint64_t before = enter(line, 0);
    uint64_t timeout_ns =
        stress_chance(worker, 2) ? stress_random(worker, 3) * NS_OF_MS : KW_FOREVER;
    kw_status status = kw_plugin_unload(line->plugin, timeout_ns, &err);
    settle(line, before);
    while (status == KW_BUSY && timeout_ns != KW_FOREVER) {
        stress_count_add(STRESS_STILL_USED);
        timeout_ns = stress_chance(worker, 4) ? KW_FOREVER : NS_OF_MS;
        status = kw_plugin_unload(line->plugin, timeout_ns, &err);
    }
    if (!stress_expect(status, "unloading a plugin", &err)) {
        stress_give_up("a plugin cannot be unloaded");
    }
    line->plugin = NULL;
    stress_count_add(STRESS_UNLOAD);
}

static void look(const kw_plugin_info *info, void *context)
{
    (void)context;
    if (info->retained[0] != '\0') {
        stress_violation("leak", "plugin %s %s stays mapped: %s", info->name, info->version,
                         info->retained);
    }
}

static void look_at_all(void)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_plugin_list(look, NULL, &err), "listing plugins", &err);
}

static void change(stress_line *line, stress_worker *worker)
{
    uint32_t dice = stress_random(worker, 16);
    if (dice < 2) {
        fail_to_load(line, worker);
    } else if (line->plugin == NULL) {
        load(line, worker);
    } else if (dice < 5) {
        unload(line, worker);
    } else if (dice < 8) {
        roll_back(line, worker);
    } else if (dice < 10) {
        lease(line, worker);
    } else {
        replace(line, worker);
    }
}

static void write_line(stress_worker *worker)
{
    stress_line *line = &stress_lines[worker->index];
    while (stress_goes_on()) {
        change(line, worker);
        if (stress_chance(worker, 16)) {
            look_at_all();
        }
        stress_pause_us(stress_random(worker, 2000));
    }
}

// The run ----------------------------------------------------------------------------------------

// What must be as before.
typedef struct figures {
    unsigned descriptor_count;
    unsigned mapping_count;
    kw_plugin_statistics plugins;
} figures;

static figures at_begin;

static figures measure(void)
{
    figures now = {
        .descriptor_count = stress_descriptor_count(),
        .mapping_count = stress_plugin_mapping_count(),
        .plugins = {.struct_size = sizeof now.plugins},
    };
    kw_plugin_statistics_get(&now.plugins);
    return now;
}

static void find_ops(void)
{
    kw_error err = KW_ERROR_INIT;
    for (unsigned i = 0; i < STRESS_LINES; i++) {
        stress_line *line = &stress_lines[i];
        for (unsigned j = 0; j < STRESS_LINE_OPS; j++) {
            (void)snprintf(line->op_names[j], sizeof line->op_names[j], "family::%s_%c", line->name,
                           "fg"[j]);
            define(line->op_names[j], NULL);
            (void)stress_expect(kw_operator_find_typed(stress_plugins_dispatcher, line->op_names[j],
                                                       FAMILY_SIGNATURE, &line->ops[j], &err),
                                "finding an operator", &err);
        }
        line->plugin = NULL;
        memset(line->histories, 0, sizeof line->histories);
        settle(line, enter(line, 0) - 1);
    }
}

static void begin(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    at_begin = measure();
    if (!stress_expect(kw_dispatcher_create(&options, &stress_plugins_dispatcher, &err),
                       "creating a dispatcher", &err)) {
        stress_give_up("there is no dispatcher");
    }
    base = stress_library_open(stress_plugins_dispatcher, "host");
    define("host::loading", kernel_loading);
    define("host::rest", kernel_rest);
    find_ops();
}

static void compare(const figures *before, const figures *after)
{
    uint64_t loaded = after->plugins.loaded_count - before->plugins.loaded_count;
    uint64_t unmapped = after->plugins.unmapped_count - before->plugins.unmapped_count;
    if (loaded != unmapped) {
        stress_violation("leak", "%llu loadings, %llu unmappings", (unsigned long long)loaded,
                         (unsigned long long)unmapped);
    }
    if (after->mapping_count != before->mapping_count) {
        stress_violation("leak", "%u mappings of plugins are left",
                         after->mapping_count - before->mapping_count);
    }
    if (after->descriptor_count != before->descriptor_count) {
        stress_violation("leak", "%u open descriptors have become %u", before->descriptor_count,
                         after->descriptor_count);
    }
}

static void end(void)
{
    kw_error err = KW_ERROR_INIT;
    stress_workers_stop();
    for (unsigned i = 0; i < STRESS_LINES; i++) {
        if (stress_lines[i].plugin != NULL) {
            unload(&stress_lines[i], stress_worker_self());
        }
    }
    (void)stress_expect(kw_plugin_reap(KW_FOREVER, &err), "reaping", &err);
    look_at_all();
    stress_library_end(base);
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(stress_plugins_dispatcher, &err),
                        "destroying the dispatcher", &err);
    const figures after = measure();
    compare(&at_begin, &after);
    stress_check_end();
}

static void nothing(void)
{
}

void stress_plugins_run(const stress_options *options)
{
    begin();
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
    stress_workers_start(options->thread_count, stress_plugins_call, NULL, options);
    stress_workers_start(STRESS_LINES, write_line, NULL, options);
    stress_watch(nothing);
    end();
}
