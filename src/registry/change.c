// Changes: applying and undoing one staged change on the registrations.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/change.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/yield.h"
#include "registry/dispatcher.h"
#include "registry/world.h"

void kwi_staging_mark(kwi_staging *staging, kw_operator *op)
{
    if (!op->is_dirty) {
        op->is_dirty = true;
        op->next_dirty = staging->dirty;
        staging->dirty = op;
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

static kw_status add_event(kwi_staging *staging, kw_event_kind kind, const kw_operator *op,
                           kw_key key, const kwi_registration *previous,
                           const kwi_registration *current, kw_error *err)
{
    if (!staging->wants_events || previous == current) {
        return KW_OK;
    }
    kwi_event *event = kwi_allocate(sizeof *event);
    if (event == NULL || !kwi_pointers_add(&staging->events, event)) {
        kwi_free(event, sizeof *event);
        return kwi_fail_memory(err);
    }
    event->kind = (uint32_t)kind;
    event->key = key;
    event->op = op != NULL ? op->name : NULL;
    describe(previous, event->previous);
    describe(current, event->current);
    return KW_OK;
}

static const kwi_registration *registration_of(const kwi_kernel *kernel)
{
    return kernel != NULL ? &kernel->registration : NULL;
}

// The owner's list --------------------------------------------------------------------------------

static kw_status check_open(const kwi_owner *owner, kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    if (owner->is_closed) {
        return kwi_fail(err, KW_LIBRARY_CLOSED,
                        "library %s is closed and registers nothing more; create a new one",
                        owner->name);
    }
    return KW_OK;
}

static kw_status add_to_owner(kwi_registration *registration, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_owner *owner = registration->owner;
    if (!kwi_pointers_reserve(&owner->registrations, 1)) {
        return kwi_fail_memory(err);
    }
    kwi_pointers_insert(&owner->registrations, kwi_owner_position(owner, registration->id),
                        registration);
    return KW_OK;
}

static void take_from_owner(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    kwi_owner *owner = registration->owner;
    kwi_pointers_remove(&owner->registrations, kwi_owner_position(owner, registration->id));
}

// Definitions -------------------------------------------------------------------------------------

static kw_status refuse_duplicate(const kwi_definition *there, const kwi_definition *wanted,
                                  kw_error *err)
{
    const kwi_registration *place = &there->registration;
    char buffer[KW_ERROR_BYTES];
    kwi_text reason;
    kwi_text_init(&reason, buffer, sizeof buffer);
    if (kwi_schema_equal(there->schema, wanted->schema, &reason)) {
        const char *by =
            place->owner == wanted->registration.owner ? "this library" : place->owner->name;
        return kwi_fail(err, KW_ALREADY_DEFINED,
                        "`%s` is already defined by %s at %s:%u with the same schema; remove that "
                        "definition first, or only register kernels",
                        there->schema->name, by, place->file, place->line);
    }
    return kwi_fail(err, KW_CONFLICTING_SCHEMA,
                    "`%s` is already defined by %s at %s:%u as `%s`; the new schema is `%s` (%s)",
                    there->schema->name, place->owner->name, place->file, place->line,
                    there->schema->text, wanted->schema->text, buffer);
}

// Whether a kernel that states its schema fits the definition; the text names both places.
static kw_status check_schema(const kwi_definition *definition, const kwi_kernel *kernel,
                              kw_error *err)
{
    if (definition == NULL || kernel->schema == NULL) {
        return KW_OK;
    }
    char buffer[256];
    kwi_text reason;
    kwi_text_init(&reason, buffer, sizeof buffer);
    kw_status status = kwi_schema_mismatch(definition->schema, kernel->schema, &reason);
    if (status == KW_OK) {
        return KW_OK;
    }
    const kwi_registration *there = &definition->registration;
    const kwi_registration *here = &kernel->registration;
    return kwi_fail(
        err, status,
        "`%s`, defined by %s at %s:%u as `%s`, and its kernel `%s`, registered by %s at "
        "%s:%u for `%s`, do not fit: %s",
        definition->schema->name, there->owner->name, there->file, there->line,
        definition->schema->text, here->name, here->owner->name, here->file, here->line,
        kernel->schema->text, buffer);
}

static kw_status check_schemas(const kwi_definition *definition, const kwi_kernel *kernels,
                               kw_error *err)
{
    kw_status status = KW_OK;
    for (; kernels != NULL && status == KW_OK; kernels = kernels->older) {
        status = check_schema(definition, kernels, err);
    }
    return status;
}

static void forget_slot(kwi_change *change) KWI_REQUIRES(kwi_role_writer)
{
    if (change->has_set_slot) {
        kwi_signature_pool_put(change->op->slot);
        change->op->slot = NULL;
        change->has_set_slot = false;
    }
}

// Finds or makes the operator's entry, and remembers whether that fixed its signature.
static kw_status intern(kwi_change *change, kwi_staging *staging, const char *name,
                        const char *code, bool code_is_known, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *before = kwi_dispatcher_entry(staging->dispatcher, name, code, code_is_known);
    bool was_unknown = before != NULL && before->slot == NULL;
    kw_status status =
        kwi_dispatcher_intern(staging->dispatcher, name, code, code_is_known, &change->op, err);
    change->has_set_slot = status == KW_OK && was_unknown && change->op == before && code_is_known;
    return status;
}

static kw_status define(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_definition *definition = change->definition;
    const char *name = definition->schema->name;
    const kw_operator *there =
        kwi_dispatcher_entry(staging->dispatcher, name, definition->code, true);
    if (there != NULL && there->definition != NULL) {
        return refuse_duplicate(there->definition, definition, err);
    }
    kw_status status = intern(change, staging, name, definition->code, true, err);
    if (status != KW_OK) {
        return status;
    }
    kw_operator *op = change->op;
    status = check_schemas(definition, op->kernels, err);
    if (status == KW_OK) {
        status = add_event(staging, KW_EVENT_DEFINED, op, KW_KEY_Undefined, NULL,
                           &definition->registration, err);
    }
    if (status == KW_OK) {
        status = add_to_owner(&definition->registration, err);
    }
    if (status != KW_OK) {
        forget_slot(change);
        return status;
    }
    definition->op = op;
    definition->signature = op->slot;
    op->definition = definition;
    kwi_staging_mark(staging, op);
    return KW_OK;
}

static void undo_define(kwi_change *change) KWI_REQUIRES(kwi_role_writer)
{
    change->op->definition = NULL;
    take_from_owner(&change->definition->registration);
    forget_slot(change);
}

// Kernels -----------------------------------------------------------------------------------------

static kw_status implement(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel *kernel = change->kernel;
    bool is_unboxed = kernel->kind == KW_KERNEL_UNBOXED;
    kw_status status = intern(change, staging, change->name, kernel->code, is_unboxed, err);
    if (status != KW_OK) {
        return status;
    }
    kw_operator *op = change->op;
    status = check_schema(op->definition, kernel, err);
    if (status == KW_OK) {
        status = add_event(staging, KW_EVENT_KERNEL, op, kernel->key,
                           registration_of(kwi_operator_active_kernel(op, kernel->key)),
                           &kernel->registration, err);
    }
    if (status == KW_OK) {
        status = add_to_owner(&kernel->registration, err);
    }
    if (status != KW_OK) {
        forget_slot(change);
        return status;
    }
    kernel->base.op = op;
    kernel->signature = is_unboxed ? op->slot->signature : NULL;
    kwi_kernel_push(&op->kernels, kernel);
    kwi_staging_mark(staging, op);
    return KW_OK;
}

static void undo_implement(kwi_change *change) KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel_unlink(&change->op->kernels, change->kernel);
    take_from_owner(&change->kernel->registration);
    forget_slot(change);
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
        status = add_event(staging, KW_EVENT_FALLBACK, NULL, kw_key_of_slot((int)slot),
                           registration_of(before), registration_of(after), err);
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
        if (there != NULL && !there->registration.owner->is_standard) {
            return there;
        }
    }
    return NULL;
}

