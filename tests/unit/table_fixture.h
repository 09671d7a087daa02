// Fixture of the table tests: operators and fallbacks written as words.
//
// Words are names of keys, or CII, CEA, NF, NT, AG and FTB for the aliases. A word may end in "=ft"
// for a fallthrough or "=boxed" for a boxed kernel; kernels are unboxed and fallbacks boxed
// otherwise. Every key has kernels of its own, so a kernel says where it was registered.
// SPDX-License-Identifier: MIT

#ifndef KWI_TEST_TABLE_FIXTURE_H
#define KWI_TEST_TABLE_FIXTURE_H

#include "table/resolve.h"

#define KWI_WORD_BYTES 64

typedef struct kwi_fixture {
    kwi_candidate kernels[KW_KEY_LIMIT];
    size_t kernel_count;
    kwi_candidate fallbacks[KW_SLOT_COUNT];
    kwi_fallbacks prepared;
} kwi_fixture;

// The fallbacks of PyTorch 1.13.1 itself: what any program that loads it has.
extern const char kwi_in_tree_fallbacks[];

void kwi_fixture_init(kwi_fixture *fixture, const char *kernels, const char *fallbacks);

// T6: the same layout, and the same bytes after the block but for where the layout is.
bool kwi_fixture_is_same(const kw_table *a, const kw_table *b);

// Returns a table of the fixture; the test ends if there is none. Freed with kwi_table_destroy().
kw_table *kwi_fixture_resolve(const kwi_fixture *fixture);
kwi_resolve_input kwi_fixture_input(const kwi_fixture *fixture);

// Copies the next word and moves on; false at the end of the text.
bool kwi_next_word(const char **text, char word[KWI_WORD_BYTES]);

// The key of a word. The test ends if there is none.
kw_key kwi_fixture_key(const char *word);

// The kernels and the two functions that fixtures are made of.
const kw_kernel *kwi_fixture_kernel(kw_key key);
const kw_kernel *kwi_fixture_fallback(unsigned slot);
const kw_kernel *kwi_fixture_missing(void);
const kw_kernel *kwi_fixture_ambiguous(void);
void kwi_fixture_unboxed(void);
void kwi_fixture_box(void);

// Checks one slot against a cell of table_cases.inc. `row` is for the message.
void kwi_fixture_expect(const kwi_fixture *fixture, const kw_table *table, kw_key key,
                        const char *cell, const char *row);

// Deterministic numbers; `state` must not be 0.
uint64_t kwi_random(uint64_t *state);

#endif // KWI_TEST_TABLE_FIXTURE_H
