// Errors: one sentence in a kw_error, for failures of the server's own.
//
// Layer:   example (uses keyway/status.h)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_ERROR_H
#define SERVE_ERROR_H

#include <keyway/export.h>
#include <keyway/status.h>

/// Writes status and sentence, and returns the status.
kw_status serve_error_set(kw_error *err, kw_status status, const char *format, ...) KW_PRINTF(3, 4);

#endif // SERVE_ERROR_H
