// Mapped namespaces: two versions of one plugin beside each other.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(mapped, .init = kwt_begin, .fini = kwt_end);

// The plugin, whose source knows one namespace. ---------------------------------------------------

typedef struct plugin {
    kw_library *library;
    const kw_operator *conv;
} plugin;

static kw_status plugin_load(kw_library *library, int version, plugin *out, kw_error *err)
{
    const kw_definition conv = KW_DEFINE("nn::conv(Tensor x) -> int");
    const kw_definition pool = KW_DEFINE("pool(Tensor x) -> int");
    kw_kernel_descriptor kernel = KWT_T_I(version);
    kernel.schema = "nn::conv(Tensor x) -> int";
    kw_status status = kw_library_define(library, &conv, NULL, err);
    if (status == KW_OK) {
        status = kw_library_define(library, &pool, NULL, err);
    }
    if (status == KW_OK) {
        status = kw_library_impl(library, "nn::conv", KW_KEY_CPU, &kernel, NULL, err);
    }
    if (status == KW_OK) {
        status = kw_library_find_typed(library, "nn::conv", "t>i", &out->conv, err);
    }
    out->library = library;
    return status;
}

// The host.
// ----------------------------------------------------------------------------------------

static kw_status make(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns,
                      const char *ns_as, kw_library **out_library, kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .ns = ns,
        .ns_as = ns_as,
        .kind = (uint32_t)kind,
    };
    return kw_library_create(&options, out_library, err);
}

static kw_library *mapped(kw_dispatcher *dispatcher, const char *ns_as)
{
    kw_library *library = NULL;
    KWT_OK(make(dispatcher, KW_LIBRARY_KIND_DEF, "nn", ns_as, &library, NULL));
    return library;
}

static int64_t runs(const kw_operator *op)
{
    kwt_tensor x = kwt_make_tensor("CPU");
    return kwt_result_t_i(op, &x);
}

// S86
Test(mapped, two_versions_of_a_plugin_live_side_by_side)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    plugin one;
    plugin two;
    plugin plain;
    KWT_OK(plugin_load(mapped(dispatcher, "nn_v1"), 1, &one, NULL));
    KWT_OK(plugin_load(mapped(dispatcher, "nn_v2"), 2, &two, NULL));
    KWT_OK(plugin_load(mapped(dispatcher, NULL), 3, &plain, NULL));
    cr_expect_eq(runs(one.conv), 1);
    cr_expect_eq(runs(two.conv), 2);
    cr_expect_eq(runs(plain.conv), 3);
    cr_expect_eq(runs(kwt_find(dispatcher, "nn_v2::conv")), 2);
    cr_expect(kwt_is_visible(dispatcher, "nn_v1::pool"));
    kwt_end_library(one.library);
    cr_expect_not(kwt_is_visible(dispatcher, "nn_v1::conv"));
    cr_expect_eq(runs(two.conv), 2);
    kwt_end_library(two.library);
    kwt_end_library(plain.library);
}

// S86
Test(mapped, schemas_and_dumps_name_the_mapped_namespace)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    plugin two;
    KWT_OK(plugin_load(mapped(dispatcher, "nn_v2"), 2, &two, NULL));
    cr_expect_str_eq(kw_operator_name(two.conv), "nn_v2::conv");
    cr_expect_str_eq(kwt_schema(two.conv), "nn_v2::conv(Tensor x) -> int");
    KWT_HAS(kwt_dump(two.conv), "name: nn_v2::conv\n");
    KWT_LACKS(kwt_dump(two.conv), "nn::");
    KWT_HAS(kwt_dump(two.conv), " in nn_v2"); // the name of a library that has none
    kwt_end_library(two.library);
}

// S86
Test(mapped, errors_name_the_mapped_namespace)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    plugin two;
    KWT_OK(plugin_load(mapped(dispatcher, "nn_v2"), 2, &two, NULL));
    const char *text =
        kwt_refuse_define(two.library, "nn::conv(Tensor x) -> int", KW_ALREADY_DEFINED);
    KWT_HAS(text, "`nn_v2::conv` is already defined");
    KWT_LACKS(text, "nn::");
    kw_kernel_descriptor wrong = KWT_T_I(1);
    wrong.schema = "nn::conv(Tensor x, int n) -> int";
    text = kwt_refuse_impl(two.library, "nn::conv", KW_KEY_CPU, wrong, KW_ARGUMENT_COUNT_MISMATCH);
    KWT_HAS(text, "`nn_v2::conv(Tensor x, int n) -> int`");
    KWT_LACKS(text, "nn::");
    text =
        kwt_refuse_impl(two.library, "other::conv", KW_KEY_CPU, KWT_T_I(1), KW_NAMESPACE_MISMATCH);
    KWT_HAS(text, "lies outside namespace `nn_v2`, written `nn`, of library nn_v2");
    kw_library *again = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NAMESPACE_TAKEN,
               make(dispatcher, KW_LIBRARY_KIND_DEF, "xx", "nn_v2", &again, &err));
    KWT_HAS(err.text, "namespace `nn_v2`");
    kwt_end_library(two.library);
}

