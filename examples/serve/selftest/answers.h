// Answers: the answer to a prediction, read from its JSON.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_ANSWERS_H
#define SELFTEST_ANSWERS_H

#include <fashion/dataset.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SELFTEST_OPS = 5,
    SELFTEST_LABEL_BYTES = 64
};

// The operators of the network, in the order of an answer's labels.
typedef enum selftest_op {
    SELFTEST_CONV2D = 0,
    SELFTEST_RELU = 1,
    SELFTEST_MAX_POOL2D = 2,
    SELFTEST_LINEAR = 3,
    SELFTEST_SOFTMAX = 4
} selftest_op;

typedef struct selftest_answer {
    size_t class_index;
    char label[32];
    float logits[FASHION_CLASSES];
    float probabilities[FASHION_CLASSES];
    uint64_t version;
    uint64_t batch;
    bool is_canary;
    char served[SELFTEST_OPS][SELFTEST_LABEL_BYTES]; // such as "openblas@1.0#3" or "builtin"
} selftest_answer;

/// Reads an answer. Returns NULL, or what is wrong with its form.
const char *selftest_answer_read(const char *text, size_t bytes, selftest_answer *out_answer);

/// "nn::conv2d" and so on.
const char *selftest_op_name(size_t op);

#endif // SELFTEST_ANSWERS_H
