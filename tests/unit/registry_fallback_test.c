// Fallbacks: the standard ones, a user's over them, and who may register which.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "registry/dispatcher.h"
#include "support/registry.h"

TestSuite(registry_fallback, .init = kwt_begin, .fini = kwt_end);

#define NOBODY (-1)

// Which kernel a call with these keys runs; NOBODY if none does.
static int64_t serving(const kw_operator *op, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    int64_t number = 0;
    kw_status status = kwt_call_t_i(op, &tensor, &number);
    if (status == KW_NO_KERNEL || status == KW_NO_KERNEL_FOR_KEY) {
        return NOBODY;
    }
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    return number;
}

// An operator with a CPU kernel numbered 1.
static const kw_operator *make_cpu_operator(kw_dispatcher *dispatcher)
{
    kw_library *library = kwt_library(dispatcher, "kernels");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    return kwt_find(dispatcher, "t::f");
}

Test(registry_fallback, standard_ones_let_a_tensor_with_autograd_keys_reach_its_kernel)
{
    const kw_operator *op = make_cpu_operator(kwt_dispatcher());
    cr_expect_eq(serving(op, "CPU, AutogradCPU, ADInplaceOrView"), 1);
    cr_expect_eq(kwt_trace_count, 1, "it ran once");
    KWT_HAS(kwt_dump_table(op), "AutogradCPU: fallthrough in standard [backend fallback]");
}

Test(registry_fallback, bare_dispatcher_has_none)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    kwt_tensor tensor = kwt_make_tensor("CPU, AutogradCPU");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &tensor, &number));
    KWT_HAS(kw_call_error(), "AutogradCPU");
    KWT_LACKS(kwt_dump_table(op), "fallthrough");
    // The default include set alone stops a plain tensor.
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY,
               (tensor = kwt_make_tensor("CPU"), kwt_call_t_i(op, &tensor, &number)));
    kw_library *library = kwt_library(dispatcher, "own");
    (void)kwt_fallback(library, KW_KEY_BackendSelect, KW_FALLTHROUGH());
    cr_expect_eq(serving(op, "CPU"), NOBODY, "one of two is not enough");
    (void)kwt_fallback(library, KW_KEY_ADInplaceOrView, KW_FALLTHROUGH());
    cr_expect_eq(serving(op, "CPU"), 1);
}

Test(registry_fallback, standard_keys_are_exactly_the_promised_ones)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    const kw_keyset standard = kw_keyset_from_bits(
        KW_KEYSET_AUTOGRAD | KW_KEYSET_AUTOCAST | KW_KEYSET_BACKEND_MASK |
        KW_KEYSET_BITS(KW_KEY_BackendSelect) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
        KW_KEYSET_BITS(KW_KEY_VmapMode) | KW_KEYSET_BITS(KW_KEY_FuncTorchVmapMode) |
        KW_KEYSET_BITS(KW_KEY_PythonTLSSnapshot) | KW_KEYSET_BITS(KW_KEY_PreDispatch));
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        kw_key key = kw_key_of_slot(slot);
        cr_assert_eq(kw_operator_has_computed_kernel(op, key), kw_keyset_has(standard, key), "%s",
                     kw_key_name(key));
    }
    cr_expect_not(kw_operator_has_computed_kernel(op, KW_KEY_Undefined));
}

Test(registry_fallback, users_fallback_covers_a_standard_one_until_it_goes)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    const char *before = kwt_dump_table(op);
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_fallback(library, KW_KEY_AutogradCPU, KWT_BOXED(9));
    cr_expect_eq(serving(op, "CPU, AutogradCPU"), 9);
    cr_expect_eq(serving(op, "CPU"), 1);
    kwt_remove(library, made);
    cr_expect_eq(serving(op, "CPU, AutogradCPU"), 1);
    cr_expect_str_eq(kwt_dump_table(op), before);
}

Test(registry_fallback, closing_the_library_uncovers_too)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    const char *before = kwt_dump_table(op);
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_fallback(library, KW_KEY_AutogradCPU, KWT_BOXED(9));
    (void)kwt_fallback(library, KW_KEY_CUDA, KWT_BOXED(8));
    cr_expect_eq(serving(op, "CUDA"), 8);
    kwt_end_library(library);
    cr_expect_str_eq(kwt_dump_table(op), before);
}

