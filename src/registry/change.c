// Changes: applying and undoing one staged change on the registrations.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/change.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/shared_text.h"
#include "base/yield.h"
#include "registry/clash.h"
#include "registry/dispatcher.h"
#include "registry/hooks.h"
#include "registry/intern.h"
#include "registry/operator.h"
#include "registry/policy.h"
#include "registry/world.h"

void kwi_staging_mark(kwi_staging *staging, kw_operator *op)
{
    if (!op->is_dirty) {
        op->is_dirty = true;
        op->next_dirty = staging->dirty;
        staging->dirty = op;
        staging->dirty_count++;
    }
}

// Events ------------------------------------------------------------------------------------------

static void describe(const kwi_registration *registration, char *buffer)
{
    kwi_text text;
    kwi_text_init(&text, buffer, KWI_EVENT_TEXT_BYTES);
    if (registration != NULL) {
        kwi_registration_describe(registration, &text);
    }
}

static int32_t priority_of(const kwi_registration *registration)
{
    bool is_kernel = registration != NULL && (registration->kind == KWI_REGISTRATION_KERNEL ||
                                              registration->kind == KWI_REGISTRATION_FALLBACK);
    return is_kernel ? kwi_kernel_priority(kwi_kernel_of_registration(registration)) : 0;
}

static uint64_t id_of(const kwi_registration *registration)
{
    return registration != NULL ? kwi_registration_id(registration) : 0;
}

kw_status kwi_staging_add_event(kwi_staging *staging, const kwi_activity *changed, kw_error *err)
{
    if (!staging->wants_events || changed->before == changed->after) {
        return KW_OK;
    }
    kwi_event *event = kwi_allocate(sizeof *event);
    if (event == NULL || !kwi_pointers_add(&staging->events, event)) {
        kwi_free(event, sizeof *event);
        return kwi_fail_memory(err);
    }
    event->kind = (uint32_t)changed->kind;
    event->key = changed->key;
    event->op = changed->op != NULL ? changed->op->name : NULL;
    describe(changed->before, event->previous);
    describe(changed->after, event->current);
    event->previous_registration = id_of(changed->before);
    event->current_registration = id_of(changed->after);
    event->previous_priority = priority_of(changed->before);
    event->current_priority = priority_of(changed->after);
    return KW_OK;
}

static const kwi_registration *registration_of(const kwi_kernel *kernel)
{
    return kernel != NULL ? &kernel->registration : NULL;
}

// The owner's list --------------------------------------------------------------------------------

static kw_status check_open(const kwi_owner *owner, kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    if (owner->is_closed && !KWI_FAULT(CLOSED_NOT_CHECKED)) {
        return kwi_fail(err, KW_LIBRARY_CLOSED,
                        "library %s is closed and registers nothing more; create a new one",
                        owner->name);
    }
    return KW_OK;
}

static size_t position_of(const kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    return kwi_owner_position(kwi_registration_owner(registration),
                              kwi_registration_id(registration));
}

static kw_status add_to_owner(kwi_owner *owner, kwi_registration *registration, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    if (!kwi_pointers_reserve(&owner->registrations, 1)) {
        return kwi_fail_memory(err);
    }
    size_t at = kwi_owner_position(owner, kwi_registration_id(registration));
    kwi_pointers_insert(&owner->registrations, at, registration);
    return KW_OK;
}

void kwi_owner_take(kwi_registration *registration)
{
    kwi_owner *owner = kwi_registration_owner(registration);
    kwi_pointers_remove(&owner->registrations, position_of(registration));
}

void kwi_owner_put_back(kwi_registration *registration)
{
    kwi_owner *owner = kwi_registration_owner(registration);
    kwi_pointers_insert(&owner->registrations, position_of(registration), registration);
}

// Definitions -------------------------------------------------------------------------------------

