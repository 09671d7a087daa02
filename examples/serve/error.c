// Errors: one sentence in a kw_error, for failures of the server's own.
//
// Layer:   example (uses keyway/status.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "error.h"

#include <stdarg.h>
#include <stdio.h>

kw_status serve_error_set(kw_error *err, kw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return status;
}
