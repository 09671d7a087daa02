// Public names of the PrivateUse backends: given once, printed and parsed everywhere.
//
// The names belong to the process; each case here is a process of its own.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(private_use, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void rename_to(kw_backend backend, const char *name)
{
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_backend_rename(backend, name, &err), KW_OK, "%s", err.text);
}

static const char *refuse(kw_backend backend, const char *name, kw_status status)
{
    static kw_error err;
    err = (kw_error)KW_ERROR_INIT;
    cr_expect_eq(kw_backend_rename(backend, name, &err), status, "%s: %s",
                 name != NULL ? name : "NULL", err.text);
    cr_expect_eq(err.status, status);
    return err.text;
}

// A key prints as `name`, and parses from it.
static void expect_name(kw_key key, const char *name)
{
    kw_error err = KW_ERROR_INIT;
    kw_key parsed = KW_KEY_Undefined;
    cr_expect_str_eq(kw_key_name(key), name);
    cr_expect_eq(kw_key_parse(name, &parsed, &err), KW_OK, "%s", err.text);
    cr_expect_eq(parsed, key, "%s", name);
}

static void expect_parses(const char *name, kw_key key)
{
    kw_key parsed = KW_KEY_Undefined;
    cr_expect_eq(kw_key_parse(name, &parsed, NULL), KW_OK, "%s", name);
    cr_expect_eq(parsed, key, "%s", name);
}

// S9. PyTorch: rename_privateuse1_backend.
Test(private_use, renamed_backend_prints_and_parses_in_every_key)
{
    rename_to(KW_BACKEND_PrivateUse1, "npu");
    expect_name(KW_KEY_PrivateUse1, "NPU");
    expect_name(KW_KEY_QuantizedPrivateUse1, "QuantizedNPU");
    expect_name(KW_KEY_SparsePrivateUse1, "SparseNPU");
    expect_name(KW_KEY_SparseCsrPrivateUse1, "SparseCsrNPU");
    expect_name(KW_KEY_NestedTensorPrivateUse1, "NestedTensorNPU");
    expect_name(KW_KEY_AutogradPrivateUse1, "AutogradNPU");
    expect_name(KW_KEY_AutocastPrivateUse1, "AutocastNPU");
    expect_parses("PrivateUse1", KW_KEY_PrivateUse1);
    expect_parses("SparsePrivateUse1", KW_KEY_SparsePrivateUse1);
    expect_parses("PrivateUse1_PreAutograd", KW_KEY_AutogradPrivateUse1);
    expect_name(KW_KEY_PrivateUse2, "PrivateUse2");
    expect_name(KW_KEY_AutogradPrivateUse3, "AutogradPrivateUse3");
    kw_key parsed;
    cr_expect_eq(kw_key_parse("npu", &parsed, NULL), KW_UNKNOWN_KEY, "case matters");
}

// S9
Test(private_use, backend_itself_prints_and_parses)
{
    rename_to(KW_BACKEND_PrivateUse2, "Tpu_7");
    cr_expect_str_eq(kw_backend_name(KW_BACKEND_PrivateUse2), "TPU_7");
    expect_name(KW_KEY_SparsePrivateUse2, "SparseTPU_7");
    static const char *const words[] = {"TPU_7", "TPU_7Bit", "PrivateUse2", "PrivateUse2Bit"};
    for (size_t i = 0; i < COUNT(words); i++) {
        kw_error err = KW_ERROR_INIT;
        kw_backend backend = KW_BACKEND_INVALID;
        cr_expect_eq(kw_backend_parse(words[i], &backend, &err), KW_OK, "%s", err.text);
        cr_expect_eq(backend, KW_BACKEND_PrivateUse2, "%s", words[i]);
    }
    cr_expect_str_eq(kw_key_name(KW_KEY_AutocastPrivateUse1), "AutocastPrivateUse1",
                     "only PrivateUse1 has an autocast key");
}

// S9
Test(private_use, key_sets_print_and_parse_the_name)
{
    rename_to(KW_BACKEND_PrivateUse1, "npu");
    char text[128];
    kw_keyset keys = kw_keyset_union(kw_keyset_from_key(KW_KEY_PrivateUse1),
                                     kw_keyset_from_key(KW_KEY_AutogradPrivateUse1));
    (void)kw_keyset_format(keys, text, sizeof text);
    cr_expect_str_eq(text, "DispatchKeySet(NPU, AutogradNPU)");
    cr_expect_eq(kwt_keyset(text).bits, keys.bits);
    cr_expect_eq(kwt_keyset("NPU, AutogradPrivateUse1").bits, keys.bits);
}

