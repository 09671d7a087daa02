// Key sets: bits, algebra, extraction, iteration, and the slot that a set selects.
//
// The numbers come from PyTorch of late 2025. Slots are also compared with a slow computation
// that shares no table with the library.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include <keyway/key.h>
#include <keyway/keyset.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Constant expressions are constant.
static const kw_keyset static_keys =
    KW_KEYSET_INIT(KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_BITS(KW_KEY_AutogradCPU));
_Static_assert(KW_KEYSET_BITS(KW_KEY_CPU) == 0x10001, "a per-backend key");
_Static_assert(KW_KEYSET_BITS(KW_KEY_AutogradMeta) == 0x2000008000, "the last per-backend key");
_Static_assert(KW_KEYSET_BITS(KW_KEY_Dense) == 0x10000, "a building block");
_Static_assert(KW_KEYSET_BITS(KW_KEY_Undefined) == 0, "no bit");
_Static_assert(KW_KEYSET_BITS(KW_KEY_Autograd) == 0, "an alias has no bit");
_Static_assert(KW_KEYSET_BITS(KW_KEY_EndOfAliasKeys) == 0, "the last key");
_Static_assert(KW_KEYSET_BITS(KW_KEY_PythonDispatcher) == 0x4000000000000000, "the highest bit");
_Static_assert(KW_KEYSET_BACKEND_BITS(KW_BACKEND_INVALID) == 0, "no backend");
_Static_assert(KW_KEYSET_BACKEND_BITS(KW_BACKEND_Meta) == 0x8000, "the last backend");
_Static_assert(KW_KEYSET_FUNCTIONALITY_BITS(KW_KEY_SparseCUDA) == 0x800000, "without its backend");
_Static_assert(KW_KEYSET_FULL_AFTER_BITS(KW_KEY_CPU) == 0x400000000000ffff, "full after");

Test(keyset, constant_expressions_equal_the_functions)
{
    cr_expect_eq(static_keys.bits, UINT64_C(0x2000010001));
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        cr_expect_eq(kw_keyset_from_key(key).bits, KW_KEYSET_BITS(key), "%s", kw_key_name(key));
    }
}

// Keys end at the first KW_KEY_Undefined.
typedef struct keyset_row {
    const char *name;
    uint64_t bits;
    unsigned slot;
    kw_key highest;
    kw_key keys[6];
} keyset_row;

