// Inputs for a fuzz target: files, and mutations of them that a seed decides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "fuzz/mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check_memory(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void add(fuzz_input **inputs, size_t *count, const void *data, size_t size)
{
    *inputs = check_memory(realloc(*inputs, (*count + 1) * sizeof **inputs));
    fuzz_input *added = &(*inputs)[(*count)++];
    added->size = size;
    added->data = check_memory(malloc(size + 1));
    memcpy(added->data, data, size);
}

void fuzz_corpus_read(fuzz_corpus *corpus, const char *path)
{
    static char data[1 << 21];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    add(&corpus->inputs, &corpus->count, data, size);
}

// Undoes \\, \" and \xAB and returns the length, up to the closing quote.
static size_t unquote(const char *text, char *out)
{
    size_t length = 0;
    for (; *text != '"' && *text != '\0'; text++) {
        if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
            isxdigit((unsigned char)text[3])) {
            const char digits[] = {text[2], text[3], '\0'};
            out[length++] = (char)strtoul(digits, NULL, 16);
            text += 3;
        } else {
            text += text[0] == '\\' && text[1] != '\0' ? 1 : 0;
            out[length++] = *text;
        }
    }
    return length;
}

void fuzz_dictionary_read(fuzz_corpus *corpus, const char *path)
{
    char line[512];
    char word[512];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        const char *quote = line[0] != '#' ? strchr(line, '"') : NULL;
        if (quote != NULL) {
            add(&corpus->words, &corpus->word_count, word, unquote(quote + 1, word));
        }
    }
    (void)fclose(file);
}

static void free_inputs(fuzz_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(inputs[i].data);
    }
    free(inputs);
}

void fuzz_corpus_fini(fuzz_corpus *corpus)
{
    free_inputs(corpus->inputs, corpus->count);
    free_inputs(corpus->words, corpus->word_count);
}

// SplitMix64: the same on every machine.
static size_t below(uint64_t *random, size_t limit)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return limit > 0 ? (size_t)(z % limit) : 0;
}

// Text under construction.
typedef struct text_draft {
    uint8_t *bytes;
    size_t size;
} text_draft;

static void remove_bytes(text_draft *draft, size_t at, size_t count)
{
    memmove(draft->bytes + at, draft->bytes + at + count, draft->size - at - count);
    draft->size -= count;
}

static void insert(text_draft *draft, size_t at, const uint8_t *bytes, size_t count)
{
    uint8_t copy[FUZZ_INPUT_MAX];
    size_t room = FUZZ_INPUT_MAX - draft->size;
    count = count < room ? count : room;
    memcpy(copy, bytes, count); // they may lie in the draft
    memmove(draft->bytes + at + count, draft->bytes + at, draft->size - at);
    memcpy(draft->bytes + at, copy, count);
    draft->size += count;
}

// Inserts a piece of another input, or of this one.
static void insert_piece(const fuzz_corpus *corpus, uint64_t *random, text_draft *draft, size_t at)
{
    const fuzz_input *other = &corpus->inputs[below(random, corpus->count)];
    bool is_own = below(random, 2) == 0;
    const uint8_t *bytes = is_own ? draft->bytes : other->data;
    size_t size = is_own ? draft->size : other->size;
    size_t from = below(random, size + 1);
    size_t count = below(random, (size - from < 64 ? size - from : 64) + 1);
    insert(draft, at, bytes + from, count);
}

static void insert_word(const fuzz_corpus *corpus, uint64_t *random, text_draft *draft, size_t at)
{
    if (corpus->word_count > 0) {
        const fuzz_input *word = &corpus->words[below(random, corpus->word_count)];
        insert(draft, at, word->data, word->size);
    }
}

static void change(const fuzz_corpus *corpus, uint64_t *random, text_draft *draft)
{
    size_t at = below(random, draft->size + 1);
    size_t left = draft->size - at;
    uint8_t byte = (uint8_t)below(random, 256);
    switch (below(random, 8)) {
    case 0:
        insert(draft, at, &byte, 1);
        break;
    case 1:
        remove_bytes(draft, at, below(random, (left < 16 ? left : 16) + 1));
        break;
    case 2:
        if (left > 0) {
            draft->bytes[at] = (uint8_t)(draft->bytes[at] ^ (1U << below(random, 8)));
        }
        break;
    case 3:
        if (left > 0) {
            draft->bytes[at] = byte;
        }
        break;
    case 4:
    case 5:
        insert_piece(corpus, random, draft, at);
        break;
    default:
        insert_word(corpus, random, draft, at);
        break;
    }
}

size_t fuzz_mutate(const fuzz_corpus *corpus, uint64_t *random, uint8_t out[FUZZ_INPUT_MAX])
{
    const fuzz_input *base = &corpus->inputs[below(random, corpus->count)];
    text_draft draft = {.bytes = out};
    draft.size = base->size < FUZZ_INPUT_MAX ? base->size : FUZZ_INPUT_MAX;
    memcpy(out, base->data, draft.size);
    for (size_t count = 1 + below(random, 4); count > 0; count--) {
        change(corpus, random, &draft);
    }
    return draft.size;
}
