// What PyTorch's op_registration_test asserts of registration and dispatch, by content.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "semantics_fixture.h"

TestSuite(upstream_register, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MISSING (-(int64_t)KW_NO_KERNEL_FOR_KEY)
#define PLAIN false
#define GRAD true

static kw_dispatcher *dispatcher;
static kw_library *library;

// A defined operator t::f(Tensor x) -> int in a fresh dispatcher.
static const kw_operator *make(void)
{
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    return kwt_find(dispatcher, "t::f");
}

static kw_registration add(kw_key key, int64_t number)
{
    return kwt_impl(library, "f", key, KWT_T_I(number));
}

// PyTorch: whenRegisteringWithSchemaBeforeKernelInOptionsObject_thenCanBeCalled, ...AfterKernel...,
// ...NameBeforeKernel..., ...NameAfterKernel... S33
Test(upstream_register, schema_and_kernel_come_in_either_order)
{
    cr_expect_eq(kws_runs(make(), KW_KEY_CPU, PLAIN), -KW_NO_KERNEL);
    (void)add(KW_KEY_CatchAll, 1);
    cr_expect_eq(kws_runs(kwt_find(dispatcher, "t::f"), KW_KEY_CPU, PLAIN), 1);
    (void)kwt_impl(library, "g", KW_KEY_CatchAll, KWT_T_I(2));
    (void)kwt_define(library, "g(Tensor x) -> int");
    cr_expect_eq(kws_runs(kwt_find(dispatcher, "t::g"), KW_KEY_CPU, PLAIN), 2);
}

// PyTorch: whenCallingOpWithWrongDispatchKey_thenFails. S60
Test(upstream_register, kernel_of_another_backend_is_missing)
{
    const kw_operator *op = make();
    (void)add(KW_KEY_CPU, 1);
    cr_expect_eq(kws_runs(op, KW_KEY_CUDA, PLAIN), MISSING);
    kws_expect_pieces(kw_call_error(), (const char *[]){"`t::f`", "CUDA", NULL});
}

// PyTorch: givenOpWithCatchallKernel_whenCallingOp_thenCallsCatchallKernel,
// givenOpWithDispatchedKernelOutOfScope_whenRegisteringCatchallKernelAndCallingOp_...,
// givenOpWithCatchallKernelOutOfScope_whenRegisteringDispatchedKernelAndCallingOp_...
Test(upstream_register, kernel_out_of_scope_leaves_room_for_another)
{
    const kw_operator *op = make();
    kw_registration made = add(KW_KEY_CPU, 1);
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, PLAIN), 1);
    kwt_remove(library, made);
    made = add(KW_KEY_CatchAll, 2);
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, PLAIN), 2);
    kwt_remove(library, made);
    (void)add(KW_KEY_CPU, 3);
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, PLAIN), 3);
}

// PyTorch: givenOpWithoutKernels_whenRegisteringWithSchema_thenOnlyRegistersSchema,
// givenOpWithoutKernelsWithoutTensorInputs_whenRegistering_thenRegisters.
Test(upstream_register, schema_alone_is_an_operator_that_cannot_be_called)
{
    const kw_operator *op = make();
    const kw_operator *found = NULL;
    KWT_OK(kw_operator_find_schema(dispatcher, "t::f", &found, NULL));
    cr_expect_eq(found, op);
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, PLAIN), -KW_NO_KERNEL);
    (void)kwt_define(library, "g() -> ()");
    kw_frame frame = {NULL, NULL, 0, 0};
    KWT_STATUS(KW_NO_KERNEL, kw_call_boxed(kwt_find(dispatcher, "t::g"), &frame));
}

// PyTorch: whenRegisteringCPUTensorType_thenCanOnlyCallUnboxedWithCPUDispatchKey. S66
Test(upstream_register, redispatch_takes_its_keys_and_not_the_tensors)
{
    const kw_operator *op = make();
    (void)add(KW_KEY_CPU, 1);
    kwt_tensor cuda = kws_tensor(KW_KEY_CUDA, PLAIN);
    int64_t number = 0;
    KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("CPU"), &cuda, &number));
    cr_expect_eq(number, 1);
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_redispatch_t_i(op, kwt_keyset("CUDA"), &cuda, &number));
}

