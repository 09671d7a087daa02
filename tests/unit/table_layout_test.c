// The layout of tables: T1 to T6, sizes, functions of entries, memory.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include "base/memory.h"
#include "unit/table_fixture.h"

static const kw_entry *entry_of(const kw_table *table, kw_key key)
{
    return kwi_table_entry(table, (unsigned)kw_key_slot(key));
}

Test(table_layout, entry_of_unboxed_kernel_holds_its_function)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU CII", "");
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(entry_of(table, KW_KEY_CPU)->function, kwi_fixture_unboxed);
    cr_assert_eq(entry_of(table, KW_KEY_CUDA)->function, kwi_fixture_unboxed);
    kwi_table_destroy(table);
}

Test(table_layout, every_other_entry_holds_the_boxing_entry)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU=boxed CUDA=ft CII=boxed FPGA", "Tracer VmapMode=ft");
    kw_table *table = kwi_fixture_resolve(&fixture);
    static const kw_key keys[] = {KW_KEY_CPU,          KW_KEY_CUDA,     KW_KEY_Meta,
                                  KW_KEY_Tracer,       KW_KEY_VmapMode, KW_KEY_Conjugate,
                                  KW_KEY_AutogradOther};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cr_assert_eq(entry_of(table, keys[i])->function, kwi_fixture_box);
    }
    cr_assert_eq(entry_of(table, KW_KEY_AutogradOther)->kernel, kwi_fixture_ambiguous());
    cr_assert_eq(entry_of(table, KW_KEY_Conjugate)->kernel, kwi_fixture_missing());
    kwi_table_destroy(table);
}

Test(table_layout, block_is_that_of_an_unpublished_table)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU", "");
    kwi_resolve_input input = kwi_fixture_input(&fixture);
    input.owner = &fixture;
    input.definition = (const struct kwi_definition *)(const void *)&input;
    kw_table *table = kwi_table_resolve(&input, NULL);
    cr_assert_eq(table->block.owner, &fixture);
    cr_assert_eq(table->block.version, 0);
    cr_assert_eq(table->block.hi, UINT64_MAX);
    cr_assert_null(table->block.older.value);
    cr_assert_eq(table->definition, input.definition);
    kwi_table_destroy(table);
}

Test(table_layout, missing_entry_exists_only_if_needed)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "", "");
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(table->entry_count, 1);
    kwi_table_destroy(table);
}

// T5
Test(table_layout, entries_are_numbered_by_their_first_slot)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "AutogradCPU CUDA CPU", "");
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(table->entry_count, 4);
    cr_assert_eq(table->entries[0].kernel, kwi_fixture_missing());
    cr_assert_eq(table->entries[1].kernel, kwi_fixture_kernel(KW_KEY_CPU));
    cr_assert_eq(table->entries[2].kernel, kwi_fixture_kernel(KW_KEY_CUDA));
    cr_assert_eq(table->entries[3].kernel, kwi_fixture_kernel(KW_KEY_AutogradCPU));
    kwi_table_destroy(table);
}

Test(table_layout, kernel_of_several_keys_has_one_entry_a_rule)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU CUDA Meta=boxed", "Tracer Python Conjugate=ft");
    fixture.kernels[1].kernel = fixture.kernels[0].kernel;
    fixture.fallbacks[KWI_SLOT_Python].kernel = fixture.fallbacks[KWI_SLOT_Tracer].kernel;
    kwi_fallbacks_prepare(&fixture.prepared, fixture.fallbacks);
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(table->entry_count, 5);
    cr_assert_eq(entry_of(table, KW_KEY_CPU), entry_of(table, KW_KEY_CUDA));
    cr_assert_eq(entry_of(table, KW_KEY_Tracer), entry_of(table, KW_KEY_Python));
    kwi_table_destroy(table);
}

Test(table_layout, kernel_that_is_also_the_fallback_has_an_entry_for_each_rule)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU=boxed", "CUDA");
    fixture.fallbacks[KWI_SLOT_Dense + 1].kernel = fixture.kernels[0].kernel;
    kwi_fallbacks_prepare(&fixture.prepared, fixture.fallbacks);
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(entry_of(table, KW_KEY_CPU)->kernel, entry_of(table, KW_KEY_CUDA)->kernel);
    cr_assert_neq(entry_of(table, KW_KEY_CPU), entry_of(table, KW_KEY_CUDA));
    cr_assert_eq(table->entry_count, 3);
    kwi_table_destroy(table);
}

