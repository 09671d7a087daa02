// Names of keys, for the parsers of this layer.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#ifndef KWI_KEY_KEY_NAME_H
#define KWI_KEY_KEY_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/key.h>
#include <keyway/status.h>

// A name that parses, and its key.
typedef struct kwi_key_spelling {
    const char *name;
    kw_key key;
} kwi_key_spelling;

// Returns the spelling at `*cursor` and moves the cursor on; a NULL name at the end. Starts at 0.
// The names of all keys come first, in the order of their numbers, then the synonyms.
kwi_key_spelling kwi_key_spelling_next(size_t *cursor);

// Finds the key with the name of `length` bytes at `name`, which need not be terminated.
bool kwi_key_find(const char *name, size_t length, kw_key *out_key);

// Fails with KW_UNKNOWN_KEY and a sentence that begins with `where`, quotes the name and suggests a
// similar one, if there is any.
kw_status kwi_key_fail_unknown(kw_error *err, const char *where, const char *name, size_t length);

// The name of a backend before it was given a public one; NULL for a number that is no backend.
const char *kwi_backend_spelling(kw_backend backend);

#endif // KWI_KEY_KEY_NAME_H
