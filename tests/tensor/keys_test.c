// Keys of tensors: every device, layout and element type, and the sets that PyTorch's tensors have.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/local.h>

#include "make.h"
#include "tensor/keys.h"

TestSuite(tensor_keys);

// What a device serves, by PyTorch's number. `suffix`: its per-backend keys are "" + suffix,
// "Quantized" + suffix, and so on; `dense`: it has this one key.
typedef struct device_case {
    const char *suffix;
    const char *dense;
} device_case;

static const device_case device_cases[KW_DEVICE_TYPE_COUNT] = {
    [0] = {"CPU", NULL},  [1] = {"CUDA", NULL},    [2] = {NULL, NULL},
    [3] = {NULL, NULL},   [4] = {NULL, NULL},      [5] = {NULL, NULL},
    [6] = {"HIP", NULL},  [7] = {NULL, "FPGA"},    [8] = {"MAIA", NULL},
    [9] = {"XLA", NULL},  [10] = {NULL, "Vulkan"}, [11] = {NULL, "Metal"},
    [12] = {"XPU", NULL}, [13] = {"MPS", NULL},    [14] = {"Meta", NULL},
    [15] = {"HPU", NULL}, [16] = {"VE", NULL},     [17] = {"Lazy", NULL},
    [18] = {"IPU", NULL}, [19] = {"MTIA", NULL},   [20] = {"PrivateUse1", NULL},
};

// The prefix by layout: strided, sparse, csr, mkldnn, csc, bsr, bsc, jagged.
static const char *const prefixes[8] = {"",          "Sparse",    "SparseCsr", NULL,
                                        "SparseCsr", "SparseCsr", "SparseCsr", ""};

static bool is_quantized_type(unsigned dtype)
{
    return (dtype >= 12 && dtype <= 14) || dtype == 16 || dtype == 17;
}

// The expected key's name in `text`; false: there is none.
static bool expect_key(int device, unsigned layout, unsigned dtype, char *text, size_t size)
{
    const device_case *of = &device_cases[device];
    const char *prefix = prefixes[layout];
    if (prefix == NULL) {
        (void)snprintf(text, size, "MkldnnCPU");
        return device == 0;
    }
    bool is_dense = *prefix == '\0';
    if (of->suffix != NULL) {
        (void)snprintf(text, size, "%s%s",
                       is_dense && is_quantized_type(dtype) ? "Quantized" : prefix, of->suffix);
        return true;
    }
    (void)snprintf(text, size, "%s", of->dense != NULL ? of->dense : "");
    return is_dense && of->dense != NULL;
}

Test(tensor_keys, every_device_layout_and_type_has_its_key)
{
    unsigned served = 0;
    for (int device = 0; device < KW_DEVICE_TYPE_COUNT; device++) {
        for (unsigned layout = 0; layout < 8; layout++) {
            for (unsigned dtype = 0; dtype < 30; dtype++) {
                char expected[64];
                bool is_served = expect_key(device, layout, dtype, expected, sizeof expected);
                kw_key key = KW_KEY_Undefined;
                kw_error err = KW_ERROR_INIT;
                kw_status status =
                    kw_tensor_backend_key(device, (uint8_t)layout, (uint8_t)dtype, &key, &err);
                cr_assert_eq(status, is_served ? KW_OK : KW_NOT_SUPPORTED, "%d %u %u", device,
                             layout, dtype);
                if (is_served) {
                    cr_assert_str_eq(kw_key_name(key), expected);
                    served++;
                } else {
                    cr_assert_not_null(strstr(err.text, kw_layout_name((uint8_t)layout)));
                }
            }
        }
    }
    // 14 backends in 7 layouts, three devices of one key in two, and mkldnn.
    cr_expect_eq(served, (14 * 7 + 3 * 2 + 1) * 30);
}

