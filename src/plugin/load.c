// Loading: one load of a file however many ask for it.
//
// Layer:   plugin
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/memory.h"
#include "base/text.h"
#include "plugin/plugins.h"

static bool is_same(const kwi_plugin_version *a, const kwi_plugin_version *b)
{
    if (a->dispatcher != b->dispatcher) {
        return false;
    }
    if (a->copy == NULL || b->copy == NULL) {
        return a->copy == b->copy && a->source == b->source;
    }
    return kwi_plugin_copy_equal(a->copy, b->copy);
}

static bool is_arriving(const kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin)
{
    return version->state == KW_PLUGIN_LOADING || version->state == KW_PLUGIN_SERVING;
}

// The plugin whose version is the same file and dispatcher, and serves or is about to; or NULL.
static kw_plugin *find_same(const kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin)
{
    for (kwi_plugin_version *each = kwi_the_plugins.versions; each != NULL; each = each->next) {
        if (is_arriving(each) && each->plugin != NULL && is_same(each, version)) {
            return each->plugin;
        }
    }
    return NULL;
}

// Takes a lease of a plugin that is the same, waiting for one that is being loaded; or lists this
// version and plugin, as the caller's business. `*out_plugin` is untouched in the second case.
static kw_status join(kwi_plugin_version *version, kw_plugin *plugin, kw_plugin **out_plugin,
                      kw_error *err)
{
    kw_status status = KW_OK;
    kw_plugin *same = NULL;
    kwi_plugins_lock();
    while (status == KW_OK && (same = find_same(version)) != NULL && same->is_busy) {
        status = kwi_plugin_check_self(same, err);
        if (status == KW_OK) {
            kwi_plugins_wait(); // it may be gone afterwards
        }
    }
    if (status == KW_OK && same == NULL) {
        status = kwi_plugin_check_static(version, err);
    }
    if (status == KW_OK && same != NULL) {
        status = kwi_plugin_check_name(same->current->name, version->expected_name, err);
    }
    if (status == KW_OK && same != NULL) {
        same->lease_count++;
        *out_plugin = same;
    } else if (status == KW_OK) {
        kwi_plugin_version_list(version);
        version->plugin = plugin;
        plugin->lease_count = 1;
        kwi_plugin_list(plugin);
        kwi_plugin_begin(plugin);
    }
    kwi_plugins_unlock();
    return status;
}

// Brings up a version that join() has listed.
static kw_status load_listed(kwi_plugin_version *version, kw_plugin *plugin, kw_error *err)
{
    kw_status status = kwi_plugin_bring_up(plugin, version, NULL, err);
    kwi_plugins_lock();
    if (status == KW_OK) {
        version->state = KW_PLUGIN_SERVING;
        plugin->current = version;
        kwi_the_plugins.loaded_count++;
    } else {
        kwi_plugin_unlist(plugin);
    }
    kwi_plugin_end(plugin);
    kwi_plugins_unlock();
    if (status != KW_OK) {
        kwi_plugin_free(plugin);
    }
    return status;
}

static kw_status load(const kwi_plugin_source *source, const kw_plugin_options *options,
                      kw_plugin **out_plugin, kw_error *err)
{
    kwi_plugin_reap_quietly();
    kwi_plugin_version *version = NULL;
    kw_status status = kwi_plugin_version_create(source, options, &version, err);
    if (status != KW_OK) {
        return status;
    }
    kw_plugin *plugin = kwi_allocate(sizeof *plugin);
    if (plugin == NULL) {
        kwi_plugin_version_destroy(version);
        return kwi_fail_memory(err);
    }
    plugin->dispatcher = options->dispatcher;
    kw_plugin *same = NULL;
    status = join(version, plugin, &same, err);
    if (status != KW_OK || same != NULL) {
        kwi_plugin_version_destroy(version);
        kwi_plugin_free(plugin);
    } else {
        same = plugin;
        status = load_listed(version, plugin, err);
    }
    if (status == KW_OK) {
        *out_plugin = same;
    }
    return status;
}

static kw_status load_any(const kwi_plugin_source *source, const kw_plugin_options *options,
                          kw_plugin **out_plugin, kw_error *err)
{
    if ((source->path == NULL && source->descriptor == NULL) || out_plugin == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a load needs a file or descriptor and a place for the plugin");
    }
    kw_plugin_options wanted;
    kw_status status = kwi_plugin_options_read(options, &wanted, err);
    if (status != KW_OK) {
        return status;
    }
    wanted.dispatcher = wanted.dispatcher != NULL ? wanted.dispatcher : kw_dispatcher_default();
    return wanted.dispatcher != NULL ? load(source, &wanted, out_plugin, err)
                                     : kwi_fail_memory(err);
}

kw_status kw_plugin_load(const char *path, const kw_plugin_options *options, kw_plugin **out_plugin,
                         kw_error *err)
{
    const kwi_plugin_source source = {.path = path};
    return load_any(&source, options, out_plugin, err);
}

kw_status kw_plugin_load_static(const kw_plugin_descriptor *descriptor,
                                const kw_plugin_options *options, kw_plugin **out_plugin,
                                kw_error *err)
{
    const kwi_plugin_source source = {.descriptor = descriptor};
    return load_any(&source, options, out_plugin, err);
}
