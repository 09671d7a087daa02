// What PyTorch's key set tests assert, by content; keyset_test.c has the rest.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/keyset.h>

#define KEYS(key) kw_keyset_from_key(KW_KEY_##key)

// PyTorch: DispatchKeySet.ShowSemantics. S1 S3
Test(upstream_keyset, block_and_backend_make_a_runtime_key)
{
    kw_keyset dense = KEYS(Dense);
    cr_expect_eq(kw_keyset_highest_functionality(dense), KW_KEY_Dense);
    cr_expect_eq(kw_keyset_highest_backend(dense), KW_BACKEND_INVALID);
    cr_expect(kw_keyset_has(dense, KW_KEY_Dense));
    cr_expect_not(kw_keyset_has(dense, KW_KEY_CPU), "a block alone has no runtime key");
    kw_keyset cpu = kw_keyset_union(dense, kw_keyset_from_backend(KW_BACKEND_CPU));
    cr_expect_eq(cpu.bits, KEYS(CPU).bits);
    cr_expect_eq(kw_keyset_highest_key(cpu), KW_KEY_CPU);
    cr_expect(kw_keyset_has(cpu, KW_KEY_CPU));
    cr_expect(kw_keyset_has(cpu, KW_KEY_Dense));
}

// PyTorch: DispatchKeySet.ShowSemantics. S1 S2
Test(upstream_keyset, union_of_two_blocks_has_all_four_keys)
{
    kw_keyset both = kw_keyset_union(KEYS(CPU), KEYS(AutogradCUDA));
    cr_expect(kw_keyset_has(both, KW_KEY_CPU));
    cr_expect(kw_keyset_has(both, KW_KEY_CUDA));
    cr_expect(kw_keyset_has(both, KW_KEY_AutogradCPU));
    cr_expect(kw_keyset_has(both, KW_KEY_AutogradCUDA));
    cr_expect_eq(kw_keyset_highest_key(both), KW_KEY_AutogradCUDA);
    kw_keyset without = kw_keyset_remove(both, KW_KEY_AutogradCUDA);
    cr_expect_eq(kw_keyset_highest_key(without), KW_KEY_CUDA, "the backend bit stays");
    kw_keyset two = kw_keyset_union(KEYS(CPU), KEYS(CUDA));
    cr_expect_eq(kw_keyset_highest_key(two), KW_KEY_CUDA);
    cr_expect_eq(kw_keyset_highest_backend(two), KW_BACKEND_CUDA);
}

// PyTorch: DispatchKeySet.ShowSemantics, has and has_any. S1
Test(upstream_keyset, having_any_is_less_than_having_all)
{
    kw_keyset some = kw_keyset_union(KEYS(AutocastCPU), KEYS(Tracer));
    kw_keyset asked = kw_keyset_union(KEYS(AutocastCPU), KEYS(AutocastCUDA));
    cr_expect(kw_keyset_has_any(some, asked));
    cr_expect_not(kw_keyset_has_all(some, asked));
    cr_expect(kw_keyset_has_any(KEYS(AutogradCPU), kw_keyset_autograd()));
    cr_expect_not(kw_keyset_has_any(KEYS(CPU), kw_keyset_autograd()),
                  "the autograd set has no backend bits");
}

// PyTorch: SingletonBackendComponent. S1
Test(upstream_keyset, each_backend_alone_has_no_functionality)
{
    for (int i = 1; i <= KW_BACKEND_COUNT; i++) {
        kw_keyset set = kw_keyset_from_backend((kw_backend)i);
        cr_expect_eq(set.bits, UINT64_C(1) << (i - 1));
        cr_expect_eq(kw_keyset_highest_backend(set), (kw_backend)i);
        cr_expect_eq(kw_keyset_highest_functionality(set), KW_KEY_Undefined);
        cr_expect_eq(kw_keyset_highest_key(set), KW_KEY_Undefined);
        cr_expect_eq(kw_keyset_slot(set), 0);
        cr_expect_not(kw_keyset_is_empty(set));
    }
}

