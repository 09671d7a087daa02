// Text sets: finding what belongs to a text, by hash.
//
// Layer:   base
// Threads: a set is guarded by whoever holds it.
// SPDX-License-Identifier: MIT
//
// J1  A node is in the chain of its hash; `text` and `hash` do not change while it is in a set.
// J2  An empty set holds no memory.

#ifndef KWI_BASE_TEXT_SET_H
#define KWI_BASE_TEXT_SET_H

#include <stddef.h>
#include <stdint.h>

#define KWI_TEXT_SET_FIRST_CHAINS 8

// Part of whatever is found by its text, which owns the text too.
typedef struct kwi_text_node {
    struct kwi_text_node *next;
    const char *text;
    uint64_t hash;
} kwi_text_node;

// A zeroed set is empty and valid.
typedef struct kwi_text_set {
    kwi_text_node *first_chains[KWI_TEXT_SET_FIRST_CHAINS]; // until they are too few
    kwi_text_node **chains;                                 // then these; NULL before
    size_t chain_count;                                     // of `chains`
    size_t count;
} kwi_text_set;

uint64_t kwi_text_hash(const char *text);

// NULL: the set has none with this text.
kwi_text_node *kwi_text_set_find(const kwi_text_set *set, const char *text, uint64_t hash);

// Adds a node whose text no other has. Cannot fail: without memory the chains get longer.
void kwi_text_set_add(kwi_text_set *set, kwi_text_node *node);
void kwi_text_set_remove(kwi_text_set *set, kwi_text_node *node);

#endif // KWI_BASE_TEXT_SET_H
