// Cases: the list of all.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "explore/cases.h"

#include <stddef.h>
#include <string.h>

const explore_case *const explore_cases[] = {
#define CASE(name) &explore_case_##name,
    EXPLORE_CASE_LIST(CASE)
#undef CASE
        NULL,
};

const explore_case *explore_case_find(const char *name)
{
    const explore_case *const *each = explore_cases;
    while (*each != NULL && strcmp((*each)->name, name) != 0) {
        each++;
    }
    return *each;
}
