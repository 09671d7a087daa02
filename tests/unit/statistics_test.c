// Statistics: the figures follow what is registered, retired and attached.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <keyway/snapshot.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(statistics, .init = kwt_begin, .fini = kwt_end);

Test(statistics, operators_and_kernels_are_counted)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    uint64_t standard = kwt_statistics().kernel_count;
    cr_expect_eq(standard, 1, "one record serves all standard fallbacks");
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::g", KW_KEY_CPU, KWT_T_I(1));
    kw_registration covered = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    (void)kwt_fallback(library, KW_KEY_Tracer, KWT_BOXED(3));
    cr_expect_eq(kwt_statistics().operator_count, 2);
    cr_expect_eq(kwt_statistics().kernel_count, standard + 4);
    kwt_remove(library, covered);
    cr_expect_eq(kwt_statistics().kernel_count, standard + 3);
    kwt_end_library(library);
    cr_expect_eq(kwt_statistics().operator_count, 0);
    cr_expect_eq(kwt_statistics().kernel_count, standard);
}

Test(statistics, kernel_counts_as_long_as_a_table_names_it)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_registration made = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_remove(library, made);
    kw_statistics figures = kwt_statistics();
    cr_expect_eq(figures.kernel_count, 1);
    cr_expect_eq(figures.retired_count, 1);
    cr_expect_gt(figures.retired_bytes, 0);
    cr_expect_lt(figures.retired_bytes, figures.memory_bytes);
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_reclaim());
    figures = kwt_statistics();
    cr_expect_eq(figures.kernel_count, 0);
    cr_expect_eq(figures.retired_count, 0);
    cr_expect_eq(figures.retired_bytes, 0);
}

// All that is kept of an operator: entry, definition, schema, table, kernels, lists, index.
Test(statistics, memory_of_many_operators_stays_within_its_limit)
{
    enum {
        COUNT = 512,
        BYTES_EACH = 1700
    };
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_Meta, KW_KEY_Autograd,
                                  KW_KEY_FuncTorchBatched};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    uint64_t before = kwt_live_bytes();
    for (int i = 0; i < COUNT; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "t::op_%d(Tensor self, Scalar other) -> int", i);
        (void)kwt_define(library, schema);
        *strchr(schema, '(') = '\0';
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            (void)kwt_impl(library, schema, keys[k], KWT_BOXED(1));
        }
    }
    uint64_t each = (kwt_live_bytes() - before) / COUNT;
    cr_expect_leq(each, BYTES_EACH, "%llu bytes an operator", (unsigned long long)each);
    kwt_end_library(library);
}

static void expect_no_snapshot(void)
{
    kw_statistics figures = kwt_statistics();
    cr_expect_eq(figures.snapshot_count, 0);
    cr_expect_eq(figures.shared_snapshot_count, 0);
    cr_expect_eq(figures.held_version_count, 0);
    cr_expect_eq(figures.held_table_count, 0);
    cr_expect_eq(figures.held_table_bytes, 0);
    cr_expect_eq(figures.oldest_snapshot_ns, 0);
    cr_expect_eq(figures.oldest_version, kw_version());
}

