// A second implementation of precedence and masks for tests: slow, slot by slot, and the way the
// original computes them. It shares no code with src/table.
//
// SPDX-License-Identifier: MIT

#ifndef KWI_TEST_TABLE_REFERENCE_H
#define KWI_TEST_TABLE_REFERENCE_H

#include "table/resolve.h"

typedef struct kwi_reference {
    const kwi_candidate *direct[KW_KEY_LIMIT]; // by key, NULL for none
    const kwi_candidate *fallbacks;            // by slot, kernel NULL for none
} kwi_reference;

typedef struct kwi_reference_winner {
    const kwi_candidate *candidate; // NULL if ambiguous or missing
    kwi_rule rule;
} kwi_reference_winner;

// The masks as the original keeps them: a global one, which counts while those of the backends are
// equal, and a flag that says whether they are not.
typedef struct kwi_reference_masks {
    uint64_t global;
    uint64_t backend[KW_BACKEND_COUNT];
    bool differs;
} kwi_reference_masks;

kwi_reference_winner kwi_reference_resolve(const kwi_reference *reference, kw_key key);
void kwi_reference_masks_make(const kwi_reference *reference, kwi_reference_masks *masks);

// What is left of a call's keys.
uint64_t kwi_reference_masked(const kwi_reference_masks *masks, uint64_t bits);

#endif // KWI_TEST_TABLE_REFERENCE_H