// Finds or makes the operator's entry. Says who clashes with whom over the C signature.
static kw_status intern(kwi_change *change, kwi_staging *staging, const kwi_wanted *wanted,
                        kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    kwi_interning *entry = &change->entry;
    kw_status status = kwi_intern(staging->dispatcher, wanted, entry, err);
    if (status == KW_SIGNATURE_MISMATCH) {
        const kwi_registration *here = change->kernel != NULL ? &change->kernel->registration
                                                              : &change->definition->registration;
        return kwi_clash_signature(entry->op, wanted->code, here, err);
    }
    if (status == KW_OK && entry->moved_from != NULL) {
        kwi_staging_mark(staging, entry->moved_from);
    }
    return status;
}

// The entry of a name that has registrations, or NULL. A definition's kernels often follow it.
static kw_operator *registered(const kwi_staging *staging, const char *name)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *last = staging->last;
    if (last != NULL && strcmp(last->name, name) == 0 && kwi_operator_has_registration(last)) {
        return last; // there is at most one
    }
    return kwi_registered(staging->dispatcher, name);
}

static kw_status define(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_definition *definition = change->definition;
    const char *name = kwi_schema_name(definition->schema);
    kw_operator *there = registered(staging, name);
    const char *code = kwi_registration_code(&definition->registration);
    const kwi_wanted wanted = {.name = name, .in_use = there, .code = code != NULL ? code : ""};
    if (there != NULL && there->definition != NULL) {
        return kwi_clash_definition(there->definition, definition, err);
    }
    kw_status status = there != NULL ? kwi_clash_schemas(definition, there->kernels, err) : KW_OK;
    if (status == KW_OK) {
        status = intern(change, staging, &wanted, err);
    }
    if (status != KW_OK) {
        return status;
    }
    kw_operator *op = change->entry.op;
    if (status == KW_OK) {
        const kwi_activity changed = {
            .kind = KW_EVENT_DEFINED, .op = op, .after = &definition->registration};
        status = kwi_staging_add_event(staging, &changed, err);
    }
    if (status == KW_OK) {
        status = add_to_owner(change->owner, &definition->registration, err);
    }
    if (status != KW_OK) {
        kwi_intern_undo(&change->entry);
        return status;
    }
    definition->registration.op = op;
    definition->signature = op->slot;
    op->definition = definition;
    staging->last = op;
    kwi_staging_mark(staging, op);
    return KW_OK;
}

static void undo_define(kwi_change *change) KWI_REQUIRES(kwi_role_writer)
{
    change->entry.op->definition = NULL;
    kwi_owner_take(&change->definition->registration);
    kwi_intern_undo(&change->entry);
}

// Kernels -----------------------------------------------------------------------------------------

// A boxed kernel is told its operator in each call, and may change its entry.
static void bind(kwi_kernel *kernel, kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel_set_entry(kernel, op);
    if (kernel->registration.kernel_kind != KW_KERNEL_UNBOXED) {
        return;
    }
    bool is_plain = kwi_shared_text_number(op->slot->code) != kernel->registration.code;
    const kwi_signature_slot *slot = is_plain ? op->other_slot : op->slot;
    kwi_part *signature = kwi_kernel_part_of(kernel, KWI_PART_SIGNATURE);
    if (signature != NULL) {
        signature->signature = slot->signature;
    }
}

// The event of a kernel that comes: it becomes the active one of its key, or stays below it.
static kw_status tell_kernel(const kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    const kwi_kernel *kernel = change->kernel;
    const kwi_kernel *active =
        kwi_operator_active_kernel(change->entry.op, kernel->registration.key);
    const kwi_activity changed = {
        .kind = KW_EVENT_KERNEL,
        .op = change->entry.op,
        .key = kernel->registration.key,
        .before = registration_of(active),
        .after = registration_of(kwi_policy_winner(staging->dispatcher, active, kernel)),
    };
    return kwi_staging_add_event(staging, &changed, err);
}

