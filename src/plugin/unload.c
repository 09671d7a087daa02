// Unloading: leases given back, versions taken down, what is left for later.
//
// Layer:   plugin
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/yield.h"
#include "library/library.h"
#include "plugin/facts.h"
#include "plugin/picture.h"
#include "plugin/plugins.h"
#include "registry/listener.h"

// What we decided ourselves cannot change any more; what the loader keeps it may let go later.
#define OWN_REASONS                                                                                \
    (KW_RETAINED_BY_OPTION | KW_RETAINED_THREAD_KEYS | KW_RETAINED_OWN_THREADS |                   \
     KW_RETAINED_EXCEPTION | KW_RETAINED_BY_STOP)

// Forgets a version whose object is gone, or that never had one.
static void forget(kwi_plugin_version *version) KWI_EXCLUDES(kwi_role_plugin)
{
    kwi_plugins_lock();
    kwi_plugin_version_unlist(version);
    if (version->plugin != NULL && version->plugin->current == version) {
        version->plugin->current = NULL;
    }
    kwi_the_plugins.unmapped_count += version->state >= KW_PLUGIN_CLOSED ? 1 : 0;
    kwi_plugins_tell();
    kwi_plugins_unlock();
    kwi_plugin_version_destroy(version);
}

static void retain(kwi_plugin_version *version, uint32_t retention) KWI_EXCLUDES(kwi_role_plugin)
{
    char reasons[KWI_EVENT_TEXT_BYTES];
    char sentence[KWI_EVENT_TEXT_BYTES];
    kwi_text text;
    kwi_plugin_retention_text(retention, "", reasons, sizeof reasons);
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_text_add(&text, "plugin %s %s stays mapped: %s", version->name, version->text, reasons);
    kwi_plugins_lock();
    version->state = KW_PLUGIN_RETAINED;
    version->retention = retention;
    version->is_claimed = false;
    if (version->plugin != NULL && version->plugin->current == version) {
        version->plugin->current = NULL;
    }
    version->plugin = NULL;
    // The name of the object is taken for good, its descriptor need not be. Reports that read it
    // are the purpose of keep_mapped.
    bool is_ours = version->copy->reference_count == 1 && !version->keep_mapped;
    kwi_plugins_tell();
    if (is_ours) {
        kwi_plugin_copy_close(version->copy);
    }
    kwi_plugins_unlock();
    kwi_event_tell(KW_EVENT_PLUGIN_RETAINED, NULL, sentence);
}

// Unmaps a version without a library, and takes it off the list unless it stays mapped.
static void dispose(kwi_plugin_version *version) KWI_EXCLUDES(kwi_role_plugin)
{
    uint32_t reasons = kwi_plugin_version_unmap(version);
    if (reasons != 0) {
        retain(version, reasons);
    } else {
        forget(version);
    }
}

// Whoever asks what holds the library does so under the lock.
static void set_library(kwi_plugin_version *version, kw_library *library)
    KWI_EXCLUDES(kwi_role_plugin)
{
    kwi_plugins_lock();
    version->library = library;
    kwi_plugins_unlock();
}

// KW_BUSY: the library is closed, and something needs it.
static kw_status end_library(kwi_plugin_version *version) KWI_EXCLUDES(kwi_role_plugin)
{
    kw_library *library = version->library;
    set_library(version, NULL);
    kw_status status = kwi_library_discard(library);
    if (status != KW_OK) {
        set_library(version, library);
        return status;
    }
    status = kw_dispatcher_destroy(version->own_dispatcher, NULL);
    KWI_ASSERT(status == KW_OK);
    version->own_dispatcher = NULL;
    return KW_OK;
}

void kwi_plugin_give_up(kwi_plugin_version *version)
{
    version->is_stopped = true;
    if (end_library(version) == KW_OK) {
        dispose(version);
        return;
    }
    kwi_plugins_lock();
    version->state = KW_PLUGIN_CLOSED;
    version->is_claimed = false;
    if (version->plugin != NULL && version->plugin->current == version) {
        version->plugin->current = NULL;
    }
    version->plugin = NULL;
    kwi_plugins_tell();
    kwi_plugins_unlock();
}

