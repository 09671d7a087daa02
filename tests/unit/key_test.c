// Keys: their numbers, kinds, slots, aliases, and the keys that go with a backend.
//
// The numbers are PyTorch's of late 2025, written out here once more rather than taken from the
// header, so that a slip in its lists cannot pass.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

// Macros of these names exist in the wild. The headers must not trip over them.
#define CPU broken
#define Dense broken
#define Meta broken
#include <keyway/key.h>
#include <keyway/keyset.h>
#undef CPU
#undef Dense
#undef Meta

typedef struct functionality_row {
    kw_key key;
    int number;
    uint64_t bits;
    int first_slot;
    bool is_per_backend;
} functionality_row;

static const functionality_row functionalities[] = {
    {KW_KEY_Undefined, 0, 0x0, 0, false},
    {KW_KEY_Dense, 1, 0x10000, 1, true},
    {KW_KEY_FPGA, 2, 0x20000, 17, false},
    {KW_KEY_Vulkan, 3, 0x40000, 18, false},
    {KW_KEY_Metal, 4, 0x80000, 19, false},
    {KW_KEY_Quantized, 5, 0x100000, 20, true},
    {KW_KEY_CustomRNGKeyId, 6, 0x200000, 36, false},
    {KW_KEY_MkldnnCPU, 7, 0x400000, 37, false},
    {KW_KEY_Sparse, 8, 0x800000, 38, true},
    {KW_KEY_SparseCsr, 9, 0x1000000, 54, true},
    {KW_KEY_NestedTensor, 10, 0x2000000, 70, true},
    {KW_KEY_BackendSelect, 11, 0x4000000, 86, false},
    {KW_KEY_Python, 12, 0x8000000, 87, false},
    {KW_KEY_Fake, 13, 0x10000000, 88, false},
    {KW_KEY_FuncTorchDynamicLayerBackMode, 14, 0x20000000, 89, false},
    {KW_KEY_Functionalize, 15, 0x40000000, 90, false},
    {KW_KEY_Named, 16, 0x80000000, 91, false},
    {KW_KEY_Conjugate, 17, 0x100000000, 92, false},
    {KW_KEY_Negative, 18, 0x200000000, 93, false},
    {KW_KEY_ZeroTensor, 19, 0x400000000, 94, false},
    {KW_KEY_ADInplaceOrView, 20, 0x800000000, 95, false},
    {KW_KEY_AutogradOther, 21, 0x1000000000, 96, false},
    {KW_KEY_AutogradFunctionality, 22, 0x2000000000, 97, true},
    {KW_KEY_AutogradNestedTensor, 23, 0x4000000000, 113, false},
    {KW_KEY_Tracer, 24, 0x8000000000, 114, false},
    {KW_KEY_AutocastCPU, 25, 0x10000000000, 115, false},
    {KW_KEY_AutocastMTIA, 26, 0x20000000000, 116, false},
    {KW_KEY_AutocastMAIA, 27, 0x40000000000, 117, false},
    {KW_KEY_AutocastXPU, 28, 0x80000000000, 118, false},
    {KW_KEY_AutocastIPU, 29, 0x100000000000, 119, false},
    {KW_KEY_AutocastHPU, 30, 0x200000000000, 120, false},
    {KW_KEY_AutocastXLA, 31, 0x400000000000, 121, false},
    {KW_KEY_AutocastMPS, 32, 0x800000000000, 122, false},
    {KW_KEY_AutocastCUDA, 33, 0x1000000000000, 123, false},
    {KW_KEY_AutocastPrivateUse1, 34, 0x2000000000000, 124, false},
    {KW_KEY_FuncTorchBatched, 35, 0x4000000000000, 125, false},
    {KW_KEY_BatchedNestedTensor, 36, 0x8000000000000, 126, false},
    {KW_KEY_FuncTorchVmapMode, 37, 0x10000000000000, 127, false},
    {KW_KEY_Batched, 38, 0x20000000000000, 128, false},
    {KW_KEY_VmapMode, 39, 0x40000000000000, 129, false},
    {KW_KEY_FuncTorchGradWrapper, 40, 0x80000000000000, 130, false},
    {KW_KEY_DeferredInit, 41, 0x100000000000000, 131, false},
    {KW_KEY_PythonTLSSnapshot, 42, 0x200000000000000, 132, false},
    {KW_KEY_FuncTorchDynamicLayerFrontMode, 43, 0x400000000000000, 133, false},
    {KW_KEY_TESTING_ONLY_GenericWrapper, 44, 0x800000000000000, 134, false},
    {KW_KEY_TESTING_ONLY_GenericMode, 45, 0x1000000000000000, 135, false},
    {KW_KEY_PreDispatch, 46, 0x2000000000000000, 136, false},
    {KW_KEY_PythonDispatcher, 47, 0x4000000000000000, 137, false},
};