Test(registry_fallback, second_one_for_a_key_is_refused_and_names_the_first)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    kw_library *alpha = kwt_library(dispatcher, "alpha");
    kw_library *beta = kwt_library(dispatcher, "beta");
    kw_registration first = kwt_fallback(alpha, KW_KEY_CUDA, kwt_at(KWT_BOXED(9), "alpha.c", 21));
    const char *text = kwt_refuse_fallback(beta, KW_KEY_CUDA, KWT_BOXED(8), KW_DUPLICATE_FALLBACK);
    KWT_HAS(text, "CUDA");
    KWT_HAS(text, "alpha");
    KWT_HAS(text, "alpha.c:21");
    (void)kwt_refuse_fallback(alpha, KW_KEY_CUDA, KWT_BOXED(8), KW_DUPLICATE_FALLBACK);
    cr_expect_eq(serving(op, "CUDA"), 9);
    kwt_remove(alpha, first);
    (void)kwt_fallback(beta, KW_KEY_CUDA, KWT_BOXED(8));
    cr_expect_eq(serving(op, "CUDA"), 8);
}

Test(registry_fallback, autograd_private_use_1_may_be_stacked)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    kw_library *alpha = kwt_library(dispatcher, "alpha");
    kw_library *beta = kwt_library(dispatcher, "beta");
    const char *keys = "PrivateUse1, AutogradPrivateUse1";
    (void)kwt_fallback(alpha, KW_KEY_AutogradPrivateUse1, KWT_BOXED(1));
    kw_registration second = kwt_fallback(beta, KW_KEY_AutogradPrivateUse1, KWT_BOXED(2));
    cr_expect_eq(serving(op, keys), 2);
    kwt_remove(beta, second);
    cr_expect_eq(serving(op, keys), 1);
    kwt_end_library(alpha);
    cr_expect_eq(serving(op, keys), NOBODY, "the standard fallthrough, and no kernel below");
}

Test(registry_fallback, key_without_slots_is_refused)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_refuse_fallback(library, KW_KEY_Dense, KWT_BOXED(1), KW_UNKNOWN_KEY);
    (void)kwt_refuse_fallback(library, KW_KEY_LIMIT, KWT_BOXED(1), KW_UNKNOWN_KEY);
    (void)kwt_refuse_fallback(library, KW_KEY_Undefined, KWT_BOXED(1), KW_FALLBACK_WITHOUT_KEY);
}

Test(registry_fallback, alias_stands_for_each_of_its_keys)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    const char *before = kwt_dump_table(op);
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_fallback(library, KW_KEY_Autograd, KWT_BOXED(9));
    cr_expect_eq(serving(op, "CPU, AutogradCPU"), 9);
    cr_expect_eq(serving(op, "XLA, AutogradXLA"), 9);
    cr_expect_eq(serving(op, "CPU"), 1);
    kwt_remove(library, made);
    cr_expect_str_eq(kwt_dump_table(op), before);
}

Test(registry_fallback, alias_with_one_key_taken_is_refused_as_a_whole)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = make_cpu_operator(dispatcher);
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_fallback(library, KW_KEY_AutogradXLA, KWT_BOXED(8));
    const char *before = kwt_dump_table(op);
    KWT_HAS(kwt_refuse_fallback(kwt_library(dispatcher, "b"), KW_KEY_Autograd, KWT_BOXED(9),
                                KW_DUPLICATE_FALLBACK),
            "AutogradXLA");
    cr_expect_str_eq(kwt_dump_table(op), before);
    cr_expect_eq(serving(op, "CPU, AutogradCPU"), 1);
}

Test(registry_fallback, unboxed_kernel_cannot_serve_every_operator)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    KWT_HAS(kwt_refuse_fallback(library, KW_KEY_CPU, KWT_T_I(1), KW_INVALID_ARGUMENT), "boxed");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_fallback(library, KW_KEY_CPU, NULL, NULL, NULL));
}

Test(registry_fallback, serves_operators_that_come_before_and_after)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *before = make_cpu_operator(dispatcher);
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_fallback(library, KW_KEY_XLA, KWT_BOXED(9));
    (void)kwt_define(library, "t::g(Tensor x) -> int");
    const kw_operator *after = kwt_find(dispatcher, "t::g");
    cr_expect_eq(serving(before, "XLA"), 9);
    cr_expect_eq(serving(after, "XLA"), 9);
    cr_expect_eq(kwt_trace[0].op, before, "it sees the operator it runs for");
    cr_expect_eq(kwt_trace[1].op, after);
}

