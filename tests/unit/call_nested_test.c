// Nesting: calls inside calls, deeper than a thread's block and deeper than one linked chunk.
// SPDX-License-Identifier: MIT

#include <keyway/inline/box.h>

#include "rcu/holders.h"
#include "rcu/thread.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "support/registry.h"

TestSuite(call_nested, .init = kwt_begin, .fini = kwt_end);

static uint32_t own_depth(void)
{
    return kwi_u32_load_relaxed(&kwi_thread_current()->hot.depth);
}

// At the bottom of the recursion; may redispatch. Runs with the depth that was asked for.
typedef struct bottom {
    kw_status (*run)(struct bottom *self, const kw_operator *op, int64_t *out_0);
    kw_library *library;
    kw_registration removed;
    uint32_t depth_seen;
} bottom;

// t::f(int a) -> int: calls itself until `a` is 0, then runs the bottom.
static kw_status recurse(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)keys;
    if (a > 0) {
        return kwt_call_i_i(self->op, a - 1, out_0);
    }
    bottom *at = self->user_data;
    at->depth_seen = own_depth();
    return at->run(at, self->op, out_0);
}

static const kw_operator *make(bottom *at)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    at->library = kwt_library(dispatcher, "a");
    (void)kwt_define(at->library, "t::f(int a) -> int");
    (void)kwt_impl(at->library, "t::f", KW_KEY_BackendSelect,
                   kwt_with(KW_UNBOXED("i>i", recurse), at, NULL));
    (void)kwt_impl(at->library, "t::f", KW_KEY_CPU, KWT_I_I(10));
    return kwt_find(dispatcher, "t::f");
}

static kw_status answer(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    (void)op;
    *out_0 = 1;
    return KW_OK;
}

static kw_status redispatch_typed(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    return kwt_redispatch_i_i(op, kwt_keyset("CPU"), 5, out_0);
}

static kw_status redispatch_frame(const kw_operator *op, int64_t *out_0)
{
    kw_value arg = kw_value_int(5);
    kw_value result = kw_value_none();
    kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
    kw_status status = kw_redispatch_boxed(op, kwt_keyset("CPU"), &frame);
    *out_0 = status == KW_OK ? result.as.as_int : 0;
    return status;
}

static kw_status redispatch_boxed(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    return redispatch_frame(op, out_0);
}

// Depths at every border: the block, the first chunk, and the one after it.
static const int64_t depths[] = {1, 2, 18, 19, 20, 21, 529, 530, 531, 532, 1100};
#define DEPTH_COUNT (sizeof depths / sizeof depths[0])

static void expect_at_every_depth(bottom *at, int64_t wanted)
{
    const kw_operator *op = make(at);
    for (size_t i = 0; i < DEPTH_COUNT; i++) {
        cr_assert_eq(kwt_result_i_i(op, depths[i] - 1), wanted, "depth %d", (int)depths[i]);
        cr_assert_eq(at->depth_seen, depths[i]);
        cr_assert_eq(own_depth(), 0);
    }
}

Test(call_nested, every_depth_is_announced)
{
    bottom at = {.run = answer};
    expect_at_every_depth(&at, 1);
}

Test(call_nested, typed_redispatch_works_at_every_depth)
{
    bottom at = {.run = redispatch_typed};
    expect_at_every_depth(&at, 15);
}

Test(call_nested, boxed_redispatch_works_at_every_depth)
{
    bottom at = {.run = redispatch_boxed};
    expect_at_every_depth(&at, 15);
}

static kw_status expect_operator(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame)
{
    (void)keys;
    cr_assert_eq(op, self->user_data);
    frame->returns[0] = kw_value_int(1);
    return KW_OK;
}

// What a boxing thunk of generated code does.
static kw_status run_boxed_kernel(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    const kw_kernel kernel = {.user_data = (void *)(uintptr_t)op, .boxed = expect_operator};
    kw_value returns[1];
    kw_frame frame = kw_box_frame(NULL, 0, returns, 1);
    KW_THUNK_TRY(kw_box_run(&kernel, kw_keyset_empty(), &frame));
    *out_0 = kw_box_take_int(&returns[0]);
    return KW_OK;
}

Test(call_nested, boxing_thunk_knows_its_operator_at_every_depth)
{
    bottom at = {.run = run_boxed_kernel};
    expect_at_every_depth(&at, 1);
}

