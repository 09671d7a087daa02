// Masks: where calls land when some kernels fall through.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include "table/mask.h"
#include "unit/table_fixture.h"

// One call. `keys` is what argument keys and the thread's included and excluded keys amount to.
struct call_row {
    const char *kernels;
    const char *fallbacks;
    const char *keys;
    const char *lands; // the key whose slot is selected
    const char *cell;  // as in table_cases.inc
};

#define IN_TREE kwi_in_tree_fallbacks
#define INCLUDED "BackendSelect ADInplaceOrView "
#define CPU_TENSOR INCLUDED "CPU AutogradCPU "
#define UNDEFINED_TENSOR INCLUDED "AutogradOther "

// Expectations of PyTorch's own tests of fallbacks.
static const struct call_row fallback_calls[] = {
    {"", "CPU", "CPU", "CPU", "fb"},
    {"", "CUDA", "CPU", "CPU", "-"},
    {"CUDA", "CPU", "CUDA", "CUDA", "own"},
    {"CUDA", "CPU", "CPU", "CPU", "fb"},
    {"CPU", "CPU", "CPU", "CPU", "own"},
    {"CII", "CPU", "CPU", "CPU", "CII"},
    {"CPU CII", "AutogradCPU=ft", "CPU AutogradCPU", "CPU", "own"},
    {"CPU AG", "AutogradCPU=ft", "CPU AutogradCPU", "AutogradCPU", "AG"},
    {"CEA", "AutogradCPU=ft", "CPU AutogradCPU", "CPU", "CEA"},
    {"PrivateUse1 CII", "AutogradPrivateUse1=ft", "CPU AutogradCPU PrivateUse1 AutogradPrivateUse1",
     "PrivateUse1", "own"},
    {"PrivateUse1 CII", "", "PrivateUse1 AutogradPrivateUse1", "AutogradPrivateUse1", "-"},
    {"CPU", "TESTING_ONLY_GenericMode", "CPU TESTING_ONLY_GenericMode", "TESTING_ONLY_GenericMode",
     "fb"},
    {"CPU", "TESTING_ONLY_GenericMode", "CPU", "CPU", "own"},
};

// Calls observed in PyTorch 1.13.1, with its own fallbacks.
static const struct call_row observed_calls[] = {
    {"CPU", IN_TREE, CPU_TENSOR, "CPU", "own"},
    {"CPU", IN_TREE, UNDEFINED_TENSOR, "Undefined", "-"},
    {"CII", IN_TREE, UNDEFINED_TENSOR, "AutogradOther", "CII"},
    {"CEA", IN_TREE, UNDEFINED_TENSOR, "Undefined", "CEA"},
    {"CPU CEA", IN_TREE, INCLUDED, "Undefined", "CEA"},
    {"CPU SparseCPU", IN_TREE, CPU_TENSOR "SparseCPU", "SparseCPU", "own"},
    {"CPU BackendSelect", IN_TREE, INCLUDED, "BackendSelect", "own"},
    {"CPU ADInplaceOrView", IN_TREE, INCLUDED, "ADInplaceOrView", "own"},
    {"CPU Tracer", IN_TREE, CPU_TENSOR "Tracer", "Tracer", "own"},
    {"CPU AutocastCPU", IN_TREE, CPU_TENSOR "AutocastCPU", "AutocastCPU", "own"},
    {"CPU", IN_TREE, CPU_TENSOR "AutocastCPU", "CPU", "own"},
    {"CPU Conjugate", IN_TREE, CPU_TENSOR "Conjugate", "Conjugate", "own"},
};

// The highest backend of the call chooses the mask.
static const struct call_row backend_calls[] = {
    {"CPU Meta AutogradMeta", "AutogradCPU=ft", "CPU AutogradCPU", "CPU", "own"},
    {"CPU Meta AutogradMeta", "AutogradCPU=ft", "Meta AutogradMeta", "AutogradMeta", "own"},
    {"CPU Meta AutogradMeta", "AutogradCPU=ft", "CPU AutogradCPU Meta", "AutogradMeta", "own"},
    {"CPU Meta", "AutogradCPU=ft", "CPU AutogradCPU Meta", "AutogradMeta", "-"},
    {"CPU Meta", "AutogradMeta=ft", "CPU AutogradCPU Meta", "Meta", "own"},
    // CUDA comes from the thread's included keys; without it the call stays on the CPU.
    {"CPU AutogradCUDA", "AutogradCPU=ft", "CPU AutogradCPU CUDA", "AutogradCUDA", "own"},
    {"CPU AutogradCUDA", "AutogradCPU=ft", "CPU AutogradCPU", "CPU", "own"},
    {"CPU QuantizedXPU QuantizedCPU=ft", "", "CPU QuantizedCPU XPU", "QuantizedXPU", "own"},
    {"CPU QuantizedXPU QuantizedCPU=ft", "", "CPU QuantizedCPU", "CPU", "own"},
    // A functionality without backends falls through for all of them.
    {"CPU CUDA Tracer=ft", "", "CUDA Tracer", "CUDA", "own"},
    // A direct fallthrough hides its key; what is left selects slot 0.
    {"CPU=ft CEA", "", "CPU", "Undefined", "CEA"},
    {"CPU=ft CEA", "", "CUDA", "CUDA", "CEA"},
    // A fallthrough of an alias.
    {"CPU AG=ft", "", "CPU AutogradCPU", "CPU", "own"},
};

