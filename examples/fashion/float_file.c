// Float file: reads a plain file of little-endian 32-bit floats, refusing what is not finite.
//
// Layer:     example (C library only)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "float_file.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(float) == 4, "the files hold 32-bit floats");

static float little_endian(const uint8_t *bytes)
{
    uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Decodes in place, front to back; a float is as wide as its four bytes in the file.
static bool decode(const char *path, float *values, size_t count, fashion_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[sizeof(float)];
        memcpy(bytes, values + i, sizeof bytes);
        values[i] = little_endian(bytes);
        if (!isfinite(values[i])) {
            fashion_error_set(err, "%s: value %zu is not finite", path, i);
            return false;
        }
    }
    return true;
}

// Reads up to `capacity` bytes and returns how many, or SIZE_MAX on a read error.
static size_t read_all(const char *path, void *bytes, size_t capacity, fashion_error *err)
{
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fashion_error_set_errno(err, path, errno);
        return SIZE_MAX;
    }
    size_t got = fread(bytes, 1, capacity, file);
    if (ferror(file)) {
        fashion_error_set_errno(err, path, errno);
        got = SIZE_MAX;
    }
    (void)fclose(file);
    return got;
}

bool fashion_float_file_load(const char *path, size_t limit, float **out_values, size_t *out_count,
                             fashion_error *err)
{
    // One float of room after the limit shows that a file is too long.
    size_t capacity = (limit + 1) * sizeof(float);
    float *values = malloc(capacity);
    if (values == NULL) {
        fashion_error_set(err, "%s: no memory for %zu floats", path, limit);
        return false;
    }
    size_t got = read_all(path, values, capacity, err);
    if (got == SIZE_MAX) {
        goto fail;
    }
    size_t count = got / sizeof(float);
    if (got > limit * sizeof(float)) {
        fashion_error_set(err, "%s: longer than %zu floats", path, limit);
        goto fail;
    }
    if (count == 0 || got % sizeof(float) != 0) {
        fashion_error_set(err, "%s: %zu bytes are not a whole number of floats", path, got);
        goto fail;
    }
    if (!decode(path, values, count, err)) {
        goto fail;
    }
    *out_values = values;
    *out_count = count;
    return true;

fail:
    free(values);
    return false;
}
