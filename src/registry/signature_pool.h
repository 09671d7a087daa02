// The signature pool: one boxing entry and one permanent table for each C signature.
//
// Layer:   registry
// Threads: under the writer lock; a slot's contents are immutable.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_SIGNATURE_POOL_H
#define KWI_REGISTRY_SIGNATURE_POOL_H

#include <stdint.h>

#include <keyway/inline/table.h>

#include "base/role.h"
#include "base/text_set.h"
#include "value/signature.h"

typedef struct kwi_signature_slot {
    kwi_text_node node;       // in the pool, by `code`
    const char *code;         // a shared text; "" for operators that have no C form
    kwi_signature *signature; // NULL for those
    kw_table *end;            // version 0 of every operator with this signature: not defined
    uint64_t reference_count; // operators
} kwi_signature_slot;

// Finds or makes the slot of a code; NULL stands for "no C form". One reference for the caller.
kw_status kwi_signature_pool_get(const char *code, kwi_signature_slot **out_slot, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);
// The slot of a code that is in use; no reference.
kwi_signature_slot *kwi_signature_pool_find(const char *code) KWI_REQUIRES(kwi_role_writer);
void kwi_signature_pool_put(kwi_signature_slot *slot) KWI_REQUIRES(kwi_role_writer);

// The boxing entry of a slot: what entries of boxed kernels call.
kw_function kwi_signature_slot_box(const kwi_signature_slot *slot);

#endif // KWI_REGISTRY_SIGNATURE_POOL_H
