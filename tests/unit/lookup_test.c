// Look-ups: by name, by schema, by key; and what registrations and tables say when asked.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "semantics_fixture.h"

TestSuite(lookup, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// S70
Test(lookup, missing_and_schema_less_operators_are_told_apart)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_error err = KW_ERROR_INIT;
    const kw_operator *op = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::f", &op, &err));
    kws_expect_pieces(err.text, (const char *[]){"`t::f`", NULL});
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find_schema(dispatcher, "t::f", &op, &err));
    kws_expect_pieces(err.text, (const char *[]){"`t::f`", NULL});
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    KWT_STATUS(KW_OPERATOR_UNDEFINED, kw_operator_find_schema(dispatcher, "t::f", &op, &err));
    kws_expect_pieces(err.text, (const char *[]){"`t::f`", "forgotten", NULL});
    cr_expect_null(op, "outputs are untouched");
    KWT_OK(kw_operator_find(dispatcher, "t::f", &op, &err));
    const kw_operator *same = NULL;
    (void)kwt_define(library, "f(Tensor x) -> int");
    KWT_OK(kw_operator_find_schema(dispatcher, "t::f", &same, &err));
    cr_expect_eq(same, op);
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find_schema(dispatcher, "t::f.x", &op, &err));
    KWT_STATUS(KW_MALFORMED_NAME, kw_operator_find(dispatcher, "t::", &op, &err));
}

// S40 S71
Test(lookup, operator_is_found_while_it_has_a_definition_or_a_kernel)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_registration definition = kwt_define(library, "f(Tensor x) -> int");
    kw_registration kernel = kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_remove(library, definition);
    cr_expect(kwt_is_visible(dispatcher, "t::f"));
    cr_expect_eq(kw_operator_schema(op, NULL, 0), 0);
    kwt_remove(library, kernel);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
    (void)kwt_define(library, "f(Tensor x) -> int");
    cr_expect_eq(kwt_find(dispatcher, "t::f"), op, "a handle serves again");
}

static char names[256];

static void add_name(const kw_operator *op, void *context)
{
    (void)context;
    strcat(names, kw_operator_name(op));
    strcat(names, " ");
}

static bool has_name(const char *name)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s ", name);
    return strstr(names, wanted) != NULL;
}

static size_t visit_key(kw_dispatcher *dispatcher, kw_key key)
{
    names[0] = '\0';
    KWT_OK(kw_dispatcher_visit_key(dispatcher, key, add_name, NULL));
    size_t count = 0;
    for (const char *at = names; (at = strchr(at, ' ')) != NULL; at++) {
        count++;
    }
    return count;
}

// S71. PyTorch: test_find_dangling_impls, testImplNoDefGetsCaught.
Test(lookup, dangling_kernels_are_listed_until_their_operator_is_defined)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "g", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "h.x", KW_KEY_Dense, KWT_T_I(1));
    names[0] = '\0';
    KWT_OK(kw_dispatcher_visit_dangling(dispatcher, add_name, NULL));
    cr_expect_eq(strlen(names), strlen("t::g t::h.x "));
    cr_expect(has_name("t::g") && has_name("t::h.x"));
    (void)kwt_define(library, "g(Tensor x) -> int");
    (void)kwt_define(library, "h.x(Tensor x) -> int");
    names[0] = '\0';
    KWT_OK(kw_dispatcher_visit_dangling(dispatcher, add_name, NULL));
    cr_expect_str_eq(names, "");
}