// S9
Test(private_use, dumps_and_errors_print_the_name)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_PrivateUse1, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_HAS(kwt_dump_table(op), "\nAutogradPrivateUse1: ");
    rename_to(KW_BACKEND_PrivateUse1, "npu");
    KWT_HAS(kwt_dump(op), "\nNPU: ");
    KWT_HAS(kwt_dump_table(op), "NPU: kwt_kernel_t_i");
    KWT_HAS(kwt_dump_table(op), "\nAutogradNPU: ");
    KWT_LACKS(kwt_dump_table(op), "PrivateUse1");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &cpu, &number));
    KWT_HAS(kw_call_error(), "kernels: NPU (");
    kwt_tensor sparse = kwt_make_tensor("SparseNPU");
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &sparse, &number));
    KWT_HAS(kw_call_error(), "no kernel for SparseNPU");
    KWT_HAS(kw_call_error(), "DispatchKeySet(SparseNPU)");
    kw_library *keyed = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_PrivateUse1, 2);
    KWT_HAS(kwt_refuse_impl(keyed, "f", KW_KEY_SparsePrivateUse1, KWT_T_I(1), KW_KEY_CONFLICT),
            "SparseNPU");
}

// S9
Test(private_use, same_name_again_changes_nothing_and_another_is_refused)
{
    rename_to(KW_BACKEND_PrivateUse1, "npu");
    rename_to(KW_BACKEND_PrivateUse1, "NPU");
    rename_to(KW_BACKEND_PrivateUse1, "nPu");
    KWT_HAS(refuse(KW_BACKEND_PrivateUse1, "tpu", KW_BACKEND_NAME_TAKEN), "NPU");
    expect_name(KW_KEY_PrivateUse1, "NPU");
}

// S9
Test(private_use, name_of_another_key_or_backend_is_taken)
{
    static const char *const taken[] = {"cpu", "CUDA", "xla", "hip", "mps", "ve", "fpga", "maia"};
    for (size_t i = 0; i < COUNT(taken); i++) {
        (void)refuse(KW_BACKEND_PrivateUse1, taken[i], KW_BACKEND_NAME_TAKEN);
    }
    rename_to(KW_BACKEND_PrivateUse1, "npu");
    KWT_HAS(refuse(KW_BACKEND_PrivateUse2, "npu", KW_BACKEND_NAME_TAKEN), "NPU");
    expect_name(KW_KEY_PrivateUse2, "PrivateUse2");
    (void)refuse(KW_BACKEND_CPU, "npu2", KW_INVALID_ARGUMENT);
    (void)refuse(KW_BACKEND_INVALID, "npu2", KW_INVALID_ARGUMENT);
    (void)refuse(KW_BACKEND_Meta, "npu2", KW_INVALID_ARGUMENT);
}

// S9
Test(private_use, name_must_be_an_identifier)
{
    static const char *const malformed[] = {
        "", "1npu", "n-pu", "n pu", "n\xc3\xbc", "abcdefghijklmnopqrstuvwxyz_12345"};
    for (size_t i = 0; i < COUNT(malformed); i++) {
        (void)refuse(KW_BACKEND_PrivateUse1, malformed[i], KW_MALFORMED_NAME);
    }
    (void)refuse(KW_BACKEND_PrivateUse1, NULL, KW_MALFORMED_NAME);
    expect_name(KW_KEY_PrivateUse1, "PrivateUse1");
    rename_to(KW_BACKEND_PrivateUse1, "abcdefghijklmnopqrstuvwxyz_1234");
    expect_name(KW_KEY_NestedTensorPrivateUse1, "NestedTensorABCDEFGHIJKLMNOPQRSTUVWXYZ_1234");
}

static kw_backend claim(const char *name)
{
    kw_error err = KW_ERROR_INIT;
    kw_backend backend = KW_BACKEND_INVALID;
    cr_assert_eq(kw_backend_claim(name, &backend, &err), KW_OK, "%s", err.text);
    return backend;
}

// S10
Test(private_use, claims_take_the_first_backend_without_a_name)
{
    rename_to(KW_BACKEND_PrivateUse2, "two");
    cr_expect_eq(claim("one"), KW_BACKEND_PrivateUse1);
    cr_expect_eq(claim("two"), KW_BACKEND_PrivateUse2, "the one that has the name");
    cr_expect_eq(claim("Three"), KW_BACKEND_PrivateUse3);
    cr_expect_eq(claim("ONE"), KW_BACKEND_PrivateUse1);
    expect_name(KW_KEY_AutogradPrivateUse3, "AutogradTHREE");
}

// S10
Test(private_use, fourth_claim_finds_none_left_and_says_who_has_them)
{
    kw_error err = KW_ERROR_INIT;
    kw_backend backend = KW_BACKEND_CPU;
    (void)claim("one");
    (void)claim("two");
    (void)claim("three");
    cr_expect_eq(kw_backend_claim("four", &backend, &err), KW_NO_BACKEND_LEFT);
    kws_expect_pieces(err.text, (const char *[]){"FOUR", "ONE", "TWO", "THREE", NULL});
    cr_expect_eq(backend, KW_BACKEND_CPU, "outputs are untouched");
    cr_expect_eq(kw_backend_claim("cuda", &backend, &err), KW_BACKEND_NAME_TAKEN);
    cr_expect_eq(kw_backend_claim("1", &backend, &err), KW_MALFORMED_NAME);
    cr_expect_eq(kw_backend_claim("five", NULL, &err), KW_INVALID_ARGUMENT);
}
