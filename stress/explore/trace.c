// Traces: the steps of an execution, as a schedule that repeats it and for people to read.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "explore/engine.h"
#include "explore/report.h"

#define STEP_LIMIT 4096
#define LABEL_LIMIT 64

typedef struct step {
    const char *what;
    const char *place;
    const void *object;
    unsigned thread;
    bool is_note;
} step;

explore_report *explore_report_now;

static step steps[STEP_LIMIT];
static size_t step_count;
static size_t choice_count; // steps that are no notes
static size_t named_count;  // of them, those that the schedule has to name

static struct {
    const void *object;
    const char *text;
} labels[LABEL_LIMIT];
static size_t label_count;

void explore_trace_begin(void)
{
    step_count = 0;
    choice_count = 0;
    named_count = 0;
    label_count = 0;
}

void explore_label(const void *object, const char *text)
{
    if (label_count < LABEL_LIMIT) {
        labels[label_count].object = object;
        labels[label_count].text = text;
        label_count++;
    }
}

static const char *label_of(const void *object)
{
    for (size_t i = 0; i < label_count && object != NULL; i++) {
        if (labels[i].object == object) {
            return labels[i].text;
        }
    }
    return "";
}

static void add(const step *made)
{
    if (step_count == STEP_LIMIT) {
        explore_fail("endless", "an execution has %d steps and does not end", STEP_LIMIT);
    }
    steps[step_count++] = *made;
}

void explore_trace_step(unsigned thread, const char *what, const char *place, const void *object)
{
    add(&(step){.thread = thread, .what = what, .place = place, .object = object});
    choice_count++;
    if (explore_report_now->steps < choice_count) {
        explore_report_now->steps = choice_count;
    }
}

void explore_trace_note(unsigned thread, const char *what, const char *place)
{
    add(&(step){.thread = thread, .what = what, .place = place, .is_note = true});
}

void explore_trace_deviate(void)
{
    named_count = choice_count + 1;
}

static char letter_of(unsigned thread)
{
    return thread == EXPLORE_SIGNAL ? 'h' : (char)('a' + (int)thread);
}

// "a3,b12,a1": who makes how many steps; from there on, whoever runs goes on.
static void write_schedule(char *buffer, size_t size)
{
    size_t used = 0;
    size_t run = 0; // steps of the same thread
    size_t named = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < step_count && named < named_count && used + 16 < size; i++) {
        if (steps[i].is_note) {
            continue;
        }
        run++;
        named++;
        size_t next = i + 1;
        while (next < step_count && steps[next].is_note) {
            next++;
        }
        if (named < named_count && next < step_count && steps[next].thread == steps[i].thread) {
            continue;
        }
        int length = snprintf(buffer + used, size - used, "%s%c%zu", used > 0 ? "," : "",
                              letter_of(steps[i].thread), run);
        used += length > 0 ? (size_t)length : 0;
        run = 0;
    }
}

static void write_steps(char *buffer, size_t size)
{
    size_t used = 0;
    size_t number = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < step_count && used + 256 < size; i++) {
        const step *each = &steps[i];
        const char *label = label_of(each->object);
        number += !each->is_note;
        int length = snprintf(buffer + used, size - used, "  %3zu  %c: %s%s%s%s, in %s\n", number,
                              letter_of(each->thread), each->what, *label != '\0' ? " (" : "",
                              label, *label != '\0' ? ")" : "", each->place);
        used += length > 0 ? (size_t)length : 0;
    }
}

void explore_trace_write(void)
{
    write_schedule(explore_report_now->schedule, sizeof explore_report_now->schedule);
    write_steps(explore_report_now->trace, sizeof explore_report_now->trace);
}
