// Answers: runs test images as the server does, and compares what comes out with the reference.
//
// Layer:   example (uses host, the server's batch.h)
// Threads: any that has called answers_attach(); a set of answers belongs to one
// SPDX-License-Identifier: MIT

#ifndef PLUGIN_TEST_ANSWERS_H
#define PLUGIN_TEST_ANSWERS_H

#include "batcher.h"
#include "host.h"

typedef struct test_answers {
    test_host *host;
    serve_served served; // the thread's context
    serve_job *jobs;     // SERVE_BATCH_MAX of them
    // Over all runs since the last test_answers_forget().
    float distance;                                // the largest of a logit
    char names[SERVE_OP_COUNT][SERVE_LABEL_BYTES]; // what served the last answer
} test_answers;

/// Makes the thread one that answers. Exits where there is no memory.
void test_answers_begin(test_answers *answers, test_host *host);
void test_answers_end(test_answers *answers);
void test_answers_forget(test_answers *answers);

/// Runs images from `first` on, `count` of them, in batches of `batch`. Failures are noted, with
/// `what` in the sentence.
void test_answers_run(test_answers *answers, serve_lane lane, size_t first, size_t count,
                      size_t batch, const char *what);

/// Whether a plugin served an operator in the last answer.
bool test_answers_are_of(const test_answers *answers, const char *plugin);

#endif // PLUGIN_TEST_ANSWERS_H