static void set_state(kwi_plugin_version *version, uint32_t state, bool is_claimed)
    KWI_EXCLUDES(kwi_role_plugin)
{
    kwi_plugins_lock();
    version->state = state;
    version->is_claimed = is_claimed;
    kwi_plugins_tell();
    kwi_plugins_unlock();
}

static kw_status drain(kwi_plugin_version *version, uint64_t timeout_ns, kw_error *err)
{
    kw_status status = kw_library_drain(version->library, timeout_ns, err);
    if (KWI_FAULT(UNMAPPED_BEFORE_DRAINED) && status == KW_BUSY) {
        (void)kwi_plugin_version_unmap(version);
        version->handle = NULL;
        version->is_stopped = true; // there is nothing to call any more
        return KW_OK;
    }
    return status;
}

kw_status kwi_plugin_take_down(kwi_plugin_version *version, uint64_t timeout_ns, kw_error *err)
{
    kw_error why = KW_ERROR_INIT;
    kw_status status = drain(version, 0, &why);
    if (status == KW_BUSY && timeout_ns > 0) {
        set_state(version, KW_PLUGIN_DRAINING, true);
        status = drain(version, timeout_ns, &why);
    }
    if (status != KW_OK) {
        (void)kwi_plugin_fail(version, err, status, "is still in use", &why);
        set_state(version, KW_PLUGIN_DRAINING, false);
        return status;
    }
    set_state(version, KW_PLUGIN_DRAINED, true);
    status = version->is_stopped ? KW_OK : kwi_plugin_run_stop(version, err);
    if (status != KW_OK) {
        set_state(version, KW_PLUGIN_DRAINED, false);
        return status;
    }
    kwi_plugin_give_up(version); // its stop may have left something that needs it
    return KW_OK;
}

// Leases -----------------------------------------------------------------------------------------

// Closes a plugin whose last lease is given back, as the caller's business. Everything goes on if
// the commit fails.
static kw_status close_last(kw_plugin *plugin, kw_error *err) KWI_REQUIRES(kwi_role_plugin)
{
    kwi_plugin_begin(plugin);
    kw_library *library = plugin->current->library;
    kwi_plugins_unlock();
    kw_status status = kw_library_close(library, err);
    kwi_plugins_lock();
    if (status == KW_OK) {
        plugin->is_closed = true;
        plugin->current->state = KW_PLUGIN_CLOSED;
    }
    kwi_plugin_end(plugin);
    return status;
}

// Waits until nobody else takes the plugin's version down, and claims it; NULL: it is gone.
static kw_status claim_last(kw_plugin *plugin, kwi_plugin_version **out_version, kw_error *err)
    KWI_REQUIRES(kwi_role_plugin)
{
    while (plugin->current != NULL && plugin->current->is_claimed) {
        if (pthread_equal(plugin->current->claimer, pthread_self()) != 0) {
            return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                            "the calling thread is taking this plugin down");
        }
        kwi_plugins_wait();
    }
    *out_version = plugin->current;
    if (plugin->current != NULL) {
        kwi_plugin_version_claim(plugin->current);
    }
    return KW_OK;
}

// With the lock; gives back all but the last lease, or leaves the plugin closed and its version
// claimed.
static kw_status give_back(kw_plugin *plugin, bool *out_is_last, kwi_plugin_version **out_version,
                           kw_error *err) KWI_REQUIRES(kwi_role_plugin)
{
    kw_status status = kwi_plugin_wait_turn(plugin, err);
    if (status != KW_OK) {
        return status;
    }
    if (plugin->lease_count > 1) {
        plugin->lease_count--;
        *out_is_last = false;
        return KW_OK;
    }
    if (plugin->is_pinned) {
        return kwi_fail(err, KW_PLUGIN_PINNED, "plugin %s %s is pinned and stays",
                        plugin->current->name, plugin->current->text);
    }
    *out_is_last = true;
    status = plugin->is_closed ? KW_OK : close_last(plugin, err);
    return status == KW_OK ? claim_last(plugin, out_version, err) : status;
}

