// Dispatchers, from inside: operators, fallbacks, tensor type, listeners.
//
// Layer:   registry
// Threads: the name index is read by any thread; the rest is under the writer lock.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_DISPATCHER_H
#define KWI_REGISTRY_DISPATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>

#include "base/role.h"
#include "registry/listener.h"
#include "registry/name_index.h"
#include "registry/operator.h"
#include "registry/registration.h"
#include "table/candidate.h"

struct kw_dispatcher {
    // guard: rcu. See name_index.h.
    kwi_name_index names;

    // guard: lock writer.
    kw_operator *operators KWI_GUARDED_BY(kwi_role_writer);
    uint64_t operator_count KWI_GUARDED_BY(kwi_role_writer);
    uint64_t library_count KWI_GUARDED_BY(kwi_role_writer);
    kw_dispatcher *next KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer. For each slot its fallbacks, newest first; those of `standard` are not
    // among them but in `standard_kernel`.
    kwi_kernel *fallback_stacks[KW_SLOT_COUNT] KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer. The same, prepared for resolutions.
    kwi_fallbacks fallbacks;

    // guard: immutable. The library `standard`: one fallthrough for all its slots; NULL when bare.
    kwi_owner standard;
    kwi_kernel *standard_kernel;

    // guard: rcu, set once. Store: release, under the writer lock. Load: acquire, in boxed calls.
    // NULL until a tensor type is known. [pair: tensor-type]
    kwi_ptr_cell tensor_type;

    kwi_listeners listeners;

    // guard: immutable.
    bool is_default;
};

// The active fallback of a slot, or NULL.
kwi_kernel *kwi_dispatcher_fallback(const kw_dispatcher *dispatcher, unsigned slot)
    KWI_REQUIRES(kwi_role_writer);

// Prepares `fallbacks` anew from the stacks.
void kwi_dispatcher_prepare_fallbacks(kw_dispatcher *dispatcher) KWI_REQUIRES(kwi_role_writer);

// The dispatcher's tensor type, or NULL while it has none.
static inline const kw_tensor_type *kwi_dispatcher_tensor_type(const kw_dispatcher *dispatcher)
{
    return kwi_ptr_load_acquire(&dispatcher->tensor_type); // [pair: tensor-type]
}

// Sets the tensor type, or checks that it is the same. NULL fits every dispatcher.
kw_status kwi_dispatcher_adopt_tensor_type(kw_dispatcher *dispatcher, const kw_tensor_type *type,
                                           kw_error *err) KWI_REQUIRES(kwi_role_writer);

// Finds or makes the entry for a name and signature; see K10 in docs/architecture.md.
// `code_is_known` is false for boxed kernels that come before the definition.
kw_status kwi_dispatcher_intern(kw_dispatcher *dispatcher, const char *name, const char *code,
                                bool code_is_known, kw_operator **out_op, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);

// Adds an entry to the list and the index.
bool kwi_dispatcher_add(kw_dispatcher *dispatcher, kw_operator *op) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_DISPATCHER_H
