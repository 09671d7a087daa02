// Operators: entries of a dispatcher, their registrations, and the making of their tables.
//
// Layer:   registry
// Threads: `table` is read by any thread; the rest is immutable or under the writer lock.
// SPDX-License-Identifier: MIT
//
// O1  `table` is never NULL: a chain ends in the permanent table of the entry's signature.
// O2  `table` equals a fresh resolution of the registrations whenever the writer lock is free.
// O3  The C signature of an entry never changes once a definition was in force.

#ifndef KWI_REGISTRY_OPERATOR_H
#define KWI_REGISTRY_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/inline/table.h>

#include "base/role.h"
#include "registry/registration.h"
#include "registry/signature_pool.h"
#include "table/resolve.h"

struct kw_operator {
    // guard: rcu. Store: release, under the writer lock. Load: acquire, inside enter/leave.
    // [pair: table-publish]
    kwi_ptr_cell table;

    // guard: immutable.
    kw_dispatcher *dispatcher;
    kw_operator *previous; // the entry of the same name that this one replaced, or NULL
    kw_operator *next;     // in the dispatcher's list

    // guard: lock writer.
    kwi_signature_slot *slot KWI_GUARDED_BY(kwi_role_writer);       // NULL: signature not known yet
    kwi_signature_slot *other_slot KWI_GUARDED_BY(kwi_role_writer); // Note [Two forms of a
                                                                    // signature]; or NULL
    kwi_definition *definition KWI_GUARDED_BY(kwi_role_writer);
    kwi_kernel *kernels KWI_GUARDED_BY(kwi_role_writer); // by priority, then newest first
    kw_table *pending KWI_GUARDED_BY(kwi_role_writer);   // made by a commit, not published yet
    kw_operator *next_dirty KWI_GUARDED_BY(kwi_role_writer);
    bool is_dirty KWI_GUARDED_BY(kwi_role_writer);
    bool was_defined KWI_GUARDED_BY(kwi_role_writer); // a definition has been in force

    // guard: immutable.
    uint32_t name_length;
    char name[];
};

_Static_assert(offsetof(struct kw_operator, table) == 0, "inline calls read the first word");

// Makes an invisible entry with a chain that ends at once. `code` is the C signature: "" for one
// without a C form, NULL where it is not known yet.
kw_status kwi_operator_create(kw_dispatcher *dispatcher, const char *name, const char *code,
                              kw_operator *previous, kw_operator **out_op, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);
void kwi_operator_free(kw_operator *op) KWI_REQUIRES(kwi_role_writer);
size_t kwi_operator_bytes(const kw_operator *op);

bool kwi_operator_has_registration(const kw_operator *op) KWI_REQUIRES(kwi_role_writer);

// The active kernel under exactly this key, or NULL: of the highest priority the newest.
kwi_kernel *kwi_operator_active_kernel(const kw_operator *op, kw_key key)
    KWI_REQUIRES(kwi_role_writer);

// Puts a kernel before those of its priority and of lower ones, takes one out, and puts it back
// where it was: the last one only in the reverse order of removals.
void kwi_kernel_push(kwi_kernel **list, kwi_kernel *kernel) KWI_REQUIRES(kwi_role_writer);
void kwi_kernel_unlink(kwi_kernel **list, kwi_kernel *kernel) KWI_REQUIRES(kwi_role_writer);
void kwi_kernel_relink(kwi_kernel **list, kwi_kernel *kernel) KWI_REQUIRES(kwi_role_writer);

// The table that the registrations and fallbacks give now; NULL: no memory. `layouts` may be NULL.
kw_table *kwi_operator_resolve(const kw_operator *op, kwi_layouts *layouts)
    KWI_REQUIRES(kwi_role_writer);

// Publishes a table as of `version` and retires the one it replaces. Cannot fail.
void kwi_operator_publish(kw_operator *op, kw_table *take_table, uint64_t version)
    KWI_REQUIRES(kwi_role_writer);

// The newest table, for the writer.
static inline const kw_table *kwi_operator_newest(const kw_operator *op)
{
    // Relaxed: the writer lock orders it.
    return kwi_ptr_load_relaxed(&op->table);
}

#endif // KWI_REGISTRY_OPERATOR_H
