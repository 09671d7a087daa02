// A seeded leak in a Criterion test: the run must turn red under AddressSanitizer.
//
// Layer:   test (self-check of the test tools)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include "base/memory.h"

Test(seeded, leak)
{
    void *volatile memory = kwi_allocate(16);
    cr_assert_not_null(memory);
    memory = NULL;
}
