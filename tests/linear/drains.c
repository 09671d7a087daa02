// Drains: that nothing of a library is in use once it is drained.
//
// Layer:   test
// Threads: one thread, when the others rest.
// SPDX-License-Identifier: MIT

#include "linear/drains.h"

#include <stdint.h>
#include <stdio.h>

#include "linear/kernels.h"
#include "linear/operation.h"

// When the drain of a library was over that succeeded first; UINT64_MAX: none did. A drain of a
// library that had the number before another one was created does not count.
typedef struct times {
    uint64_t drained_at[LINEAR_LIBRARIES];
} times;

static void find_created(const linear_window *window, uint64_t *created_at)
{
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_operation *operation = window->events[i].operation;
        const reference_operation *asked = &operation->questions->asked;
        if (operation->kind == LINEAR_ASK && asked->kind == REFERENCE_CREATE_LIBRARY) {
            created_at[asked->library] = window->events[i].responded;
        }
    }
}

static times times_of(const linear_window *window)
{
    uint64_t created_at[LINEAR_LIBRARIES] = {0};
    find_created(window, created_at);
    times found;
    for (unsigned i = 0; i < LINEAR_LIBRARIES; i++) {
        found.drained_at[i] = UINT64_MAX;
    }
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_event *event = &window->events[i];
        const linear_operation *operation = event->operation;
        uint64_t *time = &found.drained_at[operation->library];
        if (operation->kind == LINEAR_DRAIN && operation->status == KW_OK &&
            event->invoked > created_at[operation->library] && event->responded < *time) {
            *time = event->responded;
        }
    }
    return found;
}

static bool ran_late(const linear_question *question, const times *known, char *text, size_t size)
{
    for (unsigned i = 0; i < question->mark_count; i++) {
        unsigned mark = question->marks[i];
        if (mark >= LINEAR_MARKS) {
            continue;
        }
        unsigned library = linear_mark_library(mark);
        if (question->ran_at > known->drained_at[library]) {
            (void)snprintf(text, size,
                           "kernel #%u of L%u returned at %llu, after the drain that was over at "
                           "%llu",
                           mark, library, (unsigned long long)question->ran_at,
                           (unsigned long long)known->drained_at[library]);
            return true;
        }
    }
    return false;
}

static bool destroyed_late(const linear_question *question, const times *known, char *text,
                           size_t size)
{
    for (size_t i = 0; i < question->asked.step_count; i++) {
        const reference_step *step = &question->asked.steps[i];
        bool is_kernel = step->kind == REFERENCE_IMPL || step->kind == REFERENCE_FALL_BACK;
        uint64_t drained_at = known->drained_at[step->library];
        if (is_kernel && question->status == KW_OK && drained_at != UINT64_MAX &&
            linear_mark_destroyed_at(step->mark) > drained_at) {
            (void)snprintf(text, size, "kernel #%u of L%u outlives the drain that was over at %llu",
                           step->mark, step->library, (unsigned long long)drained_at);
            return true;
        }
    }
    return false;
}

bool linear_drains_check(const linear_window *window, char *text, size_t size)
{
    times known = times_of(window);
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_operation *operation = window->events[i].operation;
        for (uint32_t j = 0; j < operation->question_count; j++) {
            if (ran_late(&operation->questions[j], &known, text, size) ||
                destroyed_late(&operation->questions[j], &known, text, size)) {
                return true;
            }
        }
    }
    return false;
}
