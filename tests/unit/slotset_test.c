// Slot sets: algebra at the borders of words, and the sets of the aliases.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include <keyway/keyset.h>

#include "table/slotset.h"

// Slots next to a border of words or of the set.
static const unsigned border_slots[] = {0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 136, 137};

#define BORDER_COUNT (sizeof border_slots / sizeof border_slots[0])

static kwi_slotset one(unsigned slot)
{
    kwi_slotset set = kwi_slotset_empty();
    kwi_slotset_add(&set, slot);
    return set;
}

static kwi_slotset borders(void)
{
    kwi_slotset set = kwi_slotset_empty();
    for (size_t i = 0; i < BORDER_COUNT; i++) {
        kwi_slotset_add(&set, border_slots[i]);
    }
    return set;
}

Test(slotset, full_set_has_every_slot_and_no_more_bits)
{
    kwi_slotset full = kwi_slotset_full();
    unsigned slot;
    for (unsigned expected = 0; expected < KW_SLOT_COUNT; expected++) {
        cr_assert(kwi_slotset_has(full, expected));
        cr_assert_eq(kwi_slotset_lowest(full), expected);
        cr_assert(kwi_slotset_take_lowest(&full, &slot));
        cr_assert_eq(slot, expected);
    }
    cr_assert(kwi_slotset_is_empty(full));
    cr_assert_not(kwi_slotset_take_lowest(&full, &slot));
}

Test(slotset, taking_the_lowest_goes_up_in_order)
{
    kwi_slotset set = borders();
    for (size_t i = 0; i < BORDER_COUNT; i++) {
        unsigned slot = KW_SLOT_COUNT;
        cr_assert_eq(kwi_slotset_lowest(set), border_slots[i]);
        cr_assert(kwi_slotset_take_lowest(&set, &slot));
        cr_assert_eq(slot, border_slots[i]);
        cr_assert_not(kwi_slotset_has(set, slot));
    }
    cr_assert(kwi_slotset_is_empty(set));
}

Test(slotset, union_intersection_and_difference_work_in_every_word)
{
    for (size_t i = 0; i < BORDER_COUNT; i++) {
        kwi_slotset single = one(border_slots[i]);
        kwi_slotset rest = kwi_slotset_difference(borders(), single);
        cr_assert_not(kwi_slotset_has(rest, border_slots[i]));
        cr_assert_not(kwi_slotset_equal(rest, borders()));
        cr_assert(kwi_slotset_is_empty(kwi_slotset_intersection(rest, single)));
        cr_assert(kwi_slotset_equal(kwi_slotset_intersection(borders(), single), single));
        cr_assert(kwi_slotset_equal(kwi_slotset_union(rest, single), borders()));
    }
}

Test(slotset, bits_cross_the_borders_of_words)
{
    for (unsigned first = 0; first < KW_SLOT_COUNT; first++) {
        for (unsigned count = 1; count <= 64 && first + count <= KW_SLOT_COUNT; count++) {
            uint64_t bits = kwi_slotset_bits(borders(), first, count);
            for (unsigned i = 0; i < 64; i++) {
                bool expected = i < count && kwi_slotset_has(borders(), first + i);
                cr_assert_eq(bits >> i & 1, expected, "bit %u of %u from %u", i, count, first);
            }
            kwi_slotset copied = kwi_slotset_empty();
            kwi_slotset_add_bits(&copied, first, bits);
            cr_assert_eq(kwi_slotset_bits(copied, first, count), bits);
        }
    }
}

// The alias's runtime keys, one by one, and slot 0 for those that also serve Undefined.
static kwi_slotset expected_slots(kw_key alias, bool with_undefined)
{
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(kw_key_runtime_set(alias));
    kwi_slotset set = with_undefined ? one(0) : kwi_slotset_empty();
    kw_key key;
    while (kw_keyset_iterator_next(&iterator, &key)) {
        kwi_slotset_add(&set, (unsigned)kw_key_slot(key));
    }
    return set;
}

static void expect_alias(kw_key alias, bool with_undefined)
{
    cr_assert(
        kwi_slotset_equal(*kwi_slotset_of_alias(alias), expected_slots(alias, with_undefined)),
        "%s", kw_key_name(alias));
}

Test(slotset, slots_of_aliases_are_their_runtime_sets)
{
    expect_alias(KW_KEY_Autograd, false);
    expect_alias(KW_KEY_CompositeImplicitAutograd, true);
    expect_alias(KW_KEY_FuncTorchBatchedDecomposition, false);
    expect_alias(KW_KEY_CompositeImplicitAutogradNestedTensor, false);
    expect_alias(KW_KEY_CompositeExplicitAutograd, true);
    expect_alias(KW_KEY_CompositeExplicitAutogradNonFunctional, true);
}
