// Boxed kernels that fail half-way, or return what nobody owns: what becomes of their returns.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(boxed_failure, .init = kwt_begin, .fini = kwt_end);

#define SCHEMA "t::f(Tensor x) -> (Tensor, Tensor[], str)"

// What the kernels put into their returns, and where they stop.
static kwt_tensor cpu;
static uint32_t stop; // returns that are set
static kw_status answer;

static void set_returns(kw_frame *frame)
{
    void *tensors[] = {&cpu, &cpu};
    const kw_value views[] = {kw_value_tensor(&cpu), kw_value_tensors((kw_tensor_list){tensors, 2}),
                              kw_value_string("text")};
    for (uint32_t i = 0; i < stop; i++) {
        KWT_OK(kw_value_own(&views[i], &kwt_tensor_type, &frame->returns[i], NULL));
    }
}

static kw_status fail_halfway(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)op;
    kwt_trace_add(self, op, keys);
    set_returns(frame);
    return answer;
}

// Redispatches with its frame, after it has set returns of its own, and looks at what is left.
static int layer_runs;
static bool forgives;

static kw_status check_inner(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)self;
    layer_runs++;
    set_returns(frame);
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    kw_status status = kw_redispatch_boxed(op, below, frame);
    for (uint32_t i = 0; i < frame->return_count && status != KW_OK; i++) {
        cr_expect_eq(frame->returns[i].tag, KW_TAG_NONE, "an inner failure leaves None");
    }
    if (forgives) {
        set_returns(frame);
        return KW_OK;
    }
    return status;
}

static const kw_operator *make(kw_kernel_descriptor kernel, kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, SCHEMA);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel);
    cpu = kwt_make_tensor("CPU, AutogradCPU");
    stop = 2;
    answer = KW_STATUS_USER + 5;
    *out_library = library;
    return kwt_find(dispatcher, "t::f");
}

static kw_status call(const kw_operator *op, kw_value *returns)
{
    kw_value arg = kw_value_tensor(&cpu);
    kw_frame frame = {.args = &arg, .returns = returns, .arg_count = 1, .return_count = 3};
    return kw_call_boxed(op, &frame);
}

static void expect_none(const kw_value *returns)
{
    const kw_value none = kw_value_none();
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(memcmp(&returns[i], &none, sizeof none), 0, "return %d", i + 1);
    }
    cr_expect_eq(cpu.reference_count, 1, "%d", cpu.reference_count);
}

static void expect_success(const kw_operator *op)
{
    kw_value returns[3];
    answer = KW_OK;
    stop = 3;
    KWT_OK(call(op, returns));
    cr_expect_eq(returns[0].as.as_tensor, &cpu);
    cr_expect_eq(returns[1].count, 2);
    cr_expect_str_eq(returns[2].as.as_string, "text");
    cr_expect_eq(cpu.reference_count, 4);
    kw_frame frame = {.args = NULL, .returns = returns, .arg_count = 0, .return_count = 3};
    kw_frame_release_returns(&frame, &kwt_tensor_type);
    expect_none(returns);
}

Test(boxed_failure, returns_of_a_failed_kernel_are_released)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    kw_value returns[3];
    uint64_t bytes = kwt_live_bytes();
    for (stop = 0; stop <= 3; stop++) {
        memset(returns, 0xff, sizeof returns); // a call forgets what was there
        KWT_STATUS(KW_STATUS_USER + 5, call(op, returns));
        expect_none(returns);
        cr_expect_eq(kwt_live_bytes(), bytes);
    }
    cr_expect_eq(kwt_trace_count, 4);
    expect_success(op);
}

Test(boxed_failure, chain_releases_what_each_layer_left)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU, KW_BOXED(check_inner));
    kw_value returns[3];
    uint64_t bytes = kwt_live_bytes();
    KWT_STATUS(KW_STATUS_USER + 5, call(op, returns));
    expect_none(returns);
    forgives = true;
    KWT_OK(call(op, returns));
    cr_expect_eq(cpu.reference_count, 4);
    kw_frame frame = {.args = NULL, .returns = returns, .arg_count = 0, .return_count = 3};
    kw_frame_release_returns(&frame, &kwt_tensor_type);
    forgives = false;
    expect_none(returns);
    cr_expect_eq(kwt_live_bytes(), bytes);
    cr_expect_eq(layer_runs, 2);
    expect_success(op);
}

Test(boxed_failure, redispatch_outside_the_call_releases_alike)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    kw_value returns[3] = {kw_value_none(), kw_value_none(), kw_value_none()};
    kw_value arg = kw_value_tensor(&cpu);
    kw_frame frame = {.args = &arg, .returns = returns, .arg_count = 1, .return_count = 3};
    set_returns(&frame);
    KWT_STATUS(KW_STATUS_USER + 5, kw_redispatch_boxed(op, kwt_keyset("CPU"), &frame));
    expect_none(returns);
    set_returns(&frame);
    frame.arg_count = 0;
    KWT_STATUS(KW_WRONG_VALUE, kw_redispatch_boxed(op, kwt_keyset("CPU"), &frame));
    expect_none(returns);
}

Test(boxed_failure, exact_calls_release_alike)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    kw_value returns[3];
    kw_value arg = kw_value_tensor(&cpu);
    kw_frame frame = {.args = &arg, .returns = returns, .arg_count = 1, .return_count = 3};
    KWT_STATUS(KW_STATUS_USER + 5, kw_call_boxed_for_key(op, KW_KEY_CPU, &frame));
    expect_none(returns);
    kw_kernel_handle handle;
    KWT_OK(kw_operator_computed_kernel(op, KW_KEY_CPU, &handle, NULL));
    KWT_STATUS(KW_STATUS_USER + 5, kw_kernel_call_boxed(&handle, kwt_keyset("CPU"), &frame));
    expect_none(returns);
}

