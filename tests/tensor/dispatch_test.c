// Reference tensors as arguments: which kernel their keys select.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>
#include <keyway/tensor.h>

#include "support/registry.h"

TestSuite(tensor_dispatch, .init = kwt_begin, .fini = kwt_end);

static kw_dispatcher *dispatcher;
static kw_library *library;
static const kw_operator *op;

// An operator with a kernel for each of these keys, which answers its index.
static void define(const kw_key *keys, int64_t count)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    library = kwt_library(dispatcher, "kernels");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    for (int64_t i = 0; i < count; i++) {
        (void)kwt_impl(library, "t::f", keys[i], KWT_BOXED(i));
    }
    op = kwt_find(dispatcher, "t::f");
}

static void end(void)
{
    kwt_end_library(library);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

static kw_tensor *make(int32_t device_type, uint8_t layout, uint8_t dtype, uint8_t inference)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .dtype = dtype,
        .layout = layout,
        .inference = inference,
        .device = {device_type, -1},
    };
    kw_tensor *made = NULL;
    KWT_OK(kw_tensor_create(&options, &made, NULL));
    return made;
}

static int64_t call(kw_tensor *tensor)
{
    kw_value args[] = {kw_value_tensor(tensor)};
    int64_t number = -1;
    KWT_OK(kwt_call_frame(op, args, 1, &number));
    return number;
}

static void expect(kw_tensor *take_tensor, int64_t number)
{
    cr_expect_eq(call(take_tensor), number);
    kw_tensor_release(take_tensor);
}

Test(tensor_dispatch, backend_layout_and_type_select_the_kernel)
{
    static const kw_key keys[] = {KW_KEY_CPU,          KW_KEY_Meta,         KW_KEY_SparseCPU,
                                  KW_KEY_SparseCsrCPU, KW_KEY_QuantizedCPU, KW_KEY_MkldnnCPU};
    define(keys, 6);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, 0), 0);
    expect(make(KW_DEVICE_META, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, 0), 1);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_SPARSE, KW_DTYPE_FLOAT32, 0), 2);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_SPARSE_BSC, KW_DTYPE_FLOAT32, 0), 3);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_QUINT8, 0), 4);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_MKLDNN, KW_DTYPE_FLOAT32, 0), 5);
    end();
}

Test(tensor_dispatch, inference_tensor_skips_autograd)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_AutogradCPU};
    define(keys, 2);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, KW_INFERENCE_NEVER), 1);
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, KW_INFERENCE_ALWAYS), 0);
    kw_local_guard guard;
    KWT_OK(kw_local_inference_mode(true, &guard));
    expect(make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, 0), 0);
    kw_local_restore(&guard);
    end();
}

Test(tensor_dispatch, bits_select_kernels_above_the_backend)
{
    static const kw_key keys[] = {KW_KEY_CPU,        KW_KEY_Conjugate, KW_KEY_Negative,
                                  KW_KEY_ZeroTensor, KW_KEY_Named,     KW_KEY_Batched};
    define(keys, 6);
    kw_tensor *tensor = make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_COMPLEX64, 0);
    cr_expect_eq(call(tensor), 0);
    KWT_OK(kw_tensor_set_names(tensor, (const char *const[]){"unused"}, NULL));
    cr_expect_eq(call(tensor), 4);
    kw_tensor_set_conj(tensor, true);
    cr_expect_eq(call(tensor), 1);
    kw_tensor_set_neg(tensor, true);
    cr_expect_eq(call(tensor), 2);
    kw_tensor_set_zero_tensor(tensor, true);
    cr_expect_eq(call(tensor), 3);
    KWT_OK(
        kw_tensor_change_keys(tensor, kw_keyset_from_key(KW_KEY_Batched), kw_keyset_empty(), NULL));
    cr_expect_eq(call(tensor), 5);
    kw_tensor_release(tensor);
    end();
}

Test(tensor_dispatch, changed_backend_selects_another_kernel)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CUDA};
    define(keys, 2);
    kw_tensor *tensor = make(KW_DEVICE_CPU, KW_LAYOUT_STRIDED, KW_DTYPE_FLOAT32, 0);
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_CUDA, NULL));
    expect(tensor, 1);
    end();
}

// An undefined tensor has AutogradOther and no backend: as in the original, a kernel for CPU is not
// reached, one for all autograd keys is.
Test(tensor_dispatch, undefined_tensor_reaches_no_backend)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_AutogradOther};
    define(keys, 1);
    kw_value args[] = {kw_value_tensor(kw_tensor_undefined())};
    int64_t number = -1;
    KWT_STATUS(KW_NO_TENSOR_ARGUMENTS, kwt_call_frame(op, args, 1, &number));
    (void)kwt_impl(library, "t::f", keys[1], KWT_BOXED(1));
    cr_expect_eq(call(kw_tensor_undefined()), 1);
    end();
}
