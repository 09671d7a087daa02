// Typed calls of kernel handles: one kernel, by its number, as long as the table names it.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(kernel_handle, .init = kwt_begin, .fini = kwt_end);

typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    const kw_operator *op;
} scene;

static scene make(void)
{
    scene made = {.dispatcher = kwt_dispatcher()};
    made.library = kwt_library(made.dispatcher, "a");
    (void)kwt_define(made.library, "t::f(Tensor x) -> int");
    made.op = kwt_find(made.dispatcher, "t::f");
    return made;
}

static kw_registration add(scene *in, kw_key key, kw_kernel_descriptor kernel)
{
    return kwt_impl(in->library, "t::f", key, kernel);
}

static kw_kernel_handle take(const scene *in, kw_key key)
{
    kw_kernel_handle handle = {.op = NULL};
    KWT_OK(kw_operator_computed_kernel(in->op, key, &handle, NULL));
    return handle;
}

// Both forms answer alike.
static kw_status call_both(const kw_kernel_handle *handle, int64_t *out_number)
{
    kwt_tensor tensor = kwt_make_tensor("CUDA");
    kw_value arg = kw_value_tensor(&tensor);
    kw_value result = kw_value_none();
    kw_frame frame = {&arg, &result, 1, 1};
    kw_status typed = kwt_handle_t_i(handle, kwt_keyset("XLA"), &tensor, out_number);
    kw_status boxed = kw_kernel_call_boxed(handle, kwt_keyset("XLA"), &frame);
    cr_expect_eq(typed, boxed);
    cr_expect(typed != KW_OK || result.as.as_int == *out_number);
    return typed;
}

static void expect_number(const kw_kernel_handle *handle, int64_t wanted)
{
    int64_t number = -1;
    KWT_OK(call_both(handle, &number));
    cr_expect_eq(number, wanted);
}

static void expect_gone(const kw_kernel_handle *handle)
{
    int64_t number = 9;
    KWT_STATUS(KW_KERNEL_GONE, call_both(handle, &number));
    cr_expect_eq(number, 9);
    KWT_HAS(kw_call_error(), "ask for a new handle");
    KWT_HAS(kw_call_error(), "in `t::f`");
}

// S64
Test(kernel_handle, kernel_runs_with_the_keys_that_are_given)
{
    scene in = make();
    kw_registration made = add(&in, KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    cr_expect_eq(handle.registration, made);
    expect_number(&handle, 1);
    cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("XLA").bits, "whatever the tensor is");
    cr_expect_eq(kwt_trace[0].op, in.op);
}