Test(boxed_failure, call_that_reaches_no_kernel_leaves_none)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    kw_value returns[3];
    memset(returns, 0xff, sizeof returns);
    kw_value arg = kw_value_tensor(&cpu);
    kw_frame frame = {.args = &arg, .returns = returns, .arg_count = 0, .return_count = 3};
    KWT_STATUS(KW_WRONG_VALUE, kw_call_boxed(op, &frame));
    expect_none(returns);
    memset(returns, 0xff, sizeof returns);
    frame.arg_count = 1;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kw_call_boxed_for_key(op, KW_KEY_CUDA, &frame));
    expect_none(returns);
}

KWT_TYPED(t_tvv, kwt_keys(x), (void *x, void **out_0, kw_value *out_1, kw_value *out_2),
          (x, out_0, out_1, out_2))

Test(boxed_failure, typed_call_of_a_failed_kernel_releases_alike)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(fail_halfway), &library);
    void *tensor = &layer_runs;
    kw_value list = kw_value_int(31);
    kw_value text = kw_value_int(32);
    uint64_t bytes = kwt_live_bytes();
    for (stop = 0; stop <= 3; stop++) {
        KWT_STATUS(KW_STATUS_USER + 5, kwt_call_t_tvv(op, &cpu, &tensor, &list, &text));
        cr_expect_eq(tensor, &layer_runs, "outputs are untouched");
        cr_expect_eq(list.as.as_int, 31);
        cr_expect_eq(text.as.as_int, 32);
        cr_expect_eq(cpu.reference_count, 1);
        cr_expect_eq(kwt_live_bytes(), bytes);
    }
    answer = KW_OK;
    stop = 3;
    KWT_OK(kwt_call_t_tvv(op, &cpu, &tensor, &list, &text));
    cr_expect_eq(tensor, &cpu);
    cr_expect_eq(list.count, 2);
    cr_expect_str_eq(text.as.as_string, "text");
    cr_expect_eq(cpu.reference_count, 4);
    kw_value_release(&list, NULL);
    kw_value_release(&text, NULL);
    cr_expect_eq(cpu.reference_count, 2);
}

// Views -------------------------------------------------------------------------------------------

static kw_status return_view(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    kw_status status = fail_halfway(self, op, keys, frame);
    frame->returns[2] = kw_value_string("somebody else's");
    return status;
}

Test(boxed_failure, borrowed_return_is_refused_and_the_rest_released)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(return_view), &library);
    kw_value returns[3];
    answer = KW_OK;
    uint64_t bytes = kwt_live_bytes();
    KWT_STATUS(KW_WRONG_VALUE, call(op, returns));
    KWT_HAS(kw_call_error(), "return_view: return 3 is a borrowed str; return an owned one, "
                             "kw_value_own()");
    KWT_HAS(kw_call_error(), "`t::f`");
    expect_none(returns);
    cr_expect_eq(kwt_live_bytes(), bytes);
    void *tensor = NULL;
    kw_value list = kw_value_int(31);
    kw_value text = kw_value_int(32);
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_t_tvv(op, &cpu, &tensor, &list, &text));
    KWT_HAS(kw_call_error(), "return_view: return 3 is a borrowed str");
    cr_expect_null(tensor);
    cr_expect_eq(list.as.as_int, 31);
    expect_none(returns);
    cr_expect_eq(kwt_live_bytes(), bytes);
}

Test(boxed_failure, borrowed_return_of_an_inner_kernel_is_a_failure_of_it)
{
    kw_library *library;
    const kw_operator *op = make(KW_BOXED(return_view), &library);
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU, KW_BOXED(check_inner));
    kw_value returns[3];
    answer = KW_OK;
    KWT_STATUS(KW_WRONG_VALUE, call(op, returns));
    expect_none(returns);
    cr_expect_eq(layer_runs, 1);
}

static kw_status return_first(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = frame->args[0];
    return KW_OK;
}

Test(boxed_failure, every_sort_of_view_is_refused)
{
    static const uint16_t tags[] = {
        KW_TAG_STRING,  KW_TAG_TENSOR_LIST,  KW_TAG_INT_LIST, KW_TAG_FLOAT_LIST, KW_TAG_BOOL_LIST,
        KW_TAG_COMPLEX, KW_TAG_SYM_INT_LIST, KW_TAG_LIST,     KW_TAG_TUPLE,      KW_TAG_DICT};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::g(Any x) -> Any");
    kw_value arg = kw_value_none();
    (void)kwt_impl(library, "t::g", KW_KEY_CompositeExplicitAutograd, KW_BOXED(return_first));
    const kw_operator *op = kwt_find(dispatcher, "t::g");
    const kw_complex number = {1, 2}; // also stands for nothing at all behind empty lists
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        kw_value result;
        kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
        arg = kw_value_complex(&number);
        arg.tag = tags[i];
        KWT_STATUS(KW_WRONG_VALUE, kw_call_boxed(op, &frame));
        KWT_HAS(kw_call_error(), kw_tag_name(tags[i]));
        cr_expect_eq(result.tag, KW_TAG_NONE);
    }
    kwt_tensor generator = kwt_make_tensor("CPU");
    kw_value result;
    kw_frame frame = {.args = &arg, .returns = &result, .arg_count = 1, .return_count = 1};
    arg = kw_value_generator(&generator);
    KWT_OK(kw_call_boxed(op, &frame));
    cr_expect_eq(result.as.as_generator, &generator, "a generator is nobody's view");
}
