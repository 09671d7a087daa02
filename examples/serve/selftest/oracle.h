// Oracle: what an answer has to be, computed by plain C code without the server or Keyway.
//
// Layer:   example (uses fashion/)
// Threads: one makes it; then it does not change and any may ask
// SPDX-License-Identifier: MIT
//
// Note [What is right]
//
// The logits of each image are computed once, with the functions of fashion/math_plain.h, and
// compared with those that PyTorch recorded when the network was trained. An answer of float
// kernels is right if its class is the reference's and each logit is within 1e-3 of it.
//
// Int8 kernels round weights and activations, so their logits are farther off and now and then
// another class is the largest. Such an answer is right if each logit is within
// SELFTEST_INT8_DISTANCE of the reference; its class has to be the largest of its own logits, as
// for all answers. How many agree in class is counted apart and must not fall below
// SELFTEST_INT8_AGREEMENT.

#ifndef SELFTEST_ORACLE_H
#define SELFTEST_ORACLE_H

#include <fashion/dataset.h>
#include <stdbool.h>
#include <stddef.h>

#include "answers.h"
#include "findings.h"
#include "options.h"

// Those of the plugin's own test. Over all 10,000 images it is 0.30 off, and 0.9972 agree.
#define SELFTEST_INT8_DISTANCE 0.5F
#define SELFTEST_INT8_AGREEMENT 0.99

typedef struct selftest_oracle {
    fashion_dataset dataset;
    size_t image_count;      // that are used
    float *logits;           // owned; [image_count, 10]
    float recorded_distance; // the largest one to the recorded logits
    double seconds;          // that it took
} selftest_oracle;

/// Computes it, in two threads. On false a finding says why.
bool selftest_oracle_init(selftest_oracle *out_oracle, const selftest_options *options,
                          selftest_findings *findings);

void selftest_oracle_fini(selftest_oracle *oracle);

/// The class of an image.
size_t selftest_oracle_class(const selftest_oracle *oracle, size_t image);

/// By how much the largest logit of an image is larger than the next.
float selftest_oracle_gap(const selftest_oracle *oracle, size_t image);

/// Returns NULL if the numbers of an answer are right, else what is wrong with them.
/// `out_distance` is that of the logits to the reference.
const char *selftest_oracle_check(const selftest_oracle *oracle, size_t image,
                                  const selftest_answer *answer, bool may_be_int8,
                                  float *out_distance);

#endif // SELFTEST_ORACLE_H
