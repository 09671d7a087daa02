// Types of the schema language: words and printing.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/type.h"

#include <string.h>

#include "base/assert.h"

typedef struct kind_word {
    const char *word;
    uint8_t kind;
} kind_word;

static const char *const words[] = {
#define KWI_TYPE_WORD(name, word, fake) word,
    KWI_TYPE_LIST(KWI_TYPE_WORD)
#undef KWI_TYPE_WORD
};

static const uint8_t fakes[] = {
#define KWI_TYPE_FAKE(name, word, fake) KWI_TYPE_##fake,
    KWI_TYPE_LIST(KWI_TYPE_FAKE)
#undef KWI_TYPE_FAKE
};

// Words that become another type when they are read; they do not print again.
static const kind_word synonyms[] = {
    {"None", KWI_TYPE_NONE},
    {"Dimname", KWI_TYPE_STRING},
    {"ConstQuantizerPtr", KWI_TYPE_INT},
};

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

bool kwi_type_kind_find(const char *word, size_t length, uint8_t *out_kind)
{
    for (size_t kind = 0; kind < KWI_TYPE_KIND_COUNT; kind++) {
        if (is_word(words[kind], word, length)) {
            *out_kind = (uint8_t)kind;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (is_word(synonyms[i].word, word, length)) {
            *out_kind = synonyms[i].kind;
            return true;
        }
    }
    return false;
}

const char *kwi_type_kind_word(uint8_t kind)
{
    KWI_ASSERT(kind < KWI_TYPE_KIND_COUNT);
    return words[kind];
}

uint8_t kwi_type_kind_fake(uint8_t kind)
{
    KWI_ASSERT(kind < KWI_TYPE_KIND_COUNT);
    return fakes[kind];
}

void kwi_type_print(const kwi_type *type, kwi_text *text)
{
    kwi_text_add(text, "%s%s", kwi_type_kind_word(type->kind), type->element_optional ? "?" : "");
    if (type->sized) {
        kwi_text_add(text, "[%u]", (unsigned)type->list_size);
    } else if (type->list) {
        kwi_text_add(text, "[]");
    }
    kwi_text_add(text, "%s", type->optional ? "?" : "");
}
