// The allocator, from inside: malloc, or what the embedder has set.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_ALLOCATOR_H
#define KWI_BASE_ALLOCATOR_H

#include <keyway/allocator.h>

// The process's allocator. The first call decides that it stays the one it is.
const kw_allocator *kwi_allocator(void);

#endif // KWI_BASE_ALLOCATOR_H