// PyTorch: SingletonFunctionalityKeys, SingletonPerBackendFunctionalityKeys. S2 S3
Test(upstream_keyset, each_runtime_key_alone_is_its_own_highest)
{
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        kw_key key = kw_key_of_slot(slot);
        kw_keyset set = kw_keyset_from_key(key);
        cr_expect_eq(kw_keyset_highest_key(set), key, "%s", kw_key_name(key));
        cr_expect_eq(kw_keyset_slot(set), (unsigned)slot);
        cr_expect(kw_keyset_has(set, key));
        cr_expect_eq(kw_keyset_highest_backend(set), (kw_backend)KW_KEY_BACKEND(key));
        kw_keyset without = kw_keyset_remove(set, key);
        cr_expect_eq(without.bits, set.bits & KW_KEYSET_BACKEND_MASK);
    }
}

// PyTorch: DoubletonPerBackend. S1 S2
Test(upstream_keyset, two_runtime_keys_are_ordered_by_functionality_then_backend)
{
    for (int a = 1; a < KW_SLOT_COUNT; a++) {
        for (int b = 1; b < KW_SLOT_COUNT; b++) {
            kw_key first = kw_key_of_slot(a);
            kw_key second = kw_key_of_slot(b);
            kw_keyset set = kw_keyset_union(kw_keyset_from_key(first), kw_keyset_from_key(second));
            cr_assert(kw_keyset_has(set, first) && kw_keyset_has(set, second));
            kw_key one = kw_key_functionality(first);
            kw_key two = kw_key_functionality(second);
            kw_key functionality = one > two ? one : two;
            unsigned backend = KW_KEY_BACKEND(first) > KW_KEY_BACKEND(second)
                                   ? KW_KEY_BACKEND(first)
                                   : KW_KEY_BACKEND(second);
            cr_assert_eq(kw_keyset_highest_functionality(set), functionality);
            cr_assert_eq((unsigned)kw_keyset_highest_backend(set), backend);
            cr_assert_eq(kw_keyset_highest_key(set), kw_key_of(functionality, (kw_backend)backend));
        }
    }
}

// PyTorch: Full, IteratorEmpty, IteratorFull, FailAtEndIterator. S5
Test(upstream_keyset, iteration_ends_and_stays_at_the_end)
{
    cr_expect_eq(kw_keyset_highest_functionality(kw_keyset_full()), KW_KEY_PythonDispatcher);
    size_t count = 0;
    kw_keyset_iterator at = kw_keyset_iterator_begin(kw_keyset_full());
    kw_key key;
    while (kw_keyset_iterator_next(&at, &key)) {
        count++;
    }
    cr_expect_eq(count, KW_SLOT_COUNT - 1);
    cr_expect_not(kw_keyset_iterator_next(&at, &key), "the end is the end");
    at = kw_keyset_iterator_begin(kw_keyset_empty());
    cr_expect_not(kw_keyset_iterator_next(&at, &key));
}

// PyTorch: IteratorCrossProduct. S5
Test(upstream_keyset, iteration_yields_the_cross_product_in_order)
{
    static const kw_key expected[] = {KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_AutogradCPU,
                                      KW_KEY_AutogradCUDA};
    kw_keyset set = kw_keyset_union(KEYS(CPU), KEYS(AutogradCUDA));
    kw_keyset_iterator at = kw_keyset_iterator_begin(set);
    kw_key key;
    for (size_t i = 0; i < 4; i++) {
        cr_assert(kw_keyset_iterator_next(&at, &key));
        cr_expect_eq(key, expected[i]);
    }
    cr_expect_not(kw_keyset_iterator_next(&at, &key));
}

