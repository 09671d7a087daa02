// Memory: every allocation of the library, counted, and failing on demand in test builds.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_MEMORY_H
#define KWI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zeroed memory, or NULL. Freed with the same size.
void *kwi_allocate(size_t bytes);
void *kwi_reallocate(void *memory, size_t old_bytes, size_t new_bytes);
void kwi_free(void *memory, size_t bytes);

// A copy of a string, freed with kwi_free_string. NULL gives NULL.
char *kwi_copy_string(const char *text);
void kwi_free_string(char *text);

// Bytes allocated and not freed, over the whole process.
uint64_t kwi_memory_bytes(void);

#ifdef KWI_TESTING
// The n-th allocation from now on fails, once or together with all after it; 0 lets all succeed.
// Counts over all threads.
void kwi_memory_fail_at(uint64_t nth, bool and_after);
uint64_t kwi_memory_count(void);
#endif

#endif // KWI_BASE_MEMORY_H
