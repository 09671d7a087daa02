// Histories: operations of several threads with the times of their invocations and responses.
//
// Layer:   test
// Threads: plain data.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_HISTORY_H
#define TESTS_LINEAR_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

// One operation. `responded` of one below `invoked` of another says that it was over before the
// other began; see Note [The order of operations].
typedef struct linear_event {
    uint64_t invoked;
    uint64_t responded;
    uint32_t thread;
    const void *operation; // with its answer; what it is, the specification knows
} linear_event;

// The operations of one stretch of time, in any order.
typedef struct linear_window {
    const linear_event *events;
    uint32_t count;
} linear_window;

// The most that one window holds: a set of operations is a word.
#define LINEAR_WINDOW_COUNT 64

static inline bool linear_is_before(const linear_event *one, const linear_event *other)
{
    return one->responded < other->invoked;
}

#endif // TESTS_LINEAR_HISTORY_H
