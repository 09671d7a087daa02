// Error: one sentence in the caller's memory that says why a file could not be loaded.
//
// Layer:     example (C library only)
// Threads:   any; an error belongs to its caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fashion_error_set(fashion_error *err, const char *format, ...)
{
    if (err == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
}

void fashion_error_set_errno(fashion_error *err, const char *path, int number)
{
    const char *reason = "cannot be opened";
    if (number != 0) {
        reason = strerror(number); // NOLINT(concurrency-mt-unsafe): per thread since glibc 2.32
    }
    fashion_error_set(err, "%s: %s", path, reason);
}
