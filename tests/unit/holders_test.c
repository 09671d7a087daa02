// Holders: what keeps a library in use is told one by one, with thread, version and age.
// SPDX-License-Identifier: MIT

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(holders, .init = kwt_begin, .fini = kwt_end);

#define MS UINT64_C(1000000)
#define TICK_NS (10 * MS) // no clock of ticks is coarser

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&pause, NULL);
}

static uint32_t own_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

typedef struct told {
    kw_holder holders[64];
    unsigned count;
} told;

static void note_holder(const kw_holder *holder, void *context)
{
    told *so_far = context;
    cr_assert_lt(so_far->count, 64);
    cr_expect_eq(holder->struct_size, sizeof *holder);
    so_far->holders[so_far->count++] = *holder;
}

static told ask(const kw_library *library)
{
    told all = {.count = 0};
    KWT_OK(kw_library_holders(library, note_holder, &all));
    return all;
}

static void expect_holder(const kw_holder *holder, kw_holder_kind kind, const char *op)
{
    bool is_shared = kind == KW_HOLDER_SHARED_SNAPSHOT;
    cr_expect_eq(holder->kind, (uint32_t)kind);
    cr_expect_str_eq(holder->op, op);
    cr_expect_eq(holder->thread_id, is_shared ? 0 : own_thread_id());
}

static kw_library *library;

static void begin(kw_dispatcher *dispatcher, kw_kernel_descriptor kernel)
{
    library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(int a) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, kernel);
}

Test(holders, idle_library_has_none)
{
    begin(kwt_dispatcher(), KWT_I_I(1));
    cr_expect_eq(ask(library).count, 0);
    kwt_close(library);
    cr_expect_eq(ask(library).count, 0);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_holders(NULL, note_holder, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_holders(library, NULL, NULL));
}

Test(holders, snapshots_are_told_with_version_and_age)
{
    begin(kwt_dispatcher(), KWT_I_I(1));
    kw_snapshot snapshot;
    kw_shared_snapshot *shared = NULL;
    KWT_OK(kw_snapshot_open(&snapshot));
    KWT_OK(kw_snapshot_share(&snapshot, &shared, NULL));
    cr_expect_eq(ask(library).count, 0, "what is the newest needs no snapshot");
    kwt_close(library);
    sleep_ms(40);
    told all = ask(library);
    cr_assert_eq(all.count, 2);
    expect_holder(&all.holders[0], KW_HOLDER_SNAPSHOT, "t::f");
    expect_holder(&all.holders[1], KW_HOLDER_SHARED_SNAPSHOT, "t::f");
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(all.holders[i].version, snapshot.version);
        cr_expect_geq(all.holders[i].age_ns, 40 * MS - TICK_NS);
        cr_expect_lt(all.holders[i].age_ns, 20000 * MS);
    }
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_STATUS(KW_BUSY, kw_library_drain(library, 0, &err));
    KWT_HAS(err.text, "held by a shared snapshot of version");
    KWT_HAS(err.text, " ms ago");
    kw_shared_snapshot_release(shared);
    cr_expect_eq(ask(library).count, 0);
}

Test(holders, snapshot_is_told_once_for_each_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    begin(dispatcher, KWT_I_I(1));
    (void)kwt_define(library, "t::g(int a) -> int");
    kw_library *other = kwt_library_of(dispatcher, "u");
    (void)kwt_define(other, "h(int a) -> int");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_close(library);
    kwt_close(other);
    told all = ask(library);
    cr_assert_eq(all.count, 2);
    bool is_f_first = strcmp(all.holders[0].op, "t::f") == 0;
    expect_holder(&all.holders[0], KW_HOLDER_SNAPSHOT, is_f_first ? "t::f" : "t::g");
    expect_holder(&all.holders[1], KW_HOLDER_SNAPSHOT, is_f_first ? "t::g" : "t::f");
    cr_expect_eq(ask(other).count, 1);
    KWT_OK(kw_snapshot_close(&snapshot));
}

// t::f(int a) -> int: calls itself `a` times, then asks.
static told inside;

static kw_status ask_inside(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)keys;
    if (a > 0) {
        return kwt_call_i_i(self->op, a - 1, out_0);
    }
    inside = ask(library);
    *out_0 = 0;
    return KW_OK;
}

Test(holders, calls_of_an_open_library_are_told_without_an_age)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    begin(dispatcher, KW_UNBOXED("i>i", ask_inside));
    (void)kwt_result_i_i(kwt_find(dispatcher, "t::f"), 2);
    cr_assert_eq(inside.count, 3, "one for each level");
    for (unsigned i = 0; i < 3; i++) {
        expect_holder(&inside.holders[i], KW_HOLDER_CALL, "t::f");
        cr_expect_eq(inside.holders[i].age_ns, KW_AGE_UNKNOWN);
    }
}

// Closes the library, and looks twice.
static kw_status close_inside(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)self;
    (void)keys;
    kwt_close(library);
    told at_first = ask(library);
    cr_assert_eq(at_first.count, 1);
    cr_expect_neq(at_first.holders[0].age_ns, KW_AGE_UNKNOWN, "the close's pass has found it");
    sleep_ms(20);
    inside = ask(library);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, 0, &err));
    *out_0 = a;
    return KW_OK;
}

Test(holders, call_of_a_closed_library_ages_from_the_first_pass_that_found_it)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    begin(dispatcher, KW_UNBOXED("i>i", close_inside));
    (void)kwt_result_i_i(kwt_find(dispatcher, "t::f"), 2);
    cr_assert_eq(inside.count, 1);
    expect_holder(&inside.holders[0], KW_HOLDER_CALL, "t::f");
    cr_expect_geq(inside.holders[0].age_ns, 20 * MS);
    cr_expect_lt(inside.holders[0].age_ns, 20000 * MS);
    cr_expect_eq(ask(library).count, 0);
}

// Under a snapshot of its own, a call's table is kept for both.
static kw_status snapshot_inside(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)self;
    (void)keys;
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_close(library);
    inside = ask(library);
    KWT_OK(kw_snapshot_close(&snapshot));
    *out_0 = a;
    return KW_OK;
}

Test(holders, call_inside_a_table_that_a_snapshot_keeps_has_no_age)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    begin(dispatcher, KW_UNBOXED("i>i", snapshot_inside));
    (void)kwt_result_i_i(kwt_find(dispatcher, "t::f"), 2);
    cr_assert_eq(inside.count, 2);
    expect_holder(&inside.holders[0], KW_HOLDER_CALL, "t::f");
    expect_holder(&inside.holders[1], KW_HOLDER_SNAPSHOT, "t::f");
    cr_expect_eq(inside.holders[0].age_ns, KW_AGE_UNKNOWN);
    cr_expect_neq(inside.holders[1].age_ns, KW_AGE_UNKNOWN);
}
