// Reference: the recorded logits of all test images, and the check of an answer against them.
//
// Layer:     example (uses float_file)
// Threads:   any; a loaded reference does not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "reference.h"

#include <math.h>
#include <stdlib.h>

#include "float_file.h"

enum {
    class_count = 10,
    row_limit = 100000, // ten times the test set
};

bool fashion_reference_load(const char *path, size_t image_count, fashion_reference *out_reference,
                            fashion_error *err)
{
    float *values = NULL;
    size_t count = 0;
    if (!fashion_float_file_load(path, (size_t)row_limit * class_count, &values, &count, err)) {
        return false;
    }
    if (count % class_count != 0) {
        fashion_error_set(err, "%s: %zu floats are not rows of %d", path, count, class_count);
        free(values);
        return false;
    }
    if (count / class_count < image_count) {
        fashion_error_set(err, "%s: %zu rows for %zu images", path, count / class_count,
                          image_count);
        free(values);
        return false;
    }
    *out_reference = (fashion_reference){values, count / class_count};
    return true;
}

void fashion_reference_fini(fashion_reference *reference)
{
    free(reference->logits);
    *reference = (fashion_reference){NULL, 0};
}

fashion_verdict fashion_reference_check(const fashion_reference *reference, size_t image_index,
                                        const float *logits, float *out_distance)
{
    if (image_index >= reference->row_count) {
        return FASHION_VERDICT_NO_ROW;
    }
    const float *expected = reference->logits + image_index * class_count;
    float distance = 0.0F;
    for (size_t i = 0; i < class_count; i++) {
        if (!isfinite(logits[i])) {
            return FASHION_VERDICT_NOT_FINITE;
        }
        distance = fmaxf(distance, fabsf(logits[i] - expected[i]));
    }
    if (out_distance != NULL) {
        *out_distance = distance;
    }
    if (fashion_argmax(class_count, logits) != fashion_argmax(class_count, expected)) {
        return FASHION_VERDICT_OTHER_CLASS;
    }
    return distance <= FASHION_TOLERANCE ? FASHION_VERDICT_RIGHT : FASHION_VERDICT_TOO_FAR;
}

const char *fashion_verdict_text(fashion_verdict verdict)
{
    switch (verdict) {
    case FASHION_VERDICT_RIGHT:
        return "equal to the reference";
    case FASHION_VERDICT_NO_ROW:
        return "not covered by the reference";
    case FASHION_VERDICT_NOT_FINITE:
        return "a logit is not finite";
    case FASHION_VERDICT_OTHER_CLASS:
        return "another class than the reference";
    case FASHION_VERDICT_TOO_FAR:
        return "a logit is too far from the reference";
    }
    return "?";
}

size_t fashion_argmax(size_t count, const float *values)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] > values[best]) {
            best = i;
        }
    }
    return best;
}
