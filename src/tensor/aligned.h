// Aligned memory from the process's allocator, which promises no more than malloc does.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_ALIGNED_H
#define KWI_TENSOR_ALIGNED_H

#include <stddef.h>

// Memory at a multiple of `alignment`, a power of two of 16 at least, with no defined contents;
// NULL: there is none. Freed with the same sizes.
void *kwi_aligned_allocate(size_t bytes, size_t alignment);
void kwi_aligned_free(void *memory, size_t bytes, size_t alignment);

#endif // KWI_TENSOR_ALIGNED_H
