// Rounds: windows made and checked, one after another, until the time is over.
//
// Layer:   test
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "linear/rounds.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "linear/dispatcher.h"
#include "linear/drains.h"
#include "linear/kernels.h"
#include "linear/report.h"
#include "linear/story.h"
#include "linear/subject.h"
#include "linear/worker.h"

#define DRAIN_NS UINT64_C(20000000000)
#define ROUNDS (LINEAR_STORY_COUNT - 1) // of one dispatcher, after the one that prepares it
#define MAIN_OPERATIONS 26              // the most that the main thread adds to a window

static linear_story story;
static linear_recorder before; // what the main thread does around the workers
static linear_recorder after;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// What the main thread does
// ------------------------------------------------------------------------

static void ask_library(reference_kind kind, unsigned library)
{
    const reference_operation asked = {.kind = (uint8_t)kind, .library = (uint8_t)library};
    linear_subject_ask(&before, &asked, 0);
}

static void renew(unsigned library)
{
    if (linear_subject_drain(&before, library, DRAIN_NS) == KW_OK) {
        ask_library(REFERENCE_DESTROY_LIBRARY, library);
        ask_library(REFERENCE_CREATE_LIBRARY, library);
    }
}

static void commit_one(const reference_step *step)
{
    reference_operation asked = {.kind = REFERENCE_TRANSACTION, .step_count = 1};
    asked.steps[0] = *step;
    linear_subject_ask(&before, &asked, 0);
}

// Defines an operator, and looks up the handle of the entry that this makes.
static void define(unsigned op, unsigned entry, uint16_t mark)
{
    const reference_step step = {.kind = REFERENCE_DEFINE,
                                 .op = (uint8_t)op,
                                 .schema = (uint8_t)linear_entry_schema(entry),
                                 .mark = mark};
    commit_one(&step);
    const reference_operation found = {.kind = REFERENCE_FIND, .op = (uint8_t)op};
    linear_subject_ask(&before, &found, 0);
}

// Afterwards each operator has two entries, and the first is in use.
static void define_operators(void)
{
    uint16_t mark = 1;
    for (unsigned i = 0; i < LINEAR_OPERATORS; i++, mark += 2) {
        define(linear_operators[i], 0, mark);
        commit_one(&(const reference_step){.kind = REFERENCE_REMOVE, .mark = mark});
        define(linear_operators[i], 1, (uint16_t)(mark + 1));
        commit_one(&(const reference_step){.kind = REFERENCE_REMOVE, .mark = (uint16_t)(mark + 1)});
        mark++;
        define(linear_operators[i], 0, (uint16_t)(mark + 1));
    }
}

static void look_around(void)
{
    linear_subject_version(&after);
    for (unsigned i = 0; i < LINEAR_OPERATORS; i++) {
        for (unsigned j = 0; j < LINEAR_TENSORS; j++) {
            const reference_operation asked = {.kind = REFERENCE_CALL,
                                               .is_typed = true,
                                               .op = linear_operators[i],
                                               .arguments = linear_tensor_keys(j)};
            linear_subject_ask(&after, &asked, 0);
        }
    }
}

static uint32_t most_registrations(const linear_checker *checker)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < linear_checker_state_count(checker); i++) {
        const reference *state = linear_dispatcher_reference(linear_checker_state(checker, i));
        most = state->registration_count > most ? state->registration_count : most;
    }
    return most;
}

static linear_plan make_plan(const linear_checker *checker, unsigned thread_count)
{
    const reference *state = linear_dispatcher_reference(linear_checker_state(checker, 0));
    linear_plan plan = {.mark_count = state->registration_count};
    for (unsigned i = 0; i < plan.mark_count; i++) {
        plan.marks[i] = state->registrations[i].mark;
    }
    for (unsigned i = 0; i < LINEAR_LIBRARIES; i++) {
        plan.is_closed[i] = state->libraries[i].is_closed != 0;
    }
    // The reference wants room for every step of a transaction, also of one that takes away.
    uint32_t taken = most_registrations(checker) + REFERENCE_STEPS;
    uint32_t room = taken < REFERENCE_REGISTRATIONS ? REFERENCE_REGISTRATIONS - taken : 0;
    plan.add_limit = room / thread_count;
    return plan;
}

// Windows -----------------------------------------------------------------------------------------

static void count_window(const linear_window *window, linear_totals *totals)
{
    totals->windows++;
    totals->operations += window->count;
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_event *one = &window->events[i];
        const linear_operation *operation = one->operation;
        bool changes = !linear_operation_is_observer(operation);
        totals->changes += changes ? 1 : 0;
        totals->answers += operation->kind == LINEAR_SNAPSHOT ? operation->question_count : 0;
        for (uint32_t j = i + 1; j < window->count; j++) {
            const linear_event *other = &window->events[j];
            if (one->thread != other->thread && !linear_is_before(one, other) &&
                !linear_is_before(other, one)) {
                totals->overlaps++;
                totals->conflicts +=
                    changes || !linear_operation_is_observer(other->operation) ? 1 : 0;
            }
        }
    }
}

static linear_window add_window(unsigned worker_count)
{
    const linear_recorder *recorders[LINEAR_MOST_THREADS + 2] = {&before};
    for (unsigned i = 0; i < worker_count; i++) {
        recorders[1 + i] = &linear_workers[i].recorder;
    }
    recorders[1 + worker_count] = &after;
    linear_story_add(&story, recorders, worker_count + 2);
    return linear_story_window(&story, story.count - 1);
}

