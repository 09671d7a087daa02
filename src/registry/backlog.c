// Backlog: admitting commits only while little memory waits to be reclaimed.
//
// Layer:   registry
// Threads: under the writer lock, which kwi_backlog_admit() gives up while it waits.
// SPDX-License-Identifier: MIT

#include "registry/backlog.h"

#include <string.h>

#include <keyway/backlog.h>
#include <keyway/inline/table.h>

#include "base/lock.h"
#include "base/options.h"
#include "base/pause.h"
#include "base/text.h"
#include "rcu/holders.h"
#include "registry/burial.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "value/lease.h"

// Tables that a refusal looks at for its text: enough to say who it is, few enough for the lock.
#define LOOK_LIMIT 1024

// guard: lock writer. 1024 tables are about half a megabyte of typical ones.
static kw_backlog_limits limits KWI_GUARDED_BY(kwi_role_writer) = {
    .struct_size = sizeof(kw_backlog_limits),
    .deferred_count = 1024,
};
static uint64_t wait_count KWI_GUARDED_BY(kwi_role_writer);
static uint64_t refusal_count KWI_GUARDED_BY(kwi_role_writer);

static bool is_full(void) KWI_REQUIRES(kwi_role_writer)
{
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    return (limits.table_count > 0 && reclaimer->retired_count >= limits.table_count) ||
           (limits.table_bytes > 0 && reclaimer->retired_bytes >= limits.table_bytes);
}

// What holds the tables of the backlog.
typedef struct report {
    unsigned looked_at;
    const kw_operator *op; // one that a call is inside
    uint64_t by_calls;     // tables
    uint64_t by_snapshots;
    uint32_t thread_count; // the most that have such a snapshot for one table
    bool has_call;         // of the table looked at
    uint32_t snapshot_count;
} report;

static void note(const kwi_hold *hold, void *context) KWI_REQUIRES(kwi_role_writer)
{
    report *found = context;
    if (hold->kind == KWI_HOLD_CALL) {
        found->has_call = true;
    } else {
        found->snapshot_count++;
    }
}

static void look(const kwi_block *block, void *context) KWI_REQUIRES(kwi_role_writer)
{
    report *found = context;
    if (++found->looked_at > LOOK_LIMIT) {
        return;
    }
    found->has_call = false;
    found->snapshot_count = 0;
    kwi_holds_visit(block, note, found);
    if (found->has_call) {
        found->op = block->owner;
        found->by_calls++;
    } else if (found->snapshot_count > 0) {
        found->by_snapshots++;
    }
    if (found->snapshot_count > found->thread_count) {
        found->thread_count = found->snapshot_count;
    }
}

static kw_status refuse(kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    report found = {0};
    kwi_reclaim_visit(reclaimer, look, &found);
    refusal_count++;
    char holders[512];
    kwi_text text;
    kwi_text_init(&text, holders, sizeof holders);
    if (found.by_calls > 0) {
        kwi_text_add(&text, "; %llu held by calls, one of `%s`", (unsigned long long)found.by_calls,
                     found.op->name);
    }
    if (found.by_snapshots > 0) {
        kwi_text_add(&text, "; %llu held by open snapshots, of %u %s",
                     (unsigned long long)found.by_snapshots, found.thread_count,
                     found.thread_count == 1 ? "thread" : "threads");
    }
    if (found.by_calls + found.by_snapshots == 0) {
        kwi_text_add(&text, "; none held by a call or snapshot, so it may pass if tried again");
    }
    return kwi_fail(
        err, KW_BACKLOG_FULL,
        "%llu replaced tables of %llu bytes wait to be freed, where %llu tables and "
        "%llu bytes (0: any) are the limit%s; end what holds them, or raise the limits",
        (unsigned long long)reclaimer->retired_count, (unsigned long long)reclaimer->retired_bytes,
        (unsigned long long)limits.table_count, (unsigned long long)limits.table_bytes, holders);
}

// A thread that may be what the others wait for does not wait itself.
static uint64_t own_wait_ns(void) KWI_REQUIRES(kwi_role_writer)
{
    bool is_inside = kwi_thread_is_inside() || kwi_burial_is_running() || kwi_lease_is_finishing();
    return is_inside ? 0 : limits.wait_ns;
}

kw_status kwi_backlog_admit(kw_error *err)
{
    if (!is_full()) {
        return KW_OK;
    }
    // A thread that is cancelled while it pauses would leave its transaction behind.
    int cancel = kwi_cancel_hold();
    kwi_pause pause = kwi_pause_begin(own_wait_ns());
    bool goes_on = true;
    while (goes_on && is_full()) {
        kwi_world_unlock();
        kwi_world_reclaim();
        kwi_world_lock();
        if (is_full()) {
            kwi_world_unlock();
            goes_on = kwi_pause_next(&pause);
            kwi_world_lock();
        }
    }
    kwi_cancel_restore(cancel);
    if (is_full()) {
        return refuse(err);
    }
    wait_count++;
    return KW_OK;
}

bool kwi_backlog_can_defer(void)
{
    return kwi_the_world.reclaimer.retired_count < limits.deferred_count;
}

uint64_t kwi_backlog_wait_count(void)
{
    return wait_count;
}

uint64_t kwi_backlog_refusal_count(void)
{
    return refusal_count;
}

kw_status kw_backlog_limits_set(const kw_backlog_limits *wanted, kw_error *err)
{
    kw_status status = kwi_options_check(wanted, sizeof *wanted, "kw_backlog_limits", err);
    if (status == KW_OK) {
        kwi_world_lock();
        limits = *wanted;
        kwi_world_unlock();
    }
    return status;
}

void kw_backlog_limits_get(kw_backlog_limits *out_limits)
{
    if (out_limits == NULL) {
        return;
    }
    size_t size = out_limits->struct_size;
    kwi_world_lock();
    kw_backlog_limits all = limits;
    kwi_world_unlock();
    all.struct_size = size;
    memcpy(out_limits, &all, size < sizeof all ? size : sizeof all);
}