static const keyset_row rows[] = {
    {"CPU", 0x10001, 1, KW_KEY_CPU, {KW_KEY_CPU}},
    {"CUDA", 0x10002, 2, KW_KEY_CUDA, {KW_KEY_CUDA}},
    {"XLA", 0x10008, 4, KW_KEY_XLA, {KW_KEY_XLA}},
    {"Meta", 0x18000, 16, KW_KEY_Meta, {KW_KEY_Meta}},
    {"PrivateUse1", 0x11000, 13, KW_KEY_PrivateUse1, {KW_KEY_PrivateUse1}},
    {"QuantizedCPU", 0x100001, 20, KW_KEY_QuantizedCPU, {KW_KEY_QuantizedCPU}},
    {"SparseCUDA", 0x800002, 39, KW_KEY_SparseCUDA, {KW_KEY_SparseCUDA}},
    {"NestedTensorCPU", 0x2000001, 70, KW_KEY_NestedTensorCPU, {KW_KEY_NestedTensorCPU}},
    {"AutogradCPU", 0x2000000001, 97, KW_KEY_AutogradCPU, {KW_KEY_AutogradCPU}},
    {"AutogradCUDA", 0x2000000002, 98, KW_KEY_AutogradCUDA, {KW_KEY_AutogradCUDA}},
    {"AutogradMeta", 0x2000008000, 112, KW_KEY_AutogradMeta, {KW_KEY_AutogradMeta}},
    {"AutogradOther", 0x1000000000, 96, KW_KEY_AutogradOther, {KW_KEY_AutogradOther}},
    {"AutogradNestedTensor",
     0x4000000000,
     113,
     KW_KEY_AutogradNestedTensor,
     {KW_KEY_AutogradNestedTensor}},
    {"BackendSelect", 0x4000000, 86, KW_KEY_BackendSelect, {KW_KEY_BackendSelect}},
    {"Python", 0x8000000, 87, KW_KEY_Python, {KW_KEY_Python}},
    {"ADInplaceOrView", 0x800000000, 95, KW_KEY_ADInplaceOrView, {KW_KEY_ADInplaceOrView}},
    {"PythonTLSSnapshot",
     0x200000000000000,
     132,
     KW_KEY_PythonTLSSnapshot,
     {KW_KEY_PythonTLSSnapshot}},
    {"PythonDispatcher",
     0x4000000000000000,
     137,
     KW_KEY_PythonDispatcher,
     {KW_KEY_PythonDispatcher}},
    {"FuncTorchBatched", 0x4000000000000, 125, KW_KEY_FuncTorchBatched, {KW_KEY_FuncTorchBatched}},
    {"AutocastCPU", 0x10000000000, 115, KW_KEY_AutocastCPU, {KW_KEY_AutocastCPU}},
    {"CPU tensor",
     0x12800010001,
     115,
     KW_KEY_AutocastCPU,
     {KW_KEY_CPU, KW_KEY_ADInplaceOrView, KW_KEY_AutogradCPU, KW_KEY_AutocastCPU}},
    {"CUDA tensor",
     0x1002800010002,
     123,
     KW_KEY_AutocastCUDA,
     {KW_KEY_CUDA, KW_KEY_ADInplaceOrView, KW_KEY_AutogradCUDA, KW_KEY_AutocastCUDA}},
    {"Meta tensor",
     0x2800018000,
     112,
     KW_KEY_AutogradMeta,
     {KW_KEY_Meta, KW_KEY_ADInplaceOrView, KW_KEY_AutogradMeta}},
    {"HIP tensor",
     0x1800010004,
     96,
     KW_KEY_AutogradOther,
     {KW_KEY_HIP, KW_KEY_ADInplaceOrView, KW_KEY_AutogradOther}},
    {"sparse tensor",
     0x12800800001,
     115,
     KW_KEY_AutocastCPU,
     {KW_KEY_SparseCPU, KW_KEY_ADInplaceOrView, KW_KEY_AutogradCPU, KW_KEY_AutocastCPU}},
    {"inference tensor", 0x10000010001, 115, KW_KEY_AutocastCPU, {KW_KEY_CPU, KW_KEY_AutocastCPU}},
    {"undefined tensor",
     0x1800000000,
     96,
     KW_KEY_AutogradOther,
     {KW_KEY_ADInplaceOrView, KW_KEY_AutogradOther}},
    {"tensor subclass",
     0x200012808010001,
     132,
     KW_KEY_PythonTLSSnapshot,
     {KW_KEY_CPU, KW_KEY_Python, KW_KEY_PythonTLSSnapshot, KW_KEY_ADInplaceOrView,
      KW_KEY_AutogradCPU, KW_KEY_AutocastCPU}},
};

Test(keyset, bits_and_slots_are_pytorchs)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const keyset_row *row = &rows[i];
        kw_keyset keys = kw_keyset_empty();
        for (size_t k = 0; k < COUNT(row->keys) && row->keys[k] != KW_KEY_Undefined; k++) {
            keys = kw_keyset_add(keys, row->keys[k]);
        }
        cr_expect_eq(keys.bits, row->bits, "%s", row->name);
        cr_expect_eq(kw_keyset_slot(keys), row->slot, "%s", row->name);
        cr_expect_eq(kw_keyset_highest_key(keys), row->highest, "%s", row->name);
        cr_expect_eq(kw_key_slot(row->highest), (int)row->slot, "%s", row->name);
    }
    cr_expect_eq(kw_keyset_full().bits, UINT64_C(0x7fffffffffffffff));
    cr_expect_eq(kw_keyset_slot(kw_keyset_full()), 137);
}

typedef struct full_after_row {
    kw_key key;
    uint64_t bits;
} full_after_row;

Test(keyset, full_after_is_pytorchs)
{
    static const full_after_row table[] = {
        {KW_KEY_CPU, 0x400000000000ffff},
        {KW_KEY_Dense, 0x400000000000ffff},
        {KW_KEY_FPGA, 0x400000000001ffff},
        {KW_KEY_BackendSelect, 0x4000000003ffffff},
        {KW_KEY_Python, 0x4000000007ffffff},
        {KW_KEY_Functionalize, 0x400000003fffffff},
        {KW_KEY_ADInplaceOrView, 0x40000007ffffffff},
        {KW_KEY_AutogradOther, 0x4000000fffffffff},
        {KW_KEY_AutogradCPU, 0x4000001fffffffff},
        {KW_KEY_AutogradCUDA, 0x4000001fffffffff},
        {KW_KEY_AutogradNestedTensor, 0x4000003fffffffff},
        {KW_KEY_PythonTLSSnapshot, 0x41ffffffffffffff},
        {KW_KEY_PythonDispatcher, 0x7fffffffffffffff},
        {KW_KEY_Undefined, 0},
        {KW_KEY_Autograd, 0},
        {KW_KEY_EndOfFunctionalityKeys, 0},
        {KW_KEY_LIMIT, 0},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        cr_expect_eq(kw_keyset_full_after(table[i].key).bits, table[i].bits, "%s",
                     kw_key_name(table[i].key));
    }
}

