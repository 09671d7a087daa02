// Definitions: what a schema may be, and what is said of a second one and of kernels that do not
// fit.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "semantics_fixture.h"

TestSuite(semantics_define, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *refuse_at(kw_library *library, const char *schema, uint32_t line,
                             kw_status status)
{
    return kws_refuse(library, kws_definition(schema, "new.c", line), status);
}

// S22
Test(semantics_define, second_definition_is_refused_even_if_it_is_equal)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    kw_library *b = kws_block(dispatcher, KW_LIBRARY_KIND_FRAGMENT, "t", KW_KEY_Undefined, 2);
    (void)kws_define(a, "f(Tensor x) -> int", "old.c", 5);
    KWS_REFUSED(dispatcher, refuse_at(b, "t::f(Tensor  x)->int", 8, KW_ALREADY_DEFINED), "`t::f`",
                "block_1 at old.c:5", "block_2 at new.c:8");
    KWS_REFUSED(dispatcher, refuse_at(a, "f(Tensor x) -> int", 9, KW_ALREADY_DEFINED), "`t::f`",
                "this library at old.c:5", "block_1 at new.c:9");
    KWS_REFUSED(dispatcher, refuse_at(b, "f(Tensor y) -> int", 8, KW_CONFLICTING_SCHEMA), "`t::f`",
                "block_1 at old.c:5", "block_2 at new.c:8", "`t::f(Tensor x) -> int`",
                "`t::f(Tensor y) -> int`");
    KWS_REFUSED(dispatcher, refuse_at(b, "f(int x) -> int", 8, KW_CONFLICTING_SCHEMA), "`t::f`");
}

// S23
Test(semantics_define, overloads_are_operators_of_their_own)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_define(library, "f.a(Tensor x) -> int");
    (void)kwt_define(library, "f.b(Tensor x, int y) -> int");
    (void)kwt_impl(library, "f.a", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_str_eq(kwt_schema(kwt_find(dispatcher, "t::f.b")), "t::f.b(Tensor x, int y) -> int");
    cr_expect(kw_operator_has_kernel(kwt_find(dispatcher, "t::f.a"), KW_KEY_CPU));
    cr_expect_not(kw_operator_has_kernel(kwt_find(dispatcher, "t::f"), KW_KEY_CPU));
}

// S23. PyTorch: erroroutwithinvalidoverloadname, whenregisteringwithinvalidoverloadname.
Test(semantics_define, overload_default_and_double_underscore_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    KWS_REFUSED(dispatcher,
                kwt_refuse_define(library, "f.default(Tensor x) -> int", KW_BAD_OVERLOAD),
                "default");
    KWS_REFUSED(dispatcher,
                kwt_refuse_define(library, "f.__name__(Tensor x) -> int", KW_BAD_OVERLOAD), "__");
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "f.default", KW_KEY_CPU, KWT_T_I(1), KW_BAD_OVERLOAD),
                "default");
    (void)kwt_define(library, "f._x(Tensor x) -> int");
}

// S24
Test(semantics_define, malformed_schema_is_refused_with_its_byte)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, "f(Tensor x -> int", KW_MALFORMED_SCHEMA),
                "at byte 11");
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, "f(Nothing x) -> int", KW_MALFORMED_SCHEMA),
                "Nothing");
}

// S24. PyTorch: whenRegisteringWithoutSchema_thenFails, and a bare name with a boxed kernel.
Test(semantics_define, name_where_a_schema_is_due_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, "t::f", KW_SCHEMA_EXPECTED), "`t::f`",
                "schema");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, "f", KW_SCHEMA_EXPECTED), "`f`");
}

// S24
Test(semantics_define, schema_where_a_name_is_due_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    KWS_REFUSED(
        dispatcher,
        kwt_refuse_impl(library, "f(Tensor x) -> int", KW_KEY_CPU, KWT_T_I(1), KW_NAME_EXPECTED),
        "`f(Tensor x) -> int`", "schema");
}

// S25 S40
Test(semantics_define, sixty_five_arguments_are_refused_and_leave_no_entry)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    char schema[1024] = "f(";
    for (int i = 0; i < 65; i++) {
        snprintf(schema + strlen(schema), sizeof schema - strlen(schema), "%sint a%d",
                 i > 0 ? ", " : "", i);
    }
    strcat(schema, ") -> int");
    uint64_t bytes = kwt_live_bytes();
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, schema, KW_TOO_MANY_ARGUMENTS), "65", "64");
    cr_expect_eq(kwt_live_bytes(), bytes);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
}

