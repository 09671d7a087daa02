// Memory for programs that cannot go on without it.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_MEMORY_H
#define TESTS_LINEAR_MEMORY_H

#include <stddef.h>

// Zeroed. These end the program, with status 2, when there is none.
void *linear_allocate(size_t count, size_t size);
void *linear_reallocate(void *block, size_t count, size_t size); // what is added is not zeroed

void linear_free(void *block);

#endif // TESTS_LINEAR_MEMORY_H
