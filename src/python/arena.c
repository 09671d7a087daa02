// Arenas: what the borrowed values of one call point to, and what they keep alive.
//
// Layer:   python (public headers only)
// Threads: one, which holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/arena.h"

#include <stdlib.h>
#include <string.h>

void kwpy_arena_init(kwpy_arena *arena)
{
    arena->used = 0;
    arena->kept_count = 0;
    arena->kept_room = KWPY_ARENA_KEPT;
    arena->kept = arena->kept_inline;
}

static void give_back(const kwpy_kept *kept)
{
    switch (kept->kind) {
    case KWPY_KEPT_PYTHON:
        Py_DECREF((PyObject *)kept->pointer);
        break;
    case KWPY_KEPT_TENSOR:
        kw_tensor_release(kept->pointer);
        break;
    case KWPY_KEPT_OBJECT:
        kw_object_release(kept->pointer);
        break;
    case KWPY_KEPT_MEMORY:
        free(kept->pointer);
        break;
    }
}

void kwpy_arena_fini(kwpy_arena *arena)
{
    for (size_t i = arena->kept_count; i > 0; i--) {
        give_back(&arena->kept[i - 1]);
    }
    if (arena->kept != arena->kept_inline) {
        free(arena->kept);
    }
}

static bool grow(kwpy_arena *arena)
{
    size_t room = 2 * arena->kept_room;
    kwpy_kept *kept = malloc(room * sizeof *kept);
    if (kept == NULL) {
        (void)PyErr_NoMemory();
        return false;
    }
    memcpy(kept, arena->kept, arena->kept_count * sizeof *kept);
    if (arena->kept != arena->kept_inline) {
        free(arena->kept);
    }
    arena->kept = kept;
    arena->kept_room = room;
    return true;
}

static bool put(kwpy_arena *arena, kwpy_kept kept)
{
    if (arena->kept_count == arena->kept_room && !grow(arena)) {
        give_back(&kept);
        return false;
    }
    arena->kept[arena->kept_count++] = kept;
    return true;
}

bool kwpy_arena_keep(kwpy_arena *arena, PyObject *object)
{
    Py_INCREF(object);
    return put(arena, (kwpy_kept){KWPY_KEPT_PYTHON, object});
}

bool kwpy_arena_take_tensor(kwpy_arena *arena, kw_tensor *take_tensor)
{
    return put(arena, (kwpy_kept){KWPY_KEPT_TENSOR, take_tensor});
}

bool kwpy_arena_take_object(kwpy_arena *arena, kw_object *take_object)
{
    return put(arena, (kwpy_kept){KWPY_KEPT_OBJECT, take_object});
}

void *kwpy_arena_allocate(kwpy_arena *arena, size_t count, size_t bytes)
{
    if (count > (SIZE_MAX / 2) / bytes) {
        return PyErr_NoMemory();
    }
    size_t size = (count * bytes + 15) & ~(size_t)15;
    if (size <= KWPY_ARENA_BYTES - arena->used) {
        void *memory = arena->bytes + arena->used;
        arena->used += size;
        return memory;
    }
    void *memory = malloc(size);
    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    return put(arena, (kwpy_kept){KWPY_KEPT_MEMORY, memory}) ? memory : NULL;
}
