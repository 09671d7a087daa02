// Error: one sentence in the caller's memory that says why a file could not be loaded.
//
// Layer:     example (C library only)
// Threads:   any; an error belongs to its caller
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_ERROR_H
#define FASHION_ERROR_H

typedef struct fashion_error {
    char text[512]; // ends with NUL; a longer sentence is cut
} fashion_error;

#if defined(__GNUC__)
#define FASHION_FORMAT(format_index, first_index)                                                  \
    __attribute__((format(printf, format_index, first_index)))
#else
#define FASHION_FORMAT(format_index, first_index)
#endif

/// Writes a sentence; does nothing if `err` is NULL.
void fashion_error_set(fashion_error *err, const char *format, ...) FASHION_FORMAT(2, 3);

/// Writes "<path>: <the system's words for number>"; a number of 0 reads "cannot be opened".
void fashion_error_set_errno(fashion_error *err, const char *path, int number);

#endif // FASHION_ERROR_H
