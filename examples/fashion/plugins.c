// Plugins: loads, replaces, rolls back and unloads kernel libraries under running calls.
//
// Layer:     example (uses crowd, options)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "plugins.h"

#include <stdio.h>

#include "clock.h"
#include "crowd.h"

// How long a version that leaves may be held by calls. They take milliseconds.
#define DRAIN_NS (10 * FASHION_NS_PER_S)

#ifndef FASHION_PLUGIN_DIR
#define FASHION_PLUGIN_DIR "." // not used: the options refuse
#endif

static kw_status set_path(char *path, const fashion_options *options, const char *name,
                          kw_error *err)
{
    const char *folder = options->plugin_dir != NULL ? options->plugin_dir : FASHION_PLUGIN_DIR;
    const int length = snprintf(path, FASHION_PLUGIN_PATH_BYTES, "%s/%s", folder, name);
    if (length >= 0 && length < FASHION_PLUGIN_PATH_BYTES) {
        return KW_OK;
    }
    err->status = KW_INVALID_ARGUMENT;
    (void)snprintf(err->text, sizeof err->text, "%s: the path is too long", name);
    return err->status;
}

kw_status fashion_plugins_init(fashion_plugins *plugins, kw_dispatcher *dispatcher,
                               const fashion_options *options, kw_error *err)
{
    *plugins = (fashion_plugins){.dispatcher = dispatcher};
    const kw_status status = set_path(plugins->plain_path, options, "fashion_plugin_plain.so", err);
    return status == KW_OK
               ? set_path(plugins->openblas_path, options, "fashion_plugin_openblas.so", err)
               : status;
}

static fashion_footprint footprint(void)
{
    (void)!kw_reclaim(); // refused only inside calls
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return (fashion_footprint){statistics.memory_bytes, statistics.kernel_count};
}

kw_status fashion_plugins_measure(fashion_plugins *plugins, size_t thread_count, kw_error *err)
{
    const kw_status status = fashion_crowd_gather(plugins->dispatcher, thread_count, err);
    plugins->before = footprint();
    return status;
}

static kw_status unload(fashion_plugins *plugins, kw_error *err)
{
    const kw_status status = kw_plugin_unload(plugins->plugin, DRAIN_NS, err);
    if (status == KW_OK) {
        plugins->plugin = NULL;
    }
    return status;
}

static kw_status make_change(fashion_plugins *plugins, kw_error *err)
{
    kw_plugin_options options = {
        .struct_size = sizeof options,
        .dispatcher = plugins->dispatcher,
        .drain_ns = DRAIN_NS,
    };
    switch (plugins->next) {
    case FASHION_PLUGIN_LOAD:
        return kw_plugin_load(plugins->plain_path, &options, &plugins->plugin, err);
    case FASHION_PLUGIN_REPLACE:
        options.keep_previous = true;
        return kw_plugin_replace(plugins->plugin, plugins->openblas_path, &options, err);
    case FASHION_PLUGIN_ROLL_BACK:
        return kw_plugin_rollback(plugins->plugin, &options, err);
    case FASHION_PLUGIN_UNLOAD:
        return unload(plugins, err);
    case FASHION_PLUGIN_STEP_COUNT:
        break;
    }
    return KW_OK;
}

kw_status fashion_plugins_step(fashion_plugins *plugins, kw_error *err)
{
    const kw_status status = make_change(plugins, err);
    if (status == KW_OK) {
        plugins->counts[plugins->next]++;
        plugins->next = (fashion_plugin_step)((plugins->next + 1) % FASHION_PLUGIN_STEP_COUNT);
    }
    return status;
}

kw_status fashion_plugins_end(fashion_plugins *plugins, kw_error *err)
{
    if (plugins->plugin != NULL) {
        plugins->next = FASHION_PLUGIN_UNLOAD;
        const kw_status status = fashion_plugins_step(plugins, err);
        if (status != KW_OK) {
            return status;
        }
    }
    return kw_plugin_reap(DRAIN_NS, err);
}

// Keeps the first reason that it is told.
static void note_reason(const kw_plugin_info *info, void *context)
{
    char *why = context;
    if (why[0] == '\0') {
        (void)snprintf(why, KW_ERROR_BYTES, "%s is %s: %s", info->name,
                       kw_plugin_state_name(info->state),
                       info->retained[0] != '\0' ? info->retained : info->held_by);
    }
}

fashion_plugins_result fashion_plugins_read(const fashion_plugins *plugins)
{
    kw_plugin_statistics statistics = {.struct_size = sizeof statistics};
    kw_plugin_statistics_get(&statistics);
    fashion_plugins_result result = {
        .served_count = statistics.loaded_count,
        .unmapped_count = statistics.unmapped_count,
        .retained_count = statistics.retained_count,
        .before = plugins->before,
        .after = footprint(),
    };
    for (size_t i = 0; i < FASHION_PLUGIN_STEP_COUNT; i++) {
        result.counts[i] = plugins->counts[i];
    }
    kw_error err = KW_ERROR_INIT;
    if (kw_plugin_list(note_reason, result.why, &err) != KW_OK) {
        (void)snprintf(result.why, sizeof result.why, "%s", err.text);
    }
    return result;
}

uint64_t fashion_plugins_stayed_count(const fashion_plugins_result *result)
{
    return result->served_count - result->unmapped_count +
           (result->after.bytes != result->before.bytes) +
           (result->after.kernels != result->before.kernels);
}
