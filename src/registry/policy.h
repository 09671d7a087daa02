// Policies: what becomes of the kernels that a new one finds under its key.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT
//
// Note [Duplicates]
//
// The kernels of an operator and key are a stack, sorted by priority, then newest first; its top is
// the active one. A policy decides before the stack does: *refuse* keeps a second kernel out;
// *replace* takes out all that are there, so that after it the key has one kernel whatever the
// priorities, and after the removal of that one none. What is taken out is removed in the commit
// that replaces it, as if its owner had removed it: running calls end in it, then its user data is
// destroyed.

#ifndef KWI_REGISTRY_POLICY_H
#define KWI_REGISTRY_POLICY_H

#include <keyway/status.h>

#include "base/role.h"
#include "registry/change.h"

// KW_DUPLICATE_KERNEL if the kernel may not come to what is there. `there` may be NULL.
kw_status kwi_policy_check(const kw_dispatcher *dispatcher, const kw_operator *there,
                           const kwi_kernel *kernel, kw_error *err) KWI_REQUIRES(kwi_role_writer);

// Which of the two is active once `kernel` has come; `active` may be NULL.
const kwi_kernel *kwi_policy_winner(const kw_dispatcher *dispatcher, const kwi_kernel *active,
                                    const kwi_kernel *kernel);

// Takes out what the change's kernel replaces, with an event for each; `change->removed` has them.
// On failure some may be out.
kw_status kwi_policy_replace(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);

// Puts back what kwi_policy_replace() took out.
void kwi_policy_restore(kwi_change *change) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_POLICY_H
