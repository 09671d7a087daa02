// Operations of histories of the library: what was asked, and what was answered.
//
// Layer:   test
// Threads: plain data.
// SPDX-License-Identifier: MIT
//
// Note [A snapshot is one operation]
//
// What is answered under a snapshot is what held at one instant, that of its opening, whenever the
// question comes. So the snapshot is one operation in the history, with the times of its opening,
// and all the answers that were given under it belong to it: it is legal in a state that has its
// version and gives every one of them. Snapshots inside it add to the same operation, since they
// keep its version. What a snapshot does not cover, such as a commit of its own thread or the
// number of the newest version, is an operation of its own.

#ifndef TESTS_LINEAR_OPERATION_H
#define TESTS_LINEAR_OPERATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <keyway/keyset.h>
#include <keyway/status.h>

#include "reference/reference.h"

#define LINEAR_OPERATORS 3
#define LINEAR_LIBRARIES 4
#define LINEAR_ENTRIES 2 // of an operator: handles for calls with and without the number
#define LINEAR_KEYS 4
#define LINEAR_TENSORS 4
#define LINEAR_CHAIN 3          // kernels that one call runs, one redispatching to the next
#define LINEAR_SNAPSHOT_COUNT 8 // questions under one snapshot

// Marks of kernels that must not have run.
#define LINEAR_DEAD 65001  // its user data was destroyed
#define LINEAR_FREED 65002 // so was its record

typedef enum linear_kind {
    LINEAR_ASK = 1,  // one question
    LINEAR_SNAPSHOT, // version, questions
    LINEAR_VERSION,  // version: the newest one
    LINEAR_DRAIN,    // library, status
} linear_kind;

// A version that is not known, which fits all.
#define LINEAR_ANY_VERSION UINT64_MAX

// A question that the reference knows, with the library's answer.
typedef struct linear_question {
    reference_operation asked;
    kw_status status;
    bool yes;
    uint8_t entry; // that a look-up found
    uint8_t mark_count;
    uint16_t marks[LINEAR_CHAIN]; // of the kernels that ran, outermost first
    uint64_t version; // that a commit told, counted from the history's begin; 0: it told none
    uint64_t ran_at;  // when the innermost kernel was about to return; 0: none ran
} linear_question;

typedef struct linear_operation {
    linear_kind kind;
    uint8_t library;
    kw_status status;
    uint64_t version;
    linear_question *questions;
    uint32_t question_count;
} linear_operation;

// The operators, keys and tensors of histories, by number. An operator's is the reference's.
extern const uint8_t linear_operators[LINEAR_OPERATORS];
extern const uint16_t linear_keys[LINEAR_KEYS];
kw_keyset linear_tensor_keys(unsigned tensor);
const char *linear_tensor_name(unsigned tensor);

// What an entry's definitions and kernels have.
reference_schema linear_entry_schema(unsigned entry);
reference_form linear_entry_form(unsigned entry);

// Whether kernels of the key redispatch to what lies below it.
bool linear_key_is_layer(unsigned key);

// Whether the operation, as it was answered, leaves every state as it is.
bool linear_operation_is_observer(const linear_operation *operation);

// One line, without its end.
void linear_operation_print(const linear_operation *operation, FILE *to);

// Reads such a line. The questions go where `questions` has room for LINEAR_SNAPSHOT_COUNT.
bool linear_operation_read(const char *line, linear_operation *out_operation,
                           linear_question *questions);

#endif // TESTS_LINEAR_OPERATION_H
