// Names of keys and backends: printing, parsing, and what a misspelt name is told.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/key.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(key_name, every_key_parses_back_from_its_name)
{
    int count = 0;
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        if (kw_key_is_valid(key)) {
            kw_key parsed = KW_KEY_LIMIT;
            kw_error err = KW_ERROR_INIT;
            kw_status status = kw_key_parse(kw_key_name(key), &parsed, &err);
            cr_expect_eq(status, KW_OK, "%s", err.text);
            cr_expect_eq(parsed, key, "%s", kw_key_name(key));
            count++;
        }
    }
    cr_expect_eq(count, 48 + 6 * 16 + 6);
}

Test(key_name, names_are_spelled_as_pytorch_spells_them)
{
    cr_expect_str_eq(kw_key_name(KW_KEY_Undefined), "Undefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_CPU), "CPU");
    cr_expect_str_eq(kw_key_name(KW_KEY_QuantizedCUDA), "QuantizedCUDA");
    cr_expect_str_eq(kw_key_name(KW_KEY_SparseCsrMeta), "SparseCsrMeta");
    cr_expect_str_eq(kw_key_name(KW_KEY_AutogradFunctionality), "AutogradFunctionality");
    cr_expect_str_eq(kw_key_name(KW_KEY_AutogradPrivateUse1), "AutogradPrivateUse1");
    cr_expect_str_eq(kw_key_name(KW_KEY_CompositeExplicitAutogradNonFunctional),
                     "CompositeExplicitAutogradNonFunctional");
    cr_expect_str_eq(kw_key_name(KW_KEY_CatchAll), "Undefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_DefaultBackend), "CompositeExplicitAutograd");
}

Test(key_name, markers_print_their_prefix_and_undefined)
{
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfDenseBackends), "Undefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfQuantizedBackends), "QuantizedUndefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfSparseBackends), "SparseUndefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfSparseCsrBackends), "SparseCsrUndefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfNestedTensorBackends), "NestedTensorUndefined");
    cr_expect_str_eq(kw_key_name(KW_KEY_StartOfAutogradFunctionalityBackends), "AutogradUndefined");
}

Test(key_name, number_outside_enumeration_prints_unknown)
{
    cr_expect_str_eq(kw_key_name(KW_KEY_EndOfFunctionalityKeys), "UnknownUnknown");
    for (unsigned number = KW_KEY_LIMIT; number <= UINT16_MAX; number++) {
        cr_assert_str_eq(kw_key_name((kw_key)number), "UnknownUnknown");
    }
}

typedef struct synonym_row {
    const char *text;
    kw_key key;
} synonym_row;

Test(key_name, synonyms_parse)
{
    static const synonym_row synonyms[] = {
        {"CatchAll", KW_KEY_Undefined},
        {"CPUTensorId", KW_KEY_CPU},
        {"CUDATensorId", KW_KEY_CUDA},
        {"DefaultBackend", KW_KEY_CompositeExplicitAutograd},
        {"PrivateUse1_PreAutograd", KW_KEY_AutogradPrivateUse1},
        {"PrivateUse2_PreAutograd", KW_KEY_AutogradPrivateUse2},
        {"PrivateUse3_PreAutograd", KW_KEY_AutogradPrivateUse3},
        {"Autocast", KW_KEY_AutocastCUDA},
    };
    for (size_t i = 0; i < COUNT(synonyms); i++) {
        kw_key parsed = KW_KEY_LIMIT;
        cr_expect_eq(kw_key_parse(synonyms[i].text, &parsed, NULL), KW_OK, "%s", synonyms[i].text);
        cr_expect_eq(parsed, synonyms[i].key, "%s", synonyms[i].text);
    }
}

// PyTorch prints these names, or names these keys, but does not parse them. We do.
static const char *const gaps_of_pytorch[] = {
    "CatchAll",
    "Autocast",
    "AutogradHIP",
    "AutogradVE",
    "AutogradMTIA",
    "AutogradMAIA",
    "QuantizedHIP",
    "QuantizedXLA",
    "QuantizedMPS",
    "QuantizedIPU",
    "QuantizedHPU",
    "QuantizedVE",
    "QuantizedLazy",
    "QuantizedMTIA",
    "QuantizedMAIA",
    "QuantizedPrivateUse2",
    "QuantizedPrivateUse3",
    "QuantizedMeta",
    "SparseXLA",
    "SparseIPU",
    "SparseHPU",
    "SparseLazy",
    "SparseMTIA",
    "SparseMAIA",
    "SparsePrivateUse2",
    "SparsePrivateUse3",
    "SparseCsrXLA",
    "SparseCsrIPU",
    "SparseCsrHPU",
    "SparseCsrLazy",
    "SparseCsrMTIA",
    "SparseCsrMAIA",
    "SparseCsrPrivateUse2",
    "SparseCsrPrivateUse3",
    "NestedTensorHIP",
    "NestedTensorXLA",
    "NestedTensorMPS",
    "NestedTensorIPU",
    "NestedTensorVE",
    "NestedTensorLazy",
    "NestedTensorMTIA",
    "NestedTensorMAIA",
    "NestedTensorPrivateUse2",
    "NestedTensorPrivateUse3",
};

Test(key_name, gaps_of_pytorchs_parser_parse)
{
    for (size_t i = 0; i < COUNT(gaps_of_pytorch); i++) {
        kw_key parsed = KW_KEY_LIMIT;
        cr_expect_eq(kw_key_parse(gaps_of_pytorch[i], &parsed, NULL), KW_OK, "%s",
                     gaps_of_pytorch[i]);
        cr_expect(kw_key_is_valid(parsed), "%s", gaps_of_pytorch[i]);
    }
}

