// Recorders: what one thread writes down of the operations of a window.
//
// Layer:   test
// Threads: a recorder belongs to one thread; others read it when the threads have met.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_RECORDER_H
#define TESTS_LINEAR_RECORDER_H

#include <stdint.h>

#include "linear/history.h"
#include "linear/operation.h"

#define LINEAR_RECORD_COUNT LINEAR_WINDOW_COUNT // of one thread in one window

typedef struct linear_record {
    uint64_t invoked;
    uint64_t responded;
    linear_operation operation;
    linear_question questions[LINEAR_SNAPSHOT_COUNT];
} linear_record;

typedef struct linear_recorder {
    uint32_t thread;
    uint32_t count;
    linear_record records[LINEAR_RECORD_COUNT];
} linear_recorder;

// The next record, without questions. There must be room.
static inline linear_record *linear_recorder_next(linear_recorder *recorder, linear_kind kind)
{
    linear_record *record = &recorder->records[recorder->count++];
    record->operation = (linear_operation){.kind = kind, .questions = record->questions};
    return record;
}

static inline linear_question *linear_record_ask(linear_record *record, reference_kind kind)
{
    linear_question *question = &record->questions[record->operation.question_count++];
    *question = (linear_question){.asked = {.kind = (uint8_t)kind}};
    return question;
}

#endif // TESTS_LINEAR_RECORDER_H
