// Types of the schema language: words, and what a node says of itself.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/type.h"

#include <string.h>

#include "base/assert.h"
#include "schema/schema.h"

typedef struct kind_word {
    const char *word;
    kw_type_kind kind;
} kind_word;

static const kind_word plain_words[] = {
#define KWI_TYPE_WORD(name, word, fake) {word, KW_TYPE_##name},
    KWI_TYPE_LIST(KWI_TYPE_WORD)
#undef KWI_TYPE_WORD
};

static const uint8_t fakes[] = {
#define KWI_TYPE_FAKE(name, word, fake) [KW_TYPE_##name] = KW_TYPE_##fake,
    KWI_TYPE_LIST(KWI_TYPE_FAKE)
#undef KWI_TYPE_FAKE
};

// Words that become another type when they are read; they do not print again.
static const kind_word synonyms[] = {
    {"None", KW_TYPE_NONE},
    {"Dimname", KW_TYPE_STRING},
    {"ConstQuantizerPtr", KW_TYPE_INT},
};

static const kind_word composites[] = {
    {"Dict", KW_TYPE_DICT}, {"Union", KW_TYPE_UNION}, {"Future", KW_TYPE_FUTURE},
    {"RRef", KW_TYPE_RREF}, {"Await", KW_TYPE_AWAIT},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const kind_word *find_word(const kind_word *words, size_t count, const char *word,
                                  size_t length)
{
    for (size_t i = 0; i < count; i++) {
        const char *each = words[i].word;
        if (each[0] == word[0] && strlen(each) == length && memcmp(each, word, length) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

bool kwi_type_kind_find(const char *word, size_t length, kw_type_kind *out_kind)
{
    const kind_word *found = find_word(plain_words, COUNT(plain_words), word, length);
    if (found == NULL) {
        found = find_word(synonyms, COUNT(synonyms), word, length);
    }
    if (found == NULL) {
        return false;
    }
    *out_kind = found->kind;
    return true;
}

static const char *find_kind(const kind_word *words, size_t count, kw_type_kind kind)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i].kind == kind) {
            return words[i].word;
        }
    }
    return NULL;
}

const char *kwi_type_kind_word(kw_type_kind kind)
{
    const char *word = find_kind(plain_words, COUNT(plain_words), kind);
    return word != NULL ? word : find_kind(composites, COUNT(composites), kind);
}

kw_type_kind kwi_type_kind_fake(kw_type_kind kind)
{
    bool plain = (size_t)kind < COUNT(fakes) && fakes[kind] != 0;
    return plain ? (kw_type_kind)fakes[kind] : kind;
}

static const kw_schema *schema_of(const kw_type *type)
{
    const char *types = (const char *)(type - type->index);
    return (const kw_schema *)(const void *)(types - KWI_SCHEMA_HEAD_BYTES);
}

const char *kwi_type_text(const kw_type *type)
{
    return kwi_schema_text(schema_of(type));
}

const kwi_type_more *kwi_type_more_of(const kw_type *type)
{
    static const kwi_type_more nothing;
    return type->more != 0 ? &kwi_schema_more(schema_of(type))[type->more - 1] : &nothing;
}

bool kwi_type_is_written(const kw_type *type)
{
    while (kwi_type_more_of(type)->alias.length == 0 &&
           (type->kind == KW_TYPE_LIST || type->kind == KW_TYPE_OPTIONAL)) {
        type = kwi_type_child(type, 0);
    }
    return type->written;
}

kw_type_kind kw_type_kind_of(const kw_type *type)
{
    return (kw_type_kind)type->kind;
}

uint32_t kw_type_child_count(const kw_type *type)
{
    return type->child_count;
}

const kw_type *kw_type_child(const kw_type *type, uint32_t index)
{
    KWI_ASSERT(index < type->child_count);
    return kwi_type_child(type, index);
}

bool kw_type_is_sized(const kw_type *type)
{
    return type->sized;
}

uint32_t kw_type_list_size(const kw_type *type)
{
    return type->sized ? kwi_type_more_of(type)->list_size : 0;
}

static kw_text_view view(const kw_type *type, kwi_extent extent)
{
    const char *text = kwi_type_text(type);
    return (kw_text_view){.data = extent.length > 0 ? text + extent.offset : NULL,
                          .length = extent.length};
}

kw_text_view kw_type_name(const kw_type *type)
{
    bool named = type->kind == KW_TYPE_CLASS || type->kind == KW_TYPE_VARIABLE;
    return named ? view(type, kwi_type_more_of(type)->name) : (kw_text_view){.data = NULL};
}

kw_text_view kw_type_alias(const kw_type *type)
{
    return view(type, kwi_type_more_of(type)->alias);
}
