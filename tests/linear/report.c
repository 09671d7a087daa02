// Reports: a window that is not linearisable, as a diagram of its times.
//
// Layer:   test
// Threads: one thread, when the others rest.
// SPDX-License-Identifier: MIT

#include "linear/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "linear/dispatcher.h"
#include "linear/operation.h"
#include "linear/shrink.h"

#define MOST_COLUMNS 40

// The events of a window, with a snapshot's questions each as an operation of its own: they have
// its version and its times, so they still speak of one state, and can be left out one by one.
typedef struct parts {
    linear_event events[LINEAR_WINDOW_COUNT];
    linear_operation operations[LINEAR_WINDOW_COUNT];
    uint32_t count;
} parts;

static void add_part(parts *to, const linear_event *event, linear_question *question)
{
    linear_operation *operation = &to->operations[to->count];
    *operation = *(const linear_operation *)event->operation;
    operation->questions = question;
    operation->question_count = 1;
    to->events[to->count] = *event;
    to->events[to->count++].operation = operation;
}

static void take_apart(const linear_window *window, parts *out_parts)
{
    out_parts->count = 0;
    uint32_t room = LINEAR_WINDOW_COUNT - window->count;
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_event *event = &window->events[i];
        const linear_operation *operation = event->operation;
        uint32_t more = operation->question_count > 0 ? operation->question_count - 1 : 0;
        if (operation->kind != LINEAR_SNAPSHOT || more == 0 || more > room) {
            out_parts->events[out_parts->count++] = *event;
            continue;
        }
        room -= more;
        for (uint32_t j = 0; j <= more; j++) {
            add_part(out_parts, event, &operation->questions[j]);
        }
    }
}

static int compare_numbers(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one;
    uint64_t b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static int compare_events(const void *one, const void *other)
{
    return compare_numbers(&((const linear_event *)one)->invoked,
                           &((const linear_event *)other)->invoked);
}

// The column of a time: times that matter have one each, as far as there are columns.
static unsigned column(const uint64_t *times, uint32_t count, uint64_t time)
{
    uint32_t rank = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        last += i > 0 && times[i] != times[i - 1] ? 1 : 0;
        rank = times[i] == time ? last : rank;
    }
    return last < MOST_COLUMNS ? rank : rank * (MOST_COLUMNS - 1) / last;
}

void linear_report_diagram(const linear_event *events, uint32_t count)
{
    linear_event sorted[LINEAR_WINDOW_COUNT];
    uint64_t times[2 * LINEAR_WINDOW_COUNT];
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = events[i];
        times[2 * i] = events[i].invoked;
        times[2 * i + 1] = events[i].responded;
    }
    qsort(sorted, count, sizeof *sorted, compare_events);
    qsort(times, 2 * count, sizeof *times, compare_numbers);
    unsigned width = count > 0 ? column(times, 2 * count, times[2 * count - 1]) + 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned begin = column(times, 2 * count, sorted[i].invoked);
        unsigned end = column(times, 2 * count, sorted[i].responded);
        (void)printf("  thread %u  ", sorted[i].thread);
        for (unsigned at = 0; at < width; at++) {
            (void)putchar(at == begin || at == end ? '|' : (at > begin && at < end ? '-' : ' '));
        }
        (void)printf("  ");
        linear_operation_print(sorted[i].operation, stdout);
        (void)putchar('\n');
    }
}

void linear_report(linear_checker *checker, const linear_window *window)
{
    static parts shrunk;
    take_apart(window, &shrunk);
    if (linear_checker_try(checker, &(linear_window){shrunk.events, shrunk.count}) != LINEAR_NO) {
        for (uint32_t i = 0; i < window->count; i++) {
            shrunk.events[i] = window->events[i];
        }
        shrunk.count = window->count;
    }
    linear_shrink(checker, &linear_dispatcher, shrunk.events, &shrunk.count);
    uint32_t state_count = linear_checker_state_count(checker);
    (void)printf("It begins in %s:\n",
                 state_count == 1 ? "this state" : "one of several states, as");
    linear_dispatcher_print(linear_checker_state(checker, 0), stdout);
    (void)printf("No order of these %u of %u operations explains their answers:\n", shrunk.count,
                 window->count);
    linear_report_diagram(shrunk.events, shrunk.count);
}
