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

// The events of a window as copies that may be changed, with a snapshot's questions each as an
// operation of its own: they have its version and its times, so they still speak of one state, and
// can be left out one by one.
typedef struct parts {
    linear_event events[LINEAR_WINDOW_COUNT];
    linear_operation operations[LINEAR_WINDOW_COUNT];
    linear_question questions[LINEAR_WINDOW_COUNT][LINEAR_SNAPSHOT_COUNT];
    uint64_t versions[LINEAR_WINDOW_COUNT]; // of operations, before others were left out
    uint32_t count;
} parts;

// Where an operation has a version; NULL: it has none.
static uint64_t *version_of(linear_operation *operation)
{
    bool is_commit = operation->kind == LINEAR_ASK &&
                     operation->questions->asked.kind == REFERENCE_TRANSACTION &&
                     operation->questions->status == KW_OK;
    if (is_commit) {
        return &operation->questions->version;
    }
    bool has_one = operation->kind == LINEAR_SNAPSHOT || operation->kind == LINEAR_VERSION;
    return has_one ? &operation->version : NULL;
}

static bool is_known(uint64_t version)
{
    return version != 0 && version != LINEAR_ANY_VERSION;
}

static void add_part(parts *to, const linear_event *event, uint32_t first, uint32_t count)
{
    uint32_t index = to->count++;
    linear_operation *operation = &to->operations[index];
    *operation = *(const linear_operation *)event->operation;
    for (uint32_t i = 0; i < count; i++) {
        to->questions[index][i] = operation->questions[first + i];
    }
    operation->questions = to->questions[index];
    operation->question_count = count;
    const uint64_t *version = version_of(operation);
    to->versions[index] = version != NULL ? *version : 0;
    to->events[index] = *event;
    to->events[index].operation = operation;
}

// As far as there is room; a snapshot without questions stays one operation.
static void take_apart(const linear_window *window, parts *out_parts)
{
    uint32_t room = LINEAR_WINDOW_COUNT - window->count;
    out_parts->count = 0;
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_operation *operation = window->events[i].operation;
        uint32_t count = operation->question_count;
        uint32_t more = count > 0 ? count - 1 : 0;
        if (operation->kind != LINEAR_SNAPSHOT || more == 0 || more > room) {
            add_part(out_parts, &window->events[i], 0, count);
            continue;
        }
        room -= more;
        for (uint32_t j = 0; j < count; j++) {
            add_part(out_parts, &window->events[i], j, 1);
        }
    }
}

static bool is_refused(linear_checker *checker, const parts *some)
{
    const linear_window window = {some->events, some->count};
    return linear_checker_try(checker, &window) == LINEAR_NO;
}

// Events move when others are left out; what they point to stays.
static linear_operation *operation_of(parts *some, uint32_t index)
{
    return &some->operations[(const linear_operation *)some->events[index].operation -
                             some->operations];
}

// The version that is left when commits are left out.
static uint64_t shift(const parts *some, const linear_shrinking *of, uint64_t kept,
                      uint64_t version)
{
    uint64_t fewer = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        const linear_operation *operation = of->events[i].operation;
        uint64_t other = some->versions[operation - some->operations];
        bool is_commit = operation->kind == LINEAR_ASK && is_known(other);
        fewer += (kept >> i & 1) == 0 && is_commit && other <= version ? 1 : 0;
    }
    return version - fewer;
}

// Whether the event at `index` may count a commit that is left out and of which nobody knows its
// place.
static bool loses_count(parts *some, const linear_shrinking *of, uint64_t kept, uint32_t index)
{
    for (uint32_t i = 0; i < of->count; i++) {
        linear_operation *operation = operation_of(some, i);
        if ((kept >> i & 1) == 0 && operation->kind == LINEAR_ASK &&
            version_of(operation) != NULL && !is_known(*version_of(operation)) &&
            !linear_is_before(&of->events[index], &of->events[i])) {
            return true;
        }
    }
    return false;
}

typedef struct adapting {
    parts *some;
    linear_shrinking *of;
} adapting;

static bool adapt(void *context, uint64_t kept)
{
    const adapting *with = context;
    for (uint32_t i = 0; i < with->of->count; i++) {
        linear_operation *operation = operation_of(with->some, i);
        uint64_t known = with->some->versions[operation - with->some->operations];
        if ((kept >> i & 1) == 0 || !is_known(known)) {
            continue;
        }
        if (loses_count(with->some, with->of, kept, i)) {
            return false;
        }
        *version_of(operation) = shift(with->some, with->of, kept, known);
    }
    return true;
}

static void shrink(linear_checker *checker, parts *some, bool observers_only)
{
    linear_shrinking of = {.checker = checker,
                           .specification = &linear_dispatcher,
                           .events = some->events,
                           .count = some->count,
                           .adapt = adapt};
    adapting with = {some, &of};
    of.context = &with;
    linear_shrink(&of, observers_only);
    some->count = of.count;
    for (uint32_t i = 0; i < some->count; i++) {
        linear_operation *operation = operation_of(some, i);
        const uint64_t *version = version_of(operation);
        some->versions[operation - some->operations] = version != NULL ? *version : 0;
    }
}

// Forgets the versions that the contradiction does not need: with them few commits can be left out.
static void forget_versions(linear_checker *checker, parts *some)
{
    for (uint32_t i = 0; i < some->count; i++) {
        linear_operation *operation = operation_of(some, i);
        uint64_t *version = version_of(operation);
        if (version == NULL || operation->kind == LINEAR_VERSION) {
            continue;
        }
        uint64_t known = *version;
        *version = operation->kind == LINEAR_SNAPSHOT ? LINEAR_ANY_VERSION : 0;
        if (!is_refused(checker, some)) {
            *version = known;
        }
        some->versions[operation - some->operations] = *version;
    }
}

static unsigned operators_of(const parts *some)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < some->count; i++) {
        const linear_operation *operation = some->events[i].operation;
        for (uint32_t j = 0; j < operation->question_count; j++) {
            const reference_operation *asked = &operation->questions[j].asked;
            found |= asked->kind != REFERENCE_TRANSACTION ? 1U << asked->op : 0;
            for (size_t k = 0; k < asked->step_count; k++) {
                found |= asked->steps[k].kind <= REFERENCE_IMPL ? 1U << asked->steps[k].op : 0;
            }
        }
    }
    return found;
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
    if (!is_refused(checker, &shrunk)) { // it takes the snapshot as a whole
        shrunk.count = 0;
        for (uint32_t i = 0; i < window->count; i++) {
            const linear_operation *operation = window->events[i].operation;
            add_part(&shrunk, &window->events[i], 0, operation->question_count);
        }
    }
    shrink(checker, &shrunk, true);
    forget_versions(checker, &shrunk); // fewer observers need fewer versions
    shrink(checker, &shrunk, false);
    uint32_t state_count = linear_checker_state_count(checker);
    (void)printf("It begins in %s:\n", state_count == 1 ? "this state" : "one of some states, as");
    linear_dispatcher_print(linear_checker_state(checker, 0), operators_of(&shrunk), stdout);
    (void)printf("No order of these %u of %u operations explains their answers:\n", shrunk.count,
                 window->count);
    linear_report_diagram(shrunk.events, shrunk.count);
}
