// What PyTorch's tests of kernel functions assert, by content: each sort of kernel, called with a
// typed wrapper and with a frame.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(upstream_kernel, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

KWT_TYPED(t_, kwt_keys(x), (void *x), (x))
KWT_TYPED(t_ti, kwt_keys(x), (void *x, void **out_0, int64_t *out_1), (x, out_0, out_1))
KWT_TYPED(tt_tt, kw_keyset_union(kwt_keys(x), kwt_keys(y)),
          (void *x, void *y, void **out_0, void **out_1), (x, y, out_0, out_1))
KWT_TYPED(ts_i, kwt_keys(x), (void *x, const char *s, int64_t *out_0), (x, s, out_0))
KWT_TYPED(optional, kw_keyset_union(kwt_keys(x), kwt_keys(y)),
          (void *x, void *y, const int64_t *i, const char *s, int64_t *out_0), (x, y, i, s, out_0))
KWT_TYPED(lists, kwt_list_keys(tensors), (kw_tensor_list tensors, kw_int_list ints, int64_t *out_0),
          (tensors, ints, out_0))

static int runs;
static kwt_tensor cpu;
static kwt_tensor other;

// The sorts of return: nothing; a number and a tensor; the tensor that was given (in place); both
// tensors that were given (several outs). Each in a typed and in a boxed form.

static kw_status typed_nothing(const kw_kernel *self, kw_keyset keys, void *x)
{
    (void)self;
    (void)keys;
    cr_expect_eq(x, &cpu);
    runs++;
    return KW_OK;
}

static kw_status typed_several(const kw_kernel *self, kw_keyset keys, void *x, void **out_0,
                               int64_t *out_1)
{
    *out_0 = x;
    *out_1 = 7;
    return typed_nothing(self, keys, x);
}

static kw_status typed_outs(const kw_kernel *self, kw_keyset keys, void *x, void *y, void **out_0,
                            void **out_1)
{
    *out_0 = x;
    *out_1 = y;
    return typed_nothing(self, keys, x);
}

// Returns its tensors, then 7, as far as there is room.
static kw_status boxed_any(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    cr_expect_eq(frame->args[0].as.as_tensor, &cpu);
    runs++;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = i < frame->arg_count ? frame->args[i] : kw_value_int(7);
    }
    return KW_OK;
}

// An operator with one kernel, in a dispatcher of its own.
static const kw_operator *make(const char *schema, kw_kernel_descriptor kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    cpu = kwt_make_tensor("CPU");
    other = kwt_make_tensor("CPU");
    runs = 0;
    (void)kwt_define(library, schema);
    (void)kwt_impl(library, "f", KW_KEY_CPU, kernel);
    return kwt_find(dispatcher, "t::f");
}

// Calls with a frame of `arg_count` tensors; the results are in `results`.
static kw_value results[2];

static void call_frame(const kw_operator *op, uint32_t arg_count, uint32_t return_count)
{
    kw_value args[] = {kw_value_tensor(&cpu), kw_value_tensor(&other)};
    kw_frame frame = {args, results, arg_count, return_count};
    kw_status status = kw_call_boxed(op, &frame);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
}

// PyTorch: KernelFunctionTest, ...callsWithoutReturn; kernel_*_test WithoutOutput, WithZeroOutputs.
// S62
Test(upstream_kernel, nothing_is_returned)
{
    const kw_kernel_descriptor kernels[] = {KW_UNBOXED("t>", typed_nothing), KW_BOXED(boxed_any)};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const kw_operator *op = make("f(Tensor x) -> ()", kernels[i]);
        KWT_OK(kwt_call_t_(op, &cpu));
        call_frame(op, 1, 0);
        cr_expect_eq(runs, 2);
    }
}

// PyTorch: KernelFunctionTest, ...withMultiReturn; MultipleOutputs. S62
Test(upstream_kernel, several_are_returned)
{
    const kw_kernel_descriptor kernels[] = {KW_UNBOXED("t>ti", typed_several), KW_BOXED(boxed_any)};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const kw_operator *op = make("f(Tensor x) -> (Tensor, int)", kernels[i]);
        void *tensor = NULL;
        int64_t number = 0;
        KWT_OK(kwt_call_t_ti(op, &cpu, &tensor, &number));
        cr_expect(tensor == &cpu && number == 7);
        call_frame(op, 1, 2);
        cr_expect(results[0].as.as_tensor == &cpu && results[1].as.as_int == 7);
        cr_expect_eq(runs, 2);
    }
}