// S86
Test(mapped, look_ups_of_a_library_read_names_as_its_code_writes_them)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library(dispatcher, "host"), "nn::conv(Tensor x) -> int");
    plugin two;
    KWT_OK(plugin_load(mapped(dispatcher, "nn_v2"), 2, &two, NULL));
    const char *const same[] = {"nn::conv", "conv", "nn_v2::conv"};
    for (size_t i = 0; i < 3; i++) {
        const kw_operator *op = NULL;
        KWT_OK(kw_library_find(two.library, same[i], &op, NULL));
        cr_expect_eq(op, two.conv, "%s", same[i]);
    }
    const kw_operator *op = NULL;
    (void)kwt_define(kwt_library(dispatcher, "third"), "th::conv.out(Tensor x) -> int");
    KWT_OK(kw_library_find(two.library, "th::conv.out", &op, NULL));
    cr_expect_str_eq(kw_operator_name(op), "th::conv.out");
    KWT_STATUS(KW_NOT_FOUND, kw_library_find(two.library, "nn::relu", &op, NULL));
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_library_find_typed(two.library, "conv", "tt>i", &op, NULL));
    kwt_end_library(two.library);
}

Test(mapped, full_names_are_written)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = mapped(dispatcher, "nn_v2");
    char name[KW_OPERATOR_NAME_BYTES];
    KWT_OK(kw_library_full_name(library, "nn::conv.out", name, sizeof name, NULL));
    cr_expect_str_eq(name, "nn_v2::conv.out");
    KWT_OK(kw_library_full_name(library, "conv", name, 12, NULL));
    cr_expect_str_eq(name, "nn_v2::conv");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_full_name(library, "conv", name, 11, &err));
    KWT_HAS(err.text, "has 12 bytes with its end, the place for it 11");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_full_name(library, "conv", name, 0, NULL));
    KWT_STATUS(KW_MALFORMED_NAME, kw_library_full_name(library, "a b", name, 11, NULL));
    KWT_STATUS(KW_MALFORMED_NAME, kw_library_full_name(kwt_library(dispatcher, "free"), "conv",
                                                       name, sizeof name, NULL));
    kwt_end_library(library);
}

// S86
Test(mapped, both_namespaces_are_identifiers_and_neither_is_the_reserved_one)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = NULL;
    KWT_STATUS(KW_MALFORMED_NAME,
               make(dispatcher, KW_LIBRARY_KIND_FREE, NULL, "nn_v2", &library, NULL));
    KWT_STATUS(KW_MALFORMED_NAME,
               make(dispatcher, KW_LIBRARY_KIND_FREE, "nn", "nn@2", &library, NULL));
    KWT_STATUS(KW_MALFORMED_NAME,
               make(dispatcher, KW_LIBRARY_KIND_FREE, "n n", "nn_v2", &library, NULL));
    KWT_STATUS(KW_NAMESPACE_RESERVED,
               make(dispatcher, KW_LIBRARY_KIND_IMPL, "_", "nn_v2", &library, NULL));
    KWT_STATUS(KW_NAMESPACE_RESERVED,
               make(dispatcher, KW_LIBRARY_KIND_IMPL, "nn", "_", &library, NULL));
    cr_expect_null(library);
}

// Blanks may stand between the parts of a name, in which the text and the name then differ.
Test(mapped, blanks_in_a_schemas_name_are_no_part_of_the_operators)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = NULL;
    KWT_OK(make(dispatcher, KW_LIBRARY_KIND_DEF, "nn", "nn_2", &library, NULL));
    const kw_definition written = KW_DEFINE("nn :: conv . out(Tensor x) -> int");
    const kw_definition added = KW_DEFINE("pool . out (Tensor x) -> int");
    kw_kernel_descriptor kernel = KWT_T_I(1);
    kernel.schema = "nn :: conv . out (Tensor x) -> int";
    KWT_OK(kw_library_define(library, &written, NULL, NULL));
    KWT_OK(kw_library_define(library, &added, NULL, NULL));
    KWT_OK(kw_library_impl(library, "nn::conv.out", KW_KEY_CPU, &kernel, NULL, NULL));
    const kw_operator *op = kwt_find(dispatcher, "nn_2::conv.out");
    char schema[64];
    (void)kw_operator_schema(op, schema, sizeof schema);
    cr_expect_str_eq(schema, "nn_2::conv.out(Tensor x) -> int");
    cr_expect_eq(runs(op), 1);
    cr_expect(kwt_is_visible(dispatcher, "nn_2::pool.out"));
    kwt_end_library(library);
}
