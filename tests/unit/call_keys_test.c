// The keys of a call: arguments, local sets and masks, for typed and boxed callers alike.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "support/registry.h"

TestSuite(call_keys, .init = kwt_begin, .fini = kwt_end);

static const kw_operator *make(const char *schema, kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    (void)kwt_define(*out_library, schema);
    return kwt_find(dispatcher, "t::f");
}

static kw_keyset keys_of_last(int64_t wanted_number)
{
    cr_assert_gt(kwt_trace_count, 0);
    kwt_step step = kwt_trace[kwt_trace_count - 1];
    cr_assert_eq(step.number, wanted_number, "kernel %lld ran", (long long)step.number);
    return step.keys;
}

#define EXPECT_KEYS(number, wanted)                                                                \
    do {                                                                                           \
        kw_keyset kwt_keys_seen = keys_of_last(number);                                            \
        cr_expect_eq(kwt_keys_seen.bits, kwt_keyset(wanted).bits, "keys 0x%llx",                   \
                     (unsigned long long)kwt_keys_seen.bits);                                      \
    } while (0)

// Calls t::f(Tensor x) both ways and checks that kernel `number` ran with the keys `wanted`.
static void expect_call(const kw_operator *op, const char *tensor_keys, int64_t number,
                        const char *wanted)
{
    kwt_tensor tensor = kwt_make_tensor(tensor_keys != NULL ? tensor_keys : "");
    void *x = tensor_keys != NULL ? &tensor : NULL;
    int64_t got = 0;
    kw_status status = kwt_call_t_i(op, x, &got);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    EXPECT_KEYS(number, wanted);
    cr_expect_eq(got, number);
    kwt_trace_clear();
    kw_value arg = kw_value_tensor(x);
    status = kwt_call_frame(op, &arg, 1, &got);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    EXPECT_KEYS(number, wanted);
    cr_expect_eq(kwt_trace_count, 1, "each call runs one kernel once");
    kwt_trace_clear();
}

static void expect_no_tensors(const kw_operator *op, void *x)
{
    int64_t got = 0;
    KWT_STATUS(KW_NO_TENSOR_ARGUMENTS, kwt_call_t_i(op, x, &got));
    kw_value arg = kw_value_tensor(x);
    KWT_STATUS(KW_NO_TENSOR_ARGUMENTS, kwt_call_frame(op, &arg, 1, &got));
}

Test(call_keys, dense_kernel_gets_backend_and_dense)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    expect_call(op, "CPU", 1, "CPU");
    expect_call(op, "CPU, AutogradCPU, ADInplaceOrView", 1, "CPU");
}

Test(call_keys, absent_tensor_is_no_tensor)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor? x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    expect_no_tensors(op, NULL);
    kwt_tensor undefined = kwt_make_tensor("AutogradOther, ADInplaceOrView");
    expect_no_tensors(op, &undefined);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    expect_call(op, NULL, 2, "");
}

Test(call_keys, composite_kernels_serve_a_tensor_without_a_backend)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    kw_registration made = kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(1));
    expect_call(op, "AutogradOther, ADInplaceOrView", 1, "AutogradOther");
    kwt_remove(library, made);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    expect_call(op, "AutogradOther, ADInplaceOrView", 2, "");
}

Test(call_keys, all_tensors_of_lists_count)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor?[] list) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_LIST_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_SparseCPU, KWT_T_LIST_I(3));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_LIST_I(2));
    kwt_tensor dense = kwt_make_tensor("CPU");
    kwt_tensor sparse = kwt_make_tensor("SparseCPU");
    void *items[3] = {NULL, &dense, &sparse};
    static const int64_t wanted[4] = {2, 2, 1, 3}; // by how many of the items are in the list
    for (size_t count = 0; count <= 3; count++) {
        kw_tensor_list list = {items, count};
        int64_t got = 0;
        KWT_OK(kwt_call_T_i(op, list, &got));
        cr_expect_eq(got, wanted[count], "%zu items", count);
        kw_value arg = kw_value_tensors(list);
        KWT_OK(kwt_call_frame(op, &arg, 1, &got));
        cr_expect_eq(got, wanted[count], "%zu items, boxed", count);
    }
}

Test(call_keys, optional_list_contributes_nothing_to_a_boxed_call)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor[]? list) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(2));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    void *items[1] = {&cpu};
    kw_value arg = kw_value_tensors((kw_tensor_list){items, 1});
    int64_t got = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &got));
    cr_expect_eq(got, 2);
}

Test(call_keys, other_arguments_contribute_nothing)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, int a) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_TI_I(1));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value args[2] = {kw_value_tensor(&cpu), kw_value_int(INT64_MAX)};
    int64_t got = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &got));
    EXPECT_KEYS(1, "CPU");
}

Test(call_keys, sets_of_all_arguments_are_joined)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x, Tensor y) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_TT_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_SparseCPU, KWT_TT_I(2));
    kwt_tensor dense = kwt_make_tensor("CPU, AutogradCPU");
    kwt_tensor sparse = kwt_make_tensor("SparseCPU, AutogradCPU");
    int64_t got = 0;
    KWT_OK(kwt_call_tt_i(op, &dense, &sparse, &got));
    EXPECT_KEYS(2, "CPU, SparseCPU");
    kw_value args[2] = {kw_value_tensor(&sparse), kw_value_tensor(&dense)};
    KWT_OK(kwt_call_frame(op, args, 2, &got));
    EXPECT_KEYS(2, "CPU, SparseCPU");
}