// S26
Test(semantics_define, tags_are_kept_with_the_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_definition definition = kws_definition("f(Tensor x) -> int", "new.c", 1);
    kw_registration made = 0;
    definition.tags = KW_TAGS_CORE | KW_TAGS_POINTWISE;
    KWT_OK(kw_library_define(library, &definition, &made, NULL));
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(kw_operator_tags(op), definition.tags);
    kwt_remove(library, made);
    cr_expect_eq(kw_operator_tags(op), 0, "and go with it");
    definition.tags = KW_TAGS_ALL;
    KWT_OK(kw_library_define(library, &definition, NULL, NULL));
    cr_expect_eq(kw_operator_tags(op), KW_TAGS_ALL);
    cr_expect_eq(kw_operator_tags(NULL), 0);
}

// S26
Test(semantics_define, unknown_tag_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_definition definition = kws_definition("f(Tensor x) -> int", "new.c", 1);
    definition.tags = KW_TAGS_CORE | UINT64_C(1) << 40;
    KWS_REFUSED(dispatcher, kws_refuse(library, definition, KW_UNKNOWN_TAG), "0x10000000001");
}

// What the definition t::f(Tensor x, int y) -> int says of kernels that were written for another.
typedef struct mismatch {
    const char *schema;
    kw_status status;
    const char *piece;
} mismatch;

static const mismatch mismatches[] = {
    {"(Tensor x) -> int", KW_ARGUMENT_COUNT_MISMATCH, "argument"},
    {"(Tensor x, int y, int z) -> int", KW_ARGUMENT_COUNT_MISMATCH, "argument"},
    {"(Tensor x, int y) -> ()", KW_RETURN_COUNT_MISMATCH, "return"},
    {"(Tensor x, int y) -> (int, int)", KW_RETURN_COUNT_MISMATCH, "return"},
    {"(Tensor x, float y) -> int", KW_ARGUMENT_TYPE_MISMATCH, "float"},
    {"(int x, int y) -> int", KW_ARGUMENT_TYPE_MISMATCH, "Tensor"},
    {"(Tensor x, ScalarType y) -> int", KW_ARGUMENT_TYPE_MISMATCH, "ScalarType"},
    {"(Tensor x, int y) -> Tensor", KW_RETURN_TYPE_MISMATCH, "Tensor"},
};

// S27. PyTorch: givenMismatchedKernel_with..._thenFails.
Test(semantics_define, kernel_that_does_not_fit_the_definition_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    kw_library *kernels = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_CPU, 2);
    (void)kws_define(library, "f(Tensor x, int y) -> int", "old.c", 5);
    for (size_t i = 0; i < COUNT(mismatches); i++) {
        kw_kernel_descriptor kernel =
            kwt_at(kws_for(mismatches[i].schema, KWT_BOXED(1)), "new.c", 8);
        KWS_REFUSED(dispatcher,
                    kwt_refuse_impl(kernels, "f", KW_KEY_Undefined, kernel, mismatches[i].status),
                    "`t::f`", "block_1 at old.c:5", "block_2 at new.c:8", mismatches[i].schema,
                    "t::f(Tensor x, int y) -> int", mismatches[i].piece);
    }
}

// S27. PyTorch: test_def_impl_schema_mismatch.
Test(semantics_define, definition_that_does_not_fit_a_kernel_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    kw_library *kernels = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_CPU, 2);
    for (size_t i = 0; i < COUNT(mismatches); i++) {
        kw_kernel_descriptor kernel =
            kwt_at(kws_for(mismatches[i].schema, KWT_BOXED(1)), "old.c", 5);
        kw_registration made = kwt_impl(kernels, "f", KW_KEY_Undefined, kernel);
        KWS_REFUSED(dispatcher,
                    refuse_at(library, "f(Tensor x, int y) -> int", 8, mismatches[i].status),
                    "`t::f`", "block_2 at old.c:5", "block_1 at new.c:8", mismatches[i].schema);
        // A covered kernel counts too: it would serve again.
        kw_registration above = kwt_impl(kernels, "f", KW_KEY_Undefined, KWT_BOXED(2));
        (void)refuse_at(library, "f(Tensor x, int y) -> int", 8, mismatches[i].status);
        kwt_remove(kernels, above);
        kwt_remove(kernels, made);
    }
}

// S27
Test(semantics_define, names_defaults_and_annotations_of_a_kernels_schema_do_not_count)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor(a!) x, SymInt y=3, *, int[2] z) -> Tensor(a!)");
    (void)kwt_impl(library, "f", KW_KEY_CPU,
                   kws_for("(Tensor _0, int _1, int[] _2) -> Tensor _0", KWT_BOXED(1)));
    (void)kwt_impl(library, "f", KW_KEY_CUDA,
                   kws_for("other::name(Tensor a, int b, int[7] c) -> Tensor", KWT_BOXED(1)));
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "f", KW_KEY_XLA, kws_for("(Tensor", KWT_BOXED(1)),
                                KW_MALFORMED_SCHEMA),
                "at byte");
}
