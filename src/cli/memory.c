// Memory and failures of the program itself.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

void *cli_allocate(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);
    if (memory == NULL) {
        (void)fputs("keyway: out of memory\n", stderr);
        _Exit(CLI_UNUSABLE);
    }
    return memory;
}

char *cli_copy_part(const char *text, size_t length)
{
    char *copy = cli_allocate(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *cli_copy(const char *text)
{
    return text != NULL ? cli_copy_part(text, strlen(text)) : NULL;
}

kw_status cli_fail(kw_error *err, kw_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, format, args); // a longer text is cut
    va_end(args);
    return status;
}

const char *cli_status_name(kw_status status)
{
    return status == CLI_SYNTAX ? "SYNTAX" : kw_status_name(status);
}