Test(statistics, snapshots_are_counted_with_what_is_kept_for_them)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_define(library, "t::g(Tensor x) -> int");
    expect_no_snapshot();
    kw_shared_snapshot *older = NULL;
    KWT_OK(kw_shared_snapshot_create(&older, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::g", KW_KEY_CPU, KWT_T_I(1));
    kw_snapshot outer;
    kw_snapshot inner;
    KWT_OK(kw_snapshot_open(&outer));
    KWT_OK(kw_snapshot_open(&inner));
    kw_shared_snapshot *newer = NULL;
    KWT_OK(kw_snapshot_share(&outer, &newer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    const struct timespec pause = {.tv_nsec = 30000000};
    (void)nanosleep(&pause, NULL);
    kw_statistics figures = kwt_statistics();
    cr_expect_eq(figures.snapshot_count, 1, "nested ones are one thread's");
    cr_expect_eq(figures.shared_snapshot_count, 2);
    cr_expect_eq(figures.held_version_count, 2);
    cr_expect_eq(figures.held_table_count, 3, "f and g of the older version, f of the newer");
    cr_expect_eq(figures.held_table_count, figures.retired_count);
    cr_expect_eq(figures.held_table_bytes, figures.retired_bytes);
    cr_expect_eq(figures.oldest_version, kw_shared_snapshot_version(older));
    cr_expect_geq(figures.oldest_snapshot_ns, UINT64_C(20000000));
    cr_expect_lt(figures.oldest_snapshot_ns, UINT64_C(20000000000));
    KWT_OK(kw_snapshot_close(&inner));
    KWT_OK(kw_snapshot_close(&outer));
    kw_shared_snapshot_release(older);
    KWT_OK(kw_reclaim());
    figures = kwt_statistics();
    cr_expect_eq(figures.snapshot_count, 0);
    cr_expect_eq(figures.held_table_count, 1);
    cr_expect_eq(figures.oldest_version, kw_shared_snapshot_version(newer));
    kw_shared_snapshot_release(newer);
    KWT_OK(kw_reclaim());
    expect_no_snapshot();
    cr_expect_eq(kwt_statistics().retired_count, 0);
}

Test(statistics, deferred_tables_are_counted_until_somebody_waits)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    for (unsigned i = 1; i <= 3; i++) {
        kw_transaction *tx = kwt_transaction(dispatcher);
        const kw_kernel_descriptor kernel = KWT_T_I(i);
        KWT_OK(kw_transaction_impl(tx, library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
        KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
        cr_expect_eq(kwt_statistics().deferred_count, i);
    }
    cr_expect_eq(kwt_statistics().deferred_bytes, kwt_statistics().retired_bytes);
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().deferred_count, 0);
    cr_expect_eq(kwt_statistics().deferred_bytes, 0);
}

Test(statistics, older_callers_get_what_fits)
{
    (void)kwt_dispatcher();
    struct {
        kw_statistics statistics;
        uint64_t beyond;
    } area;
    memset(&area, 0x5a, sizeof area);
    area.statistics.struct_size = offsetof(kw_statistics, operator_count);
    kw_statistics_get(&area.statistics);
    cr_expect_eq(area.statistics.version, kw_version());
    cr_expect_eq(area.statistics.struct_size, offsetof(kw_statistics, operator_count));
    cr_expect_eq(area.statistics.operator_count, UINT64_C(0x5a5a5a5a5a5a5a5a));
    area.statistics.struct_size = sizeof area; // newer than the library
    kw_statistics_get(&area.statistics);
    cr_expect_eq(area.beyond, UINT64_C(0x5a5a5a5a5a5a5a5a));
    kw_statistics_get(NULL);
}

Test(statistics, thread_blocks_are_counted_in_chunks)
{
    cr_expect_eq(kwt_statistics().thread_blocks, 0);
    (void)kwt_dispatcher();
    KWT_OK(kw_thread_attach());
    uint64_t blocks = kwt_statistics().thread_blocks;
    cr_expect_gt(blocks, 0);
    cr_expect_lt(blocks, 64);
    cr_expect_eq(kwt_statistics().forced_cleanups, 0);
}

Test(statistics, table_of_a_typical_operator_is_small)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::warm_up(Tensor x) -> int"); // the signature's own memory
    uint64_t before = kwt_live_bytes();
    (void)kwt_define(library, "t::f(Tensor self, Tensor other, int alpha=1) -> int");
    (void)kwt_define(library, "t::g(Tensor x) -> int");
    uint64_t middle = kwt_live_bytes();
    (void)kwt_impl(library, "t::g", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::g", KW_KEY_CUDA, KWT_T_I(1));
    (void)kwt_impl(library, "t::g", KW_KEY_CompositeExplicitAutograd, KWT_T_I(1));
    (void)before;
    cr_expect_lt(kwt_live_bytes() - middle, 1024, "three kernels with their records");
}
