// Commits: applying a group of changes as a whole, or not at all.
//
// Layer:   registry
// Threads: any; one commit at a time.
// SPDX-License-Identifier: MIT

#include "registry/commit.h"

#include "base/lock.h"
#include "base/memory.h"
#include "base/schedule.h"
#include "base/yield.h"
#include "rcu/section.h"
#include "rcu/version.h"
#include "registry/backlog.h"
#include "registry/change.h"
#include "registry/dispatcher.h"
#include "registry/lint.h"
#include "registry/listener.h"
#include "registry/observer.h"
#include "registry/world.h"
#include "table/layout.h"

// A commit of so many operators shares layouts among them.
#define LAYOUTS_FROM 32

static bool fallbacks_changed(const kwi_staging *staging)
{
    return !kwi_slotset_is_empty(staging->fallback_slots);
}

// Marks the operators that changed fallbacks may reach: those with a slot that no kernel of their
// own serves.
static void mark_reached(kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    kwi_staging_mark(staging, staging->dispatcher->fallback_op);
    for (kw_operator *op = staging->dispatcher->operators; op != NULL; op = op->next) {
        if (kwi_operator_has_registration(op) &&
            kwi_table_needs_fallback(kwi_operator_newest(op), staging->fallback_slots)) {
            kwi_staging_mark(staging, op);
        }
    }
}

static kw_status resolve(kw_operator *op, kwi_staging *staging, kwi_layouts *layouts, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    op->pending = kwi_operator_resolve(op, layouts);
    if (op->pending == NULL) {
        return kwi_fail_memory(err);
    }
    if (kwi_table_equal(op->pending, kwi_operator_newest(op))) {
        kwi_table_destroy(op->pending);
        op->pending = NULL;
        return KW_OK;
    }
    return staging->wants_lint ? kwi_lint_operator(op, &staging->events, err) : KW_OK;
}

static kw_status resolve_dirty(kwi_staging *staging, kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    if (fallbacks_changed(staging)) {
        kwi_dispatcher_prepare_fallbacks(staging->dispatcher);
        mark_reached(staging);
    }
    // Only saves time: without memory for it the commit goes on.
    kwi_layouts *layouts =
        staging->dirty_count >= LAYOUTS_FROM ? kwi_allocate(sizeof *layouts) : NULL;
    kw_status status = KW_OK;
    for (kw_operator *op = staging->dirty; op != NULL && status == KW_OK; op = op->next_dirty) {
        status = resolve(op, staging, layouts, err);
    }
    if (layouts != NULL) {
        kwi_layouts_fini(layouts);
        kwi_free(layouts, sizeof *layouts);
    }
    return status;
}

static void clear_dirty(kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    for (kw_operator *op = staging->dirty, *next; op != NULL; op = next) {
        next = op->next_dirty;
        if (op->pending != NULL) {
            kwi_table_destroy(op->pending);
        }
        op->pending = NULL;
        op->next_dirty = NULL;
        op->is_dirty = false;
    }
    staging->dirty = NULL;
}

static void undo(kwi_change *changes, size_t change_count, kwi_staging *staging)
    KWI_REQUIRES(kwi_role_writer)
{
    clear_dirty(staging);
    while (change_count > 0) {
        kwi_change_undo(&changes[--change_count], staging);
    }
    if (fallbacks_changed(staging)) {
        kwi_dispatcher_prepare_fallbacks(staging->dispatcher);
    }
    kwi_events_free(&staging->events);
}

static bool is_addition(const kwi_change *change)
{
    return change->definition != NULL || change->kernel != NULL;
}

// Makes room for what a run of changes of one owner adds, so that a large commit leaves no more
// room than it needs.
static kw_status reserve(const kwi_change *changes, size_t change_count, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_owner *owner = changes[0].owner;
    size_t more = 0;
    for (size_t i = 0; i < change_count && changes[i].owner == owner; i++) {
        more += is_addition(&changes[i]) ? 1 : 0;
    }
    bool has_room = owner->is_closed || kwi_pointers_reserve(&owner->registrations, more);
    return has_room ? KW_OK : kwi_fail_memory(err);
}

static kw_status stage(kwi_change *changes, size_t change_count, kwi_staging *staging,
                       kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    kw_status status = KW_OK;
    for (size_t i = 0; i < change_count && status == KW_OK; i++) {
        bool is_same_owner = i > 0 && changes[i].owner == changes[i - 1].owner;
        status = is_same_owner ? KW_OK : reserve(&changes[i], change_count - i, err);
        if (status == KW_OK) {
            status = kwi_change_apply(&changes[i], staging, err);
        }
    }
    if (status == KW_OK) {
        status = resolve_dirty(staging, err);
    }
    if (status != KW_OK) {
        undo(changes, change_count, staging);
    }
    return status;
}

