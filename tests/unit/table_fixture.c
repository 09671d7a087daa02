// Fixture of the table tests: operators and fallbacks written as words.
//
// SPDX-License-Identifier: MIT

#include "unit/table_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#include "table/layout.h"

static const kw_kernel kernels[KW_KEY_LIMIT];
static const kw_kernel fallbacks[KW_SLOT_COUNT];
static const kw_kernel missing;
static const kw_kernel ambiguous;

const char kwi_in_tree_fallbacks[] =
    "BackendSelect=ft Python FuncTorchDynamicLayerBackMode Functionalize Named Conjugate Negative "
    "ZeroTensor ADInplaceOrView=ft AutogradOther=ft AutogradCPU=ft AutogradCUDA=ft AutogradXLA=ft "
    "AutogradMPS=ft AutogradXPU=ft AutogradHPU=ft AutogradLazy=ft Tracer AutocastCPU=ft "
    "AutocastCUDA=ft FuncTorchBatched FuncTorchVmapMode=ft Batched VmapMode=ft "
    "FuncTorchGradWrapper PythonTLSSnapshot FuncTorchDynamicLayerFrontMode PythonDispatcher";

static const struct short_name {
    const char *word;
    kw_key key;
    kwi_rule rule;
} short_names[] = {
    {"NF", KW_KEY_CompositeExplicitAutogradNonFunctional, KWI_RULE_NON_FUNCTIONAL},
    {"CEA", KW_KEY_CompositeExplicitAutograd, KWI_RULE_EXPLICIT},
    {"NT", KW_KEY_CompositeImplicitAutogradNestedTensor, KWI_RULE_NESTED},
    {"CII", KW_KEY_CompositeImplicitAutograd, KWI_RULE_IMPLICIT},
    {"AG", KW_KEY_Autograd, KWI_RULE_AUTOGRAD},
    {"FTB", KW_KEY_FuncTorchBatchedDecomposition, KWI_RULE_BATCHED},
};

static const struct short_name *find_short_name(const char *word)
{
    for (size_t i = 0; i < sizeof short_names / sizeof short_names[0]; i++) {
        if (strcmp(short_names[i].word, word) == 0) {
            return &short_names[i];
        }
    }
    return NULL;
}

bool kwi_next_word(const char **text, char word[KWI_WORD_BYTES])
{
    *text += strspn(*text, " ");
    size_t length = strcspn(*text, " ");
    cr_assert(length < KWI_WORD_BYTES);
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return length != 0;
}

kw_key kwi_fixture_key(const char *word)
{
    const struct short_name *found = find_short_name(word);
    kw_key key = KW_KEY_Undefined;
    if (found != NULL) {
        return found->key;
    }
    cr_assert_eq(kw_key_parse(word, &key, NULL), KW_OK, "no key %s", word);
    return key;
}

// Cuts the ending off a word of a list and makes a candidate of both, with the key's own kernel.
static kwi_candidate candidate_of(char *word)
{
    char *ending = strchr(word, '=');
    bool fallthrough = ending != NULL && strcmp(ending, "=ft") == 0;
    cr_assert(ending == NULL || fallthrough || strcmp(ending, "=boxed") == 0);
    if (ending != NULL) {
        *ending = '\0';
    }
    kw_key key = kwi_fixture_key(word);
    return (kwi_candidate){.kernel = &kernels[key],
                           .unboxed = ending != NULL ? NULL : kwi_fixture_unboxed,
                           .key = key,
                           .fallthrough = fallthrough};
}

void kwi_fixture_init(kwi_fixture *fixture, const char *kernel_list, const char *fallback_list)
{
    char word[KWI_WORD_BYTES];
    *fixture = (kwi_fixture){.kernel_count = 0};
    while (kwi_next_word(&kernel_list, word)) {
        fixture->kernels[fixture->kernel_count++] = candidate_of(word);
    }
    while (kwi_next_word(&fallback_list, word)) {
        kwi_candidate fallback = candidate_of(word);
        int slot = kw_key_slot(fallback.key);
        cr_assert(slot >= 0);
        fallback.unboxed = NULL;
        fallback.kernel = &fallbacks[slot];
        fixture->fallbacks[slot] = fallback;
    }
    kwi_fallbacks_prepare(&fixture->prepared, fixture->fallbacks);
}