Test(keyset, named_sets_are_pytorchs)
{
    cr_expect_eq(kw_keyset_backend_mask().bits, UINT64_C(0xffff));
    cr_expect_eq(kw_keyset_building_blocks().bits, UINT64_C(0x2003910000));
    cr_expect_eq(kw_keyset_autograd().bits, UINT64_C(0x7000000000));
    cr_expect_eq(kw_keyset_autograd_with_view().bits, UINT64_C(0x7800000000));
    cr_expect_eq(kw_keyset_autocast().bits, UINT64_C(0x3ff0000000000));
    cr_expect_eq(kw_keyset_count(kw_keyset_autocast()), 10);
    cr_expect_eq(kw_keyset_default_included().bits, UINT64_C(0x804000000));
    cr_expect_eq(kw_keyset_default_excluded().bits, UINT64_C(0x3ff0000000000));
    cr_expect_eq(kw_keyset_python().bits, UINT64_C(0x200000008000000));
    cr_expect_eq(kw_keyset_sparse().bits, UINT64_C(0x800000));
    cr_expect_eq(kw_keyset_sparse_csr().bits, UINT64_C(0x1000000));
    cr_expect_eq(kw_keyset_mkldnn().bits, UINT64_C(0x400000));
    cr_expect_eq(kw_keyset_functorch_transforms().bits, UINT64_C(0xf4000000000000));
    cr_expect_eq(kw_keyset_functorch_batched().bits, UINT64_C(0x4000000000000));
    cr_expect_eq(kw_keyset_after_autograd().bits, UINT64_C(0x4000000fffffffff));
    cr_expect_eq(kw_keyset_after_view().bits, UINT64_C(0x40000007ffffffff));
    cr_expect_eq(kw_keyset_after_functionalize().bits, UINT64_C(0x400000003fffffff));
    cr_expect_eq(kw_keyset_autogradother_backends().bits, UINT64_C(0x1feffff));
    cr_expect_eq(kw_keyset_count(kw_keyset_autogradother_backends()), 53);
}

static kw_keyset set_of(kw_key a, kw_key b)
{
    return kw_keyset_add(kw_keyset_from_key(a), b);
}

Test(keyset, empty_answers_no_to_everything)
{
    kw_keyset keys = kw_keyset_empty();
    cr_expect(kw_keyset_is_empty(keys));
    cr_expect_eq(kw_keyset_highest_key(keys), KW_KEY_Undefined);
    cr_expect_eq(kw_keyset_highest_functionality(keys), KW_KEY_Undefined);
    cr_expect_eq(kw_keyset_highest_backend(keys), KW_BACKEND_INVALID);
    cr_expect_eq(kw_keyset_slot(keys), 0);
    cr_expect_eq(kw_keyset_count(keys), 0);
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        cr_expect_not(kw_keyset_has(keys, key), "%s", kw_key_name(key));
    }
    cr_expect_not(kw_keyset_has(kw_keyset_full(), KW_KEY_Undefined));
    cr_expect_not(kw_keyset_has(kw_keyset_full(), KW_KEY_Autograd));
}

Test(keyset, single_backend_is_not_empty_but_has_no_key)
{
    for (int number = 1; number <= KW_BACKEND_COUNT; number++) {
        kw_backend backend = (kw_backend)number;
        kw_keyset keys = kw_keyset_from_backend(backend);
        cr_expect_eq(keys.bits, UINT64_C(1) << (number - 1));
        cr_expect(kw_keyset_has_backend(keys, backend));
        cr_expect_not(kw_keyset_is_empty(keys));
        cr_expect_eq(kw_keyset_highest_backend(keys), backend);
        cr_expect_eq(kw_keyset_highest_key(keys), KW_KEY_Undefined);
        cr_expect_eq(kw_keyset_backend_number(keys), (unsigned)number - 1);
        cr_expect_eq(kw_keyset_slot(keys), 0);
        cr_expect_eq(kw_keyset_count(keys), 0);
    }
    cr_expect(kw_keyset_is_empty(kw_keyset_from_backend(KW_BACKEND_INVALID)));
    cr_expect(kw_keyset_is_empty(kw_keyset_from_backend((kw_backend)17)));
    cr_expect_not(kw_keyset_has_backend(kw_keyset_full(), KW_BACKEND_INVALID));
}