// S71. PyTorch: getRegistrationsForDispatchKey.
Test(lookup, operators_of_a_key_are_those_with_a_kernel_under_exactly_it)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "a(Tensor x) -> int");
    (void)kwt_impl(library, "b", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "c", KW_KEY_CompositeExplicitAutograd, KWT_T_I(1));
    (void)kwt_impl(library, "d", KW_KEY_Dense, KWT_T_I(1));
    (void)kwt_fallback(global, KW_KEY_CUDA, KWT_BOXED(1));
    cr_expect_eq(visit_key(dispatcher, KW_KEY_CPU), 1);
    cr_expect(has_name("t::b"));
    cr_expect_eq(visit_key(dispatcher, KW_KEY_CompositeExplicitAutograd), 1);
    cr_expect(has_name("t::c"));
    cr_expect_eq(visit_key(dispatcher, KW_KEY_Dense), 1, "though it reaches no slot");
    cr_expect(has_name("t::d"));
    cr_expect_eq(visit_key(dispatcher, KW_KEY_CUDA), 0, "a fallback is no operator's");
    cr_expect_eq(visit_key(dispatcher, KW_KEY_Undefined), 3, "those with any kernel");
    cr_expect(has_name("t::b") && has_name("t::c") && has_name("t::d"));
}

// S71. What is covered everywhere is registered all the same.
Test(lookup, kernel_in_no_table_counts_for_its_key)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_Autograd, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(2));
    KWT_LACKS(kwt_dump_table(kwt_find(dispatcher, "t::f")), "[autograd kernel]");
    cr_expect_eq(visit_key(dispatcher, KW_KEY_Autograd), 1);
    cr_expect(kw_operator_has_kernel(kwt_find(dispatcher, "t::f"), KW_KEY_Autograd));
}

// S72. PyTorch: hasKernelForDispatchKey and hasComputedKernelForDispatchKey.
Test(lookup, registered_and_computed_kernels_are_asked_apart)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CompositeExplicitAutograd));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_CPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_Undefined));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_AutogradCPU));
}

// S72
Test(lookup, alias_has_no_computed_kernel)
{
    static const kw_key keys[] = {KW_KEY_Autograd,
                                  KW_KEY_CompositeImplicitAutograd,
                                  KW_KEY_Dense,
                                  KW_KEY_AutogradFunctionality,
                                  KW_KEY_StartOfDenseBackends,
                                  999};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_Undefined, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    for (size_t i = 0; i < COUNT(keys); i++) {
        kw_error err = KW_ERROR_INIT;
        kw_kernel_handle handle = {.registration = 7};
        KWT_STATUS(KW_ALIAS_KEY, kw_operator_computed_kernel(op, keys[i], &handle, &err));
        kws_expect_pieces(err.text, (const char *[]){kw_key_name(keys[i]), "no slot", NULL});
        cr_expect_eq(handle.registration, 7, "outputs are untouched");
        cr_expect_not(kw_operator_has_computed_kernel(op, keys[i]));
    }
}

// S73
Test(lookup, dumps_have_the_originals_forms)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_impl(library, "f", KW_KEY_Undefined, kwt_at(KWT_T_I(1), "a.c", 1));
    (void)kwt_impl(library, "f", KW_KEY_CPU, kwt_at(KWT_BOXED(2), "a.c", 2));
    (void)kwt_impl(library, "f", KW_KEY_CPU, kwt_at(KWT_T_I(3), "a.c", 3));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_str_eq(kwt_dump(op),
                     "name: t::f\n"
                     "schema: (none)\n"
                     "CPU: kwt_kernel_t_i in block_1 at a.c:3 [unboxed]\n"
                     "CPU (inactive): kwt_kernel_boxed in block_1 at a.c:2 [boxed]\n"
                     "CompositeImplicitAutograd[alias]: kwt_kernel_t_i in block_1 at a.c:1 "
                     "[unboxed]\n");
    const char *table = kwt_dump_table(op);
    static const char first[] = "Undefined: kwt_kernel_t_i in block_1 at a.c:1 [math kernel]\n"
                                "CPU: kwt_kernel_t_i in block_1 at a.c:3 [kernel]\n"
                                "CUDA: kwt_kernel_t_i in block_1 at a.c:1 [math kernel]\n";
    cr_expect_eq(strncmp(table, first, sizeof first - 1), 0, "%s", table);
    KWT_LACKS(table, "missing");
}