static kw_status fall_back(kwi_change *change, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel *kernel = change->kernel;
    kw_dispatcher *dispatcher = staging->dispatcher;
    const kwi_kernel *clash = find_clash(dispatcher, kernel);
    if (clash != NULL) {
        const kwi_registration *there = &clash->registration;
        return kwi_fail(err, KW_DUPLICATE_FALLBACK,
                        "the fallback of %s, wanted by %s at %s:%u, is held by %s, registered at "
                        "%s:%u; remove it first",
                        kw_key_name(clash->key), kernel->registration.owner->name,
                        kernel->registration.file, kernel->registration.line, there->owner->name,
                        there->file, there->line);
    }
    kw_status status = add_fallback_events(staging, kernel, true, err);
    if (status == KW_OK) {
        status = add_to_owner(&kernel->registration, err);
    }
    if (status == KW_OK) {
        kwi_kernel_push(&dispatcher->fallback_list, kernel);
        staging->fallbacks_changed = true;
    }
    return status;
}

static void undo_fall_back(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    kwi_kernel_unlink(&staging->dispatcher->fallback_list, change->kernel);
    take_from_owner(&change->kernel->registration);
}

// Removals ----------------------------------------------------------------------------------------

static kwi_kernel *kernel_of(kwi_registration *registration)
{
    return (kwi_kernel *)(void *)((char *)registration - offsetof(kwi_kernel, registration));
}

