// Values of each sort through calls: typed callers and frames, typed and boxed kernels.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(boxed_value, .init = kwt_begin, .fini = kwt_end);

KWT_TYPED(cey_cey, kw_keyset_empty(),
          (kw_complex c, kw_device e, kw_symint y, kw_complex *out_0, kw_device *out_1,
           kw_symint *out_2),
          (c, e, y, out_0, out_1, out_2))
KWT_TYPED(nVv_nvv, kw_keyset_empty(),
          (kw_value n, kw_value_list list, kw_value v, kw_value *out_0, kw_value *out_1,
           kw_value *out_2),
          (n, list, v, out_0, out_1, out_2))
KWT_TYPED(optional, kw_keyset_empty(),
          (const kw_complex *c, const kw_int_list *ints, const kw_value_list *list, int64_t *out_0),
          (c, ints, list, out_0))

static const kw_operator *make(const char *schema, kw_kernel_descriptor kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, schema);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, kernel);
    return kwt_find(dispatcher, "t::f");
}

// A boxed kernel that gives its arguments back, owned.
static kw_status own_arguments(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    kw_status status = KW_OK;
    for (uint32_t i = 0; i < frame->return_count && status == KW_OK; i++) {
        status = kw_value_own(&frame->args[i], &kwt_tensor_type, &frame->returns[i], NULL);
    }
    return status;
}

static kw_status plain_three(const kw_kernel *self, kw_keyset keys, kw_complex c, kw_device e,
                             kw_symint y, kw_complex *out_0, kw_device *out_1, kw_symint *out_2)
{
    (void)self;
    (void)keys;
    *out_0 = c;
    *out_1 = e;
    *out_2 = y;
    kw_symint_retain(y);
    return KW_OK;
}

static kw_object *make_node(void)
{
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    kw_object *node = NULL;
    KWT_OK(kw_object_create(&options, &node, NULL));
    return node;
}

#define THREE "t::f(complex c, Device e, SymInt y) -> (complex, Device, SymInt)"

static void expect_three(const kw_operator *op, kw_symint y)
{
    kw_complex number = {0, 0};
    kw_device device = {0, 0};
    kw_symint symint = {0};
    KWT_OK(
        kwt_call_cey_cey(op, (kw_complex){1, -2}, (kw_device){1, 3}, y, &number, &device, &symint));
    cr_expect(number.real == 1 && number.imaginary == -2);
    cr_expect(device.type == 1 && device.index == 3);
    cr_expect_eq(symint.word, y.word);
    kw_symint_release(symint);

    kw_value args[] = {kw_value_complex(&number), kw_value_device(device), kw_value_symint(y)};
    kw_value returns[3];
    kw_frame frame = {args, returns, 3, 3};
    KWT_OK(kw_call_boxed(op, &frame));
    for (int i = 0; i < 3; i++) {
        cr_expect(kw_value_equal(&args[i], &returns[i]), "value %d", i);
    }
    kw_frame_release_returns(&frame, &kwt_tensor_type);
}

Test(boxed_value, numbers_and_devices_pass_either_way)
{
    kw_symint node = kw_symint_node(make_node());
    const kw_operator *boxed = make(THREE, KW_BOXED(own_arguments));
    expect_three(boxed, kw_symint_int(-7));
    expect_three(boxed, node);
    const kw_operator *typed = make(THREE, KW_UNBOXED("cey>cey", plain_three));
    expect_three(typed, kw_symint_int(-7));
    expect_three(typed, node);
    kw_symint_release(node);
}

static kw_status tagged_three(const kw_kernel *self, kw_keyset keys, kw_value n, kw_value_list list,
                              kw_value v, kw_value *out_0, kw_value *out_1, kw_value *out_2)
{
    (void)self;
    (void)keys;
    kw_value whole = kw_value_values(list);
    KWT_OK(kw_value_own(&n, NULL, out_0, NULL));
    KWT_OK(kw_value_own(&whole, NULL, out_1, NULL));
    KWT_OK(kw_value_own(&v, &kwt_tensor_type, out_2, NULL));
    return KW_OK;
}

#define TAGGED                                                                                     \
    "t::f(Scalar n, str[] list, Dict(str, Tensor) v) -> (Scalar, str[], Dict(str, Tensor))"