// PyTorch: KernelFunctionTest, in-place: the tensor that comes back is the one that went in. S62
Test(upstream_kernel, tensor_returned_in_place_keeps_its_identity)
{
    const kw_kernel_descriptor kernels[] = {KW_UNBOXED("t>t", kwt_kernel_t_t), KW_BOXED(boxed_any)};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const kw_operator *op = make("f(Tensor(a!) x) -> Tensor(a!)", kernels[i]);
        void *tensor = NULL;
        KWT_OK(kwt_call_t_t(op, &cpu, &tensor));
        cr_expect_eq(tensor, &cpu);
        call_frame(op, 1, 1);
        cr_expect_eq(results[0].as.as_tensor, &cpu);
    }
}

// PyTorch: KernelFunctionTest, out and several outs. S62
Test(upstream_kernel, out_tensors_keep_their_identity_and_order)
{
    const kw_kernel_descriptor kernels[] = {KW_UNBOXED("tt>tt", typed_outs), KW_BOXED(boxed_any)};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const kw_operator *op =
            make("f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", kernels[i]);
        void *first = NULL;
        void *second = NULL;
        KWT_OK(kwt_call_tt_tt(op, &cpu, &other, &first, &second));
        cr_expect(first == &cpu && second == &other);
        call_frame(op, 2, 2);
        cr_expect(results[0].as.as_tensor == &cpu && results[1].as.as_tensor == &other);
    }
}

static kw_status take_string(const kw_kernel *self, kw_keyset keys, void *x, const char *s,
                             int64_t *out_0)
{
    cr_expect_str_eq(s, "hello");
    *out_0 = (int64_t)strlen(s);
    return typed_nothing(self, keys, x);
}

// PyTorch: kernel_*_test, inputs by type. S62
Test(upstream_kernel, string_and_list_inputs_arrive)
{
    const kw_operator *op = make("f(Tensor x, str s) -> int", KW_UNBOXED("ts>i", take_string));
    int64_t number = 0;
    KWT_OK(kwt_call_ts_i(op, &cpu, "hello", &number));
    cr_expect_eq(number, 5);
    kw_value args[] = {kw_value_tensor(&cpu), kw_value_string("hello")};
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(runs, 2);
}

static kw_status take_lists(const kw_kernel *self, kw_keyset keys, kw_tensor_list tensors,
                            kw_int_list ints, int64_t *out_0)
{
    *out_0 = 0;
    for (size_t i = 0; i < ints.count; i++) {
        *out_0 = 10 * *out_0 + ints.data[i];
    }
    cr_expect_eq(tensors.count, 2);
    return typed_nothing(self, keys, tensors.data[0]);
}

// PyTorch: kernel_*_test, givenKernelWithTensorListInput..., ...IntListInput... S62
Test(upstream_kernel, lists_arrive_with_their_elements)
{
    const kw_operator *op =
        make("f(Tensor[] xs, int[] numbers) -> int", KW_UNBOXED("TI>i", take_lists));
    void *tensors[] = {&cpu, &other};
    static const int64_t ints[] = {4, 5, 6};
    int64_t number = 0;
    KWT_OK(kwt_call_lists(op, (kw_tensor_list){tensors, 2}, (kw_int_list){ints, 3}, &number));
    cr_expect_eq(number, 456);
    kw_value args[] = {kw_value_tensors((kw_tensor_list){tensors, 2}),
                       kw_value_ints((kw_int_list){ints, 3})};
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 456);
}

static kw_status take_optionals(const kw_kernel *self, kw_keyset keys, void *x, void *y,
                                const int64_t *i, const char *s, int64_t *out_0)
{
    *out_0 = (y != NULL ? 1 : 0) + (i != NULL ? *i : 0) + (s != NULL ? (int64_t)strlen(s) : 0);
    return typed_nothing(self, keys, x);
}