static kw_status implement(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel *kernel = change->kernel;
    kw_operator *there = registered(staging, change->name);
    const kwi_wanted wanted = {.name = change->name,
                               .in_use = there,
                               .code = kwi_registration_code(&kernel->registration),
                               .is_kernel = true,
                               .needs_other = kernel->base.boxed == kwi_unbox_by_ffi};
    kw_status status = there != NULL ? kwi_clash_schema(there->definition, kernel, err) : KW_OK;
    if (status == KW_OK) {
        status = kwi_policy_check(staging->dispatcher, there, kernel, err);
    }
    if (status == KW_OK) {
        status = intern(change, staging, &wanted, err);
    }
    if (status != KW_OK) {
        return status;
    }
    kw_operator *op = change->entry.op;
    status = tell_kernel(change, staging, err);
    if (status == KW_OK) {
        status = kwi_policy_replace(change, staging, err);
    }
    if (status == KW_OK) {
        status = add_to_owner(change->owner, &kernel->registration, err);
    }
    if (status != KW_OK) {
        kwi_policy_restore(change);
        kwi_intern_undo(&change->entry);
        return status;
    }
    bind(kernel, op);
    kwi_kernel_push(&op->kernels, kernel);
    staging->last = op;
    kwi_staging_mark(staging, op);
    return KW_OK;
}

static void undo_implement(kwi_change *change) KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel_unlink(&change->entry.op->kernels, change->kernel);
    kwi_owner_take(&change->kernel->registration);
    kwi_policy_restore(change);
    kwi_intern_undo(&change->entry);
}

// Fallbacks ---------------------------------------------------------------------------------------

// One event for each slot whose active fallback becomes another: `kernel` comes, or goes.
static kw_status add_fallback_events(kwi_staging *staging, const kwi_kernel *kernel, bool comes,
                                     kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    kw_status status = KW_OK;
    for (unsigned slot = 1; slot < KW_SLOT_COUNT && status == KW_OK; slot++) {
        if (!kwi_fallback_covers(kernel, slot)) {
            continue;
        }
        const kwi_kernel *before = kwi_dispatcher_fallback(staging->dispatcher, slot);
        const kwi_kernel *after =
            comes ? kernel
                  : (before == kernel
                         ? kwi_dispatcher_fallback_below(staging->dispatcher, slot, kernel)
                         : before);
        const kwi_activity changed = {
            .kind = KW_EVENT_FALLBACK,
            .key = kw_key_of_slot((int)slot),
            .before = registration_of(before),
            .after = registration_of(after),
        };
        status = kwi_staging_add_event(staging, &changed, err);
    }
    return status;
}

// A fallback of somebody else's for a slot of the kernel, or NULL. AutogradPrivateUse1 may be
// registered over another, as in PyTorch.
static const kwi_kernel *find_clash(const kw_dispatcher *dispatcher, const kwi_kernel *kernel)
    KWI_REQUIRES(kwi_role_writer)
{
    for (unsigned slot = 1; slot < KW_SLOT_COUNT; slot++) {
        if (!kwi_fallback_covers(kernel, slot) ||
            kw_key_of_slot((int)slot) == KW_KEY_AutogradPrivateUse1) {
            continue;
        }
        const kwi_kernel *there = kwi_dispatcher_fallback(dispatcher, slot);
        if (there != NULL && !kwi_registration_owner(&there->registration)->is_standard) {
            return there;
        }
    }
    return NULL;
}

static void mark_fallback(kwi_staging *staging, const kwi_kernel *kernel)
{
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        if (kwi_fallback_covers(kernel, slot)) {
            kwi_slotset_add(&staging->fallback_slots, slot);
        }
    }
}

