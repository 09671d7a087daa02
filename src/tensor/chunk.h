// Chunks: slots for the bodies of tensors, in mapped pages.
//
// Layer:   tensor
// Threads: any, under the leaf lock where a function says so.
// SPDX-License-Identifier: MIT
//
// Note [Chunks]
//
// A chunk is 1 MiB at a multiple of 1 MiB, so that a slot's address tells its chunk, and has 8191
// slots of 128 bytes behind a header of the same size: 128.02 bytes a tensor. Slots are handed out
// from the front, so that pages are touched as they are needed; what comes back goes to the chunk's
// own list. A chunk whose slots have all come back is unmapped, but for one.
//
// A free slot's last word is the link to the next one: what it said as a tensor stays readable for
// who looks at a core file.
//
// C1  A chunk is in the list of open ones exactly if it has a slot to give.
// C2  `free_count` is the length of the list `free`; slots from `fresh_index` on were never given.

#ifndef KWI_TENSOR_CHUNK_H
#define KWI_TENSOR_CHUNK_H

#include <stdint.h>

#include <keyway/inline/tensor.h>

// Several free slots, linked.
typedef struct kwi_slots {
    kw_tensor *first;
    uint32_t count;
} kwi_slots;

void kwi_slots_push(kwi_slots *slots, kw_tensor *slot);
kw_tensor *kwi_slots_pop(kwi_slots *slots);

typedef struct kwi_chunk kwi_chunk;

// Moves up to `count` slots to `slots`; fewer when the open chunks have no more. Under the lock.
void kwi_chunks_give(kwi_slots *slots, uint32_t count);

// Takes slots back. Returns chunks that nobody needs any more, linked, for kwi_chunks_unmap().
// Under the lock.
kwi_chunk *kwi_chunks_take_back(kwi_slots *slots);

// Without the lock.
void kwi_chunks_unmap(kwi_chunk *chunks);
kwi_chunk *kwi_chunk_map(void); // NULL: no memory

// Puts a mapped chunk among the open ones. Under the lock.
void kwi_chunks_add(kwi_chunk *chunk);

// Slots given and not taken back, and bytes touched. Under the lock.
uint64_t kwi_chunks_given(void);
uint64_t kwi_chunks_bytes(void);

#endif // KWI_TENSOR_CHUNK_H