// What comes back owned: a list of tensors, of ints, a dict; typed and boxed kernels of one value.

KWT_TYPED(v_v, kw_keyset_empty(), (kw_value v, kw_value *out_0), (v, out_0))
KWT_TYPED(t_v, kwt_keys(x), (void *x, kw_value *out_0), (x, out_0))

static kw_status typed_tensors(const kw_kernel *self, kw_keyset keys, void *x, kw_value *out_0)
{
    void *tensors[] = {x, &other};
    kw_value view = kw_value_tensors((kw_tensor_list){tensors, 2});
    KWT_OK(kw_value_own(&view, &kwt_tensor_type, out_0, NULL));
    return typed_nothing(self, keys, x);
}

static kw_status boxed_ints(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    static const int64_t ints[] = {2, 4, 6};
    (void)op;
    kw_value view = kw_value_ints((kw_int_list){ints, 3});
    KWT_OK(kw_value_own(&view, NULL, &frame->returns[0], NULL));
    return typed_nothing(self, keys, frame->args[0].as.as_tensor);
}

// PyTorch: kernel_*_test, ...WithTensorListOutput, ...WithIntListOutput. S62
Test(upstream_kernel, lists_are_returned_owned)
{
    const kw_operator *op = make("f(Tensor x) -> Tensor[]", KW_UNBOXED("t>v", typed_tensors));
    kw_value list = kw_value_none();
    KWT_OK(kwt_call_t_v(op, &cpu, &list));
    cr_expect(list.count == 2 && list.as.as_tensors[1] == &other);
    cr_expect_eq(other.reference_count, 2);
    kw_value_release(&list, NULL);
    call_frame(op, 1, 1);
    cr_expect(results[0].tag == KW_TAG_TENSOR_LIST && results[0].as.as_tensors[0] == &cpu);
    kw_value_release(&results[0], NULL);
    cr_expect_eq(other.reference_count, 1);

    op = make("f(Tensor x) -> int[]", KW_BOXED(boxed_ints));
    KWT_OK(kwt_call_t_v(op, &cpu, &list));
    cr_expect(list.tag == KW_TAG_INT_LIST && list.count == 3 && list.as.as_ints[2] == 6);
    kw_value_release(&list, NULL);
    call_frame(op, 1, 1);
    cr_expect_eq(results[0].as.as_ints[0], 2);
    kw_value_release(&results[0], NULL);
}

// Looks a key up and hands the dict on.
static kw_status typed_dict(const kw_kernel *self, kw_keyset keys, kw_value v, kw_value *out_0)
{
    (void)self;
    (void)keys;
    kw_value key = kw_value_string("key2");
    const kw_value *found = kw_value_dict_find(&v, &key);
    cr_expect(found != NULL && found->as.as_int == 2);
    return kw_value_own(&v, NULL, out_0, NULL);
}

// PyTorch: kernel_*_test, ...WithDictInput_withOutput, ...WithDictOutput, ...WithTupleInput. S62
Test(upstream_kernel, dict_goes_in_and_comes_out)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Dict(str, int) d) -> Dict(str, int)");
    (void)kwt_impl(library, "f", KW_KEY_CatchAll, KW_UNBOXED("v>v", typed_dict));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const kw_value pairs[] = {kw_value_string("key1"), kw_value_int(1), kw_value_string("key2"),
                              kw_value_int(2)};
    kw_value dict = kw_value_dict((kw_value_list){pairs, 4});
    kw_value out = kw_value_none();
    KWT_OK(kwt_call_v_v(op, dict, &out));
    cr_expect(kw_value_equal(&dict, &out));
    kw_value_release(&out, NULL);
    kw_frame frame = {&dict, &out, 1, 1};
    KWT_OK(kw_call_boxed(op, &frame));
    cr_expect(kw_value_equal(&dict, &out));
    kw_value_release(&out, NULL);
}