Test(keyset, single_key_is_its_own_highest_key)
{
    for (kw_key key = 1; key < KW_KEY_Autograd; key++) {
        if (kw_key_is_runtime(key)) {
            kw_keyset keys = kw_keyset_from_key(key);
            cr_expect(kw_keyset_has(keys, key), "%s", kw_key_name(key));
            cr_expect(kw_keyset_has(keys, kw_key_functionality(key)), "%s", kw_key_name(key));
            cr_expect_eq(kw_keyset_highest_key(keys), key, "%s", kw_key_name(key));
            cr_expect_eq(kw_keyset_highest_backend(keys), kw_key_backend(key));
            cr_expect_eq((int)kw_keyset_slot(keys), kw_key_slot(key), "%s", kw_key_name(key));
            kw_keyset rest = kw_keyset_remove(keys, key);
            cr_expect_eq(rest.bits, kw_keyset_from_backend(kw_key_backend(key)).bits);
        }
    }
}

Test(keyset, two_per_backend_keys_make_a_cross_product)
{
    kw_keyset keys = set_of(KW_KEY_CPU, KW_KEY_AutogradCUDA);
    cr_expect(kw_keyset_has(keys, KW_KEY_CUDA));
    cr_expect(kw_keyset_has(keys, KW_KEY_AutogradCPU));
    cr_expect_eq(kw_keyset_highest_key(keys), KW_KEY_AutogradCUDA);

    keys = set_of(KW_KEY_CPU, KW_KEY_SparseCUDA);
    cr_expect_eq(keys.bits, 0x810003);
    cr_expect(kw_keyset_has(keys, KW_KEY_CUDA));
    cr_expect(kw_keyset_has(keys, KW_KEY_SparseCPU));
    cr_expect_eq(kw_keyset_highest_key(keys), KW_KEY_SparseCUDA);
    cr_expect_eq(kw_keyset_slot(keys), 39);
}

Test(keyset, meta_beats_every_other_backend)
{
    kw_keyset keys = set_of(KW_KEY_PrivateUse1, KW_KEY_Meta);
    cr_expect_eq(kw_keyset_highest_key(keys), KW_KEY_Meta);
}

Test(keyset, has_means_all_bits_of_the_key)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    cr_expect(kw_keyset_has(cpu, KW_KEY_Dense));
    cr_expect_not(kw_keyset_has(cpu, KW_KEY_CUDA));
    cr_expect_not(kw_keyset_has(kw_keyset_from_key(KW_KEY_Dense), KW_KEY_CPU));
    cr_expect(kw_keyset_has_all(cpu, kw_keyset_empty()));
    cr_expect_not(kw_keyset_has_any(cpu, kw_keyset_empty()));
    kw_keyset both = set_of(KW_KEY_CPU, KW_KEY_AutogradCPU);
    cr_expect(kw_keyset_has_all(both, cpu));
    cr_expect_not(kw_keyset_has_all(cpu, both));
    cr_expect(kw_keyset_has_any(both, kw_keyset_autograd()));
    cr_expect_not(kw_keyset_has_any(cpu, kw_keyset_autograd()));
}

Test(keyset, remove_functionality_keeps_backend_bits)
{
    kw_keyset keys = set_of(KW_KEY_CPU, KW_KEY_CUDA);
    kw_keyset rest = kw_keyset_remove(keys, KW_KEY_CPU);
    cr_expect_eq(rest.bits, 0x3);
    cr_expect_not(kw_keyset_is_empty(rest));
    cr_expect_eq(kw_keyset_slot(rest), 0);
    cr_expect_eq(kw_keyset_count(rest), 0);
}

Test(keyset, difference_removes_functionalities_only)
{
    kw_keyset keys = set_of(KW_KEY_CPU, KW_KEY_AutogradCPU);
    kw_keyset autograd = kw_keyset_from_key(KW_KEY_AutogradCPU);
    cr_expect_eq(kw_keyset_difference(keys, autograd).bits, 0x10001);
    cr_expect_eq(kw_keyset_remove(keys, KW_KEY_AutogradCUDA).bits, 0x10001);
    cr_expect_eq(kw_keyset_difference(keys, kw_keyset_full()).bits, 0x1);
    cr_expect(kw_keyset_equal(kw_keyset_remove(keys, KW_KEY_Undefined), keys));
    cr_expect(kw_keyset_equal(kw_keyset_remove(keys, KW_KEY_Autograd), keys));
}

