// Specifications: what the checker of histories knows of the thing that the history is of.
//
// Layer:   test
// Threads: none of its own; one thread uses a checker.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_SPECIFICATION_H
#define TESTS_LINEAR_SPECIFICATION_H

#include <stdbool.h>
#include <stdint.h>

// A thing for one thread: states, and operations that come with the answer they gave.
typedef struct linear_specification {
    void *(*create)(void); // the state at the start
    void *(*copy)(const void *state);
    void (*destroy)(void *state);
    bool (*equal)(const void *one, const void *other);
    uint64_t (*hash)(const void *state); // equal states have equal ones

    // Whether the operation could answer in this state as it did; moves the state on. After false
    // the state is of no more use, unless the operation is an observer.
    bool (*apply)(void *state, const void *operation);

    // Whether the operation, with its answer, leaves every state as it is, also one in which it
    // could not answer so: observers are asked of states that go on to serve.
    bool (*is_observer)(const void *operation);
} linear_specification;

#endif // TESTS_LINEAR_SPECIFICATION_H
