// Vectors: growing arrays of pointers and of words.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include "base/memory.h"
#include "base/vector.h"

static int items[100];

Test(vector, pointers_keep_their_order_through_growth)
{
    kwi_pointers vector = {0};
    for (int i = 0; i < 100; i++) {
        cr_assert(kwi_pointers_add(&vector, &items[i]));
    }
    cr_expect_eq(vector.count, 100);
    for (int i = 0; i < 100; i++) {
        cr_expect_eq(vector.items[i], &items[i]);
    }
    kwi_pointers_fini(&vector);
    cr_expect_eq(vector.count, 0);
    cr_expect_eq(kwi_memory_bytes(), 0);
}

Test(vector, reserved_room_needs_no_memory)
{
    kwi_pointers vector = {0};
    cr_assert(kwi_pointers_reserve(&vector, 50));
    kwi_memory_fail_at(1, true);
    for (int i = 0; i < 50; i++) {
        cr_assert(kwi_pointers_add(&vector, &items[i]));
    }
    kwi_memory_fail_at(0, false);
    kwi_pointers_fini(&vector);
}

Test(vector, failed_growth_leaves_it_as_it_was)
{
    kwi_pointers vector = {0};
    kwi_words words = {0};
    kwi_memory_fail_at(1, true);
    cr_expect_not(kwi_pointers_add(&vector, &items[0]));
    cr_expect_not(kwi_words_add(&words, 5));
    kwi_memory_fail_at(0, false);
    cr_expect_eq(vector.count, 0);
    while (vector.count < vector.capacity || vector.count == 0) {
        cr_assert(kwi_pointers_add(&vector, &items[vector.count]));
        cr_assert(kwi_words_add(&words, words.count));
    }
    size_t count = vector.count;
    kwi_memory_fail_at(1, true);
    cr_expect_not(kwi_pointers_add(&vector, &items[0]));
    cr_expect_not(kwi_words_add(&words, 5));
    kwi_memory_fail_at(0, false);
    cr_expect_eq(vector.count, count);
    cr_expect_eq(words.count, count);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(vector.items[i], &items[i]);
        cr_expect_eq(words.items[i], i);
    }
    kwi_pointers_fini(&vector);
    kwi_words_fini(&words);
}

Test(vector, insert_and_remove_move_the_rest)
{
    kwi_pointers vector = {0};
    cr_assert(kwi_pointers_reserve(&vector, 4));
    kwi_pointers_insert(&vector, 0, &items[2]);
    kwi_pointers_insert(&vector, 0, &items[0]);
    kwi_pointers_insert(&vector, 1, &items[1]);
    kwi_pointers_insert(&vector, 3, &items[3]);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(vector.items[i], &items[i]);
    }
    kwi_pointers_remove(&vector, 1);
    kwi_pointers_remove(&vector, 2);
    cr_expect_eq(vector.count, 2);
    cr_expect_eq(vector.items[0], &items[0]);
    cr_expect_eq(vector.items[1], &items[2]);
    kwi_pointers_remove(&vector, 0);
    kwi_pointers_remove(&vector, 0);
    cr_expect_eq(vector.count, 0);
    kwi_pointers_fini(&vector);
}

Test(vector, sorted_words_are_found)
{
    static const uint64_t unsorted[] = {7, 3, UINT64_MAX, 0, 3, 9, 7};
    kwi_words words = {0};
    kwi_words_sort(&words); // empty
    cr_expect_not(kwi_words_has(&words, 0));
    cr_expect_eq(kwi_words_lower_bound(&words, 5), 0);
    for (size_t i = 0; i < sizeof unsorted / sizeof unsorted[0]; i++) {
        cr_assert(kwi_words_add(&words, unsorted[i]));
    }
    kwi_words_sort(&words);
    for (size_t i = 1; i < words.count; i++) {
        cr_expect_leq(words.items[i - 1], words.items[i]);
    }
    cr_expect(kwi_words_has(&words, 0));
    cr_expect(kwi_words_has(&words, 7));
    cr_expect(kwi_words_has(&words, UINT64_MAX));
    cr_expect_not(kwi_words_has(&words, 8));
    cr_expect_eq(kwi_words_lower_bound(&words, 3), 1, "the first of equals");
    cr_expect_eq(kwi_words_lower_bound(&words, 4), 3);
    cr_expect_eq(kwi_words_lower_bound(&words, 10), 6);
    kwi_words_fini(&words);
}