Test(keyset, backend_is_added_and_removed_alone)
{
    kw_keyset keys = kw_keyset_add_backend(kw_keyset_from_key(KW_KEY_Dense), KW_BACKEND_CUDA);
    cr_expect(kw_keyset_equal(keys, kw_keyset_from_key(KW_KEY_CUDA)));
    keys = kw_keyset_remove_backend(keys, KW_BACKEND_CUDA);
    cr_expect(kw_keyset_equal(keys, kw_keyset_from_key(KW_KEY_Dense)));
    cr_expect(kw_keyset_equal(keys, kw_keyset_remove_backend(keys, KW_BACKEND_INVALID)));
}

Test(keyset, union_intersection_and_xor_are_bitwise)
{
    kw_keyset a = kw_keyset_from_bits(0x1830003);
    kw_keyset b = kw_keyset_from_bits(0x0810005);
    cr_expect_eq(kw_keyset_union(a, b).bits, 0x1830007);
    cr_expect_eq(kw_keyset_intersection(a, b).bits, 0x810001);
    cr_expect_eq(kw_keyset_xor(a, b).bits, 0x1020006);
    cr_expect(kw_keyset_equal(a, a));
    cr_expect_not(kw_keyset_equal(a, b));
}

Test(keyset, building_block_without_backend_gives_marker_and_cpu_slot)
{
    static const kw_key blocks[] = {KW_KEY_Dense,        KW_KEY_Quantized,
                                    KW_KEY_Sparse,       KW_KEY_SparseCsr,
                                    KW_KEY_NestedTensor, KW_KEY_AutogradFunctionality};
    for (size_t i = 0; i < COUNT(blocks); i++) {
        kw_keyset keys = kw_keyset_from_key(blocks[i]);
        kw_key marker = kw_key_of(blocks[i], KW_BACKEND_INVALID);
        cr_expect_eq(kw_keyset_highest_key(keys), marker);
        kw_key cpu = kw_key_of(blocks[i], KW_BACKEND_CPU);
        cr_expect_eq((int)kw_keyset_slot(keys), kw_key_slot(cpu));
        cr_expect_eq(kw_keyset_count(keys), 0);
    }
}

Test(keyset, legacy_keys_are_pytorchs)
{
    kw_keyset cpu_tensor = kw_keyset_from_bits(0x12800010001);
    cr_expect_eq(kw_keyset_legacy_key(cpu_tensor), KW_KEY_CPU);
    cr_expect_eq(kw_keyset_legacy_backend_key(cpu_tensor), KW_KEY_CPU);
    kw_keyset negative = kw_keyset_add(cpu_tensor, KW_KEY_Negative);
    cr_expect_eq(kw_keyset_legacy_key(negative), KW_KEY_Negative);
    cr_expect_eq(kw_keyset_legacy_backend_key(negative), KW_KEY_CPU);
    kw_keyset subclass = kw_keyset_from_bits(0x200012808010001);
    cr_expect_eq(kw_keyset_legacy_key(subclass), KW_KEY_CPU);
    kw_keyset batched = kw_keyset_add(cpu_tensor, KW_KEY_Batched);
    cr_expect_eq(kw_keyset_legacy_key(batched), KW_KEY_Batched);
    kw_keyset wrapped =
        kw_keyset_union(cpu_tensor, set_of(KW_KEY_FuncTorchBatched, KW_KEY_FuncTorchGradWrapper));
    cr_expect_eq(kw_keyset_legacy_key(kw_keyset_add(wrapped, KW_KEY_Functionalize)), KW_KEY_CPU);
    cr_expect_eq(kw_keyset_legacy_backend_key(set_of(KW_KEY_CPU, KW_KEY_SparseCUDA)),
                 KW_KEY_SparseCUDA);
    cr_expect_eq(kw_keyset_legacy_backend_key(set_of(KW_KEY_QuantizedCPU, KW_KEY_NestedTensorCUDA)),
                 KW_KEY_QuantizedCUDA);
    cr_expect_eq(kw_keyset_legacy_backend_key(kw_keyset_empty()), KW_KEY_Undefined);
}