kwi_resolve_input kwi_fixture_input(const kwi_fixture *fixture)
{
    return (kwi_resolve_input){.kernels = fixture->kernels,
                               .kernel_count = fixture->kernel_count,
                               .fallbacks = &fixture->prepared,
                               .missing = &missing,
                               .ambiguous = &ambiguous,
                               .box = kwi_fixture_box};
}

bool kwi_fixture_is_same(const kw_table *a, const kw_table *b)
{
    const size_t from = offsetof(kw_table, definition);
    return a->block.bytes == b->block.bytes &&
           kwi_layout_equal(kwi_layout_record_of(a), kwi_layout_record_of(b)) &&
           memcmp((const char *)a + from, (const char *)b + from, a->block.bytes - from) == 0;
}

kw_table *kwi_fixture_resolve(const kwi_fixture *fixture)
{
    kwi_resolve_input input = kwi_fixture_input(fixture);
    kw_table *table = kwi_table_resolve(&input, NULL);
    cr_assert_not_null(table);
    return table;
}

const kw_kernel *kwi_fixture_kernel(kw_key key)
{
    return &kernels[key];
}

const kw_kernel *kwi_fixture_fallback(unsigned slot)
{
    return &fallbacks[slot];
}

const kw_kernel *kwi_fixture_missing(void)
{
    return &missing;
}

const kw_kernel *kwi_fixture_ambiguous(void)
{
    return &ambiguous;
}

void kwi_fixture_unboxed(void)
{
}

void kwi_fixture_box(void)
{
}

// The candidate that was registered under a key. The test ends if there is none.
static kwi_candidate registered(const kwi_fixture *fixture, kw_key key, const char *row)
{
    for (size_t i = 0; i < fixture->kernel_count; i++) {
        if (fixture->kernels[i].key == key) {
            return fixture->kernels[i];
        }
    }
    cr_assert_fail("row '%s' has no kernel for %s", row, kw_key_name(key));
    return (kwi_candidate){.kernel = NULL};
}

// What a cell says about a slot: the winner, in a candidate, and the rule.
static kwi_candidate winner(const kwi_fixture *fixture, kw_key key, const char *cell,
                            const char *row, kwi_rule *out_rule)
{
    const struct short_name *alias = find_short_name(cell);
    const kwi_candidate *fallback = &fixture->fallbacks[kw_key_slot(key)];
    if (alias != NULL) {
        *out_rule = alias->rule;
        return registered(fixture, alias->key, row);
    }
    if (strcmp(cell, "own") == 0) {
        *out_rule = KWI_RULE_DIRECT;
        return registered(fixture, key, row);
    }
    if (strcmp(cell, "AMB") == 0) {
        *out_rule = KWI_RULE_AMBIGUOUS;
        return (kwi_candidate){.kernel = &ambiguous};
    }
    if (strcmp(cell, "ft") == 0) {
        cr_assert(fallback->fallthrough, "row '%s': no fallthrough", row);
    } else if (strcmp(cell, "fb") == 0) {
        cr_assert(fallback->kernel != NULL && !fallback->fallthrough, "row '%s': no fallback", row);
    } else {
        cr_assert_str_eq(cell, "-", "row '%s'", row);
    }
    *out_rule = fallback->kernel != NULL ? KWI_RULE_FALLBACK : KWI_RULE_MISSING;
    return fallback->kernel != NULL ? *fallback : (kwi_candidate){.kernel = &missing};
}

void kwi_fixture_expect(const kwi_fixture *fixture, const kw_table *table, kw_key key,
                        const char *cell, const char *row)
{
    unsigned slot = (unsigned)kw_key_slot(key);
    const kw_entry *entry = kwi_table_entry(table, slot);
    const char *name = kw_key_name(key);
    if (strcmp(cell, "*") == 0) {
        return;
    }
    kwi_rule rule;
    kwi_candidate expected = winner(fixture, key, cell, row, &rule);
    kw_function function = expected.unboxed != NULL ? expected.unboxed : kwi_fixture_box;
    cr_assert_eq(entry->kernel, expected.kernel, "row '%s', %s is not %s", row, name, cell);
    cr_assert_eq(entry->function, function, "row '%s', %s: function", row, name);
    cr_assert_eq(kwi_table_rule(table, slot), rule, "row '%s', %s: by rule %s, not %s", row, name,
                 kwi_rule_name(kwi_table_rule(table, slot)), kwi_rule_name(rule));
    cr_assert_eq(kwi_table_is_fallthrough(table, slot), expected.fallthrough,
                 "row '%s', %s: fallthrough", row, name);
}

// xorshift64
uint64_t kwi_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
