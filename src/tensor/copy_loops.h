// Loops of a strided copy: as few as the strides of both sides allow, the longest runs innermost.
//
// Layer:   tensor
// Threads: any; pure functions but for the bytes that are moved.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_COPY_LOOPS_H
#define KWI_TENSOR_COPY_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/tensor.h>
#include <keyway/status.h>

// P1  Each loop is longer than 1, and no two loops next to each other could be one.
// P2  `bytes` lie side by side on both sides.
typedef struct kwi_loops {
    uint32_t dim;
    size_t bytes;                     // moved at once
    int64_t sizes[KW_TENSOR_DIM_MAX]; // the innermost first
    int64_t to[KW_TENSOR_DIM_MAX];    // in bytes
    int64_t from[KW_TENSOR_DIM_MAX];  // in bytes
} kwi_loops;

// The loops over the elements of sizes, of which there is at least one. Strides are in elements.
void kwi_loops_plan(kwi_loops *loops, const int64_t *sizes, const int64_t *to_strides,
                    const int64_t *from_strides, uint32_t dim, size_t element_bytes);

// Copies between memory of this process, whatever its alignment.
void kwi_loops_copy(const kwi_loops *loops, void *to, const void *from);

// Calls `move` for every run; ends at the first failure.
typedef kw_status (*kwi_move_function)(void *to, const void *from, size_t bytes, void *context);
kw_status kwi_loops_move(const kwi_loops *loops, void *to, const void *from, kwi_move_function move,
                         void *context);

#endif // KWI_TENSOR_COPY_LOOPS_H