// PyTorch: whenRegisteringMultipleKernelsInSameOpCallAndCalling_thenCallsCorrectKernel, and the
// four ...ByNameAndNone/OnlyOneCanInferSchema, ...BySchemaAndNone/OnlyOneCanInferSchema.
Test(upstream_register, boxed_and_unboxed_kernels_serve_their_own_keys)
{
    const kw_operator *op = make();
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, KWT_T_I(2));
    (void)kwt_impl(library, "f", KW_KEY_XLA, KWT_BOXED(3));
    (void)kwt_impl(library, "f", KW_KEY_Lazy, KWT_BOXED(4));
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, PLAIN), 1);
    cr_expect_eq(kws_runs(op, KW_KEY_CUDA, PLAIN), 2);
    cr_expect_eq(kws_runs(op, KW_KEY_XLA, PLAIN), 3);
    cr_expect_eq(kws_runs(op, KW_KEY_Lazy, PLAIN), 4);
    cr_expect_eq(kws_runs(op, KW_KEY_XPU, PLAIN), MISSING);
    kws_expect_pieces(kw_call_error(),
                      (const char *[]){"CPU (", "CUDA (", "XLA (", "Lazy (", NULL});
}

// Autograd: which kernel a plain tensor and one that needs a gradient run.
typedef struct autograd_row {
    kw_key keys[3]; // kernel i has the number i + 1
    struct {
        kw_key key;
        int64_t plain;
        int64_t grad;
    } calls[4]; // a key of 0 ends
} autograd_row;

static const autograd_row autograd_rows[] = {
    // whenRegisteringAutogradKernel_thenCanCallAutogradKernel
    {{KW_KEY_Autograd}, {{KW_KEY_CPU, MISSING, 1}}},
    // whenRegisteringAutogradKernelWithRegularKernel_thenCanCallAutogradKernel
    {{KW_KEY_CPU, KW_KEY_Autograd}, {{KW_KEY_CPU, 1, 2}}},
    // whenRegisteringAutogradKernelWithCatchAllKernel_thenCanCallCatchallKernel
    {{KW_KEY_CompositeImplicitAutograd, KW_KEY_Autograd},
     {{KW_KEY_CPU, 1, 1}, {KW_KEY_CUDA, 1, 1}}},
    // AutogradBackendOverridesAutogradKernel
    {{KW_KEY_AutogradCPU, KW_KEY_Autograd}, {{KW_KEY_CPU, MISSING, 1}, {KW_KEY_CUDA, MISSING, 2}}},
    // AutogradXLAOverridesAutogradKernel
    {{KW_KEY_AutogradXLA, KW_KEY_Autograd}, {{KW_KEY_XLA, MISSING, 1}, {KW_KEY_CPU, MISSING, 2}}},
    // whenRegisterWithXLAKernelAndCatchAll_AutogradXLAIsNotFilled
    {{KW_KEY_CompositeImplicitAutograd}, {{KW_KEY_XLA, 1, 1}, {KW_KEY_Lazy, 1, 1}}},
    {{KW_KEY_CompositeImplicitAutograd, KW_KEY_XLA}, {{KW_KEY_XLA, 2, 2}, {KW_KEY_CPU, 1, 1}}},
    // whenRegisterWithLazyKernelsAndCatchAll_AutogradLazyIsNotFilled
    {{KW_KEY_CompositeImplicitAutograd, KW_KEY_Lazy}, {{KW_KEY_Lazy, 2, 2}, {KW_KEY_CPU, 1, 1}}},
};