// S64
Test(kernel_handle, boxed_kernel_and_fallback_are_reached_by_typed_calls)
{
    scene in = make();
    (void)add(&in, KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_fallback(in.library, KW_KEY_Tracer, KWT_BOXED(2));
    kw_kernel_handle boxed = take(&in, KW_KEY_CPU);
    kw_kernel_handle fallback = take(&in, KW_KEY_Tracer);
    expect_number(&boxed, 1);
    expect_number(&fallback, 2);
    cr_expect_eq(kwt_trace[2].op, in.op, "the fallback learns the operator");
}

// S64
Test(kernel_handle, removed_kernel_is_gone)
{
    scene in = make();
    kw_registration made = add(&in, KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kwt_remove(in.library, made);
    expect_gone(&handle);
    kwt_close(in.library);
    expect_gone(&handle);
}

// S64
Test(kernel_handle, covered_kernel_is_gone_until_it_serves_again)
{
    scene in = make();
    (void)add(&in, KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kw_registration above = add(&in, KW_KEY_CPU, KWT_T_I(2));
    expect_gone(&handle);
    kwt_remove(in.library, above);
    expect_number(&handle, 1);
}

// S64. In the same slot and entry, with the same function and user data.
Test(kernel_handle, replacement_at_the_same_address_is_another_kernel)
{
    scene in = make();
    kw_kernel_handle first = {.op = NULL};
    for (int i = 0; i < 100; i++) { // the allocator gives the record's address again, too
        kw_registration made = add(&in, KW_KEY_CPU, KWT_T_I(1));
        kw_kernel_handle handle = take(&in, KW_KEY_CPU);
        if (i == 0) {
            first = handle;
        } else {
            cr_expect_eq(handle.entry, first.entry);
            expect_gone(&first);
        }
        expect_number(&handle, 1);
        kwt_remove(in.library, made);
    }
}

// S64. Other kernels move its entry.
Test(kernel_handle, kernel_is_found_wherever_the_table_has_it)
{
    scene in = make();
    (void)add(&in, KW_KEY_CUDA, KWT_T_I(1));
    kw_kernel_handle handle = take(&in, KW_KEY_CUDA);
    kw_registration others[] = {
        add(&in, KW_KEY_CPU, KWT_T_I(2)),
        add(&in, KW_KEY_AutogradCPU, KWT_T_I(3)),
        kwt_fallback(in.library, KW_KEY_FPGA, KWT_BOXED(4)),
    };
    expect_number(&handle, 1);
    kw_kernel_handle moved = take(&in, KW_KEY_CUDA);
    cr_expect_neq(moved.entry, handle.entry, "or the test shows nothing");
    cr_expect_eq(moved.registration, handle.registration);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kwt_remove(in.library, others[i]);
        expect_number(&handle, 1);
        expect_number(&moved, 1);
    }
    kw_kernel_handle beyond = handle;
    beyond.entry = 200;
    expect_number(&beyond, 1);
}

// S64
Test(kernel_handle, snapshot_decides_by_its_version)
{
    scene in = make();
    kw_registration made = add(&in, KW_KEY_CPU, KWT_T_I(1));
    kw_kernel_handle older = take(&in, KW_KEY_CPU);
    kw_shared_snapshot *shared = NULL;
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    kwt_remove(in.library, made);
    (void)add(&in, KW_KEY_CPU, KWT_T_I(2));
    kw_kernel_handle younger = take(&in, KW_KEY_CPU);
    expect_gone(&older);
    expect_number(&younger, 2);
    kw_snapshot snapshot;
    KWT_OK(kw_shared_snapshot_enter(shared, &snapshot));
    expect_number(&older, 1);
    expect_gone(&younger);
    kw_kernel_handle taken = take(&in, KW_KEY_CPU);
    cr_expect_eq(taken.registration, older.registration);
    kwt_close(in.library);
    expect_number(&older, 1);
    KWT_OK(kw_snapshot_close(&snapshot));
    expect_gone(&older);
    expect_gone(&younger);
    kw_shared_snapshot_release(shared);
}

// Before the operator was there: the end of its chain has no kernel.
Test(kernel_handle, kernel_younger_than_the_snapshot_is_gone)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    KWT_OK(kw_snapshot_close(&snapshot));
    kw_kernel_handle handle;
    KWT_OK(kw_operator_computed_kernel(kwt_find(dispatcher, "t::f"), KW_KEY_CPU, &handle, NULL));
    kwt_close(library);
    KWT_OK(kw_snapshot_open(&snapshot));
    expect_gone(&handle);
    KWT_OK(kw_snapshot_close(&snapshot));
}

// A kernel that takes itself away is in use until its call has ended.
static kw_library *own_library;

static kw_status close_own_library(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)keys;
    (void)x;
    kwt_close(own_library);
    KWT_OK(kw_reclaim());
    *out_0 = *(const int *)self->user_data;
    return KW_OK;
}

Test(kernel_handle, kernel_stays_in_use_for_the_length_of_the_call)
{
    scene in = make();
    int destroyed = 0;
    own_library = in.library;
    (void)add(&in, KW_KEY_CPU,
              kwt_with(KW_UNBOXED("t>i", close_own_library), &destroyed, kwt_count_destroy));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kwt_tensor tensor = kwt_make_tensor("CPU");
    int64_t number = 9;
    KWT_OK(kwt_handle_t_i(&handle, tensor.keys, &tensor, &number));
    cr_expect_eq(number, 0, "not destroyed inside");
    KWT_OK(kw_reclaim());
    cr_expect_eq(destroyed, 1);
    expect_gone(&handle);
}

static kw_status refuse(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    (void)out_0;
    return kw_fail(KW_KERNEL_FAILED, "no luck");
}

Test(kernel_handle, failure_of_the_kernel_names_the_operator)
{
    scene in = make();
    (void)add(&in, KW_KEY_CPU, KW_UNBOXED("t>i", refuse));
    kw_kernel_handle handle = take(&in, KW_KEY_CPU);
    kwt_tensor tensor = kwt_make_tensor("CPU");
    int64_t number = 9;
    KWT_STATUS(KW_KERNEL_FAILED, kwt_handle_t_i(&handle, tensor.keys, &tensor, &number));
    KWT_HAS(kw_call_error(), "no luck");
    KWT_HAS(kw_call_error(), "in `t::f`");
}
