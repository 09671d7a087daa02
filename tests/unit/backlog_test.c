// Backlog: commits are refused while too many replaced tables wait, and the text says for whom.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/backlog.h>
#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(backlog, .init = kwt_begin, .fini = kwt_end);

static kw_dispatcher *dispatcher;
static kw_library *library;

// Operators t::f0, t::f1, ... with a kernel each.
static void begin(unsigned count)
{
    dispatcher = kwt_dispatcher();
    library = kwt_library(dispatcher, "a");
    for (unsigned i = 0; i < count; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "t::f%u(Tensor x) -> int", i);
        (void)kwt_define(library, schema);
        schema[strcspn(schema, "(")] = '\0';
        (void)kwt_impl(library, schema, KW_KEY_CPU, KWT_T_I(1));
    }
}

static void limit(kw_backlog_limits wanted)
{
    wanted.struct_size = sizeof wanted;
    KWT_OK(kw_backlog_limits_set(&wanted, NULL));
}

static kw_status override(unsigned index, kw_error *err)
{
    char name[16];
    (void)snprintf(name, sizeof name, "t::f%u", index);
    const kw_kernel_descriptor kernel = KWT_T_I(2);
    return kw_library_impl(library, name, KW_KEY_CPU, &kernel, NULL, err);
}

// S84
Test(backlog, there_is_no_limit_unless_one_is_set)
{
    begin(20);
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    for (unsigned i = 0; i < 20; i++) {
        KWT_OK(override(i, NULL));
    }
    cr_expect_eq(kwt_statistics().retired_count, 20);
    KWT_OK(kw_snapshot_close(&snapshot));
}

static void count_refusals(const kw_event *event, void *context)
{
    *(int *)context += event->kind == KW_EVENT_BACKLOG ? 1 : 0;
}

// S84
Test(backlog, refusal_is_told_to_listeners)
{
    begin(4);
    limit((kw_backlog_limits){.table_count = 1});
    int refusals = 0;
    uint64_t id = 0;
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = count_refusals, .context = &refusals};
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    KWT_OK(override(0, NULL));
    KWT_STATUS(KW_BACKLOG_FULL, override(1, NULL));
    cr_expect_eq(refusals, 1);
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(override(1, NULL));
    cr_expect_eq(refusals, 1);
    KWT_OK(kw_dispatcher_unlisten(dispatcher, id));
}

// S84
Test(backlog, snapshot_that_makes_reclaiming_impossible_leads_to_a_refusal)
{
    begin(8);
    limit((kw_backlog_limits){.table_count = 3});
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    for (unsigned i = 0; i < 3; i++) {
        KWT_OK(override(i, NULL));
    }
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BACKLOG_FULL, override(3, &err));
    KWT_HAS(err.text, "3 replaced tables of ");
    KWT_HAS(err.text, "3 held by open snapshots, of 1 thread");
    cr_expect_eq(kwt_statistics().retired_count, 3);
    cr_expect_eq(kwt_statistics().backlog_refusals, 1);
    KWT_LACKS(kwt_dump(kwt_find(dispatcher, "t::f3")), "inactive");
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(override(3, NULL)); // reclaims first
    cr_expect_eq(kwt_statistics().backlog_waits, 1);
    cr_expect_eq(kwt_statistics().retired_count, 0);
}

// S84
Test(backlog, bytes_are_limited_too)
{
    begin(8);
    limit((kw_backlog_limits){.table_bytes = 1});
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    KWT_OK(override(0, NULL));
    KWT_STATUS(KW_BACKLOG_FULL, override(1, NULL));
    KWT_OK(kw_snapshot_close(&snapshot));
}

// S84: what waits before a commit counts, so that a large one can happen.
Test(backlog, commit_may_be_larger_than_the_limit)
{
    begin(8);
    limit((kw_backlog_limits){.table_count = 2});
    (void)kwt_fallback(library, KW_KEY_Tracer, KWT_BOXED(1));
    cr_expect_eq(kwt_statistics().retired_count, 0);
}

// S84
Test(backlog, taking_back_is_never_refused)
{
    begin(4);
    kw_library *other = kwt_library(dispatcher, "b");
    kw_registration made = kwt_impl(library, "t::f0", KW_KEY_CPU, KWT_T_I(3));
    (void)kwt_impl(other, "t::f1", KW_KEY_CPU, KWT_T_I(4));
    limit((kw_backlog_limits){.table_count = 1});
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    KWT_OK(override(2, NULL));
    KWT_STATUS(KW_BACKLOG_FULL, override(3, NULL));
    kwt_remove(library, made);
    kwt_close(other);
    cr_expect_eq(kwt_statistics().retired_count, 3);
    KWT_OK(kw_snapshot_close(&snapshot));
}

static kw_status second_override = KW_OK;
static kw_error second_error = KW_ERROR_INIT;

// Overrides its own operator, whose table its call holds, then another one.
static kw_status kernel_registers(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = 0;
    kw_status status = override(0, NULL);
    second_override = override(1, &second_error);
    return status;
}

// S84: a thread that may be what it waits for is refused at once, whatever the time.
Test(backlog, call_that_lasts_is_named)
{
    begin(2);
    limit((kw_backlog_limits){.table_count = 1, .wait_ns = UINT64_MAX});
    (void)kwt_impl(library, "t::f0", KW_KEY_CPU, KW_UNBOXED("t>i", kernel_registers));
    kwt_tensor x = kwt_make_tensor("CPU");
    int64_t result = 0;
    KWT_OK(kwt_call_t_i(kwt_find(dispatcher, "t::f0"), &x, &result));
    cr_expect_eq(second_override, KW_BACKLOG_FULL);
    KWT_HAS(second_error.text, "1 held by calls, one of `t::f0`");
    KWT_OK(override(1, NULL));
}

// S84
Test(backlog, commits_defer_up_to_the_limit)
{
    begin(6);
    limit((kw_backlog_limits){.deferred_count = 2});
    const kw_commit_options defer = {.struct_size = sizeof defer, .defer_reclaim = true};
    uint64_t most = 0;
    for (unsigned i = 0; i < 6; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "t::f%u", i);
        const kw_kernel_descriptor kernel = KWT_T_I(2);
        kw_transaction *tx = kwt_transaction(dispatcher);
        KWT_OK(kw_transaction_impl(tx, library, name, KW_KEY_CPU, &kernel, NULL, NULL));
        KWT_OK(kw_transaction_commit(tx, &defer, NULL, NULL));
        uint64_t count = kwt_statistics().retired_count;
        most = count > most ? count : most;
    }
    cr_expect_eq(most, 1, "the second one reclaims");
}

Test(backlog, limits_are_read_back)
{
    kw_backlog_limits limits = {.struct_size = sizeof limits};
    kw_backlog_limits_get(&limits);
    cr_expect_eq(limits.table_count, 0);
    cr_expect_eq(limits.table_bytes, 0);
    cr_expect_eq(limits.wait_ns, 0);
    cr_expect_eq(limits.deferred_count, 1024);
    limits.wait_ns = 5;
    KWT_OK(kw_backlog_limits_set(&limits, NULL));
    limits.struct_size = offsetof(kw_backlog_limits, deferred_count);
    limits.wait_ns = 0;
    limits.deferred_count = 7;
    kw_backlog_limits_get(&limits);
    cr_expect_eq(limits.wait_ns, 5);
    cr_expect_eq(limits.deferred_count, 7);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_backlog_limits_set(&limits, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_backlog_limits_set(NULL, &err));
    kw_backlog_limits_get(NULL);
}
