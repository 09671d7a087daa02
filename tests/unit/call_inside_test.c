// Inside a kernel: registering, closing and draining while the call is under way.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(call_inside, .init = kwt_begin, .fini = kwt_end);

// A kernel that runs a plan once, then answers 1.
typedef struct plan {
    void (*run)(struct plan *self);
    kw_dispatcher *dispatcher;
    kw_library *library; // the kernel's own
    kw_library *other;
    int destroyed;
} plan;

static kw_status run_plan(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)keys;
    (void)x;
    plan *mine = self->user_data;
    void (*run)(plan *) = mine->run;
    mine->run = NULL;
    if (run != NULL) {
        run(mine);
    }
    *out_0 = 1;
    return KW_OK;
}

static void count_plan(void *user_data)
{
    ((plan *)user_data)->destroyed++;
}

static const kw_operator *make(plan *mine)
{
    mine->dispatcher = kwt_dispatcher();
    mine->library = kwt_library(mine->dispatcher, "own");
    mine->other = kwt_library(mine->dispatcher, "other");
    (void)kwt_define(mine->other, "t::f(Tensor x) -> int");
    (void)kwt_impl(mine->library, "t::f", KW_KEY_CPU,
                   kwt_with(KW_UNBOXED("t>i", run_plan), mine, count_plan));
    return kwt_find(mine->dispatcher, "t::f");
}

static void register_more(plan *self)
{
    (void)kwt_define(self->library, "t::g(Tensor x) -> int");
    (void)kwt_impl(self->library, "t::g", KW_KEY_CPU, KWT_T_I(4));
    (void)kwt_impl(self->other, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_assert_eq(kwt_result_t_i(kwt_find(self->dispatcher, "t::g"), &cpu), 4);
    cr_assert_eq(kwt_result_t_i(kwt_find(self->dispatcher, "t::f"), &cpu), 2,
                 "a call from inside sees the newest version");
}

Test(call_inside, kernel_may_register_and_see_it)
{
    static plan mine;
    mine = (plan){.run = register_more};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2);
}

static void close_own(plan *self)
{
    kwt_close(self->library);
    cr_assert_eq(self->destroyed, 0, "the call still uses it");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_destroy(self->library, &err));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(self->library, 0, &err));
    KWT_HAS(err.text, "own");
    KWT_HAS(err.text, "calling thread itself");
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(self->library, 1000, &err));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(self->library, KW_FOREVER, &err));
    cr_assert_eq(self->destroyed, 0);
}

Test(call_inside, kernel_may_close_its_library_but_not_drain_it)
{
    static plan mine;
    mine = (plan){.run = close_own};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    cr_expect_eq(mine.destroyed, 0, "nobody has looked since the call ended");
    KWT_OK(kw_library_drain(mine.library, 0, NULL));
    cr_expect_eq(mine.destroyed, 1);
    kwt_end_library(mine.library);
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL, kwt_call_t_i(op, &cpu, &number));
}

static void drain_other(plan *self)
{
    kw_library *third = kwt_library(self->dispatcher, "third");
    (void)kwt_define(third, "t::h(Tensor x) -> int");
    kwt_close(third);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(third, KW_FOREVER, &err));
    KWT_HAS(err.text, "give drain a time");
    KWT_OK(kw_library_drain(third, 0, &err));
    kwt_end_library(third);
}

Test(call_inside, kernel_may_try_to_drain_what_it_does_not_hold)
{
    static plan mine;
    mine = (plan){.run = drain_other};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
}

// The operator's definition belongs to another library: its table names that too.
static void close_definer(plan *self)
{
    kwt_close(self->other);
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(self->other, 0, NULL));
}

Test(call_inside, definition_of_the_running_operator_is_in_use_too)
{
    static plan mine;
    mine = (plan){.run = close_definer};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    KWT_OK(kw_library_drain(mine.other, 0, NULL));
}

static void commit_many(plan *self)
{
    for (int i = 0; i < 200; i++) {
        kwt_remove(self->other, kwt_impl(self->other, "t::f", KW_KEY_CPU, KWT_T_I(i)));
    }
    // Only the table of the call itself is kept.
    cr_assert_leq(kwt_statistics().retired_count, 1);
}

Test(call_inside, parked_call_keeps_one_table)
{
    static plan mine;
    mine = (plan){.run = commit_many};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    KWT_OK(kw_reclaim());
    cr_expect_eq(kwt_statistics().retired_count, 0);
}

static void snapshot_inside(plan *self)
{
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    (void)kwt_impl(self->other, "t::f", KW_KEY_CPU, KWT_T_I(2));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    self->run = NULL;
    cr_assert_eq(kwt_result_t_i(kwt_find(self->dispatcher, "t::f"), &cpu), 1);
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_assert_eq(kwt_result_t_i(kwt_find(self->dispatcher, "t::f"), &cpu), 2);
}

Test(call_inside, kernel_may_open_a_snapshot)
{
    static plan mine;
    mine = (plan){.run = snapshot_inside};
    const kw_operator *op = make(&mine);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
}

// A destructor of user data that registers, and tries to drain its own library.
static plan *dying;
static void destroy_and_register(void *user_data)
{
    plan *mine = user_data;
    mine->destroyed++;
    (void)kwt_define(mine->other, "t::from_destructor(int x) -> int");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_drain(mine->library, 0, &err));
    KWT_HAS(err.text, "being destroyed");
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(mine->library, KW_FOREVER, &err));
    KWT_STATUS(KW_BUSY, kw_library_destroy(mine->library, &err));
    dying = mine;
}

Test(call_inside, destructor_runs_outside_every_lock_and_counts_until_it_returns)
{
    static plan mine;
    mine = (plan){0};
    (void)make(&mine);
    (void)kwt_impl(mine.library, "t::f", KW_KEY_CUDA,
                   kwt_with(KWT_T_I(1), &mine, destroy_and_register));
    kwt_close(mine.library);
    cr_expect_eq(dying, &mine);
    cr_expect(kwt_is_visible(mine.dispatcher, "t::from_destructor"));
    KWT_OK(kw_library_drain(mine.library, 0, NULL));
    cr_expect_eq(mine.destroyed, 2);
}
