// Calls and redispatches: what is said where no kernel is, and what a redispatch may reach.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "semantics_fixture.h"

TestSuite(semantics_call, .init = kwt_begin, .fini = kws_end);

static kw_status call(const kw_operator *op, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    int64_t number = 44;
    kw_status typed = kwt_call_t_i(op, &tensor, &number);
    cr_expect_eq(number == 44, typed != KW_OK, "outputs are untouched");
    kw_value arg = kw_value_tensor(&tensor);
    kw_status boxed = kwt_call_frame(op, &arg, 1, &number);
    cr_expect_eq(typed, boxed, "%s and %s", kw_status_name(typed), kw_status_name(boxed));
    return boxed;
}

// S60. PyTorch: whenCallingOpWithWrongDispatchKey_thenFails and the two texts of reportError.
Test(semantics_call, missing_kernel_is_told_by_what_is_there)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_STATUS(KW_NO_KERNEL, call(op, "CPU"));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "no kernel", NULL});
    (void)kwt_impl(library, "f", KW_KEY_CPU, kwt_at(KWT_T_I(1), "a.c", 5));
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, call(op, "CUDA"));
    kws_expect_pieces(kw_call_error(),
                      (const char *[]){"`t::f`", "CUDA", "CPU (", "block_1 at a.c:5", NULL});
    KWT_STATUS(KW_NO_TENSOR_ARGUMENTS, call(op, ""));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "no tensors", "CPU (", NULL});
    KWT_OK(call(op, "CPU"));
}

// S61. PyTorch: throwsWhenRegisterToBackendMapsToAutogradOther.
Test(semantics_call, ambiguity_names_both_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_FPGA, kwt_at(KWT_T_I(1), "a.c", 5));
    (void)kwt_impl(library, "f", KW_KEY_Undefined, kwt_at(KWT_T_I(2), "a.c", 6));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_OK(call(op, "FPGA"));
    KWT_STATUS(KW_AMBIGUOUS, call(op, "FPGA, AutogradOther"));
    kws_expect_pieces(kw_call_error(),
                      (const char *[]){"`t::f`", "AutogradOther", "FPGA", "a.c:5", "a.c:6", NULL});
}

// S65. The call after the definition is gone still runs; a frame then has no tensors.
Test(semantics_call, kernels_outlive_their_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_registration made = kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 1);
    kwt_remove(library, made);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "a typed caller reads its tensors itself");
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 2, "without a schema nobody knows which argument is a tensor");
}

// S65
Test(semantics_call, removed_operator_answers_removed)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kws_block_end(library);
    KWT_STATUS(KW_OPERATOR_REMOVED, call(op, "CPU"));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", NULL});
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_redispatch_t_i(op, cpu.keys, &cpu, &number));
}

// S66
Test(semantics_call, redispatch_uses_its_keys_as_given)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(library, "f", KW_KEY_Tracer, KWT_T_I(3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cuda = kwt_make_tensor("CUDA");
    kw_local_guard guard;
    int64_t number = 0;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &guard));
    cr_expect_eq(kwt_result_t_i(op, &cuda), 3);
    KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("CPU"), &cuda, &number));
    cr_expect_eq(number, 1, "neither the argument nor the include set counts");
    cr_expect_eq(kwt_trace[kwt_trace_count - 1].keys.bits, kwt_keyset("CPU").bits);
    kw_local_restore(&guard);
    KWT_OK(kw_local_exclude(kwt_keyset("CPU"), &guard));
    KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("CPU"), &cuda, &number));
    cr_expect_eq(number, 1, "nor does the exclude set");
    kw_local_restore(&guard);
}

// S59 S67
Test(semantics_call, fallthrough_runs_never_and_a_redispatch_that_reaches_it_fails)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_Tracer, kwt_at(KW_FALLTHROUGH(), "a.c", 5));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_OK(call(op, "CPU, Tracer"));
    cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("CPU").bits, "the mask took Tracer out");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_FALLTHROUGH_REACHED,
               kwt_redispatch_t_i(op, kwt_keyset("CPU, Tracer"), &cpu, &number));
    kws_expect_pieces(kw_call_error(),
                      (const char *[]){"`t::f`", "Tracer", "block_1 at a.c:5", NULL});
}

static kw_status stand_still(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)self;
    return kw_redispatch_boxed(op, keys, frame);
}

// S68. PyTorch recurses until the stack ends.
Test(semantics_call, boxed_redispatch_without_progress_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KW_BOXED(stand_still));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_STATUS(KW_NO_PROGRESS, call(op, "CPU"));
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "CPU", NULL});
}

static kw_library *swapped;
static kw_registration swapped_out;

// Removes the CPU kernel of the operator it runs for, then redispatches to it.
static kw_status swap(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    kwt_remove(swapped, swapped_out);
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Tracer));
    return kw_redispatch_boxed(op, below, frame);
}

// S69
Test(semantics_call, redispatch_stays_in_the_table_of_its_call)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    swapped = kwt_library_of(dispatcher, "t");
    (void)kwt_define(swapped, "f(Tensor x) -> int");
    (void)kwt_impl(swapped, "f", KW_KEY_Tracer, KW_BOXED(swap));
    swapped_out = kwt_impl(swapped, "f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor tensor = kwt_make_tensor("CPU, Tracer");
    cr_expect_eq(kwt_result_t_i(op, &tensor), 1);
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &cpu, &number));
}

// S62
Test(semantics_call, boxed_kernel_that_returns_another_type_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> Tensor");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1)); // returns an int
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    void *result = NULL;
    KWT_STATUS(KW_WRONG_VALUE, kwt_call_t_t(op, &cpu, &result));
    cr_expect_null(result);
}

static kw_dispatcher *heard_dispatcher;
static kw_library *heard_library;
static int heard;

static void register_more(const kw_event *event, void *context)
{
    (void)context;
    heard++;
    if (event->kind == KW_EVENT_DEFINED && strcmp(event->op, "t::f") == 0) {
        (void)kwt_define(heard_library, "g(Tensor x) -> int");
        cr_expect(kwt_is_visible(heard_dispatcher, "t::g"));
    }
}

// S74 S75. PyTorch calls listeners with the lock held; to register from one deadlocks.
Test(semantics_call, listener_may_register)
{
    heard_dispatcher = kwt_dispatcher();
    heard_library = kwt_library_of(heard_dispatcher, "t");
    const kw_listener listener = {.struct_size = sizeof listener, .event = register_more};
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(heard_dispatcher, &listener, &id, NULL));
    (void)kwt_define(heard_library, "f(Tensor x) -> int");
    cr_expect_eq(heard, 2);
    (void)kwt_refuse_define(heard_library, "f(Tensor x) -> int", KW_ALREADY_DEFINED);
    cr_expect_eq(heard, 2, "what is refused is not told");
    KWT_OK(kw_dispatcher_unlisten(heard_dispatcher, id));
}
