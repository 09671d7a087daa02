// Kinds of libraries: which may exist, what each may register, and what is said of the rest.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(kind, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FREE KW_LIBRARY_KIND_FREE
#define DEF KW_LIBRARY_KIND_DEF
#define FRAGMENT KW_LIBRARY_KIND_FRAGMENT
#define IMPL KW_LIBRARY_KIND_IMPL
#define NONE KW_KEY_Undefined

static const char *refuse_block(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns,
                                kw_key key, kw_status status)
{
    static kw_error err;
    err = (kw_error)KW_ERROR_INIT;
    kw_status got = kws_block_try(dispatcher, kind, ns, key, 77, &err);
    cr_assert_eq(got, status, "%s: %s", kw_status_name(got), err.text);
    return err.text;
}

// S17
Test(kind, library_may_exist_if_its_namespace_and_key_fit_its_kind)
{
    static const struct {
        kw_library_kind kind;
        const char *ns;
        kw_key key;
        kw_status status;
    } rows[] = {
        {FREE, NULL, NONE, KW_OK},
        {FREE, "t", NONE, KW_OK},
        {FREE, "_", NONE, KW_NAMESPACE_RESERVED},
        {FREE, "t", KW_KEY_CPU, KW_LIBRARY_KEY_NOT_ALLOWED},
        {DEF, NULL, NONE, KW_MALFORMED_NAME},
        {DEF, "t", NONE, KW_OK},
        {DEF, "t", KW_KEY_CatchAll, KW_OK},
        {DEF, "_", NONE, KW_NAMESPACE_RESERVED},
        {DEF, "t", KW_KEY_CPU, KW_LIBRARY_KEY_NOT_ALLOWED},
        {DEF, "t", KW_KEY_Autograd, KW_LIBRARY_KEY_NOT_ALLOWED},
        {FRAGMENT, NULL, NONE, KW_MALFORMED_NAME},
        {FRAGMENT, "t", NONE, KW_OK},
        {FRAGMENT, "_", NONE, KW_NAMESPACE_RESERVED},
        {FRAGMENT, "t", KW_KEY_CPU, KW_LIBRARY_KEY_NOT_ALLOWED},
        {IMPL, NULL, NONE, KW_MALFORMED_NAME},
        {IMPL, "t", NONE, KW_OK},
        {IMPL, "t", KW_KEY_CPU, KW_OK},
        {IMPL, "t", KW_KEY_Autograd, KW_OK},
        {IMPL, "_", NONE, KW_OK},
        {IMPL, "_", KW_KEY_CPU, KW_OK},
        {IMPL, "t", KW_KEY_StartOfDenseBackends, KW_UNKNOWN_KEY},
        {IMPL, "t", 999, KW_UNKNOWN_KEY},
        {IMPL, "t::u", NONE, KW_MALFORMED_NAME},
        {(kw_library_kind)4, "t", NONE, KW_INVALID_ARGUMENT},
    };
    kw_dispatcher *dispatcher = kwt_dispatcher();
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_error err = KW_ERROR_INIT;
        const char *before = kwt_picture(dispatcher);
        kw_status got = kws_block_try(dispatcher, rows[i].kind, rows[i].ns, rows[i].key, 3, &err);
        cr_expect_eq(got, rows[i].status, "row %zu: %s %s", i, kw_status_name(got), err.text);
        if (got != KW_OK) {
            cr_expect_str_eq(kwt_picture(dispatcher), before);
        }
    }
}

