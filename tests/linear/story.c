// Stories: all windows since a known state, kept for a report, written to a file and read from one.
//
// Layer:   test
// Threads: one thread uses a story.
// SPDX-License-Identifier: MIT

#include "linear/story.h"

#include <stdlib.h>
#include <string.h>

#include "linear/memory.h"

#define LINE_BYTES 4096

void linear_story_clear(linear_story *story)
{
    for (uint32_t i = 0; i < story->count; i++) {
        linear_free(story->chapters[i].questions);
    }
    story->count = 0;
}

static linear_chapter *begin_chapter(linear_story *story, size_t question_count)
{
    linear_chapter *chapter = &story->chapters[story->count++];
    chapter->count = 0;
    chapter->questions = linear_allocate(question_count + 1, sizeof *chapter->questions);
    return chapter;
}

// Returns where the next questions go.
static linear_question *add(linear_chapter *chapter, uint32_t thread, const linear_record *record,
                            linear_question *questions)
{
    uint32_t index = chapter->count++;
    linear_operation *operation = &chapter->operations[index];
    *operation = record->operation;
    operation->questions = questions;
    memcpy(questions, record->questions, operation->question_count * sizeof *questions);
    chapter->events[index] = (linear_event){record->invoked, record->responded, thread, operation};
    return questions + operation->question_count;
}

void linear_story_add(linear_story *story, const linear_recorder *const *recorders, unsigned count)
{
    size_t question_count = 0;
    size_t record_count = 0;
    for (unsigned i = 0; i < count; i++) {
        record_count += recorders[i]->count;
        for (uint32_t j = 0; j < recorders[i]->count; j++) {
            question_count += recorders[i]->records[j].operation.question_count;
        }
    }
    if (record_count > LINEAR_WINDOW_COUNT || story->count == LINEAR_STORY_COUNT) {
        (void)fprintf(stderr, "linear: more operations than a window holds\n");
        exit(2);
    }
    linear_chapter *chapter = begin_chapter(story, question_count);
    linear_question *questions = chapter->questions;
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t j = 0; j < recorders[i]->count; j++) {
            questions = add(chapter, recorders[i]->thread, &recorders[i]->records[j], questions);
        }
    }
}

linear_window linear_story_window(const linear_story *story, uint32_t index)
{
    return (linear_window){story->chapters[index].events, story->chapters[index].count};
}

// Files -------------------------------------------------------------------------------------------

void linear_story_write(const linear_story *story, FILE *to)
{
    for (uint32_t i = 0; i < story->count; i++) {
        (void)fprintf(to, "window\n");
        for (uint32_t j = 0; j < story->chapters[i].count; j++) {
            const linear_event *event = &story->chapters[i].events[j];
            (void)fprintf(to, "%u %llu %llu ", event->thread, (unsigned long long)event->invoked,
                          (unsigned long long)event->responded);
            linear_operation_print(event->operation, to);
            (void)fputc('\n', to);
        }
    }
}

static bool read_event(const char *line, linear_chapter *chapter)
{
    uint32_t index = chapter->count;
    linear_event *event = &chapter->events[index];
    char *rest = NULL;
    event->thread = (uint32_t)strtoul(line, &rest, 10);
    event->invoked = strtoull(rest, &rest, 10);
    event->responded = strtoull(rest, &rest, 10);
    event->operation = &chapter->operations[index];
    chapter->count++;
    return linear_operation_read(rest, &chapter->operations[index],
                                 &chapter->questions[index * LINEAR_SNAPSHOT_COUNT]);
}

static bool read_line(linear_story *story, const char *line)
{
    if (*line == '#') {
        return true;
    }
    if (strcmp(line, "window\n") == 0) {
        if (story->count == LINEAR_STORY_COUNT) {
            return false;
        }
        (void)begin_chapter(story, LINEAR_WINDOW_COUNT * LINEAR_SNAPSHOT_COUNT);
        return true;
    }
    linear_chapter *chapter = story->count > 0 ? &story->chapters[story->count - 1] : NULL;
    return chapter != NULL && chapter->count < LINEAR_WINDOW_COUNT && read_event(line, chapter);
}

bool linear_story_read(linear_story *story, FILE *from)
{
    char line[LINE_BYTES];
    for (unsigned number = 1; fgets(line, sizeof line, from) != NULL; number++) {
        if (!read_line(story, line)) {
            (void)fprintf(stderr, "linear: line %u cannot be read: %s", number, line);
            return false;
        }
    }
    return true;
}
