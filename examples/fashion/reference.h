// Reference: the recorded logits of all test images, and the check of an answer against them.
//
// Layer:     example (uses float_file)
// Threads:   any; a loaded reference does not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_REFERENCE_H
#define FASHION_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

// How far a logit may be from the recorded one. Backends in f32 differ by about 1e-5 and need not
// agree bit for bit: they add in different orders, and OpenBLAS chooses its code by CPU.
#define FASHION_TOLERANCE 1e-3F

typedef struct fashion_reference {
    float *logits; // owned; [row_count, 10], row i belongs to test image i
    size_t row_count;
} fashion_reference;

// The first rule that an answer breaks, in the order of this list.
typedef enum fashion_verdict {
    FASHION_VERDICT_RIGHT = 0,
    FASHION_VERDICT_NO_ROW = 1,      // the reference does not cover the image
    FASHION_VERDICT_NOT_FINITE = 2,  // a logit is an infinity or a NaN
    FASHION_VERDICT_OTHER_CLASS = 3, // the largest logit is at another class
    FASHION_VERDICT_TOO_FAR = 4,     // a logit differs by more than FASHION_TOLERANCE
} fashion_verdict;

/// Loads `reference-10k.bin`, which has to cover images 0 to image_count - 1.
///
/// On success the caller ends `*out_reference` with fashion_reference_fini(). On failure it is
/// untouched and `err`, if not NULL, says why.
bool fashion_reference_load(const char *path, size_t image_count, fashion_reference *out_reference,
                            fashion_error *err);

/// Frees the logits.
void fashion_reference_fini(fashion_reference *reference);

/// Checks the ten logits of one image.
///
/// `out_distance`, if not NULL, receives the largest difference to a recorded logit; it is
/// written only if the logits are finite and the image has a row.
fashion_verdict fashion_reference_check(const fashion_reference *reference, size_t image_index,
                                        const float *logits, float *out_distance);

/// Returns what a verdict means, as a sentence part.
const char *fashion_verdict_text(fashion_verdict verdict);

/// Returns the index of the largest value, the first of equals; 0 for no values.
size_t fashion_argmax(size_t count, const float *values);

#endif // FASHION_REFERENCE_H
