// Draining: waiting until nothing of a closed library is in use.
//
// Layer:   library
// Threads: any; waits outside the lock.
// SPDX-License-Identifier: MIT

#include <keyway/inline/table.h>

#include "base/clock.h"
#include "base/pause.h"
#include "base/seen.h"
#include "base/text.h"
#include "base/yield.h"
#include "library/library.h"
#include "rcu/holders.h"
#include "rcu/section.h"
#include "registry/burial.h"
#include "registry/operator.h"
#include "registry/world.h"

// What keeps a library, gathered over all retired tables that name something of it. Needs no
// memory, and names nothing that may be gone when the lock is given up. A hold without an owner is
// none.
typedef struct report {
    const kwi_owner *owner;
    kwi_hold call; // the one inside for the longest time that is known
    kwi_hold snapshot;
    uint32_t call_count;
    bool has_other_ops;       // calls of other operators than `call`
    bool has_other_snapshots; // snapshots of other threads or versions than `snapshot`
    bool is_self;
} report;

// An age that is not known counts as the least.
static bool is_older(const kwi_hold *hold, const kwi_hold *than)
{
    return than->owner == NULL || hold->age_ns + 1 > than->age_ns + 1;
}

static void note_call(report *found, const kwi_hold *hold)
{
    const void *before = found->call.owner;
    found->call_count++;
    found->has_other_ops = found->has_other_ops || (before != NULL && before != hold->owner);
    if (is_older(hold, &found->call)) {
        found->call = *hold;
    }
}

// A snapshot is met once for each table that is kept for it.
static void note_snapshot(report *found, const kwi_hold *hold)
{
    const kwi_hold *before = &found->snapshot;
    found->has_other_snapshots = found->has_other_snapshots ||
                                 (before->owner != NULL && (before->kind != hold->kind ||
                                                            before->thread_id != hold->thread_id ||
                                                            before->version != hold->version));
    if (is_older(hold, before)) {
        found->snapshot = *hold;
    }
}

static void note_hold(const kwi_hold *hold, void *context)
{
    report *found = context;
    if (hold->kind == KWI_HOLD_CALL) {
        note_call(found, hold);
    } else {
        note_snapshot(found, hold);
    }
    found->is_self = found->is_self || hold->is_self;
}

static void look(const kwi_block *block, void *context) KWI_REQUIRES(kwi_role_writer)
{
    report *found = context;
    if (kwi_table_names_owner((const kw_table *)(const void *)block, found->owner)) {
        kwi_holds_visit(block, note_hold, found);
    }
}

static kw_status refuse_self(const kw_library *library, kw_error *err)
{
    return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                    "library %s is held by the calling thread itself, by a call it is inside or a "
                    "snapshot it has open; leave that first",
                    library->name);
}

static unsigned long long milliseconds(uint64_t ns)
{
    return ns / 1000000;
}

static void tell_calls(const report *found, kwi_text *text)
{
    const kw_operator *op = found->call.owner;
    kwi_text_add(text, "%u %s of `%s`%s", found->call_count,
                 found->call_count == 1 ? "call" : "calls", op->name,
                 found->has_other_ops ? " and other operators" : "");
    kwi_text_add(text, ", %s thread %u", found->call_count == 1 ? "in" : "one of them in",
                 found->call.thread_id);
    if (found->call.age_ns != UINT64_MAX) {
        kwi_text_add(text, " for at least %llu ms", milliseconds(found->call.age_ns));
    }
}

static void tell_snapshots(const report *found, kwi_text *text)
{
    const kwi_hold *oldest = &found->snapshot;
    if (oldest->kind == KWI_HOLD_SHARED_SNAPSHOT) {
        kwi_text_add(text, "a shared snapshot of version %llu, made %llu ms ago",
                     (unsigned long long)oldest->version, milliseconds(oldest->age_ns));
    } else {
        kwi_text_add(text, "an open snapshot of version %llu, in thread %u for %llu ms",
                     (unsigned long long)oldest->version, oldest->thread_id,
                     milliseconds(oldest->age_ns));
    }
    kwi_text_add(text, "%s", found->has_other_snapshots ? ", and by others" : "");
}

static kw_status refuse_busy(const kw_library *library, const report *found, uint64_t alive,
                             kw_error *err)
{
    char buffer[512]; // an operator's name has at most 255 bytes
    kwi_text text;
    kwi_text_init(&text, buffer, sizeof buffer);
    bool has_snapshots = found->snapshot.owner != NULL;
    if (found->call_count > 0) {
        tell_calls(found, &text);
        kwi_text_add(&text, "%s", has_snapshots ? "; and by " : "");
    }
    if (has_snapshots) {
        tell_snapshots(found, &text);
    }
    if (text.wanted > 0) {
        return kwi_fail(err, KW_BUSY, "library %s is held by %s", library->name, buffer);
    }
    return kwi_fail(err, KW_BUSY,
                    "library %s has %llu registrations that are still being destroyed",
                    library->name, (unsigned long long)alive);
}

kw_status kwi_library_check_leases(const kw_library *library, kw_error *err)
{
    const char *what = NULL;
    uint64_t count = kwi_lessor_outstanding(&library->owner.lessor, &what);
    if (count == 0 || KWI_FAULT(LEASE_IGNORED)) {
        return KW_OK;
    }
    return kwi_fail(err, KW_BUSY,
                    "library %s has %llu %s outstanding, %s `%s`; it is drained once that has "
                    "ended, or is detached from the library",
                    library->name, (unsigned long long)count, count == 1 ? "lease" : "leases",
                    count == 1 ? "a" : "one of them a", what);
}

static kw_status check_caller(const kw_library *library, uint64_t timeout_ns, kw_error *err)
{
    if (library == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no library to drain");
    }
    if (kwi_section_is_ongoing()) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a read-side section of liburcu-bp; leave it first");
    }
    bool is_inside = kwi_thread_is_inside() || kwi_burial_is_running() || kwi_lease_is_finishing();
    if (timeout_ns == KW_FOREVER && is_inside) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a call, a snapshot or a destructor, where two "
                        "drains could wait for each other; give drain a time, or leave that first");
    }
    return KW_OK;
}

kw_status kwi_library_look(kw_library *library, kw_error *err)
{
    kwi_owner *owner = &library->owner;
    report found = {.owner = owner};
    kwi_world_lock();
    bool is_closed = owner->is_closed;
    uint64_t alive = owner->alive_count;
    if (is_closed && alive > 0) {
        kwi_reclaim_visit(&kwi_the_world.reclaimer, look, &found);
    }
    kwi_world_unlock();
    if (!is_closed) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "library %s is open; close it before draining",
                        library->name);
    }
    if (alive == 0) {
        return kwi_library_check_leases(library, err);
    }
    return found.is_self ? refuse_self(library, err) : refuse_busy(library, &found, alive, err);
}

// One look: KW_OK when drained, KW_BUSY with the text otherwise.
static kw_status try_drain(kw_library *library, kw_error *err)
{
    kwi_world_reclaim();
    return kwi_library_look(library, err);
}

kw_status kw_library_drain(kw_library *library, uint64_t timeout_ns, kw_error *err)
{
    kw_status status = check_caller(library, timeout_ns, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_pause pause = kwi_pause_begin(timeout_ns);
    do {
        status = try_drain(library, err);
        KWI_SEEN_WHEN(status == KW_BUSY, DRAIN_HELD);
    } while (status == KW_BUSY && kwi_pause_next(&pause));
    return status;
}
