// The reference's transactions: every step is staged, then all of them are applied, or none.
//
// Layer:   test
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/library.h>

#include "reference/signature.h"
#include "reference/state.h"

// Staging: what is wrong with a step whatever is registered --------------------------------------

static bool lies_in(const reference_library *library, unsigned op)
{
    const char *ns = reference_namespace_text((reference_namespace)library->ns);
    return ns == NULL || strncmp(reference_operator_name(op), ns, strlen(ns)) == 0;
}

// S17, S24, S25, S21
static kw_status stage_define(const reference_library *library, const reference_step *step)
{
    if (library->kind == KW_LIBRARY_KIND_IMPL) {
        return KW_DEFINE_NOT_ALLOWED;
    }
    if (step->schema == REFERENCE_SCHEMA_NAME_ONLY) {
        return KW_SCHEMA_EXPECTED;
    }
    kw_status status = reference_schema_status((reference_schema)step->schema);
    if (status == KW_OK && !lies_in(library, step->op)) {
        status = KW_NAMESPACE_MISMATCH;
    }
    return status;
}

// S20, S30
static kw_status check_key(const reference_library *library, const reference_step *step,
                           kw_key *out_key)
{
    if (!kw_key_is_valid((kw_key)step->key)) {
        return KW_UNKNOWN_KEY;
    }
    *out_key = step->key != KW_KEY_Undefined ? (kw_key)step->key : (kw_key)library->key;
    return library->key != KW_KEY_Undefined && *out_key != library->key ? KW_KEY_CONFLICT : KW_OK;
}

// S19, S21, S20
static kw_status stage_impl(const reference_library *library, const reference_step *step)
{
    kw_key key;
    if (library->ns == REFERENCE_NS_GLOBAL) {
        return KW_IMPL_NOT_ALLOWED;
    }
    if (!lies_in(library, step->op)) {
        return KW_NAMESPACE_MISMATCH;
    }
    kw_status status = check_key(library, step, &key);
    if (status == KW_OK && step->schema != REFERENCE_SCHEMA_NONE) {
        status = reference_schema_status((reference_schema)step->schema);
    }
    return status;
}

// S17, S20, S37
static kw_status stage_fall_back(const reference_library *library, const reference_step *step)
{
    kw_key key;
    if (library->kind == KW_LIBRARY_KIND_DEF || library->kind == KW_LIBRARY_KIND_FRAGMENT) {
        return KW_FALLBACK_NOT_ALLOWED;
    }
    if (library->kind == KW_LIBRARY_KIND_IMPL && library->ns != REFERENCE_NS_GLOBAL) {
        return KW_FALLBACK_IN_NAMESPACE;
    }
    kw_status status = check_key(library, step, &key);
    if (status != KW_OK) {
        return status;
    }
    if (key == KW_KEY_Undefined) {
        return KW_FALLBACK_WITHOUT_KEY;
    }
    if (!kw_key_is_runtime(key) && !kw_key_is_alias(key)) {
        return KW_UNKNOWN_KEY; // a building block alone
    }
    bool serves_all =
        step->form == REFERENCE_FORM_BOXED || step->form == REFERENCE_FORM_FALLTHROUGH;
    bool has_policy = step->priority != 0 || step->duplicates != KW_DUPLICATE_DEFAULT;
    return serves_all && !has_policy ? KW_OK : KW_INVALID_ARGUMENT;
}

static kw_status stage(const reference *state, const reference_step *step)
{
    const reference_library *library = &state->libraries[step->library];
    if (!library->is_there) {
        return KW_INVALID_ARGUMENT;
    }
    switch (step->kind) {
    case REFERENCE_DEFINE:
        return stage_define(library, step);
    case REFERENCE_IMPL:
        return stage_impl(library, step);
    case REFERENCE_FALL_BACK:
        return stage_fall_back(library, step);
    default:
        return KW_OK;
    }
}

// The list ---------------------------------------------------------------------------------------

// Keeps Y1. The lists of all operators, and of the fallbacks, lie in one array.
static void insert(reference *state, const reference_registration *registration)
{
    size_t at = 0;
    while (at < state->registration_count &&
           state->registrations[at].priority > registration->priority) {
        at++;
    }
    memmove(&state->registrations[at + 1], &state->registrations[at],
            (state->registration_count - at) * sizeof *registration);
    state->registrations[at] = *registration;
    state->registration_count++;
}

