// Random operators and fallbacks: every slot and mask against the reference, in shuffled orders.
//
// The generator is seeded with the number of the case, which a failure prints. Registrations are
// drawn sparse and dense, with bare building blocks, fallthroughs and shared fallback kernels.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "table/layout.h"
#include "unit/table_fixture.h"
#include "unit/table_reference.h"

#define CASE_COUNT 100000
#define SHUFFLE_EVERY 8 // cases: one in so many is resolved in more orders
#define CALLS 16        // random key sets a case

static bool happens(uint64_t *state, unsigned per_mille)
{
    return kwi_random(state) % 1000 < per_mille;
}

// How likely a key is to have a kernel, in thousandths.
static unsigned draw_density(uint64_t *state)
{
    static const unsigned densities[] = {0, 10, 30, 100, 300, 700};
    return densities[kwi_random(state) % (sizeof densities / sizeof densities[0])];
}

static kwi_candidate draw_candidate(uint64_t *state, const kw_kernel *kernel, kw_key key)
{
    bool fallthrough = happens(state, 250);
    bool boxed = fallthrough || happens(state, 300);
    return (kwi_candidate){.kernel = kernel,
                           .unboxed = boxed ? NULL : kwi_fixture_unboxed,
                           .key = key,
                           .fallthrough = fallthrough};
}

static void draw_kernels(kwi_fixture *fixture, uint64_t *state)
{
    unsigned density = draw_density(state);
    unsigned alias_density = draw_density(state);
    fixture->kernel_count = 0;
    for (kw_key key = 1; key < KW_KEY_LIMIT; key++) {
        unsigned likely = kw_key_is_alias(key) ? alias_density : density;
        if (kw_key_is_valid(key) && happens(state, likely)) {
            fixture->kernels[fixture->kernel_count++] =
                draw_candidate(state, kwi_fixture_kernel(key), key);
        }
    }
}

static void draw_fallbacks(kwi_fixture *fixture, uint64_t *state)
{
    unsigned density = draw_density(state);
    const kwi_candidate shared = draw_candidate(state, kwi_fixture_fallback(0), KW_KEY_Undefined);
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        kwi_candidate *fallback = &fixture->fallbacks[slot];
        kw_key key = kw_key_of_slot((int)slot);
        *fallback = (kwi_candidate){.kernel = NULL};
        if (happens(state, density)) {
            *fallback = slot == 0 || happens(state, 500)
                            ? shared
                            : draw_candidate(state, kwi_fixture_fallback(slot), key);
            fallback->unboxed = NULL;
        }
    }
    kwi_fallbacks_prepare(&fixture->prepared, fixture->fallbacks);
}

static kwi_reference reference_of(const kwi_fixture *fixture)
{
    kwi_reference reference = {.fallbacks = fixture->fallbacks};
    for (size_t i = 0; i < fixture->kernel_count; i++) {
        reference.direct[fixture->kernels[i].key] = &fixture->kernels[i];
    }
    return reference;
}

static void expect_slot(const kw_table *table, const kwi_reference *reference, unsigned slot,
                        unsigned number)
{
    kw_key key = kw_key_of_slot((int)slot);
    kwi_reference_winner winner = kwi_reference_resolve(reference, key);
    kwi_candidate expected = {.kernel = winner.rule == KWI_RULE_AMBIGUOUS ? kwi_fixture_ambiguous()
                                                                          : kwi_fixture_missing()};
    if (winner.candidate != NULL) {
        expected = *winner.candidate;
    }
    const kw_entry *entry = kwi_table_entry(table, slot);
    kw_function function = expected.unboxed != NULL ? expected.unboxed : kwi_fixture_box;
    const char *name = kw_key_name(key);
    cr_assert_eq(kwi_table_rule(table, slot), winner.rule, "case %u, %s", number, name);
    cr_assert_eq(entry->kernel, expected.kernel, "case %u, %s", number, name);
    cr_assert_eq(entry->function, function, "case %u, %s", number, name);
    cr_assert_eq(kwi_table_is_fallthrough(table, slot), expected.fallthrough, "case %u, %s", number,
                 name);
}

