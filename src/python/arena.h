// Arenas: what the borrowed values of one call point to, and what they keep alive.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_ARENA_H
#define KWI_PYTHON_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/object.h>
#include <keyway/tensor.h>

#include "python/python.h"

// As much as most calls need lies in the arena itself, on the stack.
#define KWPY_ARENA_BYTES 384
#define KWPY_ARENA_KEPT 12

typedef struct kwpy_kept {
    enum {
        KWPY_KEPT_PYTHON,
        KWPY_KEPT_TENSOR,
        KWPY_KEPT_OBJECT,
        KWPY_KEPT_MEMORY
    } kind;
    void *pointer;
} kwpy_kept;

typedef struct kwpy_arena {
    size_t used;
    size_t kept_count;
    size_t kept_room;
    kwpy_kept *kept;
    kwpy_kept kept_inline[KWPY_ARENA_KEPT];
    _Alignas(16) char bytes[KWPY_ARENA_BYTES];
} kwpy_arena;

void kwpy_arena_init(kwpy_arena *arena);
void kwpy_arena_fini(kwpy_arena *arena);

// Memory until the arena's end; NULL with an exception.
void *kwpy_arena_allocate(kwpy_arena *arena, size_t count, size_t bytes);

// Keep a reference until the arena's end: one more of a Python object; the caller's own of the
// others, which is given back at once on failure. False with an exception.
bool kwpy_arena_keep(kwpy_arena *arena, PyObject *object);
bool kwpy_arena_take_tensor(kwpy_arena *arena, kw_tensor *take_tensor);
bool kwpy_arena_take_object(kwpy_arena *arena, kw_object *take_object);

#endif // KWI_PYTHON_ARENA_H