static kw_status fall_back(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel *kernel = change->kernel;
    kw_dispatcher *dispatcher = staging->dispatcher;
    const kwi_kernel *clash = find_clash(dispatcher, kernel);
    if (clash != NULL) {
        return kwi_clash_fallback(clash, kernel, err);
    }
    kw_status status = add_fallback_events(staging, kernel, true, err);
    if (status == KW_OK) {
        status = add_to_owner(change->owner, &kernel->registration, err);
    }
    if (status == KW_OK) {
        kwi_kernel_push(&dispatcher->fallback_list, kernel);
        mark_fallback(staging, kernel);
    }
    return status;
}

static void undo_fall_back(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel_unlink(&staging->dispatcher->fallback_list, change->kernel);
    kwi_owner_take(&change->kernel->registration);
}

// Removals ----------------------------------------------------------------------------------------

static kw_status remove_kernel(kwi_kernel *kernel, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *op = kwi_kernel_entry(kernel);
    const kwi_kernel *before = kwi_operator_active_kernel(op, kernel->registration.key);
    kwi_kernel_unlink(&op->kernels, kernel);
    const kwi_kernel *after = kwi_operator_active_kernel(op, kernel->registration.key);
    const kwi_activity changed = {
        .kind = KW_EVENT_KERNEL,
        .op = op,
        .key = kernel->registration.key,
        .before = registration_of(before),
        .after = registration_of(after),
    };
    kw_status status = kwi_staging_add_event(staging, &changed, err);
    if (status != KW_OK) {
        kwi_kernel_relink(&op->kernels, kernel);
        return status;
    }
    kwi_staging_mark(staging, op);
    return KW_OK;
}

static kw_status remove_fallback(kwi_kernel *kernel, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_status status = add_fallback_events(staging, kernel, false, err);
    if (status == KW_OK) {
        kwi_kernel_unlink(&staging->dispatcher->fallback_list, kernel);
        mark_fallback(staging, kernel);
    }
    return status;
}

static kw_status remove_definition(kwi_definition *definition, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    const kwi_activity changed = {.kind = KW_EVENT_UNDEFINED,
                                  .op = definition->registration.op,
                                  .before = &definition->registration};
    kw_status status = kwi_staging_add_event(staging, &changed, err);
    if (status == KW_OK) {
        definition->registration.op->definition = NULL;
        kwi_staging_mark(staging, definition->registration.op);
    }
    return status;
}

static kw_status remove_registration(kwi_registration *registration, kwi_staging *staging,
                                     kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    switch (registration->kind) {
    case KWI_REGISTRATION_DEFINITION:
        return remove_definition(kwi_definition_of_registration(registration), staging, err);
    case KWI_REGISTRATION_FALLBACK:
        return remove_fallback(kwi_kernel_of_registration(registration), staging, err);
    default:
        return remove_kernel(kwi_kernel_of_registration(registration), staging, err);
    }
}

static void restore_registration(kwi_registration *registration, kwi_staging *staging)
    KWI_REQUIRES(kwi_role_writer)
{
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        kwi_definition *definition = kwi_definition_of_registration(registration);
        definition->registration.op->definition = definition;
        return;
    }
    kwi_kernel *kernel = kwi_kernel_of_registration(registration);
    if (registration->kind == KWI_REGISTRATION_FALLBACK) {
        kwi_kernel_relink(&staging->dispatcher->fallback_list, kernel);
    } else {
        kw_operator *op = kwi_kernel_entry(kernel);
        kwi_kernel_relink(&op->kernels, kernel);
    }
}

// Restores the first `count` of the removed, last first.
static void restore(kwi_change *change, kwi_staging *staging, size_t count)
    KWI_REQUIRES(kwi_role_writer)
{
    while (count > 0) {
        restore_registration(change->removed.items[--count], staging);
    }
}