static kw_status remove_kernel(kwi_kernel *kernel, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_operator *op = (kw_operator *)(uintptr_t)kernel->base.op;
    const kwi_kernel *before = kwi_operator_active_kernel(op, kernel->key);
    kwi_kernel_unlink(&op->kernels, kernel);
    const kwi_kernel *after = kwi_operator_active_kernel(op, kernel->key);
    kw_status status = add_event(staging, KW_EVENT_KERNEL, op, kernel->key, registration_of(before),
                                 registration_of(after), err);
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
        staging->fallbacks_changed = true;
    }
    return status;
}

static kw_status remove_definition(kwi_definition *definition, kwi_staging *staging, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_status status = add_event(staging, KW_EVENT_UNDEFINED, definition->op, KW_KEY_Undefined,
                                 &definition->registration, NULL, err);
    if (status == KW_OK) {
        definition->op->definition = NULL;
        kwi_staging_mark(staging, definition->op);
    }
    return status;
}

static kw_status remove_registration(kwi_registration *registration, kwi_staging *staging,
                                     kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    switch (registration->kind) {
    case KWI_REGISTRATION_DEFINITION:
        return remove_definition((kwi_definition *)(void *)registration, staging, err);
    case KWI_REGISTRATION_FALLBACK:
        return remove_fallback(kernel_of(registration), staging, err);
    default:
        return remove_kernel(kernel_of(registration), staging, err);
    }
}

static void restore_registration(kwi_registration *registration, kwi_staging *staging)
    KWI_REQUIRES(kwi_role_writer)
{
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        kwi_definition *definition = (kwi_definition *)(void *)registration;
        definition->op->definition = definition;
        return;
    }
    kwi_kernel *kernel = kernel_of(registration);
    if (registration->kind == KWI_REGISTRATION_FALLBACK) {
        kwi_kernel_relink(&staging->dispatcher->fallback_list, kernel);
    } else {
        kw_operator *op = (kw_operator *)(uintptr_t)kernel->base.op;
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
                        "library %s has no registration %llu; it was removed already, or belongs "
                        "to another library",
                        change->owner->name, (unsigned long long)change->id);
    }
    if (!kwi_pointers_add(&change->removed, registration)) {
        return kwi_fail_memory(err);
    }
    kw_status status = remove_registration(registration, staging, err);
    if (status == KW_OK) {
        take_from_owner(registration);
    } else {
        kwi_pointers_fini(&change->removed);
    }
    return status;
}

static void undo_remove_one(kwi_change *change, kwi_staging *staging) KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration *registration = change->removed.items[0];
    restore(change, staging, 1);
    // The list does not shrink, so there is room.
    kwi_pointers_insert(&change->owner->registrations,
                        kwi_owner_position(change->owner, registration->id), registration);
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

static void count_new(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration_retain(registration);
    registration->owner->alive_count++;
}

void kwi_change_finish(kwi_change *change, kwi_registration **dead)
{
    if (change->definition != NULL) {
        count_new(&change->definition->registration);
    }
    if (change->kernel != NULL) {
        count_new(&change->kernel->registration);
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
