// Libraries of a scene: what their statement said, and how that reaches the real library.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_LIBRARY_H
#define KWI_CLI_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/key.h>
#include <keyway/library.h>
#include <keyway/status.h>

// A `library` statement; words that are not there are NULL.
typedef struct cli_library_words {
    const char *name;
    const char *ns;
    const char *kind; // FRAGMENT if it is not there
    const char *key;
    const char *file;
    uint32_t line;
} cli_library_words;

typedef struct cli_library {
    struct cli_library *older;
    char *name;
    char *ns;      // as written: `_` is none
    uint32_t kind; // a kw_library_kind
    kw_key key;    // of registrations that name none; Undefined: it has none
    kw_library *handle;
    bool is_closing; // the open transaction closes it
    bool is_closed;
} cli_library;

// Creates the library that the words describe, on a dispatcher.
KW_NODISCARD kw_status cli_library_create(const cli_library_words *words, kw_dispatcher *dispatcher,
                                          cli_library **out_library, kw_error *err);

// Closes and destroys it. NULL is allowed. What cannot be destroyed is left alone.
KW_NODISCARD kw_status cli_library_destroy(cli_library *take_library, kw_error *err);

// Whether the words mean the library as it is: those that are there say the same.
KW_NODISCARD kw_status cli_library_match(const cli_library *library, const cli_library_words *words,
                                         kw_error *err);

// The key that a registration gets: the one named, or else the library's. `name` may be NULL.
KW_NODISCARD kw_status cli_library_key(const cli_library *library, const char *name,
                                       kw_key *out_key, kw_error *err);

// The full name of an operator as a statement of the library writes it, without blanks. A schema
// is a name too: only what stands before its '(' counts. The caller frees it.
char *cli_library_full_name(const cli_library *library, const char *text);

#endif // KWI_CLI_LIBRARY_H