// S41 S46 S47
Test(upstream_register, autograd_kernels_serve_tensors_that_need_a_gradient)
{
    for (size_t i = 0; i < COUNT(autograd_rows); i++) {
        const autograd_row *row = &autograd_rows[i];
        const kw_operator *op = make();
        for (int j = 0; j < 3 && row->keys[j] != KW_KEY_Undefined; j++) {
            (void)add(row->keys[j], j + 1);
        }
        for (int j = 0; j < 4 && row->calls[j].key != KW_KEY_Undefined; j++) {
            kw_key key = row->calls[j].key;
            cr_expect_eq(kws_runs(op, key, PLAIN), row->calls[j].plain, "row %zu %s", i,
                         kw_key_name(key));
            cr_expect_eq(kws_runs(op, key, GRAD), row->calls[j].grad, "row %zu %s", i,
                         kw_key_name(key));
        }
    }
}

static char said[64];

// Puts the operator's name behind the string it was given.
static kw_status append_name(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)self;
    (void)keys;
    cr_assert_eq(frame->args[1].tag, KW_TAG_STRING);
    snprintf(said, sizeof said, "%s%s", frame->args[1].as.as_string, kw_operator_name(op));
    frame->returns[0] = kw_value_int((int64_t)strlen(said));
    return KW_OK;
}

// PyTorch: whenRegisteringBackendFallbackKernel_thenCanBeCalled, ...ForWrongBackend_...,
// ...AndRegularKernelForDifferentBackend_thenRegularKernel/FallbackKernelCanBeCalled,
// ...ForSameBackend_thenCallsRegularKernel. S38 S49
Test(upstream_register, backend_fallback_serves_what_no_kernel_does)
{
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x, str s) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_registration made = kwt_fallback(global, KW_KEY_CPU, KW_BOXED(append_name));
    kwt_tensor cpu = kws_tensor(KW_KEY_CPU, PLAIN);
    kwt_tensor cuda = kws_tensor(KW_KEY_CUDA, PLAIN);
    kw_value args[] = {kw_value_tensor(&cpu), kw_value_string("hello ")};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_str_eq(said, "hello t::f");
    cr_expect_eq(number, 10, "the caller sees the result");
    args[0] = kw_value_tensor(&cuda);
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_frame(op, args, 2, &number));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, KWT_BOXED(2));
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 2);
    args[0] = kw_value_tensor(&cpu);
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 10);
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(3));
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 3, "a kernel beats the fallback");
    kwt_remove(global, made);
}

static kw_value seen_value;

static kw_status see_value(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    seen_value = frame->args[0];
    kw_status status = KW_OK;
    for (uint32_t i = 0; i < frame->return_count && status == KW_OK; i++) {
        status = kw_value_own(&frame->args[0], &kwt_tensor_type, &frame->returns[i], NULL);
    }
    return status;
}

// A list of dicts from str to lists of optional dicts, three levels down to an int and a None.
static const kw_value *nested_value(void)
{
    static kw_value inner_pair[2];
    static kw_value optionals[2];
    static kw_value outer_pair[2];
    static kw_value dicts[1];
    static kw_value list;
    inner_pair[0] = kw_value_int(5);
    inner_pair[1] = kw_value_string("five");
    optionals[0] = kw_value_dict((kw_value_list){inner_pair, 2});
    optionals[1] = kw_value_none();
    outer_pair[0] = kw_value_string("key");
    outer_pair[1] = kw_value_values((kw_value_list){optionals, 2});
    dicts[0] = kw_value_dict((kw_value_list){outer_pair, 2});
    list = kw_value_values((kw_value_list){dicts, 1});
    return &list;
}

