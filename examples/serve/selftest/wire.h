// Wire: as much of HTTP as the self-test needs: connections to the loopback, and whole answers.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_WIRE_H
#define SELFTEST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct selftest_reply {
    unsigned status;
    const char *body; // inside the text that was read
    size_t body_bytes;
    size_t total_bytes; // of header and body
} selftest_reply;

typedef enum selftest_progress {
    SELFTEST_PROGRESS_PART = 0,  // more has to come
    SELFTEST_PROGRESS_WHOLE = 1, // `out_reply` is set
    SELFTEST_PROGRESS_BAD = 2    // no answer of HTTP with a length
} selftest_progress;

/// Reads an answer from the beginning of what a connection has got so far.
selftest_progress selftest_wire_read(const char *text, size_t bytes, selftest_reply *out_reply);

/// Connects to a port of 127.0.0.1, and returns a socket that does not block; -1: `errno` says why.
int selftest_wire_connect(uint16_t port);

/// Asks on a connection of its own, and waits for `limit_ms` at most.
///
/// Returns the status and, owned by the caller, the body with a zero behind it. 0: there was no
/// answer, and `out_text` is a sentence that says why; NULL if memory is out.
unsigned selftest_wire_ask(uint16_t port, const char *method, const char *path, const char *body,
                           unsigned limit_ms, char **out_text);

#endif // SELFTEST_WIRE_H
