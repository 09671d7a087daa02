// Pages: memory of a chunk, from the system and not from the allocator.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_PAGES_H
#define KWI_TENSOR_PAGES_H

#include <stddef.h>

// Zeroed memory of so many bytes, a power of two, at a multiple of them; NULL: there is none. Takes
// room as it is touched.
void *kwi_pages_map(size_t bytes);
void kwi_pages_unmap(void *pages, size_t bytes);

#endif // KWI_TENSOR_PAGES_H