static void take(reference *state, size_t at)
{
    state->registration_count--;
    memmove(&state->registrations[at], &state->registrations[at + 1],
            (state->registration_count - at) * sizeof state->registrations[0]);
    memset(&state->registrations[state->registration_count], 0, sizeof state->registrations[0]);
}

// C signatures (S28) -----------------------------------------------------------------------------

// Whether a definition or an unboxed kernel holds the signature of the name.
static bool is_bound(const reference *state, unsigned op)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        bool is_unboxed = each->sort == REFERENCE_KERNEL &&
                          reference_signature_of_form((reference_form)each->form) != 0;
        if (each->op == op && (each->sort == REFERENCE_DEFINITION || is_unboxed)) {
            return true;
        }
    }
    return false;
}

static bool fits(uint8_t there, uint8_t wanted)
{
    return wanted == 0 || there == 0 || there == wanted;
}

// The entry of a name that nothing uses, or only what goes along, for this signature: the newest
// that has it, or none yet. Boxed kernels go where handles were good last. A new one if there is
// none.
static unsigned choose(reference_name *name, uint8_t wanted)
{
    if (wanted == 0 && name->last != 0) {
        return name->last - 1U;
    }
    for (unsigned entry = name->count; entry > 0; entry--) {
        uint8_t signature = name->signature[entry - 1];
        if (signature == 0 || signature == wanted) {
            return entry - 1;
        }
    }
    return name->count++;
}

// Puts the entry in use that a registration with this signature belongs to. Boxed kernels, which
// have none, go along with whoever brings another one.
static kw_status bind(reference *state, unsigned op, uint8_t signature)
{
    reference_name *name = &state->names[op];
    unsigned chosen = name->in_use;
    bool is_used = reference_is_visible(state, op);
    if (is_used && is_bound(state, op) && !fits(name->signature[chosen], signature)) {
        return KW_SIGNATURE_MISMATCH;
    }
    if (!is_used || !fits(name->signature[chosen], signature)) {
        chosen = choose(name, signature);
    }
    name->in_use = (uint8_t)chosen;
    if (name->signature[chosen] == 0) {
        name->signature[chosen] = signature;
    }
    return KW_OK;
}

// Committing: each step on what the steps before it have left ------------------------------------

// S22, S27, S28
static kw_status define(reference *state, const reference_step *step)
{
    const reference_registration *there = reference_definition(state, step->op);
    if (there != NULL) {
        bool equal =
            reference_schema_equal((reference_schema)there->schema, (reference_schema)step->schema);
        return equal ? KW_ALREADY_DEFINED : KW_CONFLICTING_SCHEMA;
    }
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        kw_status status = reference_is_of(each, REFERENCE_KERNEL, step->op)
                               ? reference_schema_mismatch((reference_schema)step->schema,
                                                           (reference_schema)each->schema)
                               : KW_OK;
        if (status != KW_OK) {
            return status;
        }
    }
    kw_status status =
        bind(state, step->op, reference_signature_of_schema((reference_schema)step->schema));
    if (status == KW_OK) {
        const reference_registration definition = {
            .mark = step->mark,
            .sort = REFERENCE_DEFINITION,
            .library = step->library,
            .op = step->op,
            .schema = step->schema,
        };
        insert(state, &definition);
    }
    return status;
}

// S80: all that are there go.
static void replace(reference *state, unsigned op, kw_key key)
{
    for (size_t i = state->registration_count; i > 0; i--) {
        const reference_registration *each = &state->registrations[i - 1];
        if (reference_is_of(each, REFERENCE_KERNEL, op) && each->key == key) {
            take(state, i - 1);
        }
    }
}

