// Deadline: ends the process if something that has to end does not.
//
// Layer:   example (C library only)
// Threads: its own waits; one thread arms and cancels it
// SPDX-License-Identifier: MIT
//
// Code of a plugin that never returns cannot be taken away, and what it uses must not be freed. So
// a stop that waits for it ends in a report and an exit status, and not in a wait for ever.

#ifndef SERVE_DEADLINE_H
#define SERVE_DEADLINE_H

#include <stdint.h>

typedef struct serve_deadline serve_deadline; // opaque

/// Makes one, with its thread, so that nothing is wanting when it is armed. NULL: no memory.
///
/// When its time is up `say` is called, which may print, and the process ends with status 1.
serve_deadline *serve_deadline_create(void (*say)(void *context), void *context);

/// Sets the time. NULL is allowed.
void serve_deadline_arm(serve_deadline *deadline, uint64_t timeout_ns);

/// Cancels and frees it. NULL is allowed.
void serve_deadline_destroy(serve_deadline *deadline);

#endif // SERVE_DEADLINE_H
