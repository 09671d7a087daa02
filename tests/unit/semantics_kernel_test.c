// Kernels: signatures that do not fit, keys, covering, and what a refusal leaves.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(semantics_kernel, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// S28. PyTorch: givenLambdaKernel_whenRegisteringWithMismatchingCppSignatures_thenFails and its
// variants for catch-all and backend kernels in either order.
Test(semantics_kernel, another_signature_than_a_kernels_names_both)
{
    static const kw_key keys[][2] = {{KW_KEY_CPU, KW_KEY_CUDA},
                                     {KW_KEY_CatchAll, KW_KEY_CPU},
                                     {KW_KEY_CPU, KW_KEY_CatchAll},
                                     {KW_KEY_CPU, KW_KEY_CPU}};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_Undefined, 1);
    kw_library *other = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_Undefined, 2);
    for (size_t i = 0; i < COUNT(keys); i++) {
        kw_registration made = kwt_impl(library, "f", keys[i][0], kwt_at(KWT_T_I(1), "old.c", 5));
        KWS_REFUSED(dispatcher,
                    kwt_refuse_impl(other, "f", keys[i][1], kwt_at(KWT_TI_I(2), "new.c", 8),
                                    KW_SIGNATURE_MISMATCH),
                    "`t::f`", "`t>i`", "`ti>i`", "kwt_kernel_t_i in block_1 at old.c:5",
                    "kwt_kernel_ti_i in block_2 at new.c:8");
        kwt_remove(library, made);
    }
}

// S28. PyTorch: givenTorchLibrary_whenRegisteringWithMismatchingCppSignatures_thenFails.
Test(semantics_kernel, another_signature_than_the_definitions_names_both)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    kw_registration made = kws_define(library, "f(Tensor x) -> int", "old.c", 5);
    (void)kwt_impl(library, "f", KW_KEY_CUDA, KWT_BOXED(1));
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "f", KW_KEY_CPU, kwt_at(KWT_TI_I(2), "new.c", 8),
                                KW_SIGNATURE_MISMATCH),
                "`t::f`", "`t>i`", "`ti>i`", "block_1 at old.c:5",
                "kwt_kernel_ti_i in block_1 at new.c:8");
    kwt_remove(library, made);
    (void)kwt_impl(library, "f", KW_KEY_CPU, kwt_at(KWT_T_I(1), "old.c", 6));
    KWS_REFUSED(dispatcher,
                kws_refuse(library, kws_definition("f(Tensor x, int y) -> int", "new.c", 9),
                           KW_SIGNATURE_MISMATCH),
                "`t::f`", "`t>i`", "`ti>i`", "old.c:6", "new.c:9");
}

// S28
Test(semantics_kernel, refused_registration_does_not_fix_a_signature)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_CUDA, kws_for("(int a) -> int", KWT_BOXED(1)));
    // The signature would be taken from the definition, but the kernel's schema refuses it.
    (void)kwt_refuse_define(library, "f(Tensor x) -> int", KW_ARGUMENT_TYPE_MISMATCH);
    (void)kwt_define(library, "f(int x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_I_I(1));
}

// S28
Test(semantics_kernel, boxed_kernels_hold_no_signature)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_registration made = kwt_define(library, "f(Tensor x) -> int");
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(1));
    kwt_remove(library, made);
    (void)kwt_define(library, "f(int a) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_neq(op, old, "another signature, another entry");
    cr_expect_eq(kwt_result_i_i(op, 2), 1, "the boxed kernel went with the definition");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(old, &cpu, &number));
}

// S28. PyTorch: whenAccessingWithMismatchingCppSignatures_thenFails. Unlike there, access before
// anything is known is refused too.
Test(semantics_kernel, typed_access_with_another_signature_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_error err = KW_ERROR_INIT;
    const kw_operator *op = NULL;
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    KWT_STATUS(KW_OPERATOR_UNDEFINED, kw_operator_find_typed(dispatcher, "t::f", "t>i", &op, &err));
    (void)kwt_define(library, "f(Tensor x) -> int");
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_operator_find_typed(dispatcher, "t::f", "ti>i", &op, &err));
    kws_expect_pieces(err.text,
                      (const char *[]){"`t::f`", "`t>i`", "`ti>i`", "t::f(Tensor x) -> int", NULL});
    cr_expect_null(op, "outputs are untouched");
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &op, &err));
}