Test(registry_fallback, does_not_revive_a_removed_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    (void)kwt_fallback(library, KW_KEY_CPU, KWT_BOXED(9));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    int64_t number;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_t_i(op, &cpu, &number));
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
}

Test(registry_fallback, gives_way_to_own_and_composite_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_fallback(library, KW_KEY_CPU, KWT_BOXED(9));
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kw_registration cuda = kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(1));
    cr_expect_eq(serving(op, "CUDA"), 1);
    cr_expect_eq(serving(op, "CPU"), 9, "a kernel for another backend does not keep it out");
    kwt_remove(library, cuda);
    kw_registration composite =
        kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, KWT_T_I(2));
    cr_expect_eq(serving(op, "CPU"), 2, "a composite kernel comes first");
    kwt_remove(library, composite);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(3));
    cr_expect_eq(serving(op, "CPU"), 3);
}

Test(registry_fallback, dispatchers_do_not_share_them)
{
    const kw_operator *op = make_cpu_operator(kwt_dispatcher());
    kw_library *other = kwt_library(kwt_dispatcher(), "other");
    (void)kwt_fallback(other, KW_KEY_CUDA, KWT_BOXED(9));
    cr_expect_eq(serving(op, "CUDA"), NOBODY);
}

// How many tables one commit replaces.
static uint64_t replaced_by_fallback(kw_dispatcher *dispatcher, kw_library *library, kw_key key)
{
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    const kw_kernel_descriptor fallback = KWT_BOXED(9);
    uint64_t before = kwt_statistics().retired_count;
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_fallback(tx, library, key, &fallback, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
    return kwt_statistics().retired_count - before;
}

Test(registry_fallback, operators_it_does_not_reach_keep_their_tables)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    uint64_t unreached = replaced_by_fallback(dispatcher, library, KW_KEY_CPU);
    uint64_t reached = replaced_by_fallback(dispatcher, library, KW_KEY_CUDA);
    cr_expect_eq(reached, unreached + 1, "a kernel of its own comes before the fallback");
}

// Enough operators for a commit to share layouts, with sets of keys that come again and that do
// not.
enum {
    MANY = 150
};

static void register_many(kw_library *library)
{
    static const kw_key keys[] = {KW_KEY_CPU,      KW_KEY_Tracer, KW_KEY_CompositeImplicitAutograd,
                                  KW_KEY_Autograd, KW_KEY_Meta,   KW_KEY_SparseCPU,
                                  KW_KEY_Python};
    kw_transaction *tx = NULL;
    KWT_OK(kw_transaction_begin(kw_library_dispatcher(library), &tx, NULL));
    for (int i = 0; i < MANY; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "t::op%d", i);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            const kw_kernel_descriptor kernel = k % 3 == 1 ? KW_FALLTHROUGH() : KWT_T_I(i);
            if ((i >> k & 1) != 0 || k == 0) {
                KWT_OK(kw_transaction_impl(tx, library, name, keys[k], &kernel, NULL, NULL));
            }
        }
    }
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
}

// S38, O2
Test(registry_fallback, reaches_each_of_many_operators_that_has_nothing_of_its_own)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    register_many(library);
    cr_expect_null(kwt_wrong_table(dispatcher));
    const kw_table *covered = kwi_operator_newest(kwt_find(dispatcher, "t::op2"));
    const kw_table *open = kwi_operator_newest(kwt_find(dispatcher, "t::op1"));
    kw_registration made = kwt_fallback(library, KW_KEY_Tracer, KWT_BOXED(3));
    cr_expect_null(kwt_wrong_table(dispatcher));
    cr_expect_eq(kwi_operator_newest(kwt_find(dispatcher, "t::op2")), covered, "it has a kernel");
    cr_expect_neq(kwi_operator_newest(kwt_find(dispatcher, "t::op1")), open);
    cr_expect_eq(serving(kwt_find(dispatcher, "t::op1"), "CPU, Tracer"), 3);
    kwt_remove(library, made);
    cr_expect_null(kwt_wrong_table(dispatcher));
    kwt_end_library(library);
}
