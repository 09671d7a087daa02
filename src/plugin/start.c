// Start and stop: the only places where the code of a plugin is entered from here, beside its
// kernels. Compiled with exceptions: see Note [Exceptions from plugins].
//
// Layer:   plugin
// Threads: the thread that brings a version up or takes it down.
// SPDX-License-Identifier: MIT
//
// Note [Exceptions from plugins]
//
// A start or stop written in C++ must not throw. If one does all the same, or ends its thread, the
// unwinding passes through the functions of this file, whose cleanups undo what was begun: nothing
// stays registered, nobody waits for ever, and the host can catch it. The object itself stays
// mapped, since the exception may refer to it.

#include <stdio.h>

#include "base/text.h"
#include "plugin/plugins.h"

// What a start that does not come back leaves behind.
typedef struct attempt {
    kw_plugin *plugin;
    kwi_plugin_version *version;
    kw_transaction *tx;
    bool is_over;
} attempt;

static void rescue_start(attempt *left)
{
    if (left->is_over) {
        return;
    }
    kw_transaction_abort(left->tx);
    left->version->has_thrown = true;
    kwi_plugin_give_up(left->version);
    kw_plugin *plugin = left->plugin;
    kwi_plugins_lock();
    bool is_new = plugin->current == NULL;
    if (is_new) {
        kwi_plugin_unlist(plugin);
    }
    kwi_plugin_end(plugin);
    kwi_plugins_unlock();
    if (is_new) {
        kwi_plugin_free(plugin);
    }
}

static kw_status create_library(kwi_plugin_version *version, kw_error *err)
{
    char name[2 * KWI_PLUGIN_WORD_MAX + 2];
    (void)snprintf(name, sizeof name, "%s %s", version->name, version->text);
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = version->dispatcher,
        .name = name,
        .ns = version->descriptor.ns,
        .file = version->copy != NULL ? version->copy->path : NULL,
    };
    return kw_library_create(&options, &version->library, err);
}

// Stages the removal of the version that leaves before anything of the new one, so that the same
// names may be defined again.
static kw_status begin(attempt *made, const kwi_plugin_version *replaced, kw_error *err)
{
    kw_status status = kw_transaction_begin(made->version->dispatcher, &made->tx, err);
    if (status == KW_OK && replaced != NULL) {
        status = kw_transaction_close(made->tx, replaced->library, err);
    }
    return status;
}

static kw_status run_start(attempt *made, kw_error *err)
{
    kwi_plugin_version *version = made->version;
    kw_error why = KW_ERROR_INIT;
    kw_status status =
        version->descriptor.start(kwi_plugin_api_table(), version->library, made->tx, &why);
    return status == KW_OK ? KW_OK : kwi_plugin_fail(version, err, status, "does not start", &why);
}

static kw_status commit(attempt *made, kw_error *err)
{
    kw_error why = KW_ERROR_INIT;
    kw_transaction *tx = made->tx;
    made->tx = NULL; // the commit ends it in every case
    kw_status status = kw_transaction_commit(tx, NULL, NULL, &why);
    if (status == KW_OK) {
        return KW_OK;
    }
    (void)kwi_plugin_fail(made->version, err, status, "cannot be registered", &why);
    // It has started, and nothing of it is registered.
    if (made->version->descriptor.stop != NULL && made->version->descriptor.stop(&why) != KW_OK) {
        made->version->has_refused_stop = true;
    }
    return status;
}

static kw_status register_version(attempt *made, const kwi_plugin_version *replaced, kw_error *err)
{
    kw_status status = create_library(made->version, err);
    status = status == KW_OK ? begin(made, replaced, err) : status;
    status = status == KW_OK ? run_start(made, err) : status;
    return status == KW_OK ? commit(made, err) : status;
}

kw_status kwi_plugin_bring_up(kw_plugin *plugin, kwi_plugin_version *version,
                              const kwi_plugin_version *replaced, kw_error *err)
{
    __attribute__((cleanup(rescue_start))) attempt made = {.plugin = plugin, .version = version};
    kw_status status = kwi_plugin_version_map(version, err);
    status = status == KW_OK ? register_version(&made, replaced, err) : status;
    made.is_over = true;
    if (status != KW_OK) {
        kw_transaction_abort(made.tx);
        kwi_plugin_give_up(version);
        return status;
    }
    return KW_OK;
}

// Stopping ---------------------------------------------------------------------------------------

typedef struct farewell {
    kwi_plugin_version *version;
    bool is_over;
} farewell;

// The library has been drained, so it can go; the version is not asked to stop again.
static void rescue_stop(farewell *left)
{
    if (!left->is_over) {
        left->version->has_thrown = true;
        kwi_plugin_give_up(left->version);
    }
}

kw_status kwi_plugin_run_stop(kwi_plugin_version *version, kw_error *err)
{
    __attribute__((cleanup(rescue_stop))) farewell said = {.version = version};
    kw_error why = KW_ERROR_INIT;
    kw_status status = version->descriptor.stop != NULL ? version->descriptor.stop(&why) : KW_OK;
    said.is_over = true;
    return status == KW_OK ? KW_OK : kwi_plugin_fail(version, err, status, "does not stop", &why);
}

static void rescue_test(kw_plugin **tested)
{
    kwi_plugins_lock();
    kwi_plugin_end(*tested);
    kwi_plugins_unlock();
}

// While the plugin is the caller's business nobody takes the version away.
static kw_status run_self_test(kw_plugin *plugin, const kwi_plugin_version *version, const char *op,
                               kw_error *err)
{
    __attribute__((cleanup(rescue_test))) kw_plugin *tested = plugin;
    if (version->descriptor.self_test == NULL) {
        return kwi_fail(err, KW_NOT_SUPPORTED, "plugin %s %s has no self-test", version->name,
                        version->text);
    }
    return version->descriptor.self_test(kwi_plugin_api_table(), tested->dispatcher, op, err);
}

kw_status kw_plugin_self_test(kw_plugin *plugin, const char *op, kw_error *err)
{
    if (plugin == NULL || op == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a self-test needs a plugin and an operator");
    }
    kwi_plugins_lock();
    kw_status status = kwi_plugin_wait_turn(plugin, err);
    if (status == KW_OK && plugin->is_closed) {
        status = kwi_fail(err, KW_LIBRARY_CLOSED, "the plugin has been closed");
    }
    if (status != KW_OK) {
        kwi_plugins_unlock();
        return status;
    }
    kwi_plugin_begin(plugin);
    const kwi_plugin_version *version = plugin->current;
    kwi_plugins_unlock();
    return run_self_test(plugin, version, op, err);
}