typedef struct block_row {
    kw_key block;
    int marker;
    kw_key first; // the CPU key
    kw_key last;  // the Meta key
    int first_number;
    int last_number;
    int first_slot;
    int last_slot;
} block_row;

static const block_row blocks[] = {
    {KW_KEY_Dense, 49, KW_KEY_CPU, KW_KEY_Meta, 50, 65, 1, 16},
    {KW_KEY_Quantized, 66, KW_KEY_QuantizedCPU, KW_KEY_QuantizedMeta, 67, 82, 20, 35},
    {KW_KEY_Sparse, 83, KW_KEY_SparseCPU, KW_KEY_SparseMeta, 84, 99, 38, 53},
    {KW_KEY_SparseCsr, 100, KW_KEY_SparseCsrCPU, KW_KEY_SparseCsrMeta, 101, 116, 54, 69},
    {KW_KEY_NestedTensor, 117, KW_KEY_NestedTensorCPU, KW_KEY_NestedTensorMeta, 118, 133, 70, 85},
    {KW_KEY_AutogradFunctionality, 134, KW_KEY_AutogradCPU, KW_KEY_AutogradMeta, 135, 150, 97, 112},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(key, functionality_numbers_bits_and_slots_are_pytorchs)
{
    cr_assert_eq(COUNT(functionalities), KW_FUNCTIONALITY_COUNT);
    for (size_t i = 0; i < COUNT(functionalities); i++) {
        const functionality_row *row = &functionalities[i];
        const char *name = kw_key_name(row->key);
        cr_expect_eq(row->key, row->number, "%s", name);
        cr_expect_eq(kw_keyset_from_key(row->key).bits, row->bits, "%s", name);
        cr_expect_eq(kw_keyset_from_functionality(row->key).bits, row->bits, "%s", name);
        cr_expect_eq(kw_key_is_per_backend(row->key), row->is_per_backend, "%s", name);
        cr_expect_eq(kw_key_slot(row->key), row->is_per_backend ? -1 : row->first_slot, "%s", name);
        cr_expect_eq(kwi_slot_rules[row->number].offset, row->first_slot, "%s", name);
        cr_expect_eq(kw_key_is_functionality(row->key), row->number != 0, "%s", name);
        cr_expect_eq(kw_key_is_runtime(row->key), !row->is_per_backend, "%s", name);
        cr_expect_eq(kw_key_functionality(row->key), row->key, "%s", name);
        cr_expect_eq(kw_key_backend(row->key), KW_BACKEND_INVALID, "%s", name);
        cr_expect(kw_key_is_valid(row->key) && !kw_key_is_alias(row->key), "%s", name);
    }
}

Test(key, per_backend_numbers_and_slots_are_pytorchs)
{
    for (size_t i = 0; i < COUNT(blocks); i++) {
        const block_row *row = &blocks[i];
        cr_expect_eq(row->first, row->first_number);
        cr_expect_eq(row->last, row->last_number);
        cr_expect_eq(kw_key_slot(row->first), row->first_slot);
        cr_expect_eq(kw_key_slot(row->last), row->last_slot);
        for (int backend = 1; backend <= KW_BACKEND_COUNT; backend++) {
            kw_key key = (kw_key)(row->marker + backend);
            cr_expect_eq(kw_key_of(row->block, (kw_backend)backend), key);
            cr_expect_eq(kw_key_functionality(key), row->block);
            cr_expect_eq((int)kw_key_backend(key), backend);
            cr_expect_eq(kw_key_slot(key), row->first_slot + backend - 1);
            cr_expect(kw_key_is_valid(key) && kw_key_is_runtime(key));
            cr_expect_not(kw_key_is_functionality(key) || kw_key_is_per_backend(key));
            cr_expect_not(kw_key_is_alias(key));
            uint64_t bits = kw_keyset_from_key(row->block).bits | UINT64_C(1) << (backend - 1);
            cr_expect_eq(kw_keyset_from_key(key).bits, bits);
        }
    }
}

Test(key, backend_numbers_are_pytorchs)
{
    static const kw_backend order[] = {
        KW_BACKEND_INVALID, KW_BACKEND_CPU,         KW_BACKEND_CUDA,        KW_BACKEND_HIP,
        KW_BACKEND_XLA,     KW_BACKEND_MPS,         KW_BACKEND_IPU,         KW_BACKEND_XPU,
        KW_BACKEND_HPU,     KW_BACKEND_VE,          KW_BACKEND_Lazy,        KW_BACKEND_MTIA,
        KW_BACKEND_MAIA,    KW_BACKEND_PrivateUse1, KW_BACKEND_PrivateUse2, KW_BACKEND_PrivateUse3,
        KW_BACKEND_Meta,
    };
    cr_assert_eq(COUNT(order), KW_BACKEND_COUNT + 1);
    for (size_t i = 0; i < COUNT(order); i++) {
        cr_expect_eq((size_t)order[i], i);
        cr_expect_eq(kw_backend_is_valid(order[i]), i != 0);
    }
    cr_expect_not(kw_backend_is_valid((kw_backend)(KW_BACKEND_COUNT + 1)));
}

Test(key, marker_is_no_key_and_has_no_slot)
{
    cr_expect_not(kw_key_is_valid(KW_KEY_EndOfFunctionalityKeys));
    cr_expect_eq(kw_key_slot(KW_KEY_EndOfFunctionalityKeys), -1);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        kw_key marker = (kw_key)blocks[i].marker;
        cr_expect_not(kw_key_is_valid(marker));
        cr_expect_not(kw_key_is_runtime(marker));
        cr_expect_eq(kw_key_functionality(marker), blocks[i].block);
        cr_expect_eq(kw_key_backend(marker), KW_BACKEND_INVALID);
        cr_expect_eq(kw_key_of(blocks[i].block, KW_BACKEND_INVALID), marker);
        cr_expect(kw_keyset_is_empty(kw_key_runtime_set(marker)));
        cr_expect_not(kw_key_in_alias(marker, KW_KEY_CompositeImplicitAutograd));
    }
}

