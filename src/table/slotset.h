// Slot sets: one bit for each slot of a table, and the slots that alias kernels may claim.
//
// Layer:   table
// Threads: any; values only.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_SLOTSET_H
#define KWI_TABLE_SLOTSET_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/key.h>

#include "base/assert.h"

#define KWI_SLOTSET_WORDS ((KW_SLOT_COUNT + 63) / 64)

// Z1  Bits from KW_SLOT_COUNT on are zero.
typedef struct kwi_slotset {
    uint64_t words[KWI_SLOTSET_WORDS];
} kwi_slotset;

_Static_assert(KWI_SLOTSET_WORDS == 3, "the initialisers and operations below spell three words");

// The bits of word `word` that stand for the slots `first` to `last`. Constant expressions. The
// shifts are masked because compilers check them even where the condition excludes them.
#define KWI_SLOTS_BELOW(slot, word)                                                                \
    ((slot) <= 64 * (word)         ? UINT64_C(0)                                                   \
     : (slot) >= 64 * ((word) + 1) ? UINT64_MAX                                                    \
                                   : (UINT64_C(1) << ((slot)&63)) - 1)
#define KWI_SLOTS_RANGE(first, last, word)                                                         \
    (KWI_SLOTS_BELOW((last) + 1, word) & ~KWI_SLOTS_BELOW(first, word))

// Initialises a slot set from a macro of one parameter, the number of the word.
#define KWI_SLOTSET_INIT(slots_of_word)                                                            \
    {                                                                                              \
        {                                                                                          \
            slots_of_word(0), slots_of_word(1), slots_of_word(2)                                   \
        }                                                                                          \
    }

static inline kwi_slotset kwi_slotset_empty(void)
{
    return (kwi_slotset){{0, 0, 0}};
}

static inline kwi_slotset kwi_slotset_full(void)
{
    return (kwi_slotset){{UINT64_MAX, UINT64_MAX, KWI_SLOTS_BELOW(KW_SLOT_COUNT, 2)}};
}

static inline kwi_slotset kwi_slotset_union(kwi_slotset a, kwi_slotset b)
{
    return (kwi_slotset){
        {a.words[0] | b.words[0], a.words[1] | b.words[1], a.words[2] | b.words[2]}};
}

static inline kwi_slotset kwi_slotset_intersection(kwi_slotset a, kwi_slotset b)
{
    return (kwi_slotset){
        {a.words[0] & b.words[0], a.words[1] & b.words[1], a.words[2] & b.words[2]}};
}

static inline kwi_slotset kwi_slotset_difference(kwi_slotset a, kwi_slotset b)
{
    return (kwi_slotset){
        {a.words[0] & ~b.words[0], a.words[1] & ~b.words[1], a.words[2] & ~b.words[2]}};
}

static inline bool kwi_slotset_equal(kwi_slotset a, kwi_slotset b)
{
    return a.words[0] == b.words[0] && a.words[1] == b.words[1] && a.words[2] == b.words[2];
}

static inline bool kwi_slotset_is_empty(kwi_slotset set)
{
    return (set.words[0] | set.words[1] | set.words[2]) == 0;
}

static inline bool kwi_slotset_has(kwi_slotset set, unsigned slot)
{
    KWI_ASSERT(slot < KW_SLOT_COUNT);
    return (set.words[slot / 64] >> slot % 64 & 1) != 0;
}

static inline void kwi_slotset_add(kwi_slotset *set, unsigned slot)
{
    KWI_ASSERT(slot < KW_SLOT_COUNT);
    set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

// The set must not be empty.
static inline unsigned kwi_slotset_lowest(kwi_slotset set)
{
    KWI_ASSERT(!kwi_slotset_is_empty(set));
    for (unsigned word = 0; word < KWI_SLOTSET_WORDS - 1; word++) {
        if (set.words[word] != 0) {
            return word * 64 + (unsigned)__builtin_ctzll(set.words[word]);
        }
    }
    return 128 + (unsigned)__builtin_ctzll(set.words[2]);
}

// Removes the lowest slot and stores it. False if the set is empty.
static inline bool kwi_slotset_take_lowest(kwi_slotset *set, unsigned *out_slot)
{
    for (unsigned word = 0; word < KWI_SLOTSET_WORDS; word++) {
        if (set->words[word] != 0) {
            *out_slot = word * 64 + (unsigned)__builtin_ctzll(set->words[word]);
            set->words[word] &= set->words[word] - 1;
            return true;
        }
    }
    return false;
}

// The bits of `count` slots from `first` on, the first one in bit 0. At most 64, all in the table.
static inline uint64_t kwi_slotset_bits(kwi_slotset set, unsigned first, unsigned count)
{
    KWI_ASSERT(count >= 1 && count <= 64 && first + count <= KW_SLOT_COUNT);
    uint64_t bits = set.words[first / 64] >> first % 64;
    if (first % 64 + count > 64) {
        bits |= set.words[first / 64 + 1] << (64 - first % 64);
    }
    return bits & UINT64_MAX >> (64 - count);
}

// Adds the slots of kwi_slotset_bits() from `first` on. `bits` must not reach beyond the table.
static inline void kwi_slotset_add_bits(kwi_slotset *set, unsigned first, uint64_t bits)
{
    KWI_ASSERT(first < KW_SLOT_COUNT);
    set->words[first / 64] |= bits << first % 64;
    uint64_t beyond = first % 64 != 0 ? bits >> (64 - first % 64) : 0;
    if (beyond != 0) {
        KWI_ASSERT(first / 64 + 1 < KWI_SLOTSET_WORDS);
        set->words[first / 64 + 1] |= beyond;
    }
    KWI_ASSERT((set->words[2] & ~KWI_SLOTS_BELOW(KW_SLOT_COUNT, 2)) == 0);
}

// The slots that a kernel of an alias may claim: the alias's runtime keys and, for the three
// composite aliases that serve calls without tensors, slot 0.
const kwi_slotset *kwi_slotset_of_alias(kw_key alias);

#endif // KWI_TABLE_SLOTSET_H
