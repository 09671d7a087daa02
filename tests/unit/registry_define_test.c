// Definitions: who may define what, and what a refused definition says.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "support/registry.h"

TestSuite(registry_define, .init = kwt_begin, .fini = kwt_end);

static kw_registration define_at(kw_library *library, const char *schema, const char *file,
                                 uint32_t line)
{
    kw_definition definition = KW_DEFINE(schema);
    definition.file = file;
    definition.line = line;
    kw_registration made = 0;
    KWT_OK(kw_library_define(library, &definition, &made, NULL));
    return made;
}

Test(registry_define, operator_is_visible_with_its_schema)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    (void)kwt_define(library, "t::f(Tensor x, int n=3) -> Tensor");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_str_eq(kw_operator_name(op), "t::f");
    cr_expect_str_eq(kwt_schema(op), "t::f(Tensor x, int n=3) -> Tensor");
}

Test(registry_define, same_schema_by_the_same_library_is_refused_and_says_so)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    (void)define_at(library, "t::f(int x) -> int", "alpha.c", 11);
    const char *before = kwt_picture(dispatcher);
    const char *text = kwt_refuse_define(library, "t::f(int x) -> int", KW_ALREADY_DEFINED);
    KWT_HAS(text, "`t::f`");
    KWT_HAS(text, "this library");
    KWT_HAS(text, "alpha.c:11");
    cr_expect_str_eq(kwt_picture(dispatcher), before);
}

Test(registry_define, same_schema_by_another_library_names_the_first_one)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *alpha = kwt_library(dispatcher, "alpha");
    kw_library *beta = kwt_library(dispatcher, "beta");
    (void)define_at(alpha, "t::f(int x) -> int", "alpha.c", 11);
    const char *text = kwt_refuse_define(beta, "t::f( int   x )->int", KW_ALREADY_DEFINED);
    KWT_HAS(text, "alpha at alpha.c:11");
    KWT_LACKS(text, "this library");
}

Test(registry_define, another_schema_shows_both_and_the_place)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *alpha = kwt_library(dispatcher, "alpha");
    kw_library *gamma = kwt_library(dispatcher, "gamma");
    (void)define_at(alpha, "t::f(int x) -> int", "alpha.c", 11);
    const char *before = kwt_picture(dispatcher);
    const char *text = kwt_refuse_define(gamma, "t::f(float x) -> int", KW_CONFLICTING_SCHEMA);
    KWT_HAS(text, "t::f(int x) -> int");
    KWT_HAS(text, "t::f(float x) -> int");
    KWT_HAS(text, "alpha.c:11");
    cr_expect_str_eq(kwt_picture(dispatcher), before);
}

Test(registry_define, another_argument_name_is_another_schema)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_define(library, "t::f(int x) -> int");
    (void)kwt_refuse_define(library, "t::f(int y) -> int", KW_CONFLICTING_SCHEMA);
}

Test(registry_define, removed_definition_makes_room)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    kw_library *other = kwt_library(kwt_dispatcher(), "b");
    kw_registration made = kwt_define(library, "t::f(int x) -> int");
    (void)kwt_define(other, "t::f(float x) -> int"); // another dispatcher
    kwt_remove(library, made);
    (void)kwt_define(library, "t::f(int y) -> int");
}

Test(registry_define, overloads_are_independent)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(int x) -> int");
    (void)kwt_define(library, "t::f.out(int x, int y) -> int");
    cr_expect_neq(kwt_find(dispatcher, "t::f"), kwt_find(dispatcher, "t::f.out"));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f.other"));
}

Test(registry_define, reserved_overload_names_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    KWT_HAS(kwt_refuse_define(library, "t::f.default(int x) -> int", KW_BAD_OVERLOAD), "default");
    KWT_HAS(kwt_refuse_define(library, "t::f.__hidden(int x) -> int", KW_BAD_OVERLOAD), "__hidden");
    cr_expect_eq(kwt_statistics().operator_count, 0);
}

Test(registry_define, library_with_a_namespace_adds_and_guards_it)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(int x) -> int");
    cr_expect_str_eq(kwt_schema(kwt_find(dispatcher, "t::f")), "t::f(int x) -> int");
    (void)kwt_define(library, "t::g(int x) -> int");
    const char *text = kwt_refuse_define(library, "u::h(int x) -> int", KW_NAMESPACE_MISMATCH);
    KWT_HAS(text, "u::h");
    KWT_HAS(text, "`t`");
    cr_expect_not(kwt_is_visible(dispatcher, "u::h"));
    // A namespace that only begins alike is another one.
    (void)kwt_refuse_define(library, "tt::h(int x) -> int", KW_NAMESPACE_MISMATCH);
}

