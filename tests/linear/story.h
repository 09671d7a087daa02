// Stories: all windows since a known state, kept for a report, written to a file and read from one.
//
// Layer:   test
// Threads: one thread uses a story.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_STORY_H
#define TESTS_LINEAR_STORY_H

#include <stdbool.h>
#include <stdio.h>

#include "linear/history.h"
#include "linear/operation.h"
#include "linear/recorder.h"

#define LINEAR_STORY_COUNT 64 // windows

// One window with all that its events point to.
typedef struct linear_chapter {
    linear_event events[LINEAR_WINDOW_COUNT];
    linear_operation operations[LINEAR_WINDOW_COUNT];
    linear_question *questions;
    uint32_t count;
} linear_chapter;

typedef struct linear_story {
    linear_chapter chapters[LINEAR_STORY_COUNT];
    uint32_t count;
} linear_story;

void linear_story_clear(linear_story *story);

// A new chapter with what the recorders hold. There must be room.
void linear_story_add(linear_story *story, const linear_recorder *const *recorders, unsigned count);

linear_window linear_story_window(const linear_story *story, uint32_t index);

// A line for each operation: its thread, its two times, what it is. A line "window" stands before
// each window. Lines that begin with # are not read.
void linear_story_write(const linear_story *story, FILE *to);

// False, with a text on stderr, if a line cannot be read.
bool linear_story_read(linear_story *story, FILE *from);

#endif // TESTS_LINEAR_STORY_H
