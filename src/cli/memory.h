// Memory and failures of the program itself.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_MEMORY_H
#define KWI_CLI_MEMORY_H

#include <stddef.h>

#include <keyway/status.h>

// Zeroed memory, freed with free(). Without memory the program ends: it has nothing to save.
void *cli_allocate(size_t size);

// Copies a text of `length` bytes and adds a zero. cli_copy() takes all of it; NULL gives NULL.
char *cli_copy_part(const char *text, size_t length);
char *cli_copy(const char *text);

// Fills in `err` and returns `status`.
kw_status cli_fail(kw_error *err, kw_status status, const char *format, ...) KW_PRINTF(3, 4);

// A line that is no statement. It has no number of the library's; its name is "SYNTAX".
#define CLI_SYNTAX (-1)

// kw_status_name(), and "SYNTAX".
const char *cli_status_name(kw_status status);

#endif // KWI_CLI_MEMORY_H