Test(registry_define, library_without_a_namespace_wants_one_in_each_name)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "alpha");
    const char *text = kwt_refuse_define(library, "f(int x) -> int", KW_MALFORMED_NAME);
    KWT_HAS(text, "namespace::f");
    (void)kwt_define(library, "t::f(int x) -> int");
    (void)kwt_define(library, "u::f(int x) -> int");
}

Test(registry_define, two_libraries_may_share_a_namespace)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library_of(dispatcher, "t"), "f(int x) -> int");
    (void)kwt_define(kwt_library_of(dispatcher, "t"), "g(int x) -> int");
    cr_expect(kwt_is_visible(dispatcher, "t::f"));
    cr_expect(kwt_is_visible(dispatcher, "t::g"));
}

Test(registry_define, malformed_schema_says_the_byte_and_registers_nothing)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    uint64_t bytes = kwt_live_bytes();
    static const char *const malformed[] = {
        "", "t::f(", "t::f(int x", "t::f(int x) ->", "t::f(x) -> int", "t::f() -> int)",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        KWT_HAS(kwt_refuse_define(library, malformed[i], KW_MALFORMED_SCHEMA), "at byte ");
    }
    KWT_HAS(kwt_refuse_define(library, "t::f", KW_SCHEMA_EXPECTED), "`t::f` is a name");
    cr_expect_eq(kwt_live_bytes(), bytes);
    cr_expect_eq(kwt_statistics().operator_count, 0);
}

// "t::many(int a0, ..., int aN) -> int"
static void write_many(char *text, size_t size, int count)
{
    size_t length = (size_t)snprintf(text, size, "t::many(");
    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, size - length, "%sint a%d", i > 0 ? ", " : "", i);
    }
    (void)snprintf(text + length, size - length, ") -> int");
}

Test(registry_define, more_arguments_than_a_frame_holds_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    char schema[2048];
    write_many(schema, sizeof schema, KW_FRAME_ARGS_MAX + 1);
    KWT_HAS(kwt_refuse_define(library, schema, KW_TOO_MANY_ARGUMENTS), "64");
    cr_expect_not(kwt_is_visible(dispatcher, "t::many"));
    write_many(schema, sizeof schema, KW_FRAME_ARGS_MAX);
    (void)kwt_define(library, schema);
}

Test(registry_define, schema_without_a_c_form_serves_frames_only)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::v(int x, ...) -> int");
    (void)kwt_define(library, "t::d(Tensor[]? x) -> int");
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_SIGNATURE_MISMATCH, kw_operator_find_typed(dispatcher, "t::v", "i>i", &op, &err));
    KWT_HAS(err.text, "frames");
    (void)kwt_impl(library, "t::v", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(4));
    (void)kwt_refuse_impl(library, "t::d", KW_KEY_CPU, KWT_I_I(1), KW_SIGNATURE_MISMATCH);
    kw_value args[3] = {kw_value_int(1), kw_value_int(2), kw_value_int(3)};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::v"), args, 3, &number));
    cr_expect_eq(number, 4);
}

Test(registry_define, incomplete_arguments_are_refused)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    kw_definition definition = KW_DEFINE("t::f(int x) -> int");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(library, NULL, NULL, &err));
    KWT_HAS(err.text, "definition");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(NULL, &definition, NULL, &err));
    definition.struct_size--;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(library, &definition, NULL, NULL));
    definition = KW_DEFINE(NULL);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(library, &definition, NULL, NULL));
}

Test(registry_define, definition_without_a_place_is_accepted)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)define_at(library, "t::f(int x) -> int", NULL, 0);
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "debug: definition in a\n");
}

Test(registry_define, schema_text_is_copied)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    char text[] = "t::f(int x) -> int";
    char file[] = "here.c";
    (void)define_at(kwt_library(dispatcher, "a"), text, file, 1);
    memset(text, '?', sizeof text - 1);
    memset(file, '?', sizeof file - 1);
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "t::f(int x) -> int");
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "here.c");
}