// PyTorch: TestKeyOrderingInvariants, TestEndOfRuntimeBackendKeysAccurate. S2
Test(upstream_keyset, numbers_are_ordered_as_priorities)
{
    cr_expect_lt(KW_KEY_BackendSelect, KW_KEY_Python);
    cr_expect_lt(KW_KEY_ADInplaceOrView, KW_KEY_AutogradOther);
    cr_expect_lt(KW_KEY_AutogradOther, KW_KEY_AutogradFunctionality);
    cr_expect_lt(KW_KEY_AutogradNestedTensor, KW_KEY_Tracer);
    cr_expect_eq(KW_KEY_AutogradMeta + 1, KW_KEY_Autograd, "the last runtime key");
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        cr_expect_gt(kw_key_slot(kw_key_of_slot(slot)), kw_key_slot(kw_key_of_slot(slot - 1)));
    }
}

// PyTorch: TestBackendComponentToString, TestFunctionalityDispatchKeyToString. S8
Test(upstream_keyset, no_key_or_backend_prints_as_unknown)
{
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        bool is_known = strstr(kw_key_name(key), "Unknown") == NULL;
        cr_expect(is_known || !kw_key_is_valid(key), "%u", key);
    }
    for (int i = 1; i <= KW_BACKEND_COUNT; i++) {
        cr_expect_null(strstr(kw_backend_name((kw_backend)i), "Unknown"));
        cr_expect_neq(strlen(kw_backend_name((kw_backend)i)), 0);
    }
}

// PyTorch: DispatchKeySetTest.TestGetRuntimeDispatchKeySet. S6
Test(upstream_keyset, alias_has_a_key_exactly_if_its_expansion_has)
{
    for (kw_key alias = 1; alias < KW_KEY_LIMIT; alias++) {
        for (int slot = 1; kw_key_is_alias(alias) && slot < KW_SLOT_COUNT; slot++) {
            kw_key key = kw_key_of_slot(slot);
            cr_expect_eq(kw_key_in_alias(key, alias), kw_keyset_has(kw_key_runtime_set(alias), key),
                         "%s in %s", kw_key_name(key), kw_key_name(alias));
        }
    }
}

// S4
Test(upstream_keyset, full_after_keeps_what_is_below_and_the_python_dispatcher)
{
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        kw_key key = kw_key_of_slot(slot);
        kw_keyset after = kw_keyset_full_after(key);
        cr_expect_eq(after.bits & KW_KEYSET_BACKEND_MASK, KW_KEYSET_BACKEND_MASK);
        cr_expect(kw_keyset_has(after, KW_KEY_PythonDispatcher));
        for (int other = 1; other < KW_SLOT_COUNT; other++) {
            kw_key below = kw_key_of_slot(other);
            bool is_below = KW_KEY_FUNCTIONALITY(below) < KW_KEY_FUNCTIONALITY(key) ||
                            below == KW_KEY_PythonDispatcher;
            cr_assert_eq(kw_keyset_has(after, below), is_below);
        }
    }
    cr_expect_eq(kw_keyset_full_after(KW_KEY_Undefined).bits, 0, "PyTorch gives a random word");
    cr_expect_eq(kw_keyset_full_after(KW_KEY_Autograd).bits, 0);
}

// S7
Test(upstream_keyset, backends_without_an_autograd_key_share_autograd_other)
{
    cr_expect_eq(kw_backend_autograd_key(KW_BACKEND_CPU), KW_KEY_AutogradCPU);
    cr_expect_eq(kw_backend_autograd_key(KW_BACKEND_MTIA), KW_KEY_AutogradMTIA);
    cr_expect_eq(kw_backend_autograd_key(KW_BACKEND_HIP), KW_KEY_AutogradOther);
    cr_expect_eq(kw_backend_autograd_key(KW_BACKEND_VE), KW_KEY_AutogradOther);
    cr_expect_eq(kw_backend_autograd_key(KW_BACKEND_INVALID), KW_KEY_AutogradOther);
}