// New tensors get their sets from rows with constants; they say what the functions do.
Test(tensor_keys, constants_of_devices_agree_with_the_maps_of_backends)
{
    for (int device = 0; device < KW_DEVICE_TYPE_COUNT; device++) {
        for (unsigned layout = 0; layout < 8; layout++) {
            for (unsigned dtype = 0; dtype < 30; dtype++) {
                kw_key key = KW_KEY_Undefined;
                kw_status status =
                    kw_tensor_backend_key(device, (uint8_t)layout, (uint8_t)dtype, &key, NULL);
                for (int is_inference = 0; is_inference < 2; is_inference++) {
                    kw_keyset keys = kw_keyset_empty();
                    cr_assert_eq(kwi_keys_of_device(device, (uint8_t)layout, (uint8_t)dtype,
                                                    is_inference != 0, &keys, NULL),
                                 status);
                    kw_keyset expected =
                        kw_tensor_keys_of(kw_keyset_from_key(key), is_inference != 0);
                    cr_assert_eq(keys.bits, status == KW_OK ? expected.bits : 0, "%d %u %u", device,
                                 layout, dtype);
                }
            }
        }
    }
}

Test(tensor_keys, refusal_names_layout_and_device)
{
    kw_key key = KW_KEY_CPU;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(
        kw_tensor_backend_key(KW_DEVICE_VULKAN, KW_LAYOUT_SPARSE, KW_DTYPE_FLOAT32, &key, &err),
        KW_NOT_SUPPORTED);
    cr_expect_str_eq(err.text, "no backend serves tensors of layout sparse on device vulkan");
    cr_expect_eq(key, KW_KEY_CPU, "outputs are untouched");
    cr_expect_eq(
        kw_tensor_backend_key(KW_DEVICE_CUDA, KW_LAYOUT_MKLDNN, KW_DTYPE_FLOAT32, &key, &err),
        KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_backend_key(21, 0, 0, &key, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_backend_key(-1, 0, 0, &key, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_backend_key(0, 8, 0, &key, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_backend_key(0, 0, 30, &key, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_backend_key(0, 0, 0, NULL, &err), KW_INVALID_ARGUMENT);
}

// Sets as PyTorch's tensors have them, as numbers: of a tensor, and of an inference tensor.
Test(tensor_keys, sets_are_those_of_the_original)
{
    static const struct {
        const char *name;
        int32_t device;
        uint8_t layout;
        uint8_t dtype;
        uint64_t keys;
        uint64_t inference_keys;
    } expected[] = {
        {"CPU", KW_DEVICE_CPU, 0, KW_DTYPE_FLOAT32, 0x12800010001, 0x10000010001},
        {"CUDA", KW_DEVICE_CUDA, 0, KW_DTYPE_FLOAT32, 0x1002800010002, 0x1000000010002},
        {"XLA", KW_DEVICE_XLA, 0, KW_DTYPE_FLOAT32, 0x402800010008, 0x400000010008},
        {"Meta", KW_DEVICE_META, 0, KW_DTYPE_FLOAT32, 0x2800018000, 0x18000},
        {"HIP", KW_DEVICE_HIP, 0, KW_DTYPE_FLOAT32, 0x1800010004, 0x10004},
        {"SparseCPU", KW_DEVICE_CPU, KW_LAYOUT_SPARSE, KW_DTYPE_FLOAT32, 0x12800800001,
         0x10000800001},
        {"SparseCsrCPU", KW_DEVICE_CPU, KW_LAYOUT_SPARSE_BSR, KW_DTYPE_FLOAT32, 0x12801000001,
         0x10001000001},
        {"QuantizedCPU", KW_DEVICE_CPU, 0, KW_DTYPE_QUINT8, 0x12800100001, 0x10000100001},
        {"SparseMeta", KW_DEVICE_META, KW_LAYOUT_SPARSE, KW_DTYPE_FLOAT32, 0x2800808000, 0x808000},
        {"QuantizedMeta", KW_DEVICE_META, 0, KW_DTYPE_QINT32, 0x2800108000, 0x108000},
        {"FPGA", KW_DEVICE_FPGA, 0, KW_DTYPE_FLOAT32, 0x1800020000, 0x20000},
        {"Vulkan", KW_DEVICE_VULKAN, 0, KW_DTYPE_FLOAT32, 0x1800040000, 0x40000},
        {"MkldnnCPU", KW_DEVICE_CPU, KW_LAYOUT_MKLDNN, KW_DTYPE_FLOAT32, 0x1800400000, 0x400000},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        kw_key key = KW_KEY_Undefined;
        KWT_OK(kw_tensor_backend_key(expected[i].device, expected[i].layout, expected[i].dtype,
                                     &key, NULL));
        cr_expect_str_eq(kw_key_name(key), expected[i].name);
        kw_keyset keys = kw_keyset_from_key(key);
        cr_expect_eq(kw_tensor_keys_of(keys, false).bits, expected[i].keys, "%s: %llx",
                     expected[i].name, (unsigned long long)kw_tensor_keys_of(keys, false).bits);
        cr_expect_eq(kw_tensor_keys_of(keys, true).bits, expected[i].inference_keys, "%s: %llx",
                     expected[i].name, (unsigned long long)kw_tensor_keys_of(keys, true).bits);
    }
}

// Kinds that no device type names are made of keys.
Test(tensor_keys, nested_and_functional_tensors_have_the_sets_of_the_original)
{
    kw_keyset nested = kw_keyset_from_bits(KW_KEYSET_BITS(KW_KEY_NestedTensorCPU) |
                                           KW_KEYSET_BITS(KW_KEY_AutogradNestedTensor));
    cr_expect_eq(kw_tensor_keys_of(nested, false).bits,
                 nested.bits | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                     KW_KEYSET_BITS(KW_KEY_AutogradCPU) | KW_KEYSET_BITS(KW_KEY_AutocastCPU));
    cr_expect_eq(kw_tensor_keys_of(nested, true).bits,
                 KW_KEYSET_BITS(KW_KEY_NestedTensorCPU) | KW_KEYSET_BITS(KW_KEY_AutocastCPU));
    kw_keyset functional = kw_keyset_from_bits(KW_KEYSET_BITS(KW_KEY_Functionalize) |
                                               KW_KEYSET_BACKEND_BITS(KW_BACKEND_CPU));
    cr_expect_eq(kw_tensor_keys_of(functional, false).bits, 0x12840000001);
}

Test(tensor_keys, python_bits_of_a_given_set_are_left_out)
{
    kw_keyset given = kw_keyset_from_bits(KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_PYTHON);
    cr_expect_eq(kw_tensor_keys_of(given, false).bits, 0x12800010001);
}

// Tensors ---------------------------------------------------------------------------------------

Test(tensor_keys, created_tensor_has_the_set)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    cr_expect_eq(kw_tensor_keyset(tensor).bits, 0x12800010001);
    cr_expect_not(kw_tensor_is_inference(tensor));
    kw_tensor_release(tensor);
}

Test(tensor_keys, keys_are_read_in_place_by_the_tensor_type)
{
    const kw_tensor_type *type = kw_tensor_reference_type();
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    cr_expect_str_eq(type->name, "kw_tensor");
    cr_expect_eq(type->keys(tensor).bits, kw_tensor_keyset(tensor).bits);
    cr_expect_eq(type->keys_at, 1, "the first word");
    type->retain(tensor);
    cr_expect_eq(kw_tensor_use_count(tensor), 2);
    type->release(tensor);
    kw_tensor_release(tensor);
}

Test(tensor_keys, inference_follows_thread_or_options)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    kw_local_guard guard;
    KWT_OK(kw_local_inference_mode(true, &guard));
    kw_tensor *of_thread = kwt_create(&options);
    options.inference = KW_INFERENCE_NEVER;
    kw_tensor *never = kwt_create(&options);
    kw_local_restore(&guard);
    options.inference = KW_INFERENCE_ALWAYS;
    kw_tensor *always = kwt_create(&options);
    options.inference = KW_INFERENCE_OF_THREAD;
    kw_tensor *outside = kwt_create(&options);

    cr_expect_eq(kw_tensor_keyset(of_thread).bits, 0x10000010001);
    cr_expect_eq(kw_tensor_keyset(always).bits, 0x10000010001);
    cr_expect_eq(kw_tensor_keyset(never).bits, 0x12800010001);
    cr_expect_eq(kw_tensor_keyset(outside).bits, 0x12800010001);
    cr_expect(kw_tensor_is_inference(of_thread));
    cr_expect_not(kw_tensor_is_inference(never));
    kw_tensor_release(of_thread);
    kw_tensor_release(never);
    kw_tensor_release(always);
    kw_tensor_release(outside);
}

// Below autograd or below views is not inference mode.
Test(tensor_keys, guards_of_handlers_make_no_inference_tensors)
{
    const kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    kw_local_guard guard;
    KWT_OK(kw_local_below_view(&guard));
    kw_tensor *tensor = kwt_create(&options);
    kw_local_restore(&guard);
    cr_expect_not(kw_tensor_is_inference(tensor));
    kw_tensor_release(tensor);
}

// Bits ------------------------------------------------------------------------------------------

Test(tensor_keys, bits_of_views_and_interpreters_are_set_and_taken_away)
{
    static const struct {
        bool (*is)(const kw_tensor *tensor);
        void (*set)(kw_tensor *tensor, bool is);
        uint64_t bits;
    } bits[] = {
        {kw_tensor_is_conj, kw_tensor_set_conj, KW_KEYSET_BITS(KW_KEY_Conjugate)},
        {kw_tensor_is_neg, kw_tensor_set_neg, KW_KEYSET_BITS(KW_KEY_Negative)},
        {kw_tensor_is_zero_tensor, kw_tensor_set_zero_tensor, KW_KEYSET_BITS(KW_KEY_ZeroTensor)},
        {kw_tensor_is_python_dispatch, kw_tensor_set_python_dispatch, KW_KEYSET_PYTHON},
    };
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    uint64_t before = kw_tensor_keyset(tensor).bits;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        cr_expect_not(bits[i].is(tensor));
        bits[i].set(tensor, true);
        cr_expect(bits[i].is(tensor));
        cr_expect_eq(kw_tensor_keyset(tensor).bits, before | bits[i].bits);
        bits[i].set(tensor, false);
        cr_expect_eq(kw_tensor_keyset(tensor).bits, before);
        bits[i].set(kw_tensor_undefined(), true);
        cr_expect_not(bits[i].is(kw_tensor_undefined()));
    }
    kw_tensor_release(tensor);
}

Test(tensor_keys, own_functionalities_are_added_and_removed)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    uint64_t before = kw_tensor_keyset(tensor).bits;
    kw_keyset batched = kw_keyset_from_key(KW_KEY_Batched);
    kw_keyset functionalize = kw_keyset_from_key(KW_KEY_Functionalize);
    KWT_OK(kw_tensor_change_keys(tensor, kw_keyset_union(batched, functionalize), kw_keyset_empty(),
                                 NULL));
    KWT_OK(kw_tensor_change_keys(tensor, kw_keyset_empty(), functionalize, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, before | batched.bits);
    kw_tensor_release(tensor);
}

Test(tensor_keys, keys_that_are_kept_in_step_are_refused_with_their_names)
{
    static const kw_key kept[] = {
        KW_KEY_CPU,         KW_KEY_Dense,           KW_KEY_SparseCUDA,    KW_KEY_FPGA,
        KW_KEY_MkldnnCPU,   KW_KEY_AutogradCPU,     KW_KEY_AutogradOther, KW_KEY_ADInplaceOrView,
        KW_KEY_AutocastCPU, KW_KEY_Python,          KW_KEY_Conjugate,     KW_KEY_Negative,
        KW_KEY_ZeroTensor,  KW_KEY_NestedTensorCPU, KW_KEY_Named,         KW_KEY_PythonTLSSnapshot,
    };
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    uint64_t before = kw_tensor_keyset(tensor).bits;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        kw_keyset keys = kw_keyset_from_key(kept[i]);
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_tensor_change_keys(tensor, keys, kw_keyset_empty(), &err),
                     KW_INVALID_ARGUMENT, "%s", kw_key_name(kept[i]));
        cr_expect_eq(kw_tensor_change_keys(tensor, kw_keyset_empty(), keys, NULL),
                     KW_INVALID_ARGUMENT);
    }
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(
        kw_tensor_change_keys(tensor, kw_keyset_from_key(KW_KEY_Named), kw_keyset_empty(), &err),
        KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "Named"));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, before);
    cr_expect_eq(kw_tensor_change_keys(kw_tensor_undefined(), kw_keyset_from_key(KW_KEY_Batched),
                                       kw_keyset_empty(), NULL),
                 KW_INVALID_ARGUMENT);
    kw_tensor_release(tensor);
}