static void expect_masks(const kw_table *table, const kwi_reference *reference, uint64_t *state,
                         unsigned number)
{
    kwi_reference_masks masks;
    kwi_reference_masks_make(reference, &masks);
    for (unsigned i = 0; i < KW_BACKEND_COUNT; i++) {
        cr_assert_eq(kwi_table_mask(table, i).bits, masks.backend[i], "case %u, backend %u", number,
                     i);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        kw_keyset keys = {kwi_random(state) & kwi_random(state) & KW_KEYSET_FULL};
        uint64_t masked = keys.bits & kwi_table_mask(table, kw_keyset_backend_number(keys)).bits;
        cr_assert_eq(masked, kwi_reference_masked(&masks, keys.bits), "case %u", number);
    }
}

static void count_rules(const kw_table *table, unsigned counts[KWI_RULE_COUNT])
{
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        counts[kwi_table_rule(table, slot)]++;
    }
}

// T1, T2 and T5
static void expect_canonical(const kw_table *table, unsigned number)
{
    unsigned seen = 0;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        unsigned entry = kwi_table_entry_number(table, slot);
        cr_assert(entry <= seen, "case %u, slot %u", number, slot);
        seen += entry == seen;
    }
    cr_assert_eq(seen, table->entry_count, "case %u", number);
    for (unsigned i = 0; i < KW_BACKEND_COUNT; i++) {
        cr_assert_eq(kwi_table_mask(table, i).bits & 0xffff, 0xffff, "case %u", number);
    }
    cr_assert_eq(table->block.bytes, offsetof(kw_table, entries) + seen * sizeof(kw_entry));
}

static void shuffle(kwi_fixture *fixture, uint64_t *state)
{
    for (size_t i = fixture->kernel_count; i > 1; i--) {
        size_t other = (size_t)(kwi_random(state) % i);
        kwi_candidate kept = fixture->kernels[other];
        fixture->kernels[other] = fixture->kernels[i - 1];
        fixture->kernels[i - 1] = kept;
    }
}

// T6
static void expect_same_in_other_orders(kwi_fixture *fixture, const kw_table *table,
                                        uint64_t *state, unsigned number)
{
    for (unsigned i = 0; i < 3; i++) {
        shuffle(fixture, state);
        kw_table *other = kwi_fixture_resolve(fixture);
        cr_assert(kwi_fixture_is_same(table, other), "case %u", number);
        kwi_table_destroy(other);
    }
}

// Few keys, so that operators with the same ones come again and their layouts meet.
static void draw_common_kernels(kwi_fixture *fixture, uint64_t *state)
{
    static const kw_key keys[] = {KW_KEY_CPU,      KW_KEY_SparseCPU,
                                  KW_KEY_Autograd, KW_KEY_CompositeImplicitAutograd,
                                  KW_KEY_Meta,     KW_KEY_FPGA};
    fixture->kernel_count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (happens(state, 300)) {
            fixture->kernels[fixture->kernel_count++] =
                draw_candidate(state, kwi_fixture_kernel(keys[i]), keys[i]);
        }
    }
    shuffle(fixture, state);
}

// The two tables have one layout if they say the same, and else not: I2.
static void expect_shared_layout(const kw_table *one, const kw_table *other)
{
    bool is_equal = kwi_layout_equal(kwi_layout_record_of(one), kwi_layout_record_of(other));
    cr_assert_eq(one->layout == other->layout, is_equal);
}

static bool is_empty(const kwi_layout_set *set)
{
    bool found = false;
    for (unsigned i = 0; i < KWI_LAYOUT_SET_CHAINS; i++) {
        found |= set->chains[i] != NULL;
    }
    return !found;
}