static void dump(const linear_options *options)
{
    FILE *to = options->dump != NULL ? fopen(options->dump, "w") : NULL;
    if (to != NULL) {
        linear_story_write(&story, to);
        (void)printf("The whole history is in %s\n", options->dump);
        (void)fclose(to);
    }
}

static bool is_sound(linear_checker *checker, const linear_window *window, linear_verdict *verdict)
{
    char text[256];
    if (linear_drains_check(window, text, sizeof text)) {
        (void)printf("violation (drain): %s\n", text);
        linear_report_diagram(window->events, window->count);
        return false;
    }
    *verdict = linear_checker_advance(checker, window);
    if (*verdict == LINEAR_NO) {
        (void)printf("violation (not linearisable): window %u of this dispatcher\n", story.count);
        linear_report(checker, window);
        return false;
    }
    return true;
}

// A window of the main thread alone.
static linear_window prepare(const linear_options *options)
{
    linear_story_clear(&story);
    before.count = 0;
    after.count = 0;
    linear_subject_begin();
    for (unsigned i = 0; i < LINEAR_LIBRARIES; i++) {
        ask_library(REFERENCE_CREATE_LIBRARY, i);
    }
    define_operators();
    look_around();
    for (unsigned i = 0; i < options->thread_count; i++) {
        linear_workers[i].recorder.count = 0;
    }
    return add_window(options->thread_count);
}

static linear_window run_round(const linear_options *options, const linear_checker *checker)
{
    linear_plan plan = make_plan(checker, options->thread_count);
    before.count = 0;
    after.count = 0;
    for (unsigned i = 0; i < LINEAR_LIBRARIES; i++) {
        if (plan.is_closed[i]) {
            renew(i);
            plan.is_closed[i] = false;
        }
    }
    linear_workers_run(&plan, (LINEAR_WINDOW_COUNT - MAIN_OPERATIONS) / options->thread_count);
    linear_subject_withdraw();
    look_around();
    return add_window(options->thread_count);
}

// One dispatcher from its beginning to its end.
static bool run_dispatcher(const linear_options *options, linear_checker *checker, double until,
                           linear_totals *totals)
{
    linear_verdict verdict = LINEAR_YES;
    linear_checker_restart(checker);
    linear_window window = prepare(options);
    bool holds = is_sound(checker, &window, &verdict);
    for (unsigned i = 0; i < ROUNDS && holds && verdict == LINEAR_YES && now() < until; i++) {
        window = run_round(options, checker);
        count_window(&window, totals);
        holds = is_sound(checker, &window, &verdict);
    }
    totals->undecided += verdict == LINEAR_NOT_DECIDED ? 1 : 0;
    if (!holds) {
        dump(options);
        return false;
    }
    if (!linear_subject_end()) {
        (void)printf("violation (leak): see above\n");
        return false;
    }
    return true;
}

bool linear_rounds_run(const linear_options *options, linear_totals *out_totals)
{
    linear_totals totals = {0};
    linear_checker *checker = linear_checker_create(&linear_dispatcher, options->pair_limit);
    before.thread = options->thread_count;
    after.thread = options->thread_count;
    linear_workers_start(options->thread_count);
    double until = now() + options->seconds;
    bool holds = true;
    for (uint32_t i = 0; holds && now() < until; i++) {
        linear_workers_seed(options->seed + i);
        holds = run_dispatcher(options, checker, until, &totals);
    }
    linear_workers_join();
    linear_story_clear(&story);
    totals.effort = *linear_checker_effort(checker);
    linear_checker_destroy(checker);
    *out_totals = totals;
    return holds;
}

// Histories from files ----------------------------------------------------------------------------

static void note_marks(const linear_window *window)
{
    for (uint32_t i = 0; i < window->count; i++) {
        const linear_operation *operation = window->events[i].operation;
        for (uint32_t j = 0; j < operation->question_count; j++) {
            const linear_question *question = &operation->questions[j];
            for (size_t k = 0; k < question->asked.step_count && question->status == KW_OK; k++) {
                const reference_step *step = &question->asked.steps[k];
                if (step->mark < LINEAR_MARKS && step->kind != REFERENCE_REMOVE) {
                    linear_mark_note(step->mark, step->library);
                }
            }
        }
    }
}

linear_verdict linear_rounds_check(const linear_options *options)
{
    FILE *from = fopen(options->check, "r");
    if (from == NULL || !linear_story_read(&story, from)) {
        (void)fprintf(stderr, "linear: %s holds no history\n", options->check);
        return LINEAR_NOT_DECIDED;
    }
    (void)fclose(from);
    linear_checker *checker = linear_checker_create(&linear_dispatcher, options->pair_limit);
    linear_verdict verdict = LINEAR_YES;
    uint32_t count = story.count;
    for (uint32_t i = 0; i < count && verdict == LINEAR_YES; i++) {
        const linear_window window = linear_story_window(&story, i);
        note_marks(&window);
        verdict = is_sound(checker, &window, &verdict) ? verdict : LINEAR_NO;
    }
    linear_checker_destroy(checker);
    linear_story_clear(&story);
    return verdict;
}