Test(table_layout, definition_makes_tables_differ)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU", "");
    kwi_resolve_input input = kwi_fixture_input(&fixture);
    kw_table *without = kwi_table_resolve(&input, NULL);
    input.definition = (const struct kwi_definition *)(const void *)&input;
    kw_table *with = kwi_table_resolve(&input, NULL);
    cr_assert_not(kwi_table_equal(with, without));
    input.owner = &input;
    input.definition = NULL;
    kw_table *owned = kwi_table_resolve(&input, NULL);
    cr_assert(kwi_table_equal(owned, without), "the block does not count");
    kwi_table_destroy(owned);
    kwi_table_destroy(with);
    kwi_table_destroy(without);
}

// A kernel for every runtime key, a fallback for Undefined, and a mask for every backend: which of
// four blocks fall through for a backend spells its number.
static void init_densest(kwi_fixture *fixture)
{
    static const kw_key blocks[] = {KW_KEY_Dense, KW_KEY_Quantized, KW_KEY_Sparse,
                                    KW_KEY_SparseCsr};
    kwi_fixture_init(fixture, "", "Undefined");
    for (unsigned slot = 1; slot < KW_SLOT_COUNT; slot++) {
        kw_key key = kw_key_of_slot((int)slot);
        unsigned number = (unsigned)kw_key_backend(key) - 1;
        bool fallthrough = false;
        for (unsigned i = 0; i < 4; i++) {
            fallthrough |= kw_key_functionality(key) == blocks[i] && (number >> i & 1) != 0;
        }
        fixture->kernels[fixture->kernel_count++] = (kwi_candidate){
            .kernel = kwi_fixture_kernel(key), .key = key, .fallthrough = fallthrough};
    }
}

Test(table_layout, densest_table_holds_every_entry_and_mask)
{
    kwi_fixture fixture;
    init_densest(&fixture);
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert_eq(table->entry_count, KW_SLOT_COUNT);
    for (unsigned i = 1; i < KW_BACKEND_COUNT; i++) {
        for (unsigned k = 0; k < i; k++) {
            cr_assert_neq(kwi_table_mask(table, i).bits, kwi_table_mask(table, k).bits);
        }
    }
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        cr_assert_eq(kwi_table_entry_number(table, slot), slot);
    }
    cr_assert_eq(table->block.bytes, 88 + 138 * 16);
    kwi_table_destroy(table);
}

Test(table_layout, typical_table_fits_in_256_bytes)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU CUDA CEA AG SparseCPU Meta QuantizedCPU", "");
    for (unsigned slot = KWI_SLOT_AutogradOther; slot < KW_SLOT_COUNT; slot++) {
        fixture.fallbacks[slot] = (kwi_candidate){.kernel = kwi_fixture_fallback(0),
                                                  .key = kw_key_of_slot((int)slot),
                                                  .fallthrough = true};
    }
    kwi_fallbacks_prepare(&fixture.prepared, fixture.fallbacks);
    kw_table *table = kwi_fixture_resolve(&fixture);
    cr_assert(table->block.bytes <= 256, "%u bytes", table->block.bytes);
    kwi_table_destroy(table);
}

Test(table_layout, destroy_accepts_null)
{
    kwi_table_destroy(NULL);
}

Test(table_layout, resolve_without_memory_returns_null_and_keeps_nothing)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, "CPU CII", kwi_in_tree_fallbacks);
    kwi_resolve_input input = kwi_fixture_input(&fixture);
    uint64_t bytes_before = kwi_memory_bytes();
    uint64_t count_before = kwi_memory_count();
    for (uint64_t nth = 1; nth <= 2; nth++) { // its layout, and itself
        kwi_memory_fail_at(nth, false);
        cr_assert_null(kwi_table_resolve(&input, NULL));
        kwi_memory_fail_at(0, false);
        cr_assert_eq(kwi_memory_bytes(), bytes_before);
    }
    cr_assert_eq(kwi_memory_count(), count_before + 3);

    kw_table *table = kwi_table_resolve(&input, NULL);
    cr_assert_not_null(table);
    cr_assert_eq(kwi_memory_count(), count_before + 5, "one allocation a table (T4), and a layout");
    kwi_table_destroy(table);
    cr_assert_eq(kwi_memory_bytes(), bytes_before);
}