// S17 S19
Test(kind, each_kind_registers_what_is_its_own)
{
    static const struct {
        kw_library_kind kind;
        const char *ns;
        kw_status define;
        kw_status impl;
        kw_status fallback;
    } rows[] = {
        {FREE, NULL, KW_MALFORMED_NAME, KW_MALFORMED_NAME, KW_OK},
        {FREE, "t", KW_OK, KW_OK, KW_OK},
        {DEF, "t", KW_OK, KW_OK, KW_FALLBACK_NOT_ALLOWED},
        {FRAGMENT, "t", KW_OK, KW_OK, KW_FALLBACK_NOT_ALLOWED},
        {IMPL, "t", KW_DEFINE_NOT_ALLOWED, KW_OK, KW_FALLBACK_IN_NAMESPACE},
        {IMPL, "_", KW_DEFINE_NOT_ALLOWED, KW_IMPL_NOT_ALLOWED, KW_OK},
    };
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_kernel_descriptor kernel = KWT_BOXED(1);
    const kw_definition definition = KW_DEFINE("f(Tensor x) -> int");
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_library *library = kws_block(dispatcher, rows[i].kind, rows[i].ns, NONE, 4);
        KWT_STATUS(rows[i].define, kw_library_define(library, &definition, NULL, NULL));
        KWT_STATUS(rows[i].impl, kw_library_impl(library, "f", KW_KEY_CPU, &kernel, NULL, NULL));
        KWT_STATUS(rows[i].fallback, kw_library_fallback(library, KW_KEY_CPU, &kernel, NULL, NULL));
        kws_block_end(library);
    }
}

// S18. PyTorch: TorchLibraryTwiceIsError.
Test(kind, namespace_has_one_library_of_kind_def_at_a_time)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *first = kws_block(dispatcher, DEF, "t", NONE, 11);
    KWS_REFUSED(dispatcher, refuse_block(dispatcher, DEF, "t", NONE, KW_NAMESPACE_TAKEN),
                "namespace `t`", "block_11", "block.c:11", "block_77", "block.c:77");
    kw_library *beside = kws_block(dispatcher, FRAGMENT, "t", NONE, 12);
    kw_library *elsewhere = kws_block(dispatcher, DEF, "u", NONE, 13);
    kw_library *other = kws_block(kwt_dispatcher(), DEF, "t", NONE, 14);
    cr_expect(beside != NULL && elsewhere != NULL && other != NULL);
    kwt_close(first);
    kw_library *second = kws_block(dispatcher, DEF, "t", NONE, 15);
    kws_block_end(first);
    KWS_REFUSED(dispatcher, refuse_block(dispatcher, DEF, "t", NONE, KW_NAMESPACE_TAKEN),
                "block_15", "block.c:15");
    kws_block_end(second);
    (void)kws_block(dispatcher, DEF, "t", NONE, 16);
}

// S19
Test(kind, reserved_namespace_is_refused_with_the_kinds_name)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    KWS_REFUSED(dispatcher, refuse_block(dispatcher, DEF, "_", NONE, KW_NAMESPACE_RESERVED),
                "kind DEF", "namespace _", "IMPL", "block.c:77");
    KWS_REFUSED(dispatcher, refuse_block(dispatcher, FRAGMENT, "_", NONE, KW_NAMESPACE_RESERVED),
                "kind FRAGMENT", "namespace _", "IMPL", "block.c:77");
}

// S20
Test(kind, key_of_a_defining_library_is_refused_by_name)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    KWS_REFUSED(dispatcher,
                refuse_block(dispatcher, DEF, "t", KW_KEY_SparseCPU, KW_LIBRARY_KEY_NOT_ALLOWED),
                "kind DEF", "SparseCPU", "block.c:77");
    KWS_REFUSED(dispatcher,
                refuse_block(dispatcher, FRAGMENT, "t", KW_KEY_CUDA, KW_LIBRARY_KEY_NOT_ALLOWED),
                "kind FRAGMENT", "CUDA", "block.c:77");
}

// S17
Test(kind, definition_in_an_impl_library_names_operator_and_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, IMPL, "t", NONE, 21);
    KWS_REFUSED(dispatcher, kwt_refuse_define(library, "f(Tensor x) -> int", KW_DEFINE_NOT_ALLOWED),
                "`f(Tensor x) -> int`", "block_21", "IMPL", "block.c:21");
}