static kw_status remove_one(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration *registration = kwi_owner_find(change->owner, change->id);
    if (registration == NULL) {
        return kwi_fail(err, KW_NOT_FOUND,
                        "library %s has no registration %llu; it was removed or replaced already, "
                        "or belongs to another library",
                        change->owner->name, (unsigned long long)change->id);
    }
    if (!kwi_pointers_add(&change->removed, registration)) {
        return kwi_fail_memory(err);
    }
    kw_status status = remove_registration(registration, staging, err);
    if (status == KW_OK) {
        kwi_owner_take(registration);
    } else {
        kwi_pointers_fini(&change->removed);
    }
    return status;
}

static void undo_remove_one(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration *registration = change->removed.items[0];
    restore(change, staging, 1);
    kwi_owner_put_back(registration);
    kwi_pointers_fini(&change->removed);
}

static kw_status close_owner(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_owner *owner = change->owner;
    change->removed = owner->registrations;
    for (size_t i = 0; i < change->removed.count; i++) {
        kw_status status = remove_registration(change->removed.items[i], staging, err);
        if (status != KW_OK) {
            restore(change, staging, i);
            change->removed = (kwi_pointers){0};
            return status;
        }
    }
    owner->registrations = (kwi_pointers){0};
    owner->is_closed = true;
    return KW_OK;
}

static void undo_close_owner(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    restore(change, staging, change->removed.count);
    kwi_pointers_fini(&change->owner->registrations);
    change->owner->registrations = change->removed;
    change->owner->is_closed = false;
    change->removed = (kwi_pointers){0};
}

// Any change --------------------------------------------------------------------------------------

static kw_status apply(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    if (change->kind == KWI_CHANGE_CLOSE && change->owner->is_closed) {
        return KW_OK; // closing twice is allowed, and removes nothing
    }
    kw_status status = check_open(change->owner, err);
    if (status != KW_OK) {
        return status;
    }
    switch (change->kind) {
    case KWI_CHANGE_DEFINE:
        return define(change, staging, err);
    case KWI_CHANGE_IMPL:
        return implement(change, staging, err);
    case KWI_CHANGE_FALLBACK:
        return fall_back(change, staging, err);
    case KWI_CHANGE_REMOVE:
        return remove_one(change, staging, err);
    case KWI_CHANGE_CLOSE:
        return close_owner(change, staging, err);
    }
    return KW_INTERNAL;
}

kw_status kwi_change_apply(kwi_change *change, kwi_staging *staging, kw_error *err)
{
    bool was_closed = change->owner->is_closed;
    kw_status status = apply(change, staging, err);
    change->is_applied = status == KW_OK && !was_closed;
    return status;
}

void kwi_change_undo(kwi_change *change, kwi_staging *staging)
{
    if (!change->is_applied) {
        return;
    }
    change->is_applied = false;
    switch (change->kind) {
    case KWI_CHANGE_DEFINE:
        undo_define(change);
        break;
    case KWI_CHANGE_IMPL:
        undo_implement(change);
        break;
    case KWI_CHANGE_FALLBACK:
        undo_fall_back(change, staging);
        break;
    case KWI_CHANGE_REMOVE:
        undo_remove_one(change, staging);
        break;
    case KWI_CHANGE_CLOSE:
        undo_close_owner(change, staging);
        break;
    }
}

static void count_new(kwi_owner *owner, kwi_registration *registration)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration_retain(registration);
    owner->alive_count++;
}

void kwi_change_finish(kwi_change *change, kwi_registration **dead)
{
    if (change->definition != NULL) {
        count_new(change->owner, &change->definition->registration);
    }
    if (change->kernel != NULL) {
        count_new(change->owner, &change->kernel->registration);
        kwi_the_world.kernel_count++;
    }
    for (size_t i = 0; i < change->removed.count; i++) {
        if (KWI_FAULT(KERNEL_FREED_WITH_REGISTRATION)) {
            ((kwi_registration *)change->removed.items[i])->reference_count = 1;
        }
        kwi_registration_release(change->removed.items[i], dead);
    }
    kwi_pointers_fini(&change->removed);
}