// S27, S80, S28, S81
static kw_status implement(reference *state, const reference_step *step)
{
    const reference_registration *definition = reference_definition(state, step->op);
    kw_key key = KW_KEY_Undefined;
    (void)check_key(&state->libraries[step->library], step, &key);
    key = key != KW_KEY_Undefined ? key : KW_KEY_CompositeImplicitAutograd; // S29
    unsigned duplicates =
        step->duplicates != KW_DUPLICATE_DEFAULT ? step->duplicates : state->duplicates;
    kw_status status = definition != NULL
                           ? reference_schema_mismatch((reference_schema)definition->schema,
                                                       (reference_schema)step->schema)
                           : KW_OK;
    if (status == KW_OK && duplicates == KW_DUPLICATE_REFUSE &&
        reference_active_kernel(state, step->op, key) != NULL) {
        status = KW_DUPLICATE_KERNEL;
    }
    if (status == KW_OK) {
        status = bind(state, step->op, reference_signature_of_form((reference_form)step->form));
    }
    if (status != KW_OK) {
        return status;
    }
    if (duplicates == KW_DUPLICATE_REPLACE) {
        replace(state, step->op, key);
    }
    const reference_registration kernel = {
        .mark = step->mark,
        .key = (uint16_t)key,
        .sort = REFERENCE_KERNEL,
        .library = step->library,
        .op = step->op,
        .schema = step->schema,
        .form = step->form,
        .priority = step->priority,
    };
    insert(state, &kernel);
    return KW_OK;
}

// S34, S35; S36 lets AutogradPrivateUse1 stack.
static kw_status fall_back(reference *state, const reference_step *step)
{
    kw_key key = KW_KEY_Undefined;
    (void)check_key(&state->libraries[step->library], step, &key);
    const reference_registration fallback = {
        .mark = step->mark,
        .key = (uint16_t)key,
        .sort = REFERENCE_FALLBACK,
        .library = step->library,
        .form = step->form,
    };
    for (int slot = 1; slot < KW_SLOT_COUNT; slot++) {
        kw_key each = kw_key_of_slot(slot);
        if (each != KW_KEY_AutogradPrivateUse1 && reference_fallback_covers(&fallback, each) &&
            reference_active_fallback(state, each) != NULL) {
            return KW_DUPLICATE_FALLBACK;
        }
    }
    insert(state, &fallback);
    return KW_OK;
}

static kw_status remove_one(reference *state, const reference_step *step)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        if (each->mark == step->mark && each->library == step->library) {
            take(state, i);
            return KW_OK;
        }
    }
    return KW_NOT_FOUND;
}

// S31: all of the library's own, in one commit.
static kw_status close_library(reference *state, const reference_step *step)
{
    for (size_t i = state->registration_count; i > 0; i--) {
        if (state->registrations[i - 1].library == step->library) {
            take(state, i - 1);
        }
    }
    state->libraries[step->library].is_closed = 1;
    return KW_OK;
}

static kw_status apply(reference *state, const reference_step *step)
{
    if (state->libraries[step->library].is_closed) {
        return step->kind == REFERENCE_CLOSE ? KW_OK : KW_LIBRARY_CLOSED;
    }
    switch (step->kind) {
    case REFERENCE_DEFINE:
        return define(state, step);
    case REFERENCE_IMPL:
        return implement(state, step);
    case REFERENCE_FALL_BACK:
        return fall_back(state, step);
    case REFERENCE_REMOVE:
        return remove_one(state, step);
    default:
        return close_library(state, step);
    }
}

static void note_visible(reference *state)
{
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        reference_name *name = &state->names[op];
        if (reference_is_visible(state, op)) {
            name->last = name->in_use + 1;
        }
    }
}

// S39: on a copy, which is the state only once everything has succeeded.
void reference_commit(reference *state, const reference_operation *operation,
                      reference_answer *answer)
{
    for (size_t i = 0; i < operation->step_count && answer->status == KW_OK; i++) {
        answer->status = stage(state, &operation->steps[i]);
        answer->step = (uint8_t)i;
    }
    if (answer->status != KW_OK) {
        return;
    }
    reference after = *state;
    for (size_t i = 0; i < operation->step_count && answer->status == KW_OK; i++) {
        answer->status = apply(&after, &operation->steps[i]);
        answer->step = (uint8_t)i;
    }
    answer->at_commit = answer->status != KW_OK;
    if (answer->status == KW_OK) {
        answer->step = 0;
        answer->version = ++after.version;
        note_visible(&after);
        *state = after;
    }
}