Test(key, number_outside_enumeration_is_harmless)
{
    for (unsigned number = KW_KEY_LIMIT; number <= UINT16_MAX; number++) {
        kw_key key = (kw_key)number;
        bool is_something = kw_key_is_valid(key) || kw_key_is_alias(key) ||
                            kw_key_is_runtime(key) || kw_key_is_functionality(key) ||
                            kw_key_is_per_backend(key) || kw_key_is_backend_key(key);
        cr_assert_not(is_something, "%u", number);
        cr_assert_eq(kw_key_slot(key), -1);
        cr_assert_eq(kw_key_functionality(key), KW_KEY_Undefined);
        cr_assert_eq(kw_key_backend(key), KW_BACKEND_INVALID);
        cr_assert(kw_keyset_is_empty(kw_keyset_from_key(key)));
        cr_assert(kw_keyset_is_empty(kw_key_runtime_set(key)));
    }
}

Test(key, slot_and_key_are_inverse)
{
    int slots = 0;
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        int slot = kw_key_slot(key);
        cr_assert_eq(kw_key_is_runtime(key), slot >= 0);
        if (slot >= 0) {
            cr_assert_lt(slot, KW_SLOT_COUNT);
            cr_assert_eq(kw_key_of_slot(slot), key, "slot %d", slot);
            slots++;
        }
    }
    cr_expect_eq(slots, KW_SLOT_COUNT);
    cr_expect_eq(kw_key_of_slot(-1), KW_KEY_Undefined);
    cr_expect_eq(kw_key_of_slot(KW_SLOT_COUNT), KW_KEY_Undefined);
}

