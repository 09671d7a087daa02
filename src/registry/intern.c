// Interning: finding the entry that fits a registration, or making one.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/intern.h"

#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "rcu/reclaim.h"
#include "registry/operator.h"
#include "schema/c_signature.h"

// Adds an entry to the list and the index.
static bool enter(kw_dispatcher *dispatcher, kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    if (!kwi_name_index_put(&dispatcher->names, op)) {
        return false;
    }
    op->next = dispatcher->operators;
    dispatcher->operators = op;
    dispatcher->operator_count++;
    return true;
}

static kw_status add_entry(kw_dispatcher *dispatcher, const kwi_wanted *wanted,
                           kw_operator **out_op, kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *previous = kwi_name_index_find(&dispatcher->names, wanted->name);
    kw_operator *op = NULL;
    kw_status status =
        kwi_operator_create(dispatcher, wanted->name, wanted->code, previous, &op, err);
    if (status != KW_OK) {
        return status;
    }
    if (!enter(dispatcher, op)) {
        kwi_operator_free(op);
        return kwi_fail_memory(err);
    }
    *out_op = op;
    return KW_OK;
}

kw_operator *kwi_registered(const kw_dispatcher *dispatcher, const char *name)
{
    kw_operator *op = kwi_name_index_find(&dispatcher->names, name);
    while (op != NULL && !kwi_operator_has_registration(op)) {
        op = op->previous;
    }
    return op;
}

static bool has_code(const kw_operator *op, const char *code) KWI_REQUIRES(kwi_role_writer)
{
    return code == NULL || op->slot == NULL || strcmp(op->slot->code, code) == 0;
}

// Whether the entry can take the registration as it stands.
static bool fits(const kw_operator *op, const kwi_wanted *wanted) KWI_REQUIRES(kwi_role_writer)
{
    return has_code(op, wanted->code) ||
           (wanted->is_kernel && kwi_c_signature_serves(op->slot->code, wanted->code));
}

// Whether the entry has a registration that is made for its signature. See Note [Loose kernels].
static bool is_bound(const kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    const kwi_kernel *kernel = op->kernels;
    while (kernel != NULL && kernel->registration.kernel_kind != KW_KERNEL_UNBOXED) {
        kernel = kernel->registration.older;
    }
    return op->definition != NULL || kernel != NULL;
}

// Whether the entry may go to another form of its signature. See Note [Two forms of a signature].
static bool can_switch(const kw_operator *op, const char *code) KWI_REQUIRES(kwi_role_writer)
{
    const char *from = op->slot->code;
    bool are_forms = kwi_c_signature_serves(from, code) || kwi_c_signature_serves(code, from);
    bool is_other = op->other_slot == NULL || strcmp(op->other_slot->code, code) == 0;
    if (op->was_defined || op->definition != NULL || !are_forms || !is_other) {
        return false;
    }
    for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
         kernel = kernel->registration.older) {
        if (kernel->registration.kernel_kind == KW_KERNEL_UNBOXED &&
            !kwi_c_signature_serves(code, kwi_registration_code(&kernel->registration))) {
            return false;
        }
    }
    return true;
}

// The entry for a boxed kernel of a name that nothing uses: the one that was in use last, whatever
// refused commits have left. Those leave entries that were never published, whose signature holds
// nothing; one without a signature may as well be taken.
static kw_operator *choose_last(kw_operator *newest) KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *last = NULL;
    uint64_t version = 0;
    for (kw_operator *op = newest; op != NULL; op = op->previous) {
        const kwi_block *block = &kwi_operator_newest(op)->block;
        bool was_in_use = block->state != KWI_BLOCK_PERMANENT;
        if (was_in_use ? last == NULL || block->version > version : last == NULL && !op->slot) {
            last = op;
            version = was_in_use ? block->version : 0;
        }
    }
    return last;
}

// The entry in use for the name, unless only loose kernels use it and the signature is another;
// else an older one of the name that has this signature; NULL if a new one is due.
static kw_operator *choose(const kw_dispatcher *dispatcher, const kwi_wanted *wanted)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *op = wanted->in_use;
    if (op != NULL && (fits(op, wanted) || is_bound(op))) {
        return op;
    }
    op = kwi_name_index_find(&dispatcher->names, wanted->name);
    if (wanted->code == NULL) {
        return choose_last(op);
    }
    while (op != NULL && !has_code(op, wanted->code)) {
        op = op->previous;
    }
    return op;
}

static kw_status know_other(kwi_interning *out, const char *code, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *op = out->op;
    if (op->other_slot != NULL) {
        return KW_OK;
    }
    kw_status status = kwi_signature_pool_get(code, &op->other_slot, err);
    out->has_set_other = status == KW_OK;
    return status;
}

static void switch_form(kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    kwi_signature_slot *slot = op->slot;
    op->slot = op->other_slot;
    op->other_slot = slot;
}

// Brings the entry found to a signature that fits.
static kw_status adapt(kwi_interning *out, const kwi_wanted *wanted, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *op = out->op;
    kw_status status = KW_OK;
    if (wanted->code == NULL) {
        return KW_OK;
    }
    if (op->slot == NULL) {
        status = kwi_signature_pool_get(wanted->code, &op->slot, err);
        out->has_set_slot = status == KW_OK;
    } else if (!fits(op, wanted)) {
        if (!can_switch(op, wanted->code)) {
            return KW_SIGNATURE_MISMATCH;
        }
        status = know_other(out, wanted->code, err);
        if (status == KW_OK) {
            switch_form(op);
            out->has_switched = true;
        }
    } else if (wanted->needs_other && !has_code(op, wanted->code)) {
        status = know_other(out, wanted->code, err);
    }
    return status;
}

static void move_kernels(kw_operator *from, kw_operator *to) KWI_REQUIRES(kwi_role_writer)
{
    KWI_ASSERT(to->kernels == NULL);
    to->kernels = from->kernels;
    from->kernels = NULL;
    for (kwi_kernel *kernel = to->kernels; kernel != NULL; kernel = kernel->registration.older) {
        kwi_kernel_set_entry(kernel, to);
    }
}

kw_status kwi_intern(kw_dispatcher *dispatcher, const kwi_wanted *wanted, kwi_interning *out,
                     kw_error *err)
{
    kw_operator *in_use = wanted->in_use;
    *out = (kwi_interning){.op = choose(dispatcher, wanted)};
    kw_status status =
        out->op != NULL ? adapt(out, wanted, err) : add_entry(dispatcher, wanted, &out->op, err);
    if (status == KW_OK && in_use != NULL && in_use != out->op) {
        move_kernels(in_use, out->op);
        out->moved_from = in_use;
    }
    return status;
}

void kwi_intern_undo(kwi_interning *interning)
{
    kw_operator *op = interning->op;
    if (interning->moved_from != NULL) {
        move_kernels(op, interning->moved_from);
    }
    if (interning->has_switched) {
        switch_form(op);
    }
    if (interning->has_set_other) {
        kwi_signature_pool_put(op->other_slot);
        op->other_slot = NULL;
    }
    if (interning->has_set_slot) {
        kwi_signature_pool_put(op->slot);
        op->slot = NULL;
    }
    *interning = (kwi_interning){.op = op};
}
