// Boxed calls: frames in, frames out, across boxed and unboxed kernels.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(boxed, .init = kwt_begin, .fini = kwt_end);

static const kw_operator *make(const char *schema, kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, schema);
    return kwt_find(dispatcher, "t::f");
}

Test(boxed, typed_call_reaches_a_boxed_kernel)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(7));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(kwt_call_ti_i(op, &cpu, 5, &number));
    cr_expect_eq(number, 7);
    cr_expect_eq(kwt_trace[0].op, op, "it sees the operator it runs for");
}

static kw_status add_arguments(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    cr_assert_eq(frame->arg_count, 2);
    cr_assert_eq(frame->return_count, 1);
    cr_assert_eq(frame->returns[0].tag, KW_TAG_NONE, "returns begin as None");
    cr_assert_eq(frame->args[0].tag, KW_TAG_TENSOR);
    cr_assert_eq(frame->args[1].tag, KW_TAG_INT);
    const kwt_tensor *x = frame->args[0].as.as_tensor;
    frame->returns[0] = kw_value_int(x->number + frame->args[1].as.as_int);
    return KW_OK;
}

Test(boxed, arguments_and_returns_arrive_either_way)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KW_BOXED(add_arguments));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cpu.number = 40;
    int64_t number = 0;
    KWT_OK(kwt_call_ti_i(op, &cpu, 2, &number));
    cr_expect_eq(number, 42);
    kw_value args[2] = {kw_value_tensor(&cpu), kw_value_int(-40)};
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 0);
}

Test(boxed, boxed_call_reaches_an_unboxed_kernel)
{
    kw_library *library;
    const kw_operator *op = make("t::f(int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_I_I(10));
    kw_value arg = kw_value_int(3);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 13);
}

static kw_status unbox_with_a_mark(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                   kw_frame *frame)
{
    (void)op;
    int64_t number = 0;
    kw_status status = kwt_kernel_i_i(self, keys, frame->args[0].as.as_int, &number);
    frame->returns[0] = kw_value_int(number + 1000);
    return status;
}

Test(boxed, unboxing_thunk_of_the_kernel_comes_before_libffi)
{
    kw_library *library;
    const kw_operator *op = make("t::f(int a) -> int", &library);
    kw_kernel_descriptor kernel = KWT_I_I(10);
    kernel.boxed = unbox_with_a_mark;
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, kernel);
    kw_value arg = kw_value_int(3);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 1013);
    cr_expect_eq(kwt_result_i_i(op, 3), 13, "typed calls do not need it");
}

static kw_status box_with_a_mark(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    kw_value arg = kw_value_int(a);
    kw_value result = kw_value_none();
    kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
    kw_status status = self->boxed(self, NULL, keys, &frame);
    *out_0 = result.as.as_int + 500;
    return status;
}

Test(boxed, boxing_thunk_of_the_definition_comes_before_libffi)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_definition definition = KW_DEFINE("t::f(int a) -> int");
    definition.box = (kw_function)box_with_a_mark;
    kw_registration made;
    KWT_OK(kw_library_define(library, &definition, &made, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(7));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(kwt_result_i_i(op, 3), 507);
    kwt_remove(library, made);
    cr_expect_eq(kwt_result_i_i(op, 3), 7, "it goes with its definition");
}

Test(boxed, tensor_results_are_owned_by_the_caller)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> Tensor", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KW_UNBOXED("t>t", kwt_kernel_t_t));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    kw_value result = kw_value_int(99);
    kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
    KWT_OK(kw_call_boxed(op, &frame));
    cr_expect_eq(result.tag, KW_TAG_TENSOR);
    cr_expect_eq(result.as.as_tensor, &cpu);
    cr_expect_eq(cpu.reference_count, 2);
    void *out = NULL;
    KWT_OK(kwt_call_t_t(op, &cpu, &out));
    cr_expect_eq(out, &cpu);
    cr_expect_eq(cpu.reference_count, 3);
}

static kw_status return_half(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)op;
    (void)keys;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = kw_value_int(5);
    }
    return (kw_status)(intptr_t)self->user_data;
}

