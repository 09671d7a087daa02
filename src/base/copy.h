// Copies: whether this copy of the library is the one that serves the process.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Copies]
//
// A process may have the library twice: a copied file under another path, or a static one in a
// program and a shared one beside it. Each has a version, a writer lock and a registry of its own,
// so what is registered in one is not found in the other, and nobody says why. The first copy that
// makes a dispatcher serves the process; the others answer KW_ANOTHER_COPY.
//
// A copy finds the others by an ELF note that each one has, wherever it is linked to, and that
// leads to its record. The loader's list of objects has them all, also those that were opened with
// RTLD_LOCAL. (It has not those of another namespace, by dlmopen(), which have another C library
// too.) And each copy is linked so that it binds to its own symbols: even a copy that does not
// serve cannot touch the blocks of the one that does.

#ifndef KWI_BASE_COPY_H
#define KWI_BASE_COPY_H

#include <stdbool.h>

#include <keyway/status.h>

// KW_OK if this copy serves the process, or does from now on. The text names the other one.
kw_status kwi_copy_serve(kw_error *err);

// Whether it does already.
bool kwi_copy_is_serving(void);

#endif // KWI_BASE_COPY_H
