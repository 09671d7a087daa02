// Shared texts: one copy of a text, however many registrations carry it.
//
// Layer:   base
// Threads: any. A text is immutable while somebody has a reference to it.
// SPDX-License-Identifier: MIT

#include "base/shared_text.h"

#include <stddef.h>
#include <string.h>

#include "base/lock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text_set.h"

typedef struct shared_text {
    // guard: lock texts.
    kwi_text_node node;
    uint32_t reference_count; // each is of something larger than a byte, so it cannot overflow

    // guard: immutable.
    uint32_t number;
    char text[];
} shared_text;

// guard: lock texts.
static kwi_text_set texts;

static size_t bytes_of(size_t length)
{
    return offsetof(shared_text, text) + length + 1;
}

static kwi_text_node *make(const char *text, uint64_t hash)
{
    size_t length = strlen(text);
    shared_text *made = kwi_allocate(bytes_of(length));
    if (made == NULL) {
        return NULL;
    }
    made->number = kwi_number_give(made->text);
    if (made->number == 0) {
        kwi_free(made, bytes_of(length));
        return NULL;
    }
    memcpy(made->text, text, length + 1);
    made->node.text = made->text;
    made->node.hash = hash;
    kwi_text_set_add(&texts, &made->node);
    return &made->node;
}

static shared_text *of_node(kwi_text_node *node)
{
    return (shared_text *)(void *)((char *)node - offsetof(shared_text, node));
}

// guard: lock texts. Those that were asked for last: who registers carries the same file and a few
// signatures again and again, and comparing takes less than hashing.
#define RECENT_COUNT 2
static shared_text *recent[RECENT_COUNT];

static shared_text *find_recent(const char *text)
{
    for (unsigned i = 0; i < RECENT_COUNT; i++) {
        if (recent[i] != NULL && strcmp(recent[i]->text, text) == 0) {
            return recent[i];
        }
    }
    return NULL;
}

static void forget_recent(const shared_text *text)
{
    for (unsigned i = 0; i < RECENT_COUNT; i++) {
        recent[i] = recent[i] != text ? recent[i] : NULL;
    }
}

// The text's record; NULL: no memory.
static shared_text *find_or_make(const char *text)
{
    shared_text *found = find_recent(text);
    if (found != NULL) {
        return found;
    }
    uint64_t hash = kwi_text_hash(text);
    kwi_text_node *node = kwi_text_set_find(&texts, text, hash);
    node = node != NULL ? node : make(text, hash);
    if (node == NULL) {
        return NULL;
    }
    for (unsigned i = RECENT_COUNT - 1; i > 0; i--) {
        recent[i] = recent[i - 1];
    }
    recent[0] = of_node(node);
    return recent[0];
}

const char *kwi_shared_text_get(const char *text)
{
    kwi_lock(KWI_LOCK_TEXTS);
    shared_text *shared = find_or_make(text);
    if (shared != NULL) {
        shared->reference_count++;
    }
    kwi_unlock(KWI_LOCK_TEXTS);
    return shared != NULL ? shared->text : NULL;
}

static shared_text *of_text(const char *text)
{
    return (shared_text *)((uintptr_t)text - offsetof(shared_text, text));
}

uint32_t kwi_shared_text_number(const char *text)
{
    return of_text(text)->number;
}

void kwi_shared_text_put(const char *text)
{
    if (text == NULL) {
        return;
    }
    shared_text *shared = of_text(text);
    kwi_lock(KWI_LOCK_TEXTS);
    if (--shared->reference_count == 0) {
        forget_recent(shared);
        kwi_text_set_remove(&texts, &shared->node);
        kwi_number_take_back(shared->number);
        kwi_free(shared, bytes_of(strlen(shared->text)));
    }
    kwi_unlock(KWI_LOCK_TEXTS);
}