Test(key, functionality_without_block_ignores_backend)
{
    cr_expect_eq(kw_key_of(KW_KEY_BackendSelect, KW_BACKEND_CUDA), KW_KEY_BackendSelect);
    cr_expect_eq(kw_key_of(KW_KEY_Undefined, KW_BACKEND_CUDA), KW_KEY_Undefined);
    cr_expect_eq(kw_key_of(KW_KEY_CPU, KW_BACKEND_CUDA), KW_KEY_Undefined);
    cr_expect_eq(kw_key_of(KW_KEY_Dense, (kw_backend)(KW_BACKEND_COUNT + 1)), KW_KEY_Undefined);
}

Test(key, synonyms_are_the_same_keys)
{
    cr_expect_eq(KW_KEY_CatchAll, KW_KEY_Undefined);
    cr_expect_eq(KW_KEY_CPUTensorId, KW_KEY_CPU);
    cr_expect_eq(KW_KEY_CUDATensorId, KW_KEY_CUDA);
    cr_expect_eq(KW_KEY_DefaultBackend, KW_KEY_CompositeExplicitAutograd);
    cr_expect_eq(KW_KEY_PrivateUse1_PreAutograd, KW_KEY_AutogradPrivateUse1);
    cr_expect_eq(KW_KEY_PrivateUse2_PreAutograd, KW_KEY_AutogradPrivateUse2);
    cr_expect_eq(KW_KEY_PrivateUse3_PreAutograd, KW_KEY_AutogradPrivateUse3);
    cr_expect_eq(KW_KEY_Autocast, KW_KEY_AutocastCUDA);
}

typedef struct alias_row {
    kw_key alias;
    int number;
    uint64_t bits;
    unsigned count;
} alias_row;

static const alias_row aliases[] = {
    {KW_KEY_Autograd, 151, 0x700000ffff, 18},
    {KW_KEY_CompositeImplicitAutograd, 152, 0x7003ffffff, 103},
    {KW_KEY_FuncTorchBatchedDecomposition, 153, 0x4000000000000, 1},
    {KW_KEY_CompositeImplicitAutogradNestedTensor, 154, 0x400200ffff, 17},
    {KW_KEY_CompositeExplicitAutograd, 155, 0x1ffffff, 69},
    {KW_KEY_CompositeExplicitAutogradNonFunctional, 156, 0x17ffdf7, 47},
};

Test(key, alias_expands_to_pytorchs_set)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        const alias_row *row = &aliases[i];
        const char *name = kw_key_name(row->alias);
        cr_expect_eq(row->alias, row->number, "%s", name);
        cr_expect(kw_key_is_valid(row->alias) && kw_key_is_alias(row->alias), "%s", name);
        cr_expect_eq(kw_key_slot(row->alias), -1, "%s", name);
        cr_expect_eq(kw_key_functionality(row->alias), KW_KEY_Undefined, "%s", name);
        cr_expect(kw_keyset_is_empty(kw_keyset_from_key(row->alias)), "%s", name);
        cr_expect_eq(kw_key_runtime_set(row->alias).bits, row->bits, "%s", name);
        cr_expect_eq(kw_keyset_count(kw_key_runtime_set(row->alias)), row->count, "%s", name);
    }
}

Test(key, runtime_key_expands_to_itself_and_building_block_to_nothing)
{
    for (kw_key key = 0; key < KW_KEY_Autograd; key++) {
        kw_keyset expected = kw_key_is_runtime(key) ? kw_keyset_from_key(key) : kw_keyset_empty();
        cr_expect(kw_keyset_equal(kw_key_runtime_set(key), expected), "%s", kw_key_name(key));
    }
    cr_expect(kw_keyset_is_empty(kw_key_runtime_set(KW_KEY_Dense)));
    cr_expect(kw_keyset_is_empty(kw_key_runtime_set(KW_KEY_Undefined)));
}

// PyTorch's TestGetRuntimeDispatchKeySet: both ways to ask agree, for every pair.
Test(key, in_alias_agrees_with_expansion)
{
    for (kw_key alias = 1; alias < KW_KEY_LIMIT; alias++) {
        kw_keyset expansion = kw_key_runtime_set(alias);
        kw_keyset_iterator iterator = kw_keyset_iterator_begin(kw_keyset_full());
        kw_key key;
        while (kw_keyset_iterator_next(&iterator, &key)) {
            cr_assert_eq(kw_key_in_alias(key, alias), kw_keyset_has(expansion, key), "%s in %s",
                         kw_key_name(key), kw_key_name(alias));
        }
    }
}

