// Policies: what becomes of the kernels that a new one finds under its key.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/policy.h"

#include "registry/clash.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"

static kw_duplicate_policy policy_of(const kw_dispatcher *dispatcher, const kwi_kernel *kernel)
{
    return kernel->registration.duplicates != KW_DUPLICATE_DEFAULT
               ? (kw_duplicate_policy)kernel->registration.duplicates
               : dispatcher->duplicates;
}

kw_status kwi_policy_check(const kw_dispatcher *dispatcher, const kw_operator *there,
                           const kwi_kernel *kernel, kw_error *err)
{
    if (there == NULL || policy_of(dispatcher, kernel) != KW_DUPLICATE_REFUSE) {
        return KW_OK;
    }
    const kwi_kernel *active = kwi_operator_active_kernel(there, kernel->registration.key);
    return active != NULL ? kwi_clash_kernel(there, active, kernel, err) : KW_OK;
}

const kwi_kernel *kwi_policy_winner(const kw_dispatcher *dispatcher, const kwi_kernel *active,
                                    const kwi_kernel *kernel)
{
    bool stays = active != NULL && kwi_kernel_priority(active) > kwi_kernel_priority(kernel) &&
                 policy_of(dispatcher, kernel) != KW_DUPLICATE_REPLACE;
    return stays ? active : kernel;
}

static kw_status take_out(kwi_change *change, kwi_staging *staging, kwi_kernel *kernel,
                          kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    const kwi_activity changed = {
        .kind = KW_EVENT_REPLACED,
        .op = change->entry.op,
        .key = kernel->registration.key,
        .before = &kernel->registration,
        .after = &change->kernel->registration,
    };
    kw_status status = kwi_staging_add_event(staging, &changed, err);
    if (status == KW_OK && !kwi_pointers_add(&change->removed, &kernel->registration)) {
        status = kwi_fail_memory(err);
    }
    if (status == KW_OK) {
        kw_operator *op = change->entry.op;
        kwi_kernel_unlink(&op->kernels, kernel);
        kwi_owner_take(&kernel->registration);
    }
    return status;
}

kw_status kwi_policy_replace(kwi_change *change, kwi_staging *staging, kw_error *err)
{
    if (policy_of(staging->dispatcher, change->kernel) != KW_DUPLICATE_REPLACE) {
        return KW_OK;
    }
    kw_status status = KW_OK;
    const kw_operator *op = change->entry.op;
    for (kwi_kernel *each = op->kernels, *older; each != NULL && status == KW_OK; each = older) {
        older = each->registration.older;
        if (each->registration.key == change->kernel->registration.key) {
            status = take_out(change, staging, each, err);
        }
    }
    return status;
}

void kwi_policy_restore(kwi_change *change)
{
    kw_operator *op = change->entry.op;
    while (change->removed.count > 0) {
        kwi_registration *registration = change->removed.items[--change->removed.count];
        kwi_kernel_relink(&op->kernels, kwi_kernel_of_registration(registration));
        kwi_owner_put_back(registration);
    }
    kwi_pointers_fini(&change->removed);
}
