// Memory: what is allocated is counted, and in test builds fails on demand.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"

Test(memory, live_bytes_follow_every_allocation)
{
    uint64_t before = kwi_memory_bytes();
    char *memory = kwi_allocate(100);
    cr_assert_not_null(memory);
    cr_expect_eq(kwi_memory_bytes(), before + 100);
    memory = kwi_reallocate(memory, 100, 300);
    cr_expect_eq(kwi_memory_bytes(), before + 300);
    memory = kwi_reallocate(memory, 300, 50);
    cr_expect_eq(kwi_memory_bytes(), before + 50);
    kwi_free(memory, 50);
    cr_expect_eq(kwi_memory_bytes(), before);
    kwi_free(NULL, 10);
    cr_expect_eq(kwi_memory_bytes(), before);
}

Test(memory, fresh_memory_is_zeroed)
{
    unsigned char *memory = kwi_allocate(64);
    cr_assert_not_null(memory);
    for (int i = 0; i < 64; i++) {
        cr_expect_eq(memory[i], 0);
    }
    kwi_free(memory, 64);
}

Test(memory, strings_are_copied_and_freed_whole)
{
    uint64_t before = kwi_memory_bytes();
    char text[] = "text";
    char *copy = kwi_copy_string(text);
    text[0] = '?';
    cr_expect_str_eq(copy, "text");
    cr_expect_eq(kwi_memory_bytes(), before + 5);
    kwi_free_string(copy);
    cr_expect_eq(kwi_memory_bytes(), before);
    cr_expect_null(kwi_copy_string(NULL));
    kwi_free_string(NULL);
}

Test(memory, nth_allocation_fails_once)
{
    kwi_memory_fail_at(3, false);
    for (int i = 1; i <= 5; i++) {
        void *memory = kwi_allocate(8);
        cr_expect_eq(memory == NULL, i == 3);
        kwi_free(memory, 8);
    }
}

Test(memory, nth_allocation_fails_with_all_after_it_until_told)
{
    uint64_t count = kwi_memory_count();
    kwi_memory_fail_at(2, true);
    void *first = kwi_allocate(8);
    cr_expect_not_null(first);
    cr_expect_null(kwi_allocate(8));
    cr_expect_null(kwi_copy_string("text"));
    uint64_t bytes = kwi_memory_bytes();
    cr_expect_null(kwi_reallocate(first, 8, 16), "the old memory stays");
    cr_expect_eq(kwi_memory_bytes(), bytes);
    cr_expect_eq(kwi_memory_count(), count + 4, "failures count too");
    kwi_memory_fail_at(0, false);
    first = kwi_reallocate(first, 8, 16);
    cr_expect_not_null(first);
    kwi_free(first, 16);
}