// T6, I1 and I2, and I3 of the layouts that a commit works out.
Test(table_random, shared_layouts_give_the_same_tables, .timeout = 60)
{
    enum {
        DISPATCHERS = 200,
        OPERATORS = 200
    };
    static kwi_fixture fixture;
    static kwi_layouts layouts;
    static kwi_layout_set set;
    uint64_t bytes_before = kwi_memory_bytes();
    for (unsigned dispatcher = 0; dispatcher < DISPATCHERS; dispatcher++) {
        uint64_t state = (dispatcher + UINT64_C(1)) * UINT64_C(0xd1342543de82ef95);
        kw_table *last = NULL;
        draw_fallbacks(&fixture, &state);
        memset(&layouts, 0, sizeof layouts);
        for (unsigned i = 0; i < OPERATORS; i++) {
            if (happens(&state, 900)) {
                draw_common_kernels(&fixture, &state);
            } else {
                draw_kernels(&fixture, &state);
            }
            kwi_resolve_input input = kwi_fixture_input(&fixture);
            kw_table *alone = kwi_table_resolve(&input, NULL);
            input.layout_set = &set;
            kw_table *known = kwi_table_resolve(&input, &layouts);
            kw_table *found = kwi_table_resolve(&input, NULL);
            cr_assert(kwi_fixture_is_same(alone, known), "%u, operator %u", dispatcher, i);
            cr_assert_eq(known->layout, found->layout, "%u, operator %u", dispatcher, i);
            if (last != NULL) {
                expect_shared_layout(last, found);
            }
            kwi_table_destroy(last);
            kwi_table_destroy(alone);
            kwi_table_destroy(known);
            last = found;
        }
        kwi_table_destroy(last);
        kwi_layouts_fini(&layouts);
        cr_assert(is_empty(&set), "dispatcher %u", dispatcher);
        cr_assert_eq(kwi_memory_bytes(), bytes_before);
    }
}

// What a commit of fallbacks leaves alone.
Test(table_random, a_table_that_needs_no_fallback_does_not_change_with_it, .timeout = 60)
{
    static kwi_fixture fixture;
    unsigned left_alone = 0;
    for (unsigned number = 0; number < CASE_COUNT / 10; number++) {
        uint64_t state = (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
        draw_kernels(&fixture, &state);
        draw_fallbacks(&fixture, &state);
        kw_table *before = kwi_fixture_resolve(&fixture);
        unsigned slot =
            1 + (unsigned)(kwi_random(&state) % (KW_SLOT_COUNT - 1)); // 0 has the shared
        kwi_slotset slots = kwi_slotset_empty();
        kwi_slotset_add(&slots, slot);
        fixture.fallbacks[slot] = (kwi_candidate){.kernel = kwi_fixture_fallback(slot),
                                                  .key = kw_key_of_slot((int)slot),
                                                  .fallthrough = happens(&state, 500)};
        kwi_fallbacks_prepare(&fixture.prepared, fixture.fallbacks);
        kw_table *after = kwi_fixture_resolve(&fixture);
        if (!kwi_table_needs_fallback(before, slots)) {
            cr_assert(kwi_fixture_is_same(before, after), "case %u", number);
            left_alone++;
        }
        kwi_table_destroy(before);
        kwi_table_destroy(after);
    }
    cr_expect_gt(left_alone, CASE_COUNT / 100);
}

Test(table_random, every_slot_and_mask_equals_the_reference, .timeout = 60)
{
    static kwi_fixture fixture;
    unsigned rule_counts[KWI_RULE_COUNT] = {0};
    for (unsigned number = 0; number < CASE_COUNT; number++) {
        uint64_t state = (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
        draw_kernels(&fixture, &state);
        draw_fallbacks(&fixture, &state);
        kwi_reference reference = reference_of(&fixture);
        kw_table *table = kwi_fixture_resolve(&fixture);
        for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
            expect_slot(table, &reference, slot, number);
        }
        expect_masks(table, &reference, &state, number);
        expect_canonical(table, number);
        count_rules(table, rule_counts);
        if (number % SHUFFLE_EVERY == 0) {
            expect_same_in_other_orders(&fixture, table, &state, number);
        }
        kwi_table_destroy(table);
    }
    for (int rule = 0; rule < KWI_RULE_COUNT; rule++) {
        cr_assert(rule_counts[rule] > CASE_COUNT / 50, "%s", kwi_rule_name((kwi_rule)rule));
    }
}
