// Replacing: a new version in the place of the one that serves, in one commit; and rolling back.
//
// Layer:   plugin
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/text.h"
#include "plugin/plugins.h"

// A replacement under way: while the plugin is the caller's business, nobody else changes these.
typedef struct replacement {
    kw_plugin *plugin;
    const kwi_plugin_version *serving;
    const kwi_plugin_copy *kept;
    kw_plugin_options options;
} replacement;

// Makes the plugin the caller's business, if it may be replaced.
static kw_status begin(replacement *made, kw_error *err)
{
    kw_plugin *plugin = made->plugin;
    kwi_plugins_lock();
    kw_status status = kwi_plugin_wait_turn(plugin, err);
    if (status == KW_OK && plugin->is_closed) {
        status = kwi_fail(err, KW_LIBRARY_CLOSED, "the plugin has been closed; load it anew");
    }
    if (status == KW_OK && plugin->is_pinned) {
        status = kwi_fail(err, KW_PLUGIN_PINNED, "plugin %s %s is pinned and stays",
                          plugin->current->name, plugin->current->text);
    }
    if (status == KW_OK) {
        kwi_plugin_begin(plugin);
        made->serving = plugin->current;
        made->kept = plugin->previous;
    }
    kwi_plugins_unlock();
    return status;
}

static void end(kw_plugin *plugin)
{
    kwi_plugins_lock();
    kwi_plugin_end(plugin);
    kwi_plugins_unlock();
}

// The new version serves: everything of the plugin passes to it. Returns the one that leaves,
// claimed by the caller.
static kwi_plugin_version *pass_on(kw_plugin *plugin, kwi_plugin_version *version,
                                   bool keep_previous)
{
    kwi_plugins_lock();
    kwi_plugin_version *old = plugin->current;
    kwi_plugin_copy *unused = plugin->previous;
    plugin->previous = keep_previous ? old->copy : NULL;
    kwi_plugin_copy_retain(plugin->previous);
    old->state = KW_PLUGIN_CLOSED;
    old->plugin = NULL;
    kwi_plugin_version_claim(old);
    version->state = KW_PLUGIN_SERVING;
    plugin->current = version;
    kwi_the_plugins.loaded_count++;
    kwi_plugin_end(plugin);
    kwi_plugins_unlock();
    kwi_plugin_copy_release(unused);
    return old;
}

static kw_status enlist(kwi_plugin_version *version, kw_plugin *plugin, kw_error *err)
{
    kwi_plugins_lock();
    kw_status status = kwi_plugin_check_static(version, err);
    if (status == KW_OK) {
        kwi_plugin_version_list(version);
        version->plugin = plugin;
    }
    kwi_plugins_unlock();
    return status;
}

// With the plugin as the caller's business, which ends here.
static kw_status replace(const replacement *made, const kwi_plugin_source *source, kw_error *err)
{
    kwi_plugin_version *version = NULL;
    kw_status status = kwi_plugin_version_create(source, &made->options, &version, err);
    if (status == KW_OK) {
        status = enlist(version, made->plugin, err);
        if (status != KW_OK) {
            kwi_plugin_version_destroy(version);
        }
    }
    if (status == KW_OK) {
        status = kwi_plugin_bring_up(made->plugin, version, made->serving, err);
    }
    if (status != KW_OK) {
        end(made->plugin);
        return status;
    }
    kwi_plugin_version *old = pass_on(made->plugin, version, made->options.keep_previous);
    (void)kwi_plugin_take_down(old, made->options.drain_ns, NULL); // if not now, then later
    return KW_OK;
}

static kw_status prepare(replacement *made, kw_plugin *plugin, const kw_plugin_options *options,
                         kw_error *err)
{
    if (plugin == NULL) {
        (void)kwi_fail(err, KW_INVALID_ARGUMENT, "there is no plugin to replace");
        return KW_INVALID_ARGUMENT;
    }
    kw_status status = kwi_plugin_options_read(options, &made->options, err);
    if (status != KW_OK) {
        return status;
    }
    if (made->options.dispatcher != NULL && made->options.dispatcher != plugin->dispatcher) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a plugin stays in its dispatcher; load it anew for another one");
    }
    made->options.dispatcher = plugin->dispatcher;
    made->plugin = plugin;
    kwi_plugin_reap_quietly();
    return begin(made, err);
}

static kw_status replace_any(kw_plugin *plugin, const kwi_plugin_source *source,
                             const kw_plugin_options *options, kw_error *err)
{
    if (source->path == NULL && source->descriptor == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a replacement needs a file or descriptor");
    }
    replacement made = {0};
    kw_status status = prepare(&made, plugin, options, err);
    return status == KW_OK ? replace(&made, source, err) : status;
}

kw_status kw_plugin_replace(kw_plugin *plugin, const char *path, const kw_plugin_options *options,
                            kw_error *err)
{
    const kwi_plugin_source source = {.path = path};
    return replace_any(plugin, &source, options, err);
}

kw_status kw_plugin_replace_static(kw_plugin *plugin, const kw_plugin_descriptor *descriptor,
                                   const kw_plugin_options *options, kw_error *err)
{
    const kwi_plugin_source source = {.descriptor = descriptor};
    return replace_any(plugin, &source, options, err);
}

kw_status kw_plugin_rollback(kw_plugin *plugin, const kw_plugin_options *options, kw_error *err)
{
    replacement made = {0};
    kw_status status = prepare(&made, plugin, options, err);
    if (status != KW_OK) {
        return status;
    }
    if (made.kept == NULL) {
        end(plugin);
        return kwi_fail(err, KW_NOT_FOUND,
                        "no copy of a version before this one was kept; replace with "
                        "keep_previous");
    }
    const kwi_plugin_source source = {.copy = made.kept};
    return replace(&made, &source, err);
}