// PyTorch: testAvailableArgTypes. Without a return, with one and with two of the type. S62
Test(upstream_register, each_type_goes_in_and_comes_out)
{
    static const int64_t ints[] = {1, 2};
    static const double floats[] = {1.5};
    static const bool bools[] = {true, false, true};
    kwt_tensor tensor = kws_tensor(KW_KEY_CPU, PLAIN);
    void *tensors[] = {&tensor, NULL};
    const kw_value strings[] = {kw_value_string("a"), kw_value_string("b")};
    const kw_value pair[] = {kw_value_string("a"), kw_value_int(1)};
    const kw_complex complex_number = {1, -2};
    const struct {
        const char *type;
        kw_value value;
    } rows[] = {
        {"float", kw_value_float(1.5)},
        {"int", kw_value_int(-3)},
        {"bool", kw_value_bool(true)},
        {"str", kw_value_string("text")},
        {"Tensor", kw_value_tensor(&tensor)},
        {"float?", kw_value_float(1.5)},
        {"float?", kw_value_none()},
        {"int?", kw_value_int(4)},
        {"int?", kw_value_none()},
        {"bool?", kw_value_bool(false)},
        {"bool?", kw_value_none()},
        {"str?", kw_value_string("")},
        {"str?", kw_value_none()},
        {"Tensor?", kw_value_tensor(&tensor)},
        {"Tensor?", kw_value_none()},
        {"float[]", kw_value_floats((kw_float_list){floats, 1})},
        {"float[]", kw_value_floats((kw_float_list){NULL, 0})},
        {"int[]", kw_value_ints((kw_int_list){ints, 2})},
        {"int[]", kw_value_ints((kw_int_list){NULL, 0})},
        {"bool[3]", kw_value_bools((kw_bool_list){bools, 3})},
        {"Tensor[]", kw_value_tensors((kw_tensor_list){tensors, 1})},
        {"Tensor?[]", kw_value_tensors((kw_tensor_list){tensors, 2})},
        {"Tensor[]", kw_value_tensors((kw_tensor_list){NULL, 0})},
        {"int[]?", kw_value_none()},
        {"Generator?", kw_value_none()},
        {"str[]", kw_value_values((kw_value_list){strings, 2})},
        {"Dict(str, int)", kw_value_dict((kw_value_list){pair, 2})},
        {"Dict(str, Dict(int, str)?[])[]", *nested_value()},
        {"(int, str)", kw_value_tuple((kw_value_list){pair, 2})},
        {"complex", kw_value_complex(&complex_number)},
        {"Scalar", kw_value_float(0.5)},
        {"Device", kw_value_device((kw_device){1, 0})},
        {"Any", kw_value_string("anything")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t returns = 0; returns < 3; returns++) {
            char schema[128];
            const char *type = rows[i].type;
            snprintf(schema, sizeof schema, "f(%s x) -> (%s%s%s)", type, returns > 0 ? type : "",
                     returns > 1 ? ", " : "", returns > 1 ? type : "");
            dispatcher = kwt_dispatcher();
            library = kwt_library_of(dispatcher, "t");
            (void)kwt_define(library, schema);
            (void)kwt_impl(library, "f", KW_KEY_CatchAll, KW_BOXED(see_value));
            kw_value arg = rows[i].value;
            kw_value results[2];
            kw_frame frame = {&arg, results, 1, returns};
            cr_assert_eq(kw_call_boxed(kwt_find(dispatcher, "t::f"), &frame), KW_OK, "%s: %s",
                         schema, kw_call_error());
            cr_expect_eq(memcmp(&seen_value, &rows[i].value, sizeof seen_value), 0, "%s", schema);
            for (uint32_t j = 0; j < returns; j++) {
                cr_expect(kw_value_equal(&results[j], &arg), "%s", schema);
                kw_value_release(&results[j], &kwt_tensor_type);
            }
            kwt_end_library(library);
            kwt_end_dispatcher(dispatcher);
        }
    }
}

KWT_TYPED(y_i, kw_keyset_empty(), (kw_symint a, int64_t *out_0), (a, out_0))

// PyTorch: TestSymNonSymCompatibility, TestSymSymCompatibility. Integers reach a kernel of either
// form; a form is part of the C signature, so what is called by reference there is no kernel here.
Test(upstream_register, integers_reach_plain_kernels_of_symbolic_operators)
{
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(SymInt a) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CatchAll, kws_for("(int a) -> int", KWT_I_I(10)));
    const kw_operator *op = NULL;
    KWT_STATUS(KW_SIGNATURE_MISMATCH, kw_operator_find_typed(dispatcher, "t::f", "i>i", &op, NULL));
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "y>i", &op, NULL));
    int64_t number = 0;
    KWT_OK(kwt_call_y_i(op, kw_symint_int(3), &number));
    cr_expect_eq(number, 13);
    kw_value arg = kw_value_int(4);
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 14);
}
