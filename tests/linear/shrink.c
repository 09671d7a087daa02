// Shrinking: the part of a history that is not linearisable, without what has no part in it.
//
// Layer:   test
// Threads: one thread uses a checker.
// SPDX-License-Identifier: MIT

#include "linear/shrink.h"

// The verdict on the events whose bits are set.
static linear_verdict judge(const linear_shrinking *of, uint64_t kept, bool in_any_order)
{
    linear_event events[LINEAR_WINDOW_COUNT];
    linear_window window = {events, 0};
    if (!of->adapt(of->context, kept)) {
        return LINEAR_NOT_DECIDED;
    }
    for (uint32_t i = 0; i < of->count; i++) {
        if ((kept >> i & 1) == 0) {
            continue;
        }
        linear_event *event = &events[window.count++];
        *event = of->events[i];
        if (in_any_order && of->specification->is_observer(event->operation)) {
            event->invoked = 0;
            event->responded = UINT64_MAX;
        }
    }
    return linear_checker_try(of->checker, &window);
}

static uint64_t critical(const linear_shrinking *of, uint64_t kept)
{
    uint64_t found = 0;
    for (uint64_t rest = kept; rest != 0; rest &= rest - 1) {
        uint64_t one = rest & -rest;
        found |= judge(of, kept & ~one, false) == LINEAR_YES ? one : 0;
    }
    return found;
}

static uint64_t drop_observers(const linear_shrinking *of, uint64_t kept)
{
    for (uint32_t i = of->count; i > 0; i--) {
        uint64_t one = UINT64_C(1) << (i - 1);
        if (of->specification->is_observer(of->events[i - 1].operation) &&
            judge(of, kept & ~one, false) == LINEAR_NO) {
            kept &= ~one;
        }
    }
    return kept;
}

static uint64_t drop_changes(const linear_shrinking *of, uint64_t kept)
{
    bool is_explained = judge(of, kept, true) == LINEAR_YES;
    uint64_t needed = critical(of, kept);
    for (uint32_t i = of->count; i > 0; i--) {
        uint64_t one = UINT64_C(1) << (i - 1);
        uint64_t fewer = kept & ~one;
        if ((kept & ~needed & one) != 0 && judge(of, fewer, false) == LINEAR_NO &&
            (judge(of, fewer, true) == LINEAR_YES) == is_explained &&
            (needed & ~critical(of, fewer)) == 0) {
            kept = fewer;
        }
    }
    return kept;
}

void linear_shrink(linear_shrinking *shrinking, bool observers_only)
{
    uint32_t count = shrinking->count;
    uint64_t kept = count < LINEAR_WINDOW_COUNT ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    kept = drop_observers(shrinking, kept);
    kept = observers_only ? kept : drop_changes(shrinking, kept);
    (void)shrinking->adapt(shrinking->context, kept);
    shrinking->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if ((kept >> i & 1) != 0) {
            shrinking->events[shrinking->count++] = shrinking->events[i];
        }
    }
}
