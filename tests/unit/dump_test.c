// Dumps: registrations and computed tables as text.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(dump, .init = kwt_begin, .fini = kwt_end);

static kw_kernel_descriptor named(kw_kernel_descriptor kernel, const char *name, uint32_t line)
{
    kernel.name = name;
    return kwt_at(kernel, "k.c", line);
}

static kw_dispatcher *make(kw_library **out_library)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    *out_library = kwt_library(dispatcher, "a");
    kw_definition definition = KW_DEFINE("t::f(Tensor x) -> int");
    definition.file = "f.c";
    definition.line = 1;
    KWT_OK(kw_library_define(*out_library, &definition, NULL, NULL));
    return dispatcher;
}

Test(dump, registrations_are_listed_by_key_newest_first)
{
    kw_library *library;
    kw_dispatcher *dispatcher = make(&library);
    kw_library *other = kwt_library(dispatcher, "b");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, named(KWT_T_I(1), "m", 9));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, named(KWT_T_I(1), "k1", 2));
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU, named(KW_FALLTHROUGH(), "fallthrough", 3));
    (void)kwt_impl(other, "t::f", KW_KEY_CPU, named(KWT_BOXED(1), "k2", 4));
    cr_expect_str_eq(kwt_dump(kwt_find(dispatcher, "t::f")),
                     "name: t::f\n"
                     "schema: t::f(Tensor x) -> int\n"
                     "debug: definition in a at f.c:1\n"
                     "CPU: k2 in b at k.c:4 [boxed]\n"
                     "CPU (inactive): k1 in a at k.c:2 [unboxed]\n"
                     "AutogradCPU: fallthrough in a at k.c:3 [fallthrough]\n"
                     "CompositeImplicitAutograd[alias]: m in a at k.c:9 [unboxed]\n");
}

Test(dump, operator_without_a_definition_says_none)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, named(KWT_T_I(1), "k", 2));
    cr_expect_str_eq(kwt_dump(kwt_find(dispatcher, "t::f")), "name: t::f\n"
                                                             "schema: (none)\n"
                                                             "CPU: k in a at k.c:2 [unboxed]\n");
}

Test(dump, kernel_without_a_name_is_a_kernel)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_kernel_descriptor kernel = kwt_at(KWT_T_I(1), NULL, 0);
    kernel.name = NULL;
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel);
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "CPU: a kernel in a [unboxed]\n");
}

Test(dump, table_gives_kernel_place_and_rule)
{
    kw_library *library;
    kw_dispatcher *dispatcher = make(&library);
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_str_eq(kwt_dump_table(op), "", "nothing but missing kernels");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, named(KWT_T_I(1), "k", 2));
    cr_expect_str_eq(kwt_dump_table(op), "CPU: k in a at k.c:2 [kernel]\n");
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU, named(KW_FALLTHROUGH(), "mine", 3));
    (void)kwt_fallback(library, KW_KEY_Tracer, named(KWT_BOXED(1), "fb", 4));
    (void)kwt_fallback(library, KW_KEY_Conjugate, named(KW_FALLTHROUGH(), "fallthrough", 5));
    cr_expect_str_eq(kwt_dump_table(op), "CPU: k in a at k.c:2 [kernel]\n"
                                         "Conjugate: fallthrough in a at k.c:5 [backend fallback]\n"
                                         "AutogradCPU: fallthrough mine in a at k.c:3 [kernel]\n"
                                         "Tracer: fb in a at k.c:4 [backend fallback]\n");
}

Test(dump, every_rule_has_the_originals_word)
{
    kw_library *library;
    kw_dispatcher *dispatcher = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, named(KWT_T_I(1), "m", 1));
    (void)kwt_impl(library, "t::f", KW_KEY_QuantizedCPU, named(KWT_T_I(1), "q", 2));
    const char *text = kwt_dump_table(kwt_find(dispatcher, "t::f"));
    KWT_HAS(text, "Undefined: m in a at k.c:1 [math kernel]\n");
    KWT_HAS(text, "QuantizedCPU: q in a at k.c:2 [kernel]\n");
    KWT_HAS(text, "AutogradOther: ambiguous autogradother [ambiguous autogradother]\n");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, named(KWT_T_I(1), "e", 3));
    (void)kwt_impl(library, "t::f", KW_KEY_Autograd, named(KWT_T_I(1), "g", 4));
    text = kwt_dump_table(kwt_find(dispatcher, "t::f"));
    KWT_HAS(text, "\nCUDA: e in a at k.c:3 [default backend kernel]\n");
    KWT_HAS(text, "\nAutogradCUDA: g in a at k.c:4 [autograd kernel]\n");
}

Test(dump, operator_that_is_gone_has_an_empty_table)
{
    kw_library *library;
    kw_dispatcher *dispatcher = make(&library);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, named(KWT_T_I(1), "k", 2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_close(library);
    cr_expect_str_eq(kwt_dump_table(op), "");
    cr_expect_str_eq(kwt_dump(op), "name: t::f\nschema: (none)\n");
}

Test(dump, long_lines_are_cut_visibly)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    static char file[5000];
    memset(file, 'f', sizeof file - 1);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kwt_at(KWT_T_I(1), file, 2));
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "t::f")), "fff...\n");
    KWT_HAS(kwt_dump_table(kwt_find(dispatcher, "t::f")), "fff...\n");
}

static void ignore_text(const char *text, size_t length, void *context)
{
    (void)text;
    (void)length;
    (void)context;
}

Test(dump, missing_arguments_are_refused)
{
    kw_library *library;
    const kw_operator *op = kwt_find(make(&library), "t::f");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_dump(NULL, ignore_text, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_dump(op, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_dump_table(NULL, ignore_text, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_dump_table(op, NULL, NULL));
}

// A writer that registers: the text is written outside every lock.
static void write_and_register(const char *text, size_t length, void *context)
{
    (void)text;
    (void)length;
    kw_library *library = context;
    if (!kwt_is_visible(library != NULL ? kw_dispatcher_default() : NULL, "t::written")) {
        (void)kwt_define(library, "t::written(int x) -> int");
    }
}

// Without kwt_end: it uses the default dispatcher.
TestSuite(dump_default, .init = kwt_begin);

Test(dump_default, writer_may_register)
{
    kw_library *library = NULL;
    KWT_OK(kw_library_create(NULL, &library, NULL));
    (void)kwt_define(library, "t::f(int x) -> int");
    const kw_operator *op = kwt_find(kw_dispatcher_default(), "t::f");
    KWT_OK(kw_operator_dump(op, write_and_register, library));
    cr_expect(kwt_is_visible(kw_dispatcher_default(), "t::written"));
    KWT_OK(kw_operator_dump_table(op, write_and_register, library));
    kwt_end_library(library);
}
