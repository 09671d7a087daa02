// Aligned memory from the process's allocator, which promises no more than malloc does.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT
//
// A piece is `alignment` larger than what is asked for. The aligned part begins at least one word
// into it, and the word before it holds the address of the whole.

#include "tensor/aligned.h"

#include <stdint.h>
#include <string.h>

#include <keyway/allocator.h>

void *kwi_aligned_allocate(size_t bytes, size_t alignment)
{
    // No object is larger than the difference of two pointers can say.
    if (bytes > (size_t)PTRDIFF_MAX - alignment) {
        return NULL;
    }
    unsigned char *whole = kw_memory_reallocate(NULL, 0, bytes + alignment);
    if (whole == NULL) {
        return NULL;
    }
    // The allocator aligns for every standard type, so at least 16 bytes are in front.
    unsigned char *memory = whole + alignment - (uintptr_t)whole % alignment;
    memcpy(memory - sizeof whole, &whole, sizeof whole);
    return memory;
}

void kwi_aligned_free(void *memory, size_t bytes, size_t alignment)
{
    if (memory != NULL) {
        unsigned char *whole;
        memcpy(&whole, (unsigned char *)memory - sizeof whole, sizeof whole);
        kw_memory_free(whole, bytes + alignment);
    }
}
