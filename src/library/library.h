// Libraries, from inside.
//
// Layer:   library
// Threads: see the members of kwi_owner.
// SPDX-License-Identifier: MIT

#ifndef KWI_LIBRARY_LIBRARY_H
#define KWI_LIBRARY_LIBRARY_H

#include <keyway/library.h>

#include "registry/registration.h"

struct kw_library {
    kwi_owner owner;

    // guard: immutable.
    char *name;
    char *ns; // NULL: names carry their namespaces
};

// Writes the full name of an operator that the library calls `name`.
//
// KW_NAMESPACE_MISMATCH, KW_MALFORMED_NAME.
kw_status kwi_library_full_name(const kw_library *library, const char *name, char *buffer,
                                size_t size, kw_error *err);

#endif // KWI_LIBRARY_LIBRARY_H