// PyTorch: kernel_*_test, givenKernelWithOptionalInputs_... S62
Test(upstream_kernel, optional_inputs_arrive_as_values_or_none)
{
    const kw_operator *op = make("f(Tensor x, Tensor? y, int? i=None, str? s=None) -> int",
                                 KW_UNBOXED("tt?is>i", take_optionals));
    const int64_t ten = 10;
    int64_t number = 0;
    KWT_OK(kwt_call_optional(op, &cpu, &other, &ten, "abc", &number));
    cr_expect_eq(number, 14);
    KWT_OK(kwt_call_optional(op, &cpu, NULL, NULL, NULL, &number));
    cr_expect_eq(number, 0);
    kw_value args[] = {kw_value_tensor(&cpu), kw_value_none(), kw_value_int(10), kw_value_none()};
    KWT_OK(kwt_call_frame(op, args, 4, &number));
    cr_expect_eq(number, 10);
}

// PyTorch: kernel_*_test, fallback kernels without any arguments and without tensor arguments.
Test(upstream_kernel, operators_without_tensors_run_their_catch_all)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "none() -> int");
    (void)kwt_define(library, "one(int a) -> int");
    (void)kwt_impl(library, "none", KW_KEY_CatchAll, KWT_BOXED(3));
    (void)kwt_impl(library, "one", KW_KEY_CatchAll, KWT_I_I(4));
    int64_t number = 0;
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::none"), NULL, 0, &number));
    cr_expect_eq(number, 3);
    cr_expect_eq(kwt_result_i_i(kwt_find(dispatcher, "t::one"), 1), 5);
}

// A kernel with a state of its own: how often it ran since it was registered.
typedef struct counter {
    int64_t count;
} counter;

static kw_status count_up(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)keys;
    (void)x;
    *out_0 = ++((counter *)self->user_data)->count;
    return KW_OK;
}

// PyTorch: functor kernels WithCache, WithConstructorArg, WithConstructorArgs.
Test(upstream_kernel, state_belongs_to_the_registration)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    counter counters[] = {{0}, {100}};
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU,
                   kwt_with(KW_UNBOXED("t>i", count_up), &counters[0], NULL));
    (void)kwt_impl(library, "f", KW_KEY_CUDA,
                   kwt_with(KW_UNBOXED("t>i", count_up), &counters[1], NULL));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cpu = kwt_make_tensor("CPU");
    kwt_tensor cuda = kwt_make_tensor("CUDA");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    cr_expect_eq(kwt_result_t_i(op, &cuda), 101);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2);
    cr_expect_eq(kwt_result_t_i(op, &cuda), 102);
}

// PyTorch: ...MultipleOperatorsAndKernels..., ...WhenRegistrationRunsOutOfScope_
// thenCannotBeCalledAnymore, with one registrar and with several. S31 S65
Test(upstream_kernel, kernels_end_with_their_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *outer = kws_block(dispatcher, KW_LIBRARY_KIND_FRAGMENT, "t", KW_KEY_Undefined, 1);
    kw_library *inner = kws_block(dispatcher, KW_LIBRARY_KIND_FRAGMENT, "t", KW_KEY_Undefined, 2);
    (void)kwt_define(outer, "f(Tensor x) -> int");
    (void)kwt_impl(outer, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_define(inner, "g(Tensor x) -> int");
    (void)kwt_impl(inner, "g", KW_KEY_CPU, KWT_T_I(2));
    (void)kwt_impl(inner, "f", KW_KEY_CUDA, KWT_T_I(3));
    (void)kwt_impl(inner, "f", KW_KEY_CPU, KWT_T_I(4));
    const kw_operator *f = kwt_find(dispatcher, "t::f");
    const kw_operator *g = kwt_find(dispatcher, "t::g");
    cr_expect_eq(kws_runs(f, KW_KEY_CPU, false), 4);
    cr_expect_eq(kws_runs(f, KW_KEY_CUDA, false), 3);
    cr_expect_eq(kws_runs(g, KW_KEY_CPU, false), 2);
    kws_block_end(inner);
    cr_expect_eq(kws_runs(f, KW_KEY_CPU, false), 1);
    cr_expect_eq(kws_runs(f, KW_KEY_CUDA, false), -KW_NO_KERNEL_FOR_KEY);
    cr_expect_eq(kws_runs(g, KW_KEY_CPU, false), -KW_OPERATOR_REMOVED);
    kws_block_end(outer);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    cr_expect_eq(kws_runs(f, KW_KEY_CPU, false), -KW_OPERATOR_REMOVED);
}