static void count_hold(const kwi_hold *hold, void *context)
{
    cr_assert_eq(hold->kind, KWI_HOLD_CALL);
    cr_assert(hold->is_self);
    ++*(uint32_t *)context;
}

static uint32_t calls_of(const kw_operator *op)
{
    uint32_t count = 0;
    kwi_world_lock();
    kwi_holds_visit(&kwi_operator_newest(op)->block, count_hold, &count);
    kwi_world_unlock();
    return count;
}

static kw_status count_calls(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    *out_0 = calls_of(op);
    return KW_OK;
}

Test(call_nested, scan_sees_each_level)
{
    bottom at = {.run = count_calls};
    const kw_operator *op = make(&at);
    for (size_t i = 0; i < DEPTH_COUNT; i++) {
        cr_assert_eq(kwt_result_i_i(op, depths[i] - 1), depths[i]);
    }
    cr_expect_eq(calls_of(op), 0);
}

// Takes the whole library away in the middle of the call.
static kw_status close_then_redispatch_typed(bottom *self, const kw_operator *op, int64_t *out_0)
{
    kwt_close(self->library);
    return kwt_redispatch_i_i(op, kwt_keyset("CPU"), 5, out_0);
}

static kw_status close_then_redispatch_boxed(bottom *self, const kw_operator *op, int64_t *out_0)
{
    kwt_close(self->library);
    return redispatch_frame(op, out_0);
}

static void expect_own_table(kw_status (*run)(bottom *, const kw_operator *, int64_t *),
                             int64_t depth)
{
    bottom at = {.run = run};
    const kw_operator *op = make(&at);
    int64_t number = 0;
    kw_status status = kwt_call_i_i(op, depth - 1, &number);
    cr_assert_eq(status, KW_OK, "depth %d: %s", (int)depth, kw_call_error());
    cr_assert_eq(number, 15, "the call's own table still has the kernel");
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_i_i(op, 0, &number));
}

Test(call_nested, typed_redispatch_stays_in_the_table_of_its_call)
{
    expect_own_table(close_then_redispatch_typed, 1);
    expect_own_table(close_then_redispatch_typed, KWI_INSIDE_COUNT);
}

Test(call_nested, typed_redispatch_beyond_the_block_stays_in_the_table_of_its_call)
{
    expect_own_table(close_then_redispatch_typed, KWI_INSIDE_COUNT + 1);
    expect_own_table(close_then_redispatch_typed, 600);
}

Test(call_nested, boxed_redispatch_stays_in_the_table_of_its_call_at_every_depth)
{
    for (size_t i = 0; i < DEPTH_COUNT; i++) {
        expect_own_table(close_then_redispatch_boxed, depths[i]);
    }
}

// Failures come up through every level.
static kw_status fail(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    (void)op;
    (void)out_0;
    return kw_fail(KW_STATUS_USER + 1, "the bottom is %s", "reached");
}

Test(call_nested, failure_unwinds_every_depth)
{
    bottom at = {.run = fail};
    const kw_operator *op = make(&at);
    for (size_t i = 0; i < DEPTH_COUNT; i++) {
        int64_t number = 3;
        KWT_STATUS(KW_STATUS_USER + 1, kwt_call_i_i(op, depths[i] - 1, &number));
        cr_assert_str_eq(kw_call_error(), "the bottom is reached; in `t::f`");
        cr_assert_eq(number, 3);
        cr_assert_eq(own_depth(), 0);
    }
}

// Leaves a call of its own open, as a kernel does that is left by force.
static kw_status forget_to_end(bottom *self, const kw_operator *op, int64_t *out_0)
{
    (void)self;
    for (int i = 0; i < 3; i++) {
        (void)kw_call_begin(op);
    }
    *out_0 = 2;
    return KW_OK;
}

Test(call_nested, skipped_ends_heal_when_the_outer_call_ends)
{
    bottom at = {.run = forget_to_end};
    const kw_operator *op = make(&at);
    for (size_t i = 0; i < DEPTH_COUNT; i++) {
        cr_assert_eq(kwt_result_i_i(op, depths[i] - 1), 2);
        cr_assert_eq(own_depth(), 0);
    }
    cr_expect_eq(calls_of(op), 0);
}
