// Texts that grow, and strings that live as long as the run.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

struct gen_chunk {
    struct gen_chunk *next;
    max_align_t memory[];
};

void gen_text_fini(gen_text *text)
{
    free(text->data);
    *text = (gen_text){.data = NULL};
}

// Makes room for `length` more bytes and a zero.
static void reserve(gen_text *text, size_t length)
{
    if (text->capacity - text->length > length) {
        return;
    }
    size_t capacity = 2 * text->capacity + length + 256;
    char *data = cli_allocate(capacity);
    if (text->length > 0) {
        memcpy(data, text->data, text->length);
    }
    free(text->data);
    text->data = data;
    text->capacity = capacity;
}

void gen_add_bytes(gen_text *text, const char *data, size_t length)
{
    reserve(text, length);
    if (length > 0) {
        memcpy(text->data + text->length, data, length);
    }
    text->length += length;
    text->data[text->length] = '\0';
}

KW_PRINTF(2, 0) static void add_list(gen_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    reserve(text, (size_t)length);
    (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void gen_add(gen_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_list(text, format, args);
    va_end(args);
}

void gen_arena_fini(gen_arena *arena)
{
    while (arena->chunks != NULL) {
        struct gen_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

void *gen_allocate(gen_arena *arena, size_t size)
{
    struct gen_chunk *chunk = cli_allocate(sizeof *chunk + size);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk->memory;
}

char *gen_copy(gen_arena *arena, const char *data, size_t length)
{
    char *copy = gen_allocate(arena, length + 1);
    if (length > 0) {
        memcpy(copy, data, length);
    }
    return copy;
}

char *gen_format(gen_arena *arena, const char *format, ...)
{
    gen_text text = {.data = NULL};
    va_list args;
    va_start(args, format);
    add_list(&text, format, args);
    va_end(args);
    char *copy = gen_copy(arena, text.data, text.length);
    gen_text_fini(&text);
    return copy;
}

char *gen_upper(gen_arena *arena, const char *text)
{
    char *copy = gen_copy(arena, text, strlen(text));
    for (char *c = copy; *c != '\0'; c++) {
        if (*c >= 'a' && *c <= 'z') {
            *c = (char)(*c - 'a' + 'A');
        }
    }
    return copy;
}
