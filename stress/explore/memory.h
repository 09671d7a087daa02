// Memory: the allocator under exploration, which repeats addresses and never reuses one.
//
// Layer:   stress
// Threads: any, one at a time.
// SPDX-License-Identifier: MIT
//
// Each thread has an arena of its own, which starts anew with each execution, so that an address
// depends only on what the thread has allocated before. What is freed is filled with a pattern and
// stays unused until the execution ends.

#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// Makes it the library's allocator; before anything else is done with the library.
void explore_memory_install(void);

// What is allocated now stays for all executions: buffers that the library keeps.
void explore_memory_keep(bool keeps);

// Empties the arenas.
void explore_memory_begin(void);

// Pieces allocated since then and not freed.
size_t explore_memory_count(void);

// Whether an address is in a piece that is not freed; true for memory from elsewhere.
bool explore_memory_is_alive(const void *address);

#endif // EXPLORE_MEMORY_H
