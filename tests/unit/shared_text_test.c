// Shared texts, and the set that finds them.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/shared_text.h"
#include "base/text_set.h"

TestSuite(shared_text);

enum {
    COUNT = 200 // several growths of a set
};

Test(shared_text, equal_texts_are_one_copy_until_the_last_reference)
{
    uint64_t before = kwi_memory_bytes();
    char spelled[] = "a.c";
    const char *first = kwi_shared_text_get(spelled);
    uint64_t with_one = kwi_memory_bytes();
    const char *second = kwi_shared_text_get("a.c");
    cr_assert_not_null(first);
    cr_expect_eq(first, second);
    cr_expect_neq((const void *)first, (const void *)spelled);
    cr_expect_eq(kwi_memory_bytes(), with_one);
    kwi_shared_text_put(first);
    cr_expect_str_eq(second, "a.c");
    kwi_shared_text_put(second);
    kwi_shared_text_put(NULL);
    cr_expect_eq(kwi_memory_bytes(), before);
}

Test(shared_text, without_memory_there_is_no_copy_and_nothing_is_left)
{
    uint64_t before = kwi_memory_bytes();
    kwi_memory_fail_at(1, false);
    cr_expect_null(kwi_shared_text_get("b.c"));
    kwi_memory_fail_at(0, false);
    cr_expect_eq(kwi_memory_bytes(), before);
    const char *text = kwi_shared_text_get("b.c");
    cr_expect_str_eq(text, "b.c");
    kwi_shared_text_put(text);
}

static kwi_text_node nodes[COUNT];
static char node_texts[COUNT][8];

static void add_all(kwi_text_set *set)
{
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(node_texts[i], sizeof node_texts[i], "%d", i);
        nodes[i] = (kwi_text_node){.text = node_texts[i], .hash = kwi_text_hash(node_texts[i])};
        kwi_text_set_add(set, &nodes[i]);
    }
}

static kwi_text_node *find(const kwi_text_set *set, const char *text)
{
    return kwi_text_set_find(set, text, kwi_text_hash(text));
}

static void expect_removals(kwi_text_set *set)
{
    for (int i = 0; i < COUNT; i += 2) {
        kwi_text_set_remove(set, &nodes[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        cr_expect_eq(find(set, node_texts[i]), i % 2 == 0 ? NULL : &nodes[i], "%d", i);
    }
    for (int i = 1; i < COUNT; i += 2) {
        kwi_text_set_remove(set, &nodes[i]);
    }
}

Test(shared_text, a_set_finds_each_of_many_and_no_other)
{
    uint64_t before = kwi_memory_bytes();
    kwi_text_set set = {.count = 0};
    cr_expect_null(find(&set, "0"));
    add_all(&set);
    for (int i = 0; i < COUNT; i++) {
        cr_expect_eq(find(&set, node_texts[i]), &nodes[i], "%d", i);
    }
    cr_expect_null(find(&set, "x"));
    cr_expect_geq(set.chain_count, COUNT / 2);
    expect_removals(&set);
    cr_expect_eq(kwi_memory_bytes(), before);
}

Test(shared_text, a_set_that_cannot_grow_still_finds)
{
    kwi_text_set set = {.count = 0};
    kwi_memory_fail_at(1, true);
    add_all(&set);
    cr_expect_null(set.chains);
    cr_expect_eq(find(&set, "150"), &nodes[150]);
    expect_removals(&set);
    kwi_memory_fail_at(0, false);
}

// Chains are chosen by the hash, so equal hashes must not make texts equal.
Test(shared_text, texts_with_equal_hashes_are_told_apart)
{
    kwi_text_set set = {.count = 0};
    kwi_text_node one = {.text = "one", .hash = 5};
    kwi_text_node two = {.text = "two", .hash = 5};
    kwi_text_set_add(&set, &one);
    kwi_text_set_add(&set, &two);
    cr_expect_eq(kwi_text_set_find(&set, "one", 5), &one);
    cr_expect_eq(kwi_text_set_find(&set, "two", 5), &two);
    cr_expect_null(kwi_text_set_find(&set, "one", 6));
    kwi_text_set_remove(&set, &one);
    cr_expect_null(kwi_text_set_find(&set, "one", 5));
    kwi_text_set_remove(&set, &two);
}