Test(boxed, returns_are_none_after_a_failure)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> (int, int, int)", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU,
                   kwt_numbered(KW_BOXED(return_half), KW_STATUS_USER + 5));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    kw_value returns[3] = {kw_value_int(1), kw_value_int(2), kw_value_int(3)};
    kw_frame frame = {.args = &arg, .returns = returns, .arg_count = 1, .return_count = 3};
    KWT_STATUS(KW_STATUS_USER + 5, kw_call_boxed(op, &frame));
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(returns[i].tag, KW_TAG_NONE);
    }
}

Test(boxed, wrong_counts_are_refused_before_any_kernel_runs)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(7));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value args[3] = {kw_value_tensor(&cpu), kw_value_int(1), kw_value_int(1)};
    kw_value returns[2] = {kw_value_none(), kw_value_none()};
    static const uint32_t counts[5][2] = {{0, 1}, {1, 1}, {3, 1}, {2, 0}, {2, 2}};
    for (int i = 0; i < 5; i++) {
        kw_frame frame = {.args = args,
                          .returns = returns,
                          .arg_count = counts[i][0],
                          .return_count = counts[i][1]};
        KWT_STATUS(KW_WRONG_VALUE, kw_call_boxed(op, &frame));
        KWT_HAS(kw_call_error(), "t::f(Tensor x, int a) -> int");
        KWT_STATUS(KW_WRONG_VALUE, kw_redispatch_boxed(op, kwt_keyset("CPU"), &frame));
    }
    cr_expect_eq(kwt_trace_count, 0);
}

Test(boxed, vararg_takes_more_but_not_fewer)
{
    kw_library *library;
    const kw_operator *op = make("t::f(int a, ...) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(7));
    kw_value args[5] = {kw_value_int(1), kw_value_none(), kw_value_bool(true), kw_value_int(1),
                        kw_value_float(2)};
    int64_t number = 0;
    for (uint32_t count = 1; count <= 5; count++) {
        KWT_OK(kwt_call_frame(op, args, count, &number));
    }
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_frame(op, args, 0, &number));
}

Test(boxed, wrong_tag_is_refused_by_an_unboxed_kernel)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_TI_I(7));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value args[2] = {kw_value_tensor(&cpu), kw_value_float(1.5)};
    int64_t number = 0;
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_frame(op, args, 2, &number));
    KWT_HAS(kw_call_error(), "argument 2 is float");
    KWT_HAS(kw_call_error(), "`t::f`");
    args[1] = kw_value_none();
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(kwt_trace_count, 0);
}

static kw_status return_tensor(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)op;
    (void)keys;
    kwt_tensor *tensor = self->user_data;
    tensor->reference_count++;
    frame->returns[0] = kw_value_tensor(tensor);
    return KW_OK;
}

Test(boxed, wrong_return_of_a_boxed_kernel_is_refused_and_released)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kwt_with(KW_BOXED(return_tensor), &cpu, NULL));
    int64_t number = 31;
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_t_i(op, &cpu, &number));
    KWT_HAS(kw_call_error(), "return_tensor");
    KWT_HAS(kw_call_error(), "return 1 is Tensor");
    cr_expect_eq(number, 31, "outputs are untouched");
    cr_expect_eq(cpu.reference_count, 1, "the tensor nobody asked for is released");
}

Test(boxed, dispatcher_without_a_tensor_type_cannot_read_tensors)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_define(library, "t::g(int x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(7));
    (void)kwt_impl(library, "t::g", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(8));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_STATUS(KW_NOT_SUPPORTED, kwt_call_frame(kwt_find(dispatcher, "t::f"), &arg, 1, &number));
    KWT_HAS(kw_call_error(), "tensor type");
    arg = kw_value_int(1);
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::g"), &arg, 1, &number));
    cr_expect_eq(number, 8);
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::f"), &cpu), 7, "typed calls can");
    kwt_end_library(library);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

Test(boxed, tensor_type_that_comes_later_serves_operators_that_were_there)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(7));
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .tensor_type = &kwt_tensor_type};
    kw_library *typed = NULL;
    KWT_OK(kw_library_create(&options, &typed, NULL));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::f"), &arg, 1, &number));
    cr_expect_eq(number, 7);
    kwt_end_library(typed);
    kwt_end_library(library);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

Test(boxed, missing_arguments_are_refused)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    kw_frame frame = {0};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_call_boxed(NULL, &frame));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_call_boxed(op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_redispatch_boxed(NULL, kw_keyset_empty(), &frame));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_redispatch_boxed(op, kw_keyset_empty(), NULL));
}