// Backend in place ------------------------------------------------------------------------------

Test(tensor_keys, change_of_backend_exchanges_bit_and_autocast_key)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    kw_tensor_set_neg(tensor, true);
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_CUDA, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, 0x1002800010002 | KW_KEYSET_BITS(KW_KEY_Negative));
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_SparseMeta, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, 0x2800808000 | KW_KEYSET_BITS(KW_KEY_Negative));
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_NestedTensorCPU, NULL));
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_FPGA, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits & KW_KEYSET_BACKEND_MASK, 0);
    KWT_OK(kw_tensor_change_backend(tensor, KW_KEY_CPU, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, 0x12800010001 | KW_KEYSET_BITS(KW_KEY_Negative));
    kw_tensor_release(tensor);
}

Test(tensor_keys, change_to_what_is_no_backend_is_refused)
{
    static const kw_key wrong[] = {KW_KEY_Undefined,   KW_KEY_Dense,  KW_KEY_NestedTensor,
                                   KW_KEY_AutogradCPU, KW_KEY_Tracer, KW_KEY_Autograd};
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_tensor_change_backend(tensor, wrong[i], &err), KW_INVALID_ARGUMENT);
        cr_expect_not_null(strstr(err.text, kw_key_name(wrong[i])));
    }
    cr_expect_eq(kw_tensor_keyset(tensor).bits, 0x12800010001);
    cr_expect_eq(kw_tensor_change_backend(kw_tensor_undefined(), KW_KEY_CPU, NULL),
                 KW_INVALID_ARGUMENT);
    kw_tensor_release(tensor);
}