static kw_keyset keys_of(const char *words)
{
    char word[KWI_WORD_BYTES];
    kw_keyset keys = kw_keyset_empty();
    while (kwi_next_word(&words, word)) {
        keys = kw_keyset_add(keys, kwi_fixture_key(word));
    }
    return keys;
}

static unsigned slot_of_call(const kw_table *table, kw_keyset keys)
{
    kw_keyset mask = kwi_table_mask(table, kw_keyset_backend_number(keys));
    return kw_keyset_slot(kw_keyset_intersection(keys, mask));
}

static void expect_calls(const struct call_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct call_row *row = &rows[i];
        kwi_fixture fixture;
        kwi_fixture_init(&fixture, row->kernels, row->fallbacks);
        kw_table *table = kwi_fixture_resolve(&fixture);
        kw_key landed = kw_key_of_slot((int)slot_of_call(table, keys_of(row->keys)));
        cr_assert_str_eq(kw_key_name(landed), row->lands, "row %zu: '%s' with %s", i, row->kernels,
                         row->keys);
        kwi_fixture_expect(&fixture, table, landed, row->cell, row->kernels);
        kwi_table_destroy(table);
    }
}

Test(table_mask, fallback_calls_land_as_in_pytorch)
{
    expect_calls(fallback_calls, sizeof fallback_calls / sizeof fallback_calls[0]);
}

Test(table_mask, observed_calls_land_as_in_pytorch)
{
    expect_calls(observed_calls, sizeof observed_calls / sizeof observed_calls[0]);
}

Test(table_mask, highest_backend_chooses_the_mask)
{
    expect_calls(backend_calls, sizeof backend_calls / sizeof backend_calls[0]);
}

Test(table_mask, excluded_dense_key_leaves_backend_and_selects_slot_0)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU CEA", kwi_in_tree_fallbacks);
    kw_table *table = kwi_fixture_resolve(&fixture);
    kw_keyset keys = kw_keyset_remove(keys_of(CPU_TENSOR), KW_KEY_CPU);
    kw_keyset masked = kw_keyset_intersection(keys, kwi_table_mask(table, 0));
    cr_assert_eq(masked.bits, KW_KEYSET_BACKEND_BITS(KW_BACKEND_CPU));
    cr_assert_eq(slot_of_call(table, keys), 0);
    kwi_table_destroy(table);
}

Test(table_mask, set_without_backend_takes_the_mask_of_cpu)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "", "AutogradCPU=ft");
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(slot_of_call(table, keys_of("AutogradFunctionality")), 0);
    kwi_table_destroy(table);
}

Test(table_mask, missing_slots_stay_in_every_mask)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU", "CUDA Python");
    kw_table *table = kwi_fixture_resolve(&fixture);
    for (unsigned number = 0; number < KW_BACKEND_COUNT; number++) {
        cr_assert_eq(kwi_table_mask(table, number).bits, KW_KEYSET_FULL);
    }
    kwi_table_destroy(table);
}

Test(table_mask, backends_with_equal_fallthroughs_have_equal_masks)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "", "AutogradCPU=ft AutogradXLA=ft SparseCUDA=ft AutogradMeta=ft");
    kw_table *table = kwi_fixture_resolve(&fixture);
    const kw_keyset *masks = table->layout->masks;
    cr_assert_neq(masks[0].bits, masks[1].bits);
    cr_assert_neq(masks[0].bits, masks[2].bits);
    cr_assert_neq(masks[1].bits, masks[2].bits);
    cr_assert_eq(masks[KW_BACKEND_XLA - 1].bits, masks[0].bits);
    cr_assert_eq(masks[KW_BACKEND_Meta - 1].bits, masks[0].bits);
    cr_assert_eq(masks[KW_BACKEND_VE - 1].bits, masks[2].bits);
    kwi_table_destroy(table);
}

Test(table_mask, one_slot_leaves_the_masks_of_its_own_backends_only)
{
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        kwi_slotset fallthrough = kwi_slotset_empty();
        kwi_slotset_add(&fallthrough, slot);
        kwi_masks masks;
        kwi_masks_make(fallthrough, &masks);
        kw_key key = kw_key_of_slot((int)slot);
        unsigned own = (unsigned)kw_key_backend(key);
        kw_keyset without = kw_keyset_remove(kw_keyset_full(), key);
        cr_assert_eq(masks.count, own != 0 ? 2 : 1);
        cr_assert_eq(masks.list[0].keys.bits, without.bits, "slot %u", slot);
        cr_assert_eq(masks.list[0].backends, own != 0 ? 1U << (own - 1) : 0xffff, "slot %u", slot);
        if (own != 0) {
            cr_assert_eq(masks.list[1].keys.bits, KW_KEYSET_FULL);
            cr_assert_eq(masks.list[1].backends, 0xffff ^ 1U << (own - 1));
        }
    }
}

// M1
Test(table_mask, fallthrough_everywhere_leaves_the_backends)
{
    kwi_masks masks;
    kwi_masks_make(kwi_slotset_full(), &masks);
    cr_assert_eq(masks.count, 1);
    cr_assert_eq(masks.list[0].keys.bits, KW_KEYSET_BACKEND_MASK);
}
