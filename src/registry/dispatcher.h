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
#include "base/vector.h"
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
    uint64_t waiter_count KWI_GUARDED_BY(kwi_role_writer); // threads in kw_operator_wait()
    kw_dispatcher *next KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer. Newest first; those of `standard` are not among them but in
    // `standard_kernel`. One for an alias serves each of its slots.
    kwi_kernel *fallback_list KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer. The same, prepared for resolutions.
    kwi_fallbacks fallbacks;

    // guard: lock writer. Owners that claim a namespace, closed ones among them.
    kwi_owner *claims KWI_GUARDED_BY(kwi_role_writer);

    // guard: immutable. The library `standard`: one fallthrough for all its slots; NULL when bare.
    kwi_owner standard;
    kwi_kernel *standard_kernel;

    // guard: rcu, set once. Store: release, under the writer lock. Load: acquire, in boxed calls.
    // NULL until a tensor type is known. [pair: tensor-type]
    kwi_ptr_cell tensor_type;

    // guard: rcu, set once, after `tensor_type` and in the same way: what that has as `keys_at`, or
    // 0. [pair: tensor-type]
    kwi_u64_cell keys_at;

    // guard: lock writer. Of kwi_observer, in the order of their addition.
    kwi_pointers observers;

    // guard: immutable. An operator without a name that anybody finds: its table is that of the
    // fallbacks alone, for calls that want exactly the one of a key; its observers are those of
    // scopes that the host opens itself.
    kw_operator *fallback_op;

    kwi_listeners listeners;

    // guard: immutable. For kernels that name none; never DEFAULT.
    kw_duplicate_policy duplicates;

    // guard: immutable.
    bool is_default;
};

// The default dispatcher, made on first use.
kw_status kwi_dispatcher_default(kw_dispatcher **out_dispatcher, kw_error *err)
    KWI_EXCLUDES(kwi_role_writer);

// Whether a fallback serves a slot.
bool kwi_fallback_covers(const kwi_kernel *kernel, unsigned slot);

// The active fallback of a slot, or NULL; and the one that would be active without `kernel`.
const kwi_kernel *kwi_dispatcher_fallback(const kw_dispatcher *dispatcher, unsigned slot)
    KWI_REQUIRES(kwi_role_writer);
const kwi_kernel *kwi_dispatcher_fallback_below(const kw_dispatcher *dispatcher, unsigned slot,
                                                const kwi_kernel *kernel)
    KWI_REQUIRES(kwi_role_writer);

// Enters an owner's claim to its namespace, unless another open owner has it; and takes it back.
kw_status kwi_dispatcher_claim(kw_dispatcher *dispatcher, kwi_owner *owner, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);
void kwi_dispatcher_unclaim(kw_dispatcher *dispatcher, kwi_owner *owner)
    KWI_REQUIRES(kwi_role_writer);

// Prepares `fallbacks` anew from the stacks.
void kwi_dispatcher_prepare_fallbacks(kw_dispatcher *dispatcher) KWI_REQUIRES(kwi_role_writer);

// The dispatcher's tensor type, or NULL while it has none.
static inline const kw_tensor_type *kwi_dispatcher_tensor_type(const kw_dispatcher *dispatcher)
{
    return kwi_ptr_load_acquire(&dispatcher->tensor_type); // [pair: tensor-type]
}

// Where its tensors have their keys, see KW_KEYS_AT; 0: the tensor type has to be asked.
static inline size_t kwi_dispatcher_keys_at(const kw_dispatcher *dispatcher)
{
    return (size_t)kwi_u64_load_acquire(&dispatcher->keys_at); // [pair: tensor-type]
}

// Sets the tensor type, or checks that it is the same. NULL fits every dispatcher.
kw_status kwi_dispatcher_adopt_tensor_type(kw_dispatcher *dispatcher, const kw_tensor_type *type,
                                           kw_error *err) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_DISPATCHER_H