Test(call_keys, default_include_set_reaches_kernels_without_tensors)
{
    static const kw_key included[2] = {KW_KEY_BackendSelect, KW_KEY_ADInplaceOrView};
    for (int i = 0; i < 2; i++) {
        kw_library *library;
        const kw_operator *op = make("t::f(Tensor? x) -> int", &library);
        (void)kwt_impl(library, "t::f", included[i], KWT_T_I(1));
        expect_call(op, NULL, 1, kw_key_name(included[i]));
    }
}

Test(call_keys, included_key_takes_part)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kw_registration tracer = kwt_impl(library, "t::f", KW_KEY_Tracer, KWT_T_I(2));
    expect_call(op, "CPU", 1, "CPU");
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &guard));
    expect_call(op, "CPU", 2, "CPU, Tracer");
    kwt_remove(library, tracer);
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KW_FALLTHROUGH());
    expect_call(op, "CPU", 1, "CPU"); // the mask comes last: an included key does not come back
    kw_local_restore(&guard);
}

Test(call_keys, included_key_with_a_fallthrough_runs_the_backend_once)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_fallback(library, KW_KEY_Python, KW_FALLTHROUGH());
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("Python"), &guard));
    expect_call(op, "CPU, AutogradCPU", 1, "CPU");
    kw_local_restore(&guard);
}

Test(call_keys, exclusion_wins_over_inclusion_and_keeps_the_backend)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer, KWT_T_I(2));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(3));
    kw_local_guard include;
    kw_local_guard exclude;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &include));
    KWT_OK(kw_local_exclude(kwt_keyset("Tracer"), &exclude));
    expect_call(op, "CPU", 1, "CPU");
    kw_local_restore(&exclude);
    kw_local_restore(&include);

    KWT_OK(kw_local_exclude(kwt_keyset("CPU"), &exclude));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    (void)kwt_result_t_i(op, &cpu);
    cr_expect_eq(keys_of_last(3).bits, 1, "the backend bit alone, which selects slot 0");
    kw_local_restore(&exclude);
    expect_call(op, "CPU", 1, "CPU");
}

Test(call_keys, autocast_is_excluded_until_a_thread_allows_it)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_AutocastCPU, KWT_T_I(2));
    expect_call(op, "CPU, AutocastCPU", 1, "CPU");
    kw_local_state state = kw_local_capture();
    state.excluded = kw_keyset_remove(state.excluded, KW_KEY_AutocastCPU);
    kw_local_guard guard;
    KWT_OK(kw_local_force(state, &guard));
    expect_call(op, "CPU, AutocastCPU", 2, "CPU, AutocastCPU");
    kw_local_restore(&guard);
    expect_call(op, "CPU, AutocastCPU", 1, "CPU");
}

Test(call_keys, key_without_backend_takes_part)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_Conjugate, KWT_T_I(2));
    expect_call(op, "CPU, Conjugate", 2, "CPU, Conjugate");
    expect_call(op, "CPU", 1, "CPU");
}

// A fallthrough for one backend only: the highest backend, local sets applied, chooses the mask.
Test(call_keys, mask_of_the_highest_backend_decides)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCUDA, KWT_T_I(3));
    expect_call(op, "CPU, AutogradCPU", 1, "CPU");
    expect_call(op, "CUDA, AutogradCUDA", 3, "CUDA, AutogradCUDA");
    // The cross product: this also means AutogradCUDA.
    expect_call(op, "CUDA, AutogradCPU", 3, "CPU, CUDA, AutogradCPU");
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("CUDA"), &guard));
    expect_call(op, "CPU, AutogradCPU", 3, "CPU, CUDA, AutogradCUDA");
    kw_local_restore(&guard);
    expect_call(op, "CPU, AutogradCPU", 1, "CPU");
}

Test(call_keys, masks_of_backends_differ_for_every_building_block)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(library, "t::f", KW_KEY_SparseCPU, KW_FALLTHROUGH());
    (void)kwt_impl(library, "t::f", KW_KEY_SparseCUDA, KWT_T_I(3));
    expect_call(op, "CPU, SparseCPU", 1, "CPU");
    expect_call(op, "CUDA, SparseCUDA", 3, "CUDA, SparseCUDA");
}

Test(call_keys, excluding_autograd_does_not_change_the_backend)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(library, "t::f", KW_KEY_Autograd, KWT_T_I(3));
    expect_call(op, "CUDA, AutogradCUDA", 3, "CUDA, AutogradCUDA");
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kw_keyset_autograd(), &guard));
    expect_call(op, "CUDA, AutogradCUDA", 2, "CUDA");
    kw_local_restore(&guard);
}

Test(call_keys, private_backend_with_standard_fallbacks)
{
    kw_library *library;
    const kw_operator *op = make("t::f(Tensor x) -> int", &library);
    (void)kwt_impl(library, "t::f", KW_KEY_PrivateUse1, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(2));
    expect_call(op, "PrivateUse1, AutogradPrivateUse1", 1, "PrivateUse1");
    expect_call(op, "CPU, AutogradCPU", 2, "CPU, AutogradCPU");
}