static void expect_tagged(const kw_operator *op)
{
    const kw_complex number = {1, -2};
    kwt_tensor cpu = kwt_make_tensor("CPU");
    const kw_value texts[] = {kw_value_string("a"), kw_value_string("b")};
    const kw_value pairs[] = {kw_value_string("k"), kw_value_tensor(&cpu)};
    kw_value args[] = {kw_value_complex(&number), kw_value_values((kw_value_list){texts, 2}),
                       kw_value_dict((kw_value_list){pairs, 2})};
    kw_value returns[3];
    kw_frame frame = {args, returns, 3, 3};
    for (int round = 0; round < 2; round++) {
        if (round == 0) {
            KWT_OK(kw_call_boxed(op, &frame));
        } else {
            KWT_OK(kwt_call_nVv_nvv(op, args[0], (kw_value_list){texts, 2}, args[2], &returns[0],
                                    &returns[1], &returns[2]));
        }
        cr_expect_eq(cpu.reference_count, 2);
        for (int i = 0; i < 3; i++) {
            cr_expect(kw_value_equal(&args[i], &returns[i]), "value %d", i);
            cr_expect_eq(returns[i].flags, KW_VALUE_COUNTED);
        }
        kw_frame_release_returns(&frame, &kwt_tensor_type);
        cr_expect_eq(cpu.reference_count, 1);
    }
}

Test(boxed_value, tagged_values_pass_either_way)
{
    expect_tagged(make(TAGGED, KW_BOXED(own_arguments)));
    expect_tagged(make(TAGGED, KW_UNBOXED("nVv>nvv", tagged_three)));
}

static kw_status count_optional(const kw_kernel *self, kw_keyset keys, const kw_complex *c,
                                const kw_int_list *ints, const kw_value_list *list, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = (c != NULL ? (int64_t)c->real : -1) + (ints != NULL ? ints->data[0] : -10) +
             (list != NULL ? (int64_t)list->count : -100);
    return KW_OK;
}

Test(boxed_value, optionals_pass_either_way)
{
    const kw_operator *op = make("t::f(complex? c, int[]? ints, str[]? list) -> int",
                                 KW_UNBOXED("?c?I?V>i", count_optional));
    const kw_complex number = {1, 0};
    const int64_t first[] = {20};
    const kw_int_list ints = {first, 1};
    const kw_value texts[] = {kw_value_string("a"), kw_value_string("b")};
    const kw_value_list list = {texts, 2};
    kw_value args[] = {kw_value_complex(&number), kw_value_ints(ints), kw_value_values(list)};
    int64_t out = 0;
    KWT_OK(kwt_call_frame(op, args, 3, &out));
    cr_expect_eq(out, 23);
    KWT_OK(kwt_call_optional(op, &number, &ints, &list, &out));
    cr_expect_eq(out, 23);
    args[0] = args[1] = args[2] = kw_value_none();
    KWT_OK(kwt_call_frame(op, args, 3, &out));
    cr_expect_eq(out, -111);
}

static kw_status return_invalid(const kw_kernel *self, kw_keyset keys, kw_symint *out_0,
                                kw_value *out_1)
{
    (void)keys;
    kw_object_retain(self->user_data);
    *out_0 = kw_symint_int(INT64_MIN);
    *out_1 = kw_value_object(self->user_data);
    return KW_OK;
}

static void end_node(void *node)
{
    kw_object_release(node);
}

Test(boxed_value, wrong_return_of_a_typed_kernel_is_refused_and_released)
{
    kw_kernel_descriptor kernel = KW_UNBOXED(">yv", return_invalid);
    const kw_operator *op =
        make("t::f() -> (SymInt, Any)", kwt_with(kernel, make_node(), end_node));
    kw_value returns[2];
    kw_frame frame = {NULL, returns, 0, 2};
    KWT_STATUS(KW_WRONG_VALUE, kw_call_boxed(op, &frame));
    KWT_HAS(kw_call_error(), "return 1 is invalid, but the schema says SymInt");
    cr_expect_eq(returns[0].tag, KW_TAG_NONE);
    cr_expect_eq(returns[1].tag, KW_TAG_NONE);
}