Test(keyset, iteration_of_full_yields_every_runtime_key_in_slot_order)
{
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(kw_keyset_full());
    int slot = 0;
    kw_key key = KW_KEY_Undefined;
    while (kw_keyset_iterator_next(&iterator, &key)) {
        slot++;
        cr_expect_eq(kw_key_slot(key), slot, "%s", kw_key_name(key));
    }
    cr_expect_eq(slot, KW_SLOT_COUNT - 1);
    cr_expect_eq(slot, 137);
    cr_expect_eq(kw_keyset_count(kw_keyset_full()), 137);
    cr_expect_eq(key, KW_KEY_PythonDispatcher);
    cr_expect_not(kw_keyset_iterator_next(&iterator, &key), "the end is the end");
    cr_expect_eq(key, KW_KEY_PythonDispatcher, "the output is untouched");
}

// A deterministic generator (xorshift64*), so that a failure repeats.
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

// Sets of every density: the conjunction of one to four random words.
static kw_keyset random_keyset(uint64_t *state)
{
    uint64_t bits = KW_KEYSET_FULL;
    uint64_t words = 1 + next_random(state) % 4;
    for (uint64_t i = 0; i < words; i++) {
        bits &= next_random(state);
    }
    // Cut at a random height, so that low functionalities win often enough.
    return kw_keyset_from_bits(bits >> next_random(state) % 64);
}

static bool is_block(int functionality)
{
    return functionality == 1 || functionality == 5 || functionality == 8 || functionality == 9 ||
           functionality == 10 || functionality == 22;
}

static unsigned slow_slot(kw_keyset keys)
{
    int functionality = 0;
    for (int i = 1; i < 48; i++) {
        if (keys.bits >> (15 + i) & 1) {
            functionality = i;
        }
    }
    unsigned backend = 0;
    for (unsigned i = 0; i < 16; i++) {
        if (keys.bits >> i & 1) {
            backend = i;
        }
    }
    unsigned slot = is_block(functionality) ? backend : 0;
    for (int i = 0; i < functionality; i++) {
        slot += is_block(i) ? 16 : 1;
    }
    return slot;
}

Test(keyset, slot_equals_slow_computation_for_random_sets)
{
    uint64_t state = 0x5eed;
    bool seen[KW_SLOT_COUNT] = {false};
    for (int i = 0; i < 3000000; i++) {
        kw_keyset keys = random_keyset(&state);
        unsigned slot = kw_keyset_slot(keys);
        cr_assert(slot == slow_slot(keys), "%#llx", (unsigned long long)keys.bits);
        unsigned backend = kw_keyset_backend_number(keys);
        cr_assert(kw_keyset_slot_with(keys, backend) == slot);
        seen[slot] = true;
    }
    for (int slot = 0; slot < KW_SLOT_COUNT; slot++) {
        cr_expect(seen[slot], "slot %d never came up", slot);
    }
}

Test(keyset, slot_stays_in_range_for_any_word)
{
    uint64_t state = 0x5eed;
    for (int i = 0; i < 100000; i++) {
        kw_keyset keys = kw_keyset_from_bits(next_random(&state));
        cr_assert_lt(kw_keyset_slot(keys), KW_SLOT_COUNT);
        cr_assert_lt(kw_keyset_highest_functionality(keys), KW_FUNCTIONALITY_COUNT);
    }
    cr_expect_eq(kw_keyset_slot(kw_keyset_from_bits(UINT64_MAX)), 0, "bit 63 is no key");
}

// Iteration, has and count are three views of the same thing.
Test(keyset, iteration_agrees_with_has_for_random_sets)
{
    uint64_t state = 0x5eed;
    for (int i = 0; i < 20000; i++) {
        kw_keyset keys = random_keyset(&state);
        kw_keyset_iterator iterator = kw_keyset_iterator_begin(keys);
        unsigned count = 0;
        kw_key highest = KW_KEY_Undefined;
        for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
            kw_key expected = kw_key_of_slot(slot);
            if (kw_keyset_has(keys, expected)) {
                kw_key key = KW_KEY_Undefined;
                cr_assert(kw_keyset_iterator_next(&iterator, &key));
                cr_assert(key == expected, "%#llx", (unsigned long long)keys.bits);
                highest = key;
                count++;
            }
        }
        kw_key none;
        cr_assert_not(kw_keyset_iterator_next(&iterator, &none));
        cr_assert_eq(kw_keyset_count(keys), count);
        if (kw_key_is_valid(kw_keyset_highest_key(keys))) {
            cr_assert_eq(kw_keyset_highest_key(keys), highest);
        }
    }
}
