// Parts of the reference: what its files say to each other.
//
// Layer:   test
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#ifndef REFERENCE_STATE_H
#define REFERENCE_STATE_H

#include "reference/reference.h"

static inline bool reference_is_of(const reference_registration *registration, reference_sort sort,
                                   unsigned op)
{
    return registration->sort == (uint8_t)sort && registration->op == op;
}

// Whether a fallback serves a runtime key: its own, or each of its alias (S35).
bool reference_fallback_covers(const reference_registration *fallback, kw_key key);

// The fallback of a runtime key: of the registered ones the newest; NULL: at most the one of
// `standard`, if the key has one.
const reference_registration *reference_active_fallback(const reference *state, kw_key key);
bool reference_is_standard_key(const reference *state, kw_key key);

// The active kernel of an operator under exactly this key; NULL: there is none.
const reference_registration *reference_active_kernel(const reference *state, unsigned op,
                                                      kw_key key);

void reference_create_library(reference *state, const reference_operation *operation,
                              reference_answer *answer);
void reference_destroy_library(reference *state, const reference_operation *operation,
                               reference_answer *answer);
void reference_commit(reference *state, const reference_operation *operation,
                      reference_answer *answer);
void reference_call_exactly(const reference *state, const reference_operation *operation,
                            reference_answer *answer);
void reference_has_computed(const reference *state, const reference_operation *operation,
                            reference_answer *answer);

#endif // REFERENCE_STATE_H
