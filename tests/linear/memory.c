// Memory for programs that cannot go on without it.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include "linear/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *check(void *block)
{
    if (block == NULL) {
        (void)fprintf(stderr, "linear: no memory\n");
        exit(2);
    }
    return block;
}

void *linear_allocate(size_t count, size_t size)
{
    return check(calloc(count, size));
}

void *linear_reallocate(void *block, size_t count, size_t size)
{
    return check(reallocarray(block, count, size));
}

void linear_free(void *block)
{
    free(block);
}
