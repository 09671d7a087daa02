// The name index: from an operator's name to its newest entry, read without a lock.
//
// Layer:   registry
// Threads: found by any thread inside a section; changed under the writer lock.
// SPDX-License-Identifier: MIT
//
// N1  The index only grows: operator entries are never removed while the dispatcher lives, so there
//     are no tombstones, and a place keeps its name. An entry replaces an older one of the same
//     name and leads to it.
// N2  Arrays that a growth replaces are freed after a grace period.

#ifndef KWI_REGISTRY_NAME_INDEX_H
#define KWI_REGISTRY_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/inline/cell.h>
#include <keyway/kernel.h>

#include "base/role.h"

typedef struct kwi_name_index {
    // guard: rcu. Store: release, under the writer lock. Load: acquire, inside a section.
    // [pair: name-array]
    kwi_ptr_cell array;

    size_t count KWI_GUARDED_BY(kwi_role_writer);
} kwi_name_index;

bool kwi_name_index_init(kwi_name_index *index);
void kwi_name_index_fini(kwi_name_index *index) KWI_REQUIRES(kwi_role_writer);

// The newest entry of a name, or NULL. Inside a section, or under the writer lock.
kw_operator *kwi_name_index_find(const kwi_name_index *index, const char *name);

// Adds an entry, in place of the one with the same name. False: no memory, nothing changed.
bool kwi_name_index_put(kwi_name_index *index, kw_operator *op) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_NAME_INDEX_H
