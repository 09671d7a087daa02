// Plugins: the handles, the list of versions, and the lock over both.
//
// Layer:   plugin
// Threads: under the lock of plugins, unless a function says otherwise.
// SPDX-License-Identifier: MIT

#include "plugin/plugins.h"

#include <string.h>

#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"

kwi_plugins kwi_the_plugins;

void kwi_plugins_lock(void) KWI_UNCHECKED
{
    kwi_lock(KWI_LOCK_PLUGIN);
}

void kwi_plugins_unlock(void) KWI_UNCHECKED
{
    kwi_unlock(KWI_LOCK_PLUGIN);
}

void kwi_plugins_wait(void)
{
    int cancel = kwi_cancel_hold(); // a cancelled wait would end with the lock held
    kwi_lock_wait(KWI_LOCK_PLUGIN, UINT64_MAX);
    kwi_cancel_restore(cancel);
}

void kwi_plugins_tell(void)
{
    kwi_lock_wake(KWI_LOCK_PLUGIN);
}

kw_status kwi_plugin_check_self(const kw_plugin *plugin, kw_error *err)
{
    if (pthread_equal(plugin->busy_thread, pthread_self()) != 0) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the calling thread is inside the start, stop or test of this plugin");
    }
    return KW_OK;
}

kw_status kwi_plugin_wait_turn(const kw_plugin *plugin, kw_error *err)
{
    while (plugin->is_busy) {
        kw_status status = kwi_plugin_check_self(plugin, err);
        if (status != KW_OK) {
            return status;
        }
        kwi_plugins_wait();
    }
    return KW_OK;
}

void kwi_plugin_begin(kw_plugin *plugin)
{
    plugin->is_busy = true;
    plugin->busy_thread = pthread_self();
}

void kwi_plugin_end(kw_plugin *plugin)
{
    plugin->is_busy = false;
    kwi_plugins_tell();
}

void kwi_plugin_version_list(kwi_plugin_version *version)
{
    kwi_plugin_version **link = &kwi_the_plugins.versions;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    version->number = ++kwi_the_plugins.last_number;
    version->state = KW_PLUGIN_LOADING;
    version->next = NULL;
    *link = version;
}

void kwi_plugin_version_claim(kwi_plugin_version *version)
{
    version->is_claimed = true;
    version->claimer = pthread_self();
}

void kwi_plugin_version_unlist(kwi_plugin_version *version)
{
    for (kwi_plugin_version **link = &kwi_the_plugins.versions; *link != NULL;
         link = &(*link)->next) {
        if (*link == version) {
            *link = version->next;
            return;
        }
    }
}

void kwi_plugin_list(kw_plugin *plugin)
{
    plugin->next = kwi_the_plugins.plugins;
    kwi_the_plugins.plugins = plugin;
}

void kwi_plugin_unlist(kw_plugin *plugin)
{
    for (kw_plugin **link = &kwi_the_plugins.plugins; *link != NULL; link = &(*link)->next) {
        if (*link == plugin) {
            *link = plugin->next;
            return;
        }
    }
}

void kwi_plugin_free(kw_plugin *plugin) KWI_UNCHECKED // nobody else has it any more
{
    if (plugin != NULL) {
        kwi_plugin_copy_release(plugin->previous);
        kwi_free(plugin, sizeof *plugin);
    }
}

void kwi_plugin_copy_retain(kwi_plugin_copy *copy)
{
    if (copy != NULL) {
        copy->reference_count++;
    }
}

void kwi_plugin_copy_release(kwi_plugin_copy *copy)
{
    if (copy == NULL) {
        return;
    }
    kwi_plugins_lock();
    bool is_last = --copy->reference_count == 0;
    kwi_plugins_unlock();
    if (is_last) {
        kwi_plugin_copy_destroy(copy);
    }
}

kw_status kwi_plugin_options_read(const kw_plugin_options *options, kw_plugin_options *out_options,
                                  kw_error *err)
{
    static const kw_plugin_options defaults = {.struct_size = sizeof defaults};
    const kw_plugin_options *wanted = options != NULL ? options : &defaults;
    kw_status status = kwi_options_check(wanted, sizeof *wanted, "kw_plugin_options", err);
    if (status == KW_OK) {
        *out_options = *wanted;
    }
    return status;
}

kw_status kwi_plugin_fail(const kwi_plugin_version *version, kw_error *err, kw_status status,
                          const char *what, const kw_error *why)
{
    const char *path = version->copy != NULL ? version->copy->path : "compiled in";
    const char *text = why->text[0] != '\0' ? why->text : kw_status_message(status);
    if (version->name[0] == '\0') {
        return kwi_fail(err, status, "the plugin %s %s: %s", path, what, text);
    }
    return kwi_fail(err, status, "plugin %s %s (%s) %s: %s", version->name, version->text, path,
                    what, text);
}

kw_status kwi_plugin_check_static(const kwi_plugin_version *version, kw_error *err)
{
    for (const kwi_plugin_version *each = kwi_the_plugins.versions;
         version->copy == NULL && each != NULL; each = each->next) {
        if (each != version && each->copy == NULL && each->source == version->source) {
            return kwi_fail(err, KW_BUSY,
                            "the plugin is compiled in and serves or leaves already; it cannot "
                            "start twice");
        }
    }
    return KW_OK;
}
