// The embedder's allocator: counts, checks sizes, and fails where it is told to.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include <keyway/allocator.h>

#include "operations/side.h"

// Before each piece: its size, and as much again for the alignment.
#define HEAD_BYTES 16

static uint64_t live_bytes;
static uint64_t count;
static unsigned fail_at; // counts down to the allocation that fails; 0: none
static bool fails_after;

static bool is_to_fail(void)
{
    count++;
    if (fail_at == 0) {
        return false;
    }
    if (fail_at > 1) {
        fail_at--;
        return false;
    }
    fail_at = fails_after ? 1 : 0;
    return true;
}

static void *allocate(size_t bytes, void *context)
{
    (void)context;
    char *piece = is_to_fail() ? NULL : malloc(HEAD_BYTES + bytes);
    if (piece == NULL) {
        return NULL;
    }
    memcpy(piece, &bytes, sizeof bytes);
    live_bytes += bytes;
    return piece + HEAD_BYTES;
}

static void release(void *memory, size_t bytes, void *context)
{
    (void)context;
    char *piece = (char *)memory - HEAD_BYTES;
    size_t there = 0;
    memcpy(&there, piece, sizeof there);
    SIDE_HOLDS(there == bytes, "a piece of %zu bytes is given back as %zu", there, bytes);
    live_bytes -= bytes;
    free(piece);
}

void side_memory_init(void)
{
    static bool is_set;
    if (!is_set) {
        const kw_allocator allocator = {
            .struct_size = sizeof allocator, .allocate = allocate, .free = release};
        kw_status status = kw_allocator_set(&allocator, NULL);
        SIDE_SAME(status, KW_OK);
        is_set = true;
    }
}

void side_memory_fail_at(unsigned nth, bool and_after)
{
    fail_at = nth;
    fails_after = and_after;
}

uint64_t side_memory_count(void)
{
    return count;
}

uint64_t side_memory_bytes(void)
{
    return live_bytes;
}