// S19
Test(kind, kernel_in_the_reserved_namespace_is_refused_with_and_without_one_of_its_own)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, IMPL, "_", KW_KEY_CPU, 22);
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "t::f", NONE, KWT_BOXED(1), KW_IMPL_NOT_ALLOWED), "`t::f`",
                "block_22", "block.c:22");
    KWS_REFUSED(dispatcher, kwt_refuse_impl(library, "f", NONE, KWT_BOXED(1), KW_IMPL_NOT_ALLOWED),
                "`f`", "block_22", "block.c:22");
}

// S20
Test(kind, kernel_takes_the_librarys_key_or_none_other)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, IMPL, "t", KW_KEY_CPU, 23);
    (void)kwt_impl(library, "f", NONE, KWT_T_I(1));
    (void)kwt_impl(library, "g", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CPU));
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_CompositeImplicitAutograd));
    cr_expect(kw_operator_has_kernel(kwt_find(dispatcher, "t::g"), KW_KEY_CPU));
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(2), KW_KEY_CONFLICT), "CUDA",
                "CPU", "block_23", "block.c:23");
    // The bare functionality is another key than the library's.
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_Dense, KWT_T_I(2), KW_KEY_CONFLICT);
}

// S21
Test(kind, name_lies_in_the_librarys_namespace)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static const kw_library_kind defining[] = {FREE, DEF, FRAGMENT};
    for (size_t i = 0; i < COUNT(defining); i++) {
        kw_library *library = kws_block(dispatcher, defining[i], "t", NONE, 24);
        (void)kwt_define(library, "f(Tensor x) -> int");
        cr_expect(kwt_is_visible(dispatcher, "t::f"));
        (void)kwt_define(library, "t::g(Tensor x) -> int");
        KWS_REFUSED(dispatcher,
                    kwt_refuse_define(library, "u::f(Tensor x) -> int", KW_NAMESPACE_MISMATCH),
                    "`u::f`", "`t`", "block_24", "block.c:24");
        KWS_REFUSED(dispatcher,
                    kwt_refuse_define(library, "tt::f(Tensor x) -> int", KW_NAMESPACE_MISMATCH),
                    "`tt::f`");
        kws_block_end(library);
    }
    kw_library *library = kws_block(dispatcher, IMPL, "t", NONE, 25);
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "u::f", KW_KEY_CPU, KWT_T_I(1), KW_NAMESPACE_MISMATCH),
                "`u::f`", "`t`", "block_25", "block.c:25");
}

// S19 S37
Test(kind, fallback_needs_the_reserved_namespace_and_a_key)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *named = kws_block(dispatcher, IMPL, "t", KW_KEY_CPU, 26);
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(named, NONE, KWT_BOXED(1), KW_FALLBACK_IN_NAMESPACE), "`t`",
                "namespace _", "block_26", "block.c:26");
    kw_library *def = kws_block(dispatcher, DEF, "t", NONE, 27);
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(def, KW_KEY_CPU, KWT_BOXED(1), KW_FALLBACK_NOT_ALLOWED), "DEF",
                "block_27", "block.c:27");
    kw_library *fragment = kws_block(dispatcher, FRAGMENT, "t", NONE, 28);
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(fragment, KW_KEY_CPU, KWT_BOXED(1), KW_FALLBACK_NOT_ALLOWED),
                "FRAGMENT", "block_28", "block.c:28");
    kw_library *global = kws_block(dispatcher, IMPL, "_", NONE, 29);
    KWS_REFUSED(dispatcher,
                kwt_refuse_fallback(global, NONE, KWT_BOXED(1), KW_FALLBACK_WITHOUT_KEY), "key");
    kw_library *keyed = kws_block(dispatcher, IMPL, "_", KW_KEY_CUDA, 30);
    KWS_REFUSED(dispatcher, kwt_refuse_fallback(keyed, KW_KEY_CPU, KWT_BOXED(1), KW_KEY_CONFLICT),
                "CPU", "CUDA", "block_30", "block.c:30");
    (void)kwt_fallback(keyed, NONE, KWT_BOXED(1));
    (void)kwt_fallback(global, KW_KEY_CPU, KWT_BOXED(2));
}
