// Numbers in the place of pointers.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include "base/memory.h"
#include "base/number.h"

TestSuite(number);

enum {
    COUNT = 1000 // several chunks
};

static int things[COUNT];
static uint32_t numbers[COUNT];

static void give_all(void)
{
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = kwi_number_give(&things[i]);
        cr_assert_neq(numbers[i], 0, "%d", i);
    }
}

static void expect_all(void)
{
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(kwi_number_thing(numbers[i]), &things[i], "%d", i);
    }
}

static void take_back_all(void)
{
    for (int i = 0; i < COUNT; i++) {
        kwi_number_take_back(numbers[i]);
    }
}

Test(number, each_stands_for_its_thing_until_it_is_taken_back)
{
    uint64_t before = kwi_memory_bytes();
    give_all();
    expect_all();
    cr_expect_null(kwi_number_thing(0));
    take_back_all();
    cr_expect_eq(kwi_memory_bytes(), before, "without numbers no memory is in use");
}

Test(number, free_ones_are_given_again_before_new_ones)
{
    uint32_t largest = 0;
    give_all();
    for (int i = 0; i < COUNT; i++) {
        largest = numbers[i] > largest ? numbers[i] : largest;
    }
    uint64_t bytes = kwi_memory_bytes();
    for (int i = 0; i < COUNT; i += 3) {
        kwi_number_take_back(numbers[i]);
    }
    for (int i = 0; i < COUNT; i += 3) {
        numbers[i] = kwi_number_give(&things[i]);
        cr_assert_leq(numbers[i], largest, "%d", i);
    }
    expect_all();
    cr_expect_eq(kwi_memory_bytes(), bytes);
    take_back_all();
}

Test(number, without_memory_there_is_none_and_the_others_stay)
{
    uint64_t before = kwi_memory_bytes();
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kwi_number_give(&things[0]), 0);
    kwi_memory_fail_at(0, false);
    cr_expect_eq(kwi_memory_bytes(), before);
    numbers[0] = kwi_number_give(&things[0]);
    kwi_memory_fail_at(1, true);
    uint32_t last = numbers[0];
    int given = 1;
    while (given < COUNT && last != 0) {
        last = kwi_number_give(&things[given]);
        numbers[given] = last;
        given += last != 0;
    }
    kwi_memory_fail_at(0, false);
    cr_expect(given > 1 && given < COUNT, "the first chunk is used up, and there is no other");
    for (int i = 0; i < given; i++) {
        cr_expect_eq(kwi_number_thing(numbers[i]), &things[i], "%d", i);
        kwi_number_take_back(numbers[i]);
    }
    cr_expect_eq(kwi_memory_bytes(), before);
}
