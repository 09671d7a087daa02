// The sequential reference: states, libraries, and which part answers what.
//
// Layer:   test
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#include "reference/reference.h"

#include <string.h>

#include <keyway/library.h>

#include "reference/state.h"

void reference_init(reference *state, bool is_bare, unsigned duplicates)
{
    memset(state, 0, sizeof *state);
    state->is_bare = is_bare ? 1 : 0;
    state->duplicates =
        (uint8_t)(duplicates != KW_DUPLICATE_DEFAULT ? duplicates : KW_DUPLICATE_STACK);
}

bool reference_equal(const reference *a, const reference *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

uint64_t reference_hash(const reference *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    size_t used = offsetof(reference, registrations) +
                  state->registration_count * sizeof(reference_registration);
    uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
    for (size_t i = 0; i < used; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

bool reference_has_room(const reference *state, size_t step_count)
{
    return state->registration_count + step_count <= REFERENCE_REGISTRATIONS;
}

const reference_registration *reference_find(const reference *state, unsigned mark)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        if (state->registrations[i].mark == mark) {
            return &state->registrations[i];
        }
    }
    return NULL;
}

const reference_registration *reference_definition(const reference *state, unsigned op)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        if (reference_is_of(&state->registrations[i], REFERENCE_DEFINITION, op)) {
            return &state->registrations[i];
        }
    }
    return NULL;
}

// S40: exactly while it has a definition or a kernel.
bool reference_is_visible(const reference *state, unsigned op)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        if (each->sort != REFERENCE_FALLBACK && each->op == op) {
            return true;
        }
    }
    return false;
}

// S31, S81: Y1 has the one of the highest priority first, of equals the newest.
const reference_registration *reference_active_kernel(const reference *state, unsigned op,
                                                      kw_key key)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        if (reference_is_of(each, REFERENCE_KERNEL, op) && each->key == key) {
            return each;
        }
    }
    return NULL;
}

bool reference_fallback_covers(const reference_registration *fallback, kw_key key)
{
    return kw_key_is_alias(fallback->key) ? kw_key_in_alias(key, fallback->key)
                                          : fallback->key == key;
}

const reference_registration *reference_active_fallback(const reference *state, kw_key key)
{
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        if (each->sort == REFERENCE_FALLBACK && reference_fallback_covers(each, key)) {
            return each;
        }
    }
    return NULL;
}

// S34, and the list under "Deliberate differences".
bool reference_is_standard_key(const reference *state, kw_key key)
{
    switch (kw_key_functionality(key)) {
    case KW_KEY_BackendSelect:
    case KW_KEY_ADInplaceOrView:
    case KW_KEY_AutogradOther:
    case KW_KEY_AutogradFunctionality:
    case KW_KEY_AutogradNestedTensor:
    case KW_KEY_VmapMode:
    case KW_KEY_FuncTorchVmapMode:
    case KW_KEY_PythonTLSSnapshot:
    case KW_KEY_PreDispatch:
        return !state->is_bare;
    default:
        return !state->is_bare && kw_keyset_has(kw_keyset_autocast(), key);
    }
}

// Libraries -------------------------------------------------------------------------------------

// S17 to S20, in the order in which a creation is looked at.
static kw_status check_made(const reference *state, const reference_library *made)
{
    if (made->kind > KW_LIBRARY_KIND_IMPL) {
        return KW_INVALID_ARGUMENT;
    }
    if (made->ns == REFERENCE_NS_NONE && made->kind != KW_LIBRARY_KIND_FREE) {
        return KW_MALFORMED_NAME;
    }
    if (made->ns == REFERENCE_NS_GLOBAL && made->kind != KW_LIBRARY_KIND_IMPL) {
        return KW_NAMESPACE_RESERVED;
    }
    if (made->key != KW_KEY_Undefined && made->kind != KW_LIBRARY_KIND_IMPL) {
        return KW_LIBRARY_KEY_NOT_ALLOWED;
    }
    if (!kw_key_is_valid((kw_key)made->key)) {
        return KW_UNKNOWN_KEY;
    }
    for (unsigned i = 0; i < REFERENCE_LIBRARIES; i++) {
        const reference_library *each = &state->libraries[i];
        bool holds = each->is_there && !each->is_closed && each->kind == KW_LIBRARY_KIND_DEF;
        if (made->kind == KW_LIBRARY_KIND_DEF && holds && each->ns == made->ns) {
            return KW_NAMESPACE_TAKEN;
        }
    }
    return KW_OK;
}

void reference_create_library(reference *state, const reference_operation *operation,
                              reference_answer *answer)
{
    answer->status = check_made(state, &operation->made);
    if (answer->status == KW_OK) {
        reference_library *library = &state->libraries[operation->library];
        *library = operation->made;
        library->is_there = 1;
        library->is_closed = 0;
    }
}

void reference_destroy_library(reference *state, const reference_operation *operation,
                               reference_answer *answer)
{
    reference_library *library = &state->libraries[operation->library];
    answer->status = library->is_there && !library->is_closed ? KW_BUSY : KW_OK;
    if (answer->status == KW_OK) {
        memset(library, 0, sizeof *library);
    }
}

// Answers ---------------------------------------------------------------------------------------

static void find(const reference *state, const reference_operation *operation,
                 reference_answer *answer)
{
    unsigned op = operation->op;
    bool wants_schema = operation->kind == REFERENCE_FIND_SCHEMA;
    if (!reference_is_visible(state, op)) {
        answer->status = KW_NOT_FOUND;
    } else if (wants_schema && reference_definition(state, op) == NULL) {
        answer->status = KW_OPERATOR_UNDEFINED;
    } else {
        answer->entry = state->names[op].in_use;
    }
}

// S29, S72: by the exact key, whatever the tables say.
static void has_kernel(const reference *state, const reference_operation *operation,
                       reference_answer *answer)
{
    bool is_in_use = reference_is_visible(state, operation->op) &&
                     state->names[operation->op].in_use == operation->entry;
    kw_key key = operation->key != KW_KEY_Undefined ? (kw_key)operation->key
                                                    : KW_KEY_CompositeImplicitAutograd;
    answer->yes = is_in_use && reference_active_kernel(state, operation->op, key) != NULL;
}

void reference_apply(reference *state, const reference_operation *operation,
                     reference_answer *out_answer)
{
    memset(out_answer, 0, sizeof *out_answer);
    reference_table table;
    switch (operation->kind) {
    case REFERENCE_CREATE_LIBRARY:
        reference_create_library(state, operation, out_answer);
        break;
    case REFERENCE_DESTROY_LIBRARY:
        reference_destroy_library(state, operation, out_answer);
        break;
    case REFERENCE_TRANSACTION:
        reference_commit(state, operation, out_answer);
        break;
    case REFERENCE_FIND:
    case REFERENCE_FIND_SCHEMA:
        find(state, operation, out_answer);
        break;
    case REFERENCE_HAS_KERNEL:
        has_kernel(state, operation, out_answer);
        break;
    case REFERENCE_HAS_COMPUTED:
        reference_has_computed(state, operation, out_answer);
        break;
    case REFERENCE_CALL_FOR_KEY:
        reference_call_exactly(state, operation, out_answer);
        break;
    default:
        reference_resolve(state, operation->op, operation->entry, &table);
        reference_call_in(&table, operation, out_answer);
        break;
    }
}