typedef struct unknown_row {
    const char *text;
    const char *sentence;
} unknown_row;

Test(key_name, unknown_name_is_named_and_a_similar_one_suggested)
{
    static const unknown_row rows[] = {
        {"cpu", "no dispatch key is called 'cpu'; did you mean 'CPU'?"},
        {"AUTOGRADCPU", "no dispatch key is called 'AUTOGRADCPU'; did you mean 'AutogradCPU'?"},
        {"CDUA", "no dispatch key is called 'CDUA'; did you mean 'CUDA'?"},
        {"Quantised", "no dispatch key is called 'Quantised'; did you mean 'Quantized'?"},
        {"NestedTensorCUDDA",
         "no dispatch key is called 'NestedTensorCUDDA'; did you mean 'NestedTensorCUDA'?"},
        {"defaultbackend",
         "no dispatch key is called 'defaultbackend'; did you mean 'DefaultBackend'?"},
        {"frobnicate", "no dispatch key is called 'frobnicate'"},
        {"", "no dispatch key is called ''"},
        {"E", "no dispatch key is called 'E'"},
        {" CPU", "no dispatch key is called ' CPU'; did you mean 'CPU'?"},
        {"QuantizedUndefined", "no dispatch key is called 'QuantizedUndefined'"},
        {"UnknownUnknown", "no dispatch key is called 'UnknownUnknown'"},
        {"Co\x80:\n-", "no dispatch key is called 'Co?:?-'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_key key = KW_KEY_LIMIT;
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_key_parse(rows[i].text, &key, &err), KW_UNKNOWN_KEY, "%s", rows[i].text);
        cr_expect_eq(err.status, KW_UNKNOWN_KEY);
        cr_expect_str_eq(err.text, rows[i].sentence);
        cr_expect_eq(key, KW_KEY_LIMIT, "the output is untouched");
    }
}

Test(key_name, overlong_name_is_cut_in_the_sentence)
{
    char text[5000];
    memset(text, 'C', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    kw_key key;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_key_parse(text, &key, &err), KW_UNKNOWN_KEY);
    cr_expect_lt(strlen(err.text), 120);
    const char *end = "CCC...'";
    cr_expect_str_eq(err.text + strlen(err.text) - strlen(end), end);
    // Every length around the limits of quotation and comparison, for the sanitizers' eyes.
    for (size_t length = 0; length < 200; length++) {
        text[length] = '\0';
        cr_expect_eq(kw_key_parse(text, &key, &err), KW_UNKNOWN_KEY);
        text[length] = 'C';
    }
}

Test(key_name, null_is_an_invalid_argument)
{
    kw_key key;
    kw_backend backend;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_key_parse(NULL, &key, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_key_parse(NULL, &key, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "kw_key_parse: text is NULL");
    cr_expect_eq(kw_key_parse("CPU", NULL, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "kw_key_parse: out_key is NULL");
    cr_expect_eq(kw_backend_parse(NULL, &backend, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_backend_parse("CPU", NULL, &err), KW_INVALID_ARGUMENT);
}

Test(key_name, every_backend_parses_back_from_its_name)
{
    for (int number = 1; number <= KW_BACKEND_COUNT; number++) {
        const char *name = kw_backend_name((kw_backend)number);
        kw_backend parsed = KW_BACKEND_INVALID;
        cr_expect_eq(kw_backend_parse(name, &parsed, NULL), KW_OK, "%s", name);
        cr_expect_eq((int)parsed, number, "%s", name);
    }
    cr_expect_str_eq(kw_backend_name(KW_BACKEND_CPU), "CPU");
    cr_expect_str_eq(kw_backend_name(KW_BACKEND_Meta), "Meta");
    cr_expect_str_eq(kw_backend_name(KW_BACKEND_INVALID), "Invalid");
    cr_expect_str_eq(kw_backend_name((kw_backend)(KW_BACKEND_COUNT + 1)), "Unknown");
}

Test(key_name, backend_parses_with_pytorchs_suffix)
{
    kw_backend backend = KW_BACKEND_INVALID;
    cr_expect_eq(kw_backend_parse("CPUBit", &backend, NULL), KW_OK);
    cr_expect_eq(backend, KW_BACKEND_CPU);
    cr_expect_eq(kw_backend_parse("PrivateUse1Bit", &backend, NULL), KW_OK);
    cr_expect_eq(backend, KW_BACKEND_PrivateUse1);
}

Test(key_name, unknown_backend_is_named)
{
    kw_backend backend = KW_BACKEND_INVALID;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_backend_parse("meta", &backend, &err), KW_UNKNOWN_KEY);
    cr_expect_str_eq(err.text, "no backend is called 'meta'; did you mean 'Meta'?");
    cr_expect_eq(kw_backend_parse("Invalid", &backend, &err), KW_UNKNOWN_KEY);
    cr_expect_str_eq(err.text, "no backend is called 'Invalid'");
    cr_expect_eq(kw_backend_parse("CPUBits", &backend, &err), KW_UNKNOWN_KEY);
    cr_expect_eq(kw_backend_parse("CP", &backend, &err), KW_UNKNOWN_KEY);
    cr_expect_eq(kw_backend_parse("", &backend, &err), KW_UNKNOWN_KEY);
    cr_expect_eq(backend, KW_BACKEND_INVALID);
}
