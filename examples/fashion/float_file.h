// Float file: reads a plain file of little-endian 32-bit floats, refusing what is not finite.
//
// Layer:     example (C library only)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_FLOAT_FILE_H
#define FASHION_FLOAT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/// Reads a whole file.
///
/// On success the caller frees `*out_values`, which holds `*out_count` floats, with free(). Fails
/// if the file is missing, is empty, has more than `limit` floats or a rest of 1 to 3 bytes, or
/// holds an infinity or a NaN; then the outputs are untouched and `err`, if not NULL, says why.
bool fashion_float_file_load(const char *path, size_t limit, float **out_values, size_t *out_count,
                             fashion_error *err);

#endif // FASHION_FLOAT_FILE_H