// Nothing here can fail. See Note [Commit].
static uint64_t publish(kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    // Relaxed: written under this lock only.
    uint64_t version = kwi_u64_load_relaxed(&kwi_version.newest) + 1;
    if (KWI_FAULT(VERSION_BEFORE_TABLES)) {
        KWI_STEP(STORE_VERSION, &kwi_version.newest);
        kwi_u64_store_release(&kwi_version.newest, version); // [pair: version]
        KWI_YIELD_OFTEN();
    }
    for (kw_operator *op = staging->dirty; op != NULL; op = op->next_dirty) {
        if (op->pending != NULL) {
            kwi_operator_publish(op, op->pending, version);
            op->pending = NULL;
            KWI_YIELD_OFTEN();
        }
    }
    KWI_STEP(STORE_VERSION, &kwi_version.newest);
    kwi_u64_store_release(&kwi_version.newest, version); // [pair: version]
    clear_dirty(staging);
    return version;
}

static void finish(kwi_change *changes, size_t change_count, kwi_registration **dead)
    KWI_REQUIRES(kwi_role_writer)
{
    for (size_t i = 0; i < change_count; i++) {
        kwi_change_finish(&changes[i], dead);
    }
}

// Gives up the lock. A deferred commit leaves its tables to the next ticket.
static void end_commit(bool defer_reclaim, kwi_registration *dead) KWI_RELEASES(kwi_role_writer)
{
    if (defer_reclaim && kwi_backlog_can_defer()) {
        (void)kwi_reclaim_ticket(&kwi_the_world.reclaimer);
        kwi_world_unlock_and_bury(dead);
    } else {
        kwi_world_unlock_and_reclaim(dead);
    }
}

// Whether a commit adds a registration. See Note [Backlog].
static bool adds(const kwi_change *changes, size_t change_count)
{
    for (size_t i = 0; i < change_count; i++) {
        if (is_addition(&changes[i])) {
            return true;
        }
    }
    return false;
}

// Whether a commit brings what kw_operator_wait() may wait for.
static bool defines(const kwi_change *changes, size_t change_count)
{
    bool found = false;
    for (size_t i = 0; i < change_count && !found; i++) {
        found = changes[i].definition != NULL;
    }
    return found;
}

static kw_status commit(kwi_staging *staging, kwi_change *changes, size_t change_count,
                        bool defer_reclaim, uint64_t *out_version, kw_error *err)
    KWI_EXCLUDES(kwi_role_writer)
{
    kw_dispatcher *dispatcher = staging->dispatcher;
    kwi_world_lock();
    kw_status status = adds(changes, change_count) ? kwi_backlog_admit(err) : KW_OK;
    if (status == KW_OK) {
        staging->wants_events = dispatcher->listeners.list.count > 0;
        staging->wants_lint = kwi_listeners_want_lint(&dispatcher->listeners);
        status = stage(changes, change_count, staging, err);
    }
    if (status != KW_OK) {
        kwi_world_unlock();
        if (status == KW_BACKLOG_FULL) {
            kwi_event_tell(KW_EVENT_BACKLOG, NULL,
                           "a commit was refused: too much memory waits to be reclaimed");
        }
        return status;
    }
    uint64_t version = publish(staging);
    kwi_registration *dead = NULL;
    finish(changes, change_count, &dead);
    if (dispatcher->waiter_count > 0 && defines(changes, change_count)) {
        kwi_world_wake();
    }
    end_commit(defer_reclaim, dead);
    kwi_listeners_tell(dispatcher, &staging->events, version);
    if (out_version != NULL) {
        *out_version = version;
    }
    return KW_OK;
}

static kw_status commit_observer(kwi_staging *staging, kwi_observer_change *change, kw_error *err)
    KWI_EXCLUDES(kwi_role_writer)
{
    kwi_world_lock();
    kw_status status = kwi_observer_apply(change, staging, err);
    if (status == KW_OK) {
        status = resolve_dirty(staging, err);
        if (status != KW_OK) {
            clear_dirty(staging);
            kwi_observer_undo(change, staging->dispatcher);
        }
    }
    if (status != KW_OK) {
        kwi_world_unlock();
        return status;
    }
    (void)publish(staging);
    kwi_registration *dead = NULL;
    kwi_observer_finish(change, &dead);
    end_commit(false, dead);
    return KW_OK;
}

static kw_status check_section(kw_error *err)
{
    if (kwi_section_is_ongoing()) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a read-side section of liburcu-bp, which the commit "
                        "would wait for; leave it first");
    }
    return KW_OK;
}

kw_status kwi_commit_observer(kw_dispatcher *dispatcher, kwi_observer_change *change, kw_error *err)
{
    kw_status status = check_section(err);
    if (status != KW_OK) {
        return status;
    }
    kwi_staging staging = {.dispatcher = dispatcher};
    int cancel = kwi_cancel_hold();
    status = commit_observer(&staging, change, err);
    kwi_cancel_restore(cancel);
    return status;
}

kw_status kwi_commit(kw_dispatcher *dispatcher, kwi_change *changes, size_t change_count,
                     bool defer_reclaim, uint64_t *out_version, kw_error *err)
{
    kw_status status = check_section(err);
    if (status != KW_OK) {
        return status;
    }
    kwi_staging staging = {.dispatcher = dispatcher};
    int cancel = kwi_cancel_hold();
    status = commit(&staging, changes, change_count, defer_reclaim, out_version, err);
    kwi_cancel_restore(cancel);
    return status;
}