Test(key, in_alias_special_cases)
{
    cr_expect_not(kw_key_in_alias(KW_KEY_Undefined, KW_KEY_CompositeImplicitAutograd));
    cr_expect_not(kw_key_in_alias(KW_KEY_Undefined, KW_KEY_Undefined));
    cr_expect_not(kw_key_in_alias(KW_KEY_Autograd, KW_KEY_Autograd));
    cr_expect(kw_key_in_alias(KW_KEY_AutogradHIP, KW_KEY_Autograd));
    cr_expect(kw_key_in_alias(KW_KEY_AutogradFunctionality, KW_KEY_Autograd));
    cr_expect_not(kw_key_in_alias(KW_KEY_NestedTensor, KW_KEY_CompositeExplicitAutograd));
    cr_expect_not(kw_key_in_alias(KW_KEY_NestedTensorCPU, KW_KEY_CompositeExplicitAutograd));
    cr_expect(kw_key_in_alias(KW_KEY_NestedTensorCPU, KW_KEY_CompositeImplicitAutograd));

    kw_key non_functional = KW_KEY_CompositeExplicitAutogradNonFunctional;
    cr_expect(kw_key_in_alias(KW_KEY_CPU, non_functional));
    cr_expect(kw_key_in_alias(KW_KEY_SparseCsrCPU, non_functional));
    cr_expect_not(kw_key_in_alias(KW_KEY_SparseCPU, non_functional));
    cr_expect_not(kw_key_in_alias(KW_KEY_XLA, non_functional));
    cr_expect_not(kw_key_in_alias(KW_KEY_QuantizedLazy, non_functional));
    cr_expect_not(kw_key_in_alias(KW_KEY_SparseCsrXLA, non_functional));

    cr_expect(kw_key_in_alias(KW_KEY_CPU, KW_KEY_CPU));
    cr_expect(kw_key_in_alias(KW_KEY_Dense, KW_KEY_CPU));
    cr_expect_not(kw_key_in_alias(KW_KEY_CPU, KW_KEY_Dense));
    cr_expect_not(kw_key_in_alias(KW_KEY_CUDA, KW_KEY_CPU));
}

Test(key, backend_keys_are_the_explicit_set_and_four_building_blocks)
{
    int count = 0;
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        count += kw_key_is_backend_key(key);
    }
    cr_expect_eq(count, 69 + 4);
    cr_expect(kw_key_is_backend_key(KW_KEY_CPU));
    cr_expect(kw_key_is_backend_key(KW_KEY_FPGA));
    cr_expect(kw_key_is_backend_key(KW_KEY_SparseCsr));
    cr_expect_not(kw_key_is_backend_key(KW_KEY_Undefined));
    cr_expect_not(kw_key_is_backend_key(KW_KEY_NestedTensor));
    cr_expect_not(kw_key_is_backend_key(KW_KEY_NestedTensorCPU));
    cr_expect_not(kw_key_is_backend_key(KW_KEY_AutogradCPU));
    cr_expect_not(kw_key_is_backend_key(KW_KEY_CompositeExplicitAutograd));
}

typedef struct backend_row {
    kw_backend backend;
    kw_key autograd;
    kw_key autocast;
    kw_key blocking; // the one key of kw_autograd_backend_set() of Autograd and the name
} backend_row;

