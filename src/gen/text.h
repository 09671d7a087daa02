// Texts that grow, and strings that live as long as the run.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_TEXT_H
#define KWI_GEN_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include <keyway/export.h>
#include <keyway/schema.h>

// Zero-initialise; gen_text_fini() ends it. `data` is terminated once something was added.
typedef struct gen_text {
    char *data;
    size_t length;
    size_t capacity;
} gen_text;

void gen_text_fini(gen_text *text);
void gen_add(gen_text *text, const char *format, ...) KW_PRINTF(2, 3);
void gen_add_bytes(gen_text *text, const char *data, size_t length);

// Owns strings and other memory until it is ended. Zero-initialise.
typedef struct gen_arena {
    struct gen_chunk *chunks;
} gen_arena;

void gen_arena_fini(gen_arena *arena);

// Zeroed memory.
void *gen_allocate(gen_arena *arena, size_t size);

char *gen_format(gen_arena *arena, const char *format, ...) KW_PRINTF(2, 3);

// A copy of a piece of text. gen_upper() makes capitals of its letters.
char *gen_copy(gen_arena *arena, const char *data, size_t length);
char *gen_upper(gen_arena *arena, const char *text);

#endif // KWI_GEN_TEXT_H