// Queries ---------------------------------------------------------------------------------------

static kw_tensor *make_kind(kw_device device, uint8_t layout, uint8_t dtype)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.device = device;
    options.layout = layout;
    options.dtype = dtype;
    return kwt_create(&options);
}

Test(tensor_keys, queries_by_key_and_by_device)
{
    const kw_device meta = {KW_DEVICE_META, 0};
    kw_tensor *sparse = make_kind(KWT_CPU, KW_LAYOUT_SPARSE, KW_DTYPE_FLOAT32);
    kw_tensor *csc = make_kind(KWT_CPU, KW_LAYOUT_SPARSE_CSC, KW_DTYPE_FLOAT32);
    kw_tensor *quantized = make_kind(meta, KW_LAYOUT_STRIDED, KW_DTYPE_QINT8);
    kw_tensor *mkldnn = make_kind(KWT_CPU, KW_LAYOUT_MKLDNN, KW_DTYPE_FLOAT32);
    cr_expect(kw_tensor_is_sparse(sparse) && !kw_tensor_is_sparse_csr(sparse));
    cr_expect(kw_tensor_is_sparse_csr(csc) && !kw_tensor_is_sparse(csc));
    cr_expect(kw_tensor_is_quantized(quantized) && !kw_tensor_is_quantized(sparse));
    cr_expect(kw_tensor_is_mkldnn(mkldnn) && !kw_tensor_is_mkldnn(csc));
    cr_expect(!kw_tensor_is_nested(sparse));
    cr_expect(kw_tensor_is_on(quantized, KW_DEVICE_META));
    cr_expect_not(kw_tensor_is_on(quantized, KW_DEVICE_CPU));
    cr_expect_not(kw_tensor_is_on(kw_tensor_undefined(), KW_DEVICE_CPU));
    cr_expect_eq(kw_tensor_device(quantized).index, 0);
    cr_expect_eq(kw_tensor_layout(csc), KW_LAYOUT_SPARSE_CSC);
    cr_expect_null(kw_tensor_storage(sparse), "what it consists of is its backend's");
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(quantized)), 2);
    cr_expect_null(kw_tensor_data(quantized), "meta has no memory");
    kw_tensor_release(sparse);
    kw_tensor_release(csc);
    kw_tensor_release(quantized);
    kw_tensor_release(mkldnn);
}