// S29
Test(semantics_kernel, no_key_and_catch_all_are_composite_implicit)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_CatchAll, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CompositeImplicitAutograd));
    (void)kwt_impl(library, "f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(2));
    cr_expect_eq(kwt_result_t_i(op, NULL), 2, "the later one covers the earlier");
}

// S30. The bare building block is stored and reaches no slot, but counts as its backends' kernel.
Test(semantics_kernel, kernel_of_a_building_block_serves_nothing_and_blocks)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_Dense, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect(kw_operator_has_kernel(op, KW_KEY_Dense));
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_AutogradCPU));
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_AutogradOther));
    cr_expect_null(strstr(kwt_dump_table(op), "[kernel]"));
    (void)kwt_refuse_impl(library, "f", KW_KEY_StartOfDenseBackends, KWT_T_I(1), KW_UNKNOWN_KEY);
    (void)kwt_refuse_impl(library, "f", KW_KEY_LIMIT, KWT_T_I(1), KW_UNKNOWN_KEY);
}

// S31 S32. PyTorch: test_overwrite_math.
Test(semantics_kernel, newest_kernel_covers_and_each_removal_restores)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_registration made[3];
    for (int i = 0; i < 3; i++) {
        made[i] = kwt_impl(library, "f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(i + 1));
    }
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(kwt_result_t_i(op, NULL), 3);
    KWT_HAS(kwt_dump(op), "(inactive)");
    kwt_remove(library, made[1]);
    cr_expect_eq(kwt_result_t_i(op, NULL), 3, "an older one goes unseen");
    kwt_remove(library, made[2]);
    cr_expect_eq(kwt_result_t_i(op, NULL), 1);
    KWT_LACKS(kwt_dump(op), "(inactive)");
    kwt_remove(library, made[0]);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
}

static int overrides;
static char told[2][256];

static void hear(const kw_event *event, void *context)
{
    (void)context;
    if (event->kind == KW_EVENT_KERNEL && event->previous != NULL && event->current != NULL) {
        overrides++;
        cr_expect_lt(strlen(event->previous), sizeof told[0]);
        strcpy(told[0], event->previous);
        strcpy(told[1], event->current);
    }
}

// S32. PyTorch warns once in a process, with the wrong kernel, and not at all for Meta.
Test(semantics_kernel, override_is_an_event_with_both_kernels_for_every_key)
{
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_Meta, KW_KEY_MTIA, KW_KEY_Autograd};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear};
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    for (size_t i = 0; i < COUNT(keys); i++) {
        overrides = 0;
        (void)kwt_impl(library, "f", keys[i], kwt_at(KWT_T_I(1), "old.c", 5));
        cr_expect_eq(overrides, 0);
        (void)kwt_impl(library, "f", keys[i], kwt_at(KWT_T_I(2), "new.c", 8));
        cr_expect_eq(overrides, 1, "%s", kw_key_name(keys[i]));
        cr_expect_str_eq(told[0], "kwt_kernel_t_i in t at old.c:5");
        cr_expect_str_eq(told[1], "kwt_kernel_t_i in t at new.c:8");
    }
}

// S39. The user data of a refused kernel stays with the caller.
Test(semantics_kernel, refused_kernel_is_not_destroyed)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    int destroyed = 0;
    (void)kwt_define(library, "f(Tensor x) -> int");
    kw_kernel_descriptor kernel = kwt_with(KWT_TI_I(1), &destroyed, kwt_count_destroy);
    uint64_t bytes = kwt_live_bytes();
    KWS_REFUSED(dispatcher,
                kwt_refuse_impl(library, "f", KW_KEY_CPU, kernel, KW_SIGNATURE_MISMATCH), "`t::f`");
    cr_expect_eq(kwt_live_bytes(), bytes);
    cr_expect_eq(destroyed, 0);
}

// S40. PyTorch keeps a schema-less entry after a first registration that failed.
Test(semantics_kernel, refused_first_registration_leaves_no_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_transaction *tx = kwt_transaction(dispatcher);
    const kw_definition definition = KW_DEFINE("f(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_TI_I(1);
    KWT_OK(kw_transaction_define(tx, library, &definition, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, library, "f", KW_KEY_CPU, &kernel, NULL, NULL));
    const char *before = kwt_picture(dispatcher);
    KWT_STATUS(KW_SIGNATURE_MISMATCH, kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    const kw_operator *op = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::f", &op, NULL));
}