kw_status kw_plugin_unload(kw_plugin *take_plugin, uint64_t timeout_ns, kw_error *err)
{
    kw_plugin *plugin = take_plugin;
    if (plugin == NULL) {
        return KW_OK;
    }
    bool is_last = false;
    kwi_plugin_version *version = NULL;
    kwi_plugins_lock();
    kw_status status = give_back(plugin, &is_last, &version, err);
    kwi_plugins_unlock();
    if (status != KW_OK || !is_last) {
        return status;
    }
    if (version != NULL) {
        status = kwi_plugin_take_down(version, timeout_ns, err);
    }
    if (status == KW_OK) {
        kwi_plugins_lock();
        kwi_plugin_unlist(plugin);
        kwi_plugins_unlock();
        kwi_plugin_free(plugin);
    }
    return status;
}

kw_status kw_plugin_pin(kw_plugin *plugin, kw_error *err)
{
    if (plugin == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no plugin to pin");
    }
    kwi_plugins_lock();
    kw_status status = kwi_plugin_wait_turn(plugin, err);
    if (status == KW_OK && plugin->is_closed) {
        status = kwi_fail(err, KW_LIBRARY_CLOSED, "the plugin has been closed and leaves");
    }
    plugin->is_pinned = plugin->is_pinned || status == KW_OK;
    kwi_plugins_unlock();
    return status;
}

kw_library *kw_plugin_library(const kw_plugin *plugin)
{
    kw_library *library = NULL;
    if (plugin != NULL) {
        kwi_plugins_lock();
        library = plugin->is_closed || plugin->current == NULL ? NULL : plugin->current->library;
        kwi_plugins_unlock();
    }
    return library;
}

// What is left -----------------------------------------------------------------------------------

static bool is_leaving(const kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin)
{
    return version->state >= KW_PLUGIN_CLOSED && version->state <= KW_PLUGIN_DRAINED;
}

static bool may_be_let_go(const kwi_plugin_version *version) KWI_REQUIRES(kwi_role_plugin)
{
    return version->state == KW_PLUGIN_RETAINED && (version->retention & OWN_REASONS) == 0;
}

// Claims the next version of a kind after the number, which moves on to it. NULL: no more.
static kwi_plugin_version *claim_next(uint64_t *number,
                                      bool (*is_wanted)(const kwi_plugin_version *version))
    KWI_EXCLUDES(kwi_role_plugin)
{
    kwi_plugins_lock();
    kwi_plugin_version *found = kwi_the_plugins.versions;
    while (found != NULL && (found->number <= *number || found->is_claimed || !is_wanted(found))) {
        found = found->next;
    }
    if (found != NULL) {
        *number = found->number;
        kwi_plugin_version_claim(found);
    }
    kwi_plugins_unlock();
    return found;
}

void kwi_plugin_look_at_retained(void)
{
    uint64_t number = 0;
    for (kwi_plugin_version *version; (version = claim_next(&number, may_be_let_go)) != NULL;) {
        if (kwi_plugin_version_is_mapped(version)) {
            set_state(version, KW_PLUGIN_RETAINED, false);
        } else {
            forget(version);
        }
    }
}

kw_status kw_plugin_reap(uint64_t timeout_ns, kw_error *err)
{
    kw_status first = KW_OK;
    uint64_t begun_ns = kwi_clock_ns();
    uint64_t number = 0;
    kwi_plugin_look_at_retained();
    for (kwi_plugin_version *version; (version = claim_next(&number, is_leaving)) != NULL;) {
        uint64_t spent_ns = kwi_clock_ns() - begun_ns;
        uint64_t left_ns = timeout_ns == KW_FOREVER ? KW_FOREVER
                           : timeout_ns > spent_ns  ? timeout_ns - spent_ns
                                                    : 0;
        kw_status status = kwi_plugin_take_down(version, left_ns, first == KW_OK ? err : NULL);
        first = first == KW_OK ? status : first;
    }
    return first;
}

void kwi_plugin_reap_quietly(void)
{
    kw_status status = kw_plugin_reap(0, NULL);
    (void)status; // what is held stays for the next time
}
