// Libraries, from inside.
//
// Layer:   library
// Threads: see the members of kwi_owner.
// SPDX-License-Identifier: MIT

#ifndef KWI_LIBRARY_LIBRARY_H
#define KWI_LIBRARY_LIBRARY_H

#include <keyway/inline/table.h>
#include <keyway/library.h>

#include "registry/registration.h"

struct kw_library {
    kwi_owner owner; // first: see kwi_lessor_of()

    // guard: immutable.
    char *name;
    char *ns;         // NULL: names carry their namespaces
    char *written_ns; // what its texts write for `ns`; NULL: the same
    char *file;
    uint32_t kind; // a kw_library_kind
    kw_key key;    // Undefined: registrations name their own
};

_Static_assert(offsetof(kw_library, owner) + offsetof(kwi_owner, lessor) == 0,
               "a library begins with its lessor");

// Whether a table names anything of the owner's.
bool kwi_table_names_owner(const kw_table *table, const kwi_owner *owner);

// Whether a library of these options may exist, and what it may register: PyTorch's rules for its
// library blocks, each with a status of its own.
kw_status kwi_kind_check(const kw_library_options *options, kw_error *err);
kw_status kwi_kind_check_define(const kw_library *library, const char *schema, kw_error *err);
kw_status kwi_kind_check_impl(const kw_library *library, const char *name, kw_error *err);
kw_status kwi_kind_check_fallback(const kw_library *library, kw_error *err);

// The key of a registration: the one it names, or its library's.
//
// KW_KEY_CONFLICT if there are both and they differ; KW_UNKNOWN_KEY.
kw_status kwi_kind_key(const kw_library *library, kw_key named, kw_key *out_key, kw_error *err);

// Writes the full name of an operator that the library registers as `name`.
//
// KW_NAMESPACE_MISMATCH, KW_MALFORMED_NAME.
kw_status kwi_library_full_name(const kw_library *library, const char *name, char *buffer,
                                size_t size, kw_error *err);

// Gives the schema that a kernel states for itself the namespace that its library's stands for, so
// that texts show it.
kw_status kwi_library_map_schema(const kw_library *library, kw_schema **schema, kw_error *err);

// KW_BUSY, with a text that names one, while something needs the code of a library whose
// registrations are gone. See Note [Leases].
kw_status kwi_library_check_leases(const kw_library *library, kw_error *err);

// Ends a library of which nothing is registered, without a commit. NULL is allowed. KW_BUSY if
// something needs it all the same: then it is closed, and can be drained.
kw_status kwi_library_discard(kw_library *library) KWI_EXCLUDES(kwi_role_writer);

// Says what holds a closed library, as kw_library_drain() does, from what is known now: nothing is
// reclaimed and no code of others runs. KW_OK: nothing does.
kw_status kwi_library_look(kw_library *library, kw_error *err) KWI_EXCLUDES(kwi_role_writer);

// What a transaction has staged so far.
const struct kwi_change *kwi_transaction_changes(const kw_transaction *tx, size_t *out_count);

#endif // KWI_LIBRARY_LIBRARY_H
