// Interning: the entry of an operator that a registration belongs to.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_INTERN_H
#define KWI_REGISTRY_INTERN_H

#include <stdbool.h>

#include "base/role.h"
#include "registry/dispatcher.h"

// Note [Loose kernels]
//
// Boxed kernels fit every C signature. While an operator has nothing but them, it is bound to none:
// a registration that brings another signature gets the entry of that one, and they go with it. The
// first of them, where nothing is registered, gets the entry that was in use last.

// Note [Two forms of a signature]
//
// A symbolic signature and its plain form (Note [C signature codes]) belong to one operator: plain
// kernels may come before a definition with symbolic integers. Until a definition was in force no
// typed handle to the entry exists, so the entry may go from one form to the other; it keeps the
// pool's slots of both, since older tables have the boxing entry of the one it left, and plain
// kernels of a symbolic operator are unboxed by the plain one.

// What a registration asks of its entry.
typedef struct kwi_wanted {
    const char *name;
    kw_operator *in_use; // the name's kwi_registered()
    const char
        *code;      // the C signature: "" without a C form, NULL of a boxed kernel, which fits all
    bool is_kernel; // then the plain form of the entry's signature fits too
    bool needs_other; // a plain kernel that libffi is to unbox
} kwi_wanted;

// The entry found, and how the finding is undone.
typedef struct kwi_interning {
    kw_operator *op;
    kw_operator *moved_from; // the entry that loose kernels came from
    bool has_set_slot;       // the entry's signature was not known before
    bool has_switched;       // the entry had the other form before
    bool has_set_other;      // the entry did not know its other form before
} kwi_interning;

// The entry of a name that has registrations; there is at most one. NULL: none.
kw_operator *kwi_registered(const kw_dispatcher *dispatcher, const char *name)
    KWI_REQUIRES(kwi_role_writer);

// Finds or makes the entry. After KW_SIGNATURE_MISMATCH, for which it writes no text, `out->op` is
// the entry that has another signature; after any other failure nothing has changed.
kw_status kwi_intern(kw_dispatcher *dispatcher, const kwi_wanted *wanted, kwi_interning *out,
                     kw_error *err) KWI_REQUIRES(kwi_role_writer);

// Undoes an interning, but for a new entry, which stays, invisible.
void kwi_intern_undo(kwi_interning *interning) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_INTERN_H
