// Loops of a strided copy: ordering and joining dimensions, and running through them.
//
// Layer:   tensor
// Threads: any; pure functions but for the bytes that are moved.
// SPDX-License-Identifier: MIT

#include "tensor/copy_loops.h"

#include <stdbool.h>
#include <string.h>

// Whether dimension `a` belongs further in than `b`: it steps less far where it is written, or, if
// that is the same, where it is read.
static bool is_inner(const kwi_loops *loops, uint32_t a, int64_t to, int64_t from)
{
    return loops->to[a] != to ? to < loops->to[a] : from < loops->from[a];
}

static void insert(kwi_loops *loops, int64_t size, int64_t to, int64_t from)
{
    uint32_t at = loops->dim++;
    while (at > 0 && is_inner(loops, at - 1, to, from)) {
        loops->sizes[at] = loops->sizes[at - 1];
        loops->to[at] = loops->to[at - 1];
        loops->from[at] = loops->from[at - 1];
        at--;
    }
    loops->sizes[at] = size;
    loops->to[at] = to;
    loops->from[at] = from;
}

// Makes one loop of two where the outer one goes on where the inner one ends, on both sides.
static void join(kwi_loops *loops)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < loops->dim; i++) {
        if (loops->to[i] == loops->to[last] * loops->sizes[last] &&
            loops->from[i] == loops->from[last] * loops->sizes[last]) {
            loops->sizes[last] *= loops->sizes[i];
            continue;
        }
        last++;
        loops->sizes[last] = loops->sizes[i];
        loops->to[last] = loops->to[i];
        loops->from[last] = loops->from[i];
    }
    loops->dim = loops->dim > 0 ? last + 1 : 0;
}

// Takes the innermost loop for one run if its elements lie side by side.
static void take_run(kwi_loops *loops)
{
    int64_t bytes = (int64_t)loops->bytes;
    if (loops->dim == 0 || loops->to[0] != bytes || loops->from[0] != bytes) {
        return;
    }
    loops->bytes *= (size_t)loops->sizes[0];
    loops->dim--;
    memmove(loops->sizes, loops->sizes + 1, loops->dim * sizeof loops->sizes[0]);
    memmove(loops->to, loops->to + 1, loops->dim * sizeof loops->to[0]);
    memmove(loops->from, loops->from + 1, loops->dim * sizeof loops->from[0]);
}

void kwi_loops_plan(kwi_loops *loops, const int64_t *sizes, const int64_t *to_strides,
                    const int64_t *from_strides, uint32_t dim, size_t element_bytes)
{
    // Strides of sizes other than 1 reach an element that there is: in bytes they fit.
    const int64_t bytes = (int64_t)element_bytes;
    loops->dim = 0;
    loops->bytes = element_bytes;
    for (uint32_t i = dim; i-- > 0;) {
        if (sizes[i] != 1) {
            insert(loops, sizes[i], to_strides[i] * bytes, from_strides[i] * bytes);
        }
    }
    join(loops);
    take_run(loops);
}

// Where the outer loops stand.
typedef struct place {
    char *to;
    const char *from;
    int64_t index[KW_TENSOR_DIM_MAX];
} place;

// One step of the loops from `first` on; false: they have ended.
static bool advance(const kwi_loops *loops, uint32_t first, place *at)
{
    for (uint32_t i = first; i < loops->dim; i++) {
        if (++at->index[i] < loops->sizes[i]) {
            at->to += loops->to[i];
            at->from += loops->from[i];
            return true;
        }
        at->to -= loops->to[i] * (loops->sizes[i] - 1);
        at->from -= loops->from[i] * (loops->sizes[i] - 1);
        at->index[i] = 0;
    }
    return false;
}

// A constant size makes a load and a store of each copy.
#define COPY_LINE(bytes)                                                                           \
    for (int64_t i = 0; i < count; i++) {                                                          \
        memcpy(to + i * to_step, from + i * from_step, bytes);                                     \
    }

static void copy_line(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                      size_t bytes)
{
    switch (bytes) {
    case 1:
        COPY_LINE(1)
        break;
    case 2:
        COPY_LINE(2)
        break;
    case 4:
        COPY_LINE(4)
        break;
    case 8:
        COPY_LINE(8)
        break;
    case 16:
        COPY_LINE(16)
        break;
    default:
        COPY_LINE(bytes)
        break;
    }
}

void kwi_loops_copy(const kwi_loops *loops, void *to, const void *from)
{
    place at = {.to = to, .from = from};
    bool has_line = loops->dim > 0;
    do {
        if (has_line) {
            copy_line(at.to, loops->to[0], at.from, loops->from[0], loops->sizes[0], loops->bytes);
        } else {
            memcpy(at.to, at.from, loops->bytes);
        }
    } while (advance(loops, 1, &at));
}

kw_status kwi_loops_move(const kwi_loops *loops, void *to, const void *from, kwi_move_function move,
                         void *context)
{
    place at = {.to = to, .from = from};
    kw_status status = KW_OK;
    do {
        status = move(at.to, at.from, loops->bytes, context);
    } while (status == KW_OK && advance(loops, 0, &at));
    return status;
}