static const backend_row backends[] = {
    {KW_BACKEND_CPU, KW_KEY_AutogradCPU, KW_KEY_AutocastCPU, KW_KEY_CPU},
    {KW_BACKEND_CUDA, KW_KEY_AutogradCUDA, KW_KEY_AutocastCUDA, KW_KEY_CUDA},
    {KW_BACKEND_HIP, KW_KEY_AutogradOther, KW_KEY_Undefined, KW_KEY_Undefined},
    {KW_BACKEND_XLA, KW_KEY_AutogradXLA, KW_KEY_AutocastXLA, KW_KEY_XLA},
    {KW_BACKEND_MPS, KW_KEY_AutogradMPS, KW_KEY_AutocastMPS, KW_KEY_MPS},
    {KW_BACKEND_IPU, KW_KEY_AutogradIPU, KW_KEY_AutocastIPU, KW_KEY_IPU},
    {KW_BACKEND_XPU, KW_KEY_AutogradXPU, KW_KEY_AutocastXPU, KW_KEY_XPU},
    {KW_BACKEND_HPU, KW_KEY_AutogradHPU, KW_KEY_AutocastHPU, KW_KEY_HPU},
    {KW_BACKEND_VE, KW_KEY_AutogradOther, KW_KEY_Undefined, KW_KEY_Undefined},
    {KW_BACKEND_Lazy, KW_KEY_AutogradLazy, KW_KEY_Undefined, KW_KEY_Lazy},
    {KW_BACKEND_MTIA, KW_KEY_AutogradMTIA, KW_KEY_AutocastMTIA, KW_KEY_Undefined},
    {KW_BACKEND_MAIA, KW_KEY_AutogradMAIA, KW_KEY_AutocastMAIA, KW_KEY_MAIA},
    {KW_BACKEND_PrivateUse1, KW_KEY_AutogradPrivateUse1, KW_KEY_AutocastPrivateUse1,
     KW_KEY_PrivateUse1},
    {KW_BACKEND_PrivateUse2, KW_KEY_AutogradPrivateUse2, KW_KEY_Undefined, KW_KEY_PrivateUse2},
    {KW_BACKEND_PrivateUse3, KW_KEY_AutogradPrivateUse3, KW_KEY_Undefined, KW_KEY_PrivateUse3},
    {KW_BACKEND_Meta, KW_KEY_AutogradMeta, KW_KEY_Undefined, KW_KEY_Meta},
};

Test(key, backend_maps_are_pytorchs)
{
    cr_assert_eq(COUNT(backends), KW_BACKEND_COUNT);
    for (size_t i = 0; i < COUNT(backends); i++) {
        const backend_row *row = &backends[i];
        const char *name = kw_backend_name(row->backend);
        cr_expect_eq(kw_backend_autograd_key(row->backend), row->autograd, "%s", name);
        kw_keyset added = kw_keyset_add(kw_keyset_from_key(row->autograd), KW_KEY_ADInplaceOrView);
        cr_expect(kw_keyset_equal(kw_backend_autograd_set(row->backend), added), "%s", name);
        cr_expect_eq(kw_backend_autocast_key(row->backend), row->autocast, "%s", name);
        kw_keyset cast = kw_keyset_from_key(row->autocast);
        cr_expect(kw_keyset_equal(kw_backend_autocast_set(row->backend), cast), "%s", name);
        kw_key own = kw_key_of(KW_KEY_AutogradFunctionality, row->backend);
        kw_keyset blocking = kw_keyset_from_key(row->blocking);
        cr_expect(kw_keyset_equal(kw_autograd_backend_set(own), blocking), "%s", name);
    }
}

Test(key, backend_maps_without_backend)
{
    static const int numbers[] = {KW_BACKEND_INVALID, KW_BACKEND_COUNT + 1};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        kw_backend backend = (kw_backend)numbers[i];
        cr_expect_eq(kw_backend_autograd_key(backend), KW_KEY_AutogradOther);
        cr_expect_eq(kw_backend_autograd_set(backend).bits, UINT64_C(0x1800000000));
        cr_expect_eq(kw_backend_autocast_key(backend), KW_KEY_Undefined);
        cr_expect(kw_keyset_is_empty(kw_backend_autocast_set(backend)));
    }
}

Test(key, autograd_backend_set_of_shared_and_foreign_keys)
{
    cr_expect_eq(kw_autograd_backend_set(KW_KEY_AutogradOther).bits, UINT64_C(0x1feffff));
    cr_expect_eq(kw_autograd_backend_set(KW_KEY_AutogradNestedTensor).bits, UINT64_C(0x200ffff));
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        kw_key functionality = kw_key_functionality(key);
        bool is_autograd = kw_keyset_has(kw_keyset_autograd(), functionality);
        if (!is_autograd || kw_key_is_per_backend(key)) {
            cr_expect(kw_keyset_is_empty(kw_autograd_backend_set(key)), "%s", kw_key_name(key));
        }
    }
}
