// Text sets: finding what belongs to a text, by hash.
//
// Layer:   base
// Threads: a set is guarded by whoever holds it.
// SPDX-License-Identifier: MIT

#include "base/text_set.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

uint64_t kwi_text_hash(const char *text)
{
    // FNV-1a, 64 bits (Fowler, Noll and Vo), then a multiply-shift finish for the low bits.
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    return hash ^ (hash >> 32);
}

// The start of the chain of a hash. Counts of chains are powers of two.
static kwi_text_node **chain_of(const kwi_text_set *set, uint64_t hash)
{
    kwi_text_set *own = (kwi_text_set *)(uintptr_t)set; // whoever only looks writes nothing
    return set->chains != NULL ? &own->chains[hash & (set->chain_count - 1)]
                               : &own->first_chains[hash & (KWI_TEXT_SET_FIRST_CHAINS - 1)];
}

kwi_text_node *kwi_text_set_find(const kwi_text_set *set, const char *text, uint64_t hash)
{
    kwi_text_node *node = *chain_of(set, hash);
    while (node != NULL && (node->hash != hash || strcmp(node->text, text) != 0)) {
        node = node->next;
    }
    return node;
}

static void link_node(kwi_text_set *set, kwi_text_node *node)
{
    kwi_text_node **chain = chain_of(set, node->hash);
    node->next = *chain;
    *chain = node;
}

static void free_chains(kwi_text_node **chains, size_t chain_count)
{
    kwi_free(chains, chain_count * sizeof(kwi_text_node *));
}

// Twice as many chains, if there is memory.
static void grow(kwi_text_set *set)
{
    kwi_text_set old = *set;
    size_t old_count = old.chains != NULL ? old.chain_count : KWI_TEXT_SET_FIRST_CHAINS;
    kwi_text_node **chains = kwi_allocate(2 * old_count * sizeof(kwi_text_node *));
    if (chains == NULL) {
        return;
    }
    kwi_text_node **from = old.chains != NULL ? old.chains : old.first_chains;
    memset(set->first_chains, 0, sizeof set->first_chains);
    set->chains = chains;
    set->chain_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++) {
        for (kwi_text_node *node = from[i], *next; node != NULL; node = next) {
            next = node->next;
            link_node(set, node);
        }
    }
    free_chains(old.chains, old.chain_count);
}

void kwi_text_set_add(kwi_text_set *set, kwi_text_node *node)
{
    KWI_ASSERT(kwi_text_set_find(set, node->text, node->hash) == NULL);
    if (set->count >= (set->chains != NULL ? set->chain_count : KWI_TEXT_SET_FIRST_CHAINS)) {
        grow(set);
    }
    link_node(set, node);
    set->count++;
}

void kwi_text_set_remove(kwi_text_set *set, kwi_text_node *node)
{
    kwi_text_node **link = chain_of(set, node->hash);
    while (*link != node) {
        link = &(*link)->next;
    }
    *link = node->next;
    if (--set->count == 0) {
        free_chains(set->chains, set->chain_count);
        *set = (kwi_text_set){.count = 0};
    }
}
