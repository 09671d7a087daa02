// Changes: libraries, and transactions on both sides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "operations/side.h"

#define UNTOUCHED UINT64_MAX

// Libraries ---------------------------------------------------------------------------------------

void side_create(const sequence_record *record)
{
    reference_operation operation = {
        .kind = REFERENCE_CREATE_LIBRARY,
        .library = (uint8_t)sequence_library(record),
        .made = sequence_made(record),
    };
    if (side_it.now.state.libraries[operation.library].is_there) {
        return;
    }
    reference_answer answer;
    reference_apply(&side_it.now.state, &operation, &answer);
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = side_it.dispatcher,
        .ns = reference_namespace_text((reference_namespace)operation.made.ns),
        .kind = operation.made.kind,
        .key = (kw_key)operation.made.key,
    };
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, NULL);
    SIDE_SAME(status, answer.status);
    SIDE_HOLDS((library != NULL) == (status == KW_OK), "a library comes with %s",
               kw_status_name(status));
    side_it.libraries[operation.library] = library;
    operations_figures_all.operations++;
}

void side_destroy(const sequence_record *record)
{
    reference_operation operation = {
        .kind = REFERENCE_DESTROY_LIBRARY,
        .library = (uint8_t)sequence_library(record),
    };
    kw_library *library = side_it.libraries[operation.library];
    if (library == NULL || !side_is_at_rest() || side_it.step_count > 0) {
        return;
    }
    reference_answer answer;
    reference_apply(&side_it.now.state, &operation, &answer);
    kw_status drained = kw_library_drain(library, 0, NULL);
    SIDE_SAME(drained, answer.status == KW_OK ? KW_OK : KW_INVALID_ARGUMENT); // S31, drain
    kw_status status = kw_library_destroy(library, NULL);
    SIDE_SAME(status, answer.status);
    if (status == KW_OK) {
        side_it.libraries[operation.library] = NULL;
    }
    operations_figures_all.operations++;
}

// Steps -------------------------------------------------------------------------------------------

static bool makes_registration(const reference_step *step)
{
    return step->kind == REFERENCE_DEFINE || step->kind == REFERENCE_IMPL ||
           step->kind == REFERENCE_FALL_BACK;
}

// Which registration a removal means: one of the library's, or of the steps that wait; or none.
static uint16_t choose(unsigned library, unsigned number)
{
    uint16_t marks[REFERENCE_REGISTRATIONS + REFERENCE_STEPS];
    size_t count = 0;
    const reference *state = &side_it.now.state;
    for (size_t i = 0; i < state->registration_count; i++) {
        if (state->registrations[i].library == library) {
            marks[count++] = state->registrations[i].mark;
        }
    }
    for (size_t i = 0; i < side_it.step_count; i++) {
        if (makes_registration(&side_it.steps[i]) && side_it.steps[i].library == library) {
            marks[count++] = side_it.steps[i].mark;
        }
    }
    size_t chosen = number % (count + 1);
    return chosen < count ? marks[chosen] : REFERENCE_NOBODY;
}

static kw_registration number_of(uint16_t mark)
{
    return mark != REFERENCE_NOBODY ? side_it.kernels[mark].registration : 0;
}

static const char *definition_text(const reference_step *step, char buffer[128])
{
    (void)snprintf(buffer, 128, "%s%s", reference_operator_name(step->op),
                   reference_schema_text((reference_schema)step->schema));
    return buffer;
}

static kw_definition make_definition(const reference_step *step, char buffer[128])
{
    kw_definition definition = KW_DEFINE(definition_text(step, buffer));
    definition.file = "sequence";
    definition.line = step->mark;
    return definition;
}

// A step as a call of its own.
static kw_status commit_alone(const reference_step *step, kw_error *err)
{
    kw_library *library = side_it.libraries[step->library];
    kw_registration made = UNTOUCHED;
    kw_status status;
    char buffer[128];
    const kw_definition definition = make_definition(step, buffer);
    const kw_kernel_descriptor kernel = side_kernel_make(step);
    switch (step->kind) {
    case REFERENCE_DEFINE:
        status = kw_library_define(library, &definition, &made, err);
        break;
    case REFERENCE_IMPL:
        status = kw_library_impl(library, reference_operator_name(step->op), (kw_key)step->key,
                                 &kernel, &made, err);
        break;
    case REFERENCE_FALL_BACK:
        status = kw_library_fallback(library, (kw_key)step->key, &kernel, &made, err);
        break;
    case REFERENCE_REMOVE:
        return kw_library_remove(library, number_of(step->mark), err);
    default:
        return kw_library_close(library, err);
    }
    SIDE_HOLDS((made == UNTOUCHED) == (status != KW_OK), "the number is %llu after %s",
               (unsigned long long)made, kw_status_name(status));
    if (status == KW_OK) {
        side_it.kernels[step->mark].registration = made;
    }
    return status;
}

static kw_status stage(kw_transaction *tx, const reference_step *step, kw_error *err)
{
    kw_library *library = side_it.libraries[step->library];
    kw_registration *out = &side_it.kernels[step->mark].registration;
    char buffer[128];
    const kw_definition definition = make_definition(step, buffer);
    const kw_kernel_descriptor kernel = side_kernel_make(step);
    switch (step->kind) {
    case REFERENCE_DEFINE:
        return kw_transaction_define(tx, library, &definition, out, err);
    case REFERENCE_IMPL:
        return kw_transaction_impl(tx, library, reference_operator_name(step->op),
                                   (kw_key)step->key, &kernel, out, err);
    case REFERENCE_FALL_BACK:
        return kw_transaction_fallback(tx, library, (kw_key)step->key, &kernel, out, err);
    case REFERENCE_REMOVE:
        return kw_transaction_remove(tx, library, number_of(step->mark), err);
    default:
        return kw_transaction_close(tx, library, err);
    }
}

static kw_status commit_together(bool defers, uint64_t *out_version, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(side_it.dispatcher, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    for (size_t i = 0; i < side_it.step_count && status == KW_OK; i++) {
        status = stage(tx, &side_it.steps[i], err);
    }
    if (status != KW_OK) {
        kw_status told = kw_transaction_error(tx)->status;
        SIDE_SAME(told, status);
        kw_transaction_abort(tx);
        return status;
    }
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = defers};
    return kw_transaction_commit(tx, &options, out_version, err);
}

// Transactions ------------------------------------------------------------------------------------

// What the reference says, on a copy.
static reference_answer promise(reference *after)
{
    static reference_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.kind = REFERENCE_TRANSACTION;
    operation.step_count = side_it.step_count;
    memcpy(operation.steps, side_it.steps, sizeof operation.steps);
    *after = side_it.now.state;
    reference_answer answer;
    reference_apply(after, &operation, &answer);
    return answer;
}

// Destructors that the commit runs look at it.
static void promise_registered(bool is_registered)
{
    for (size_t i = 0; i < side_it.step_count; i++) {
        const reference_step *step = &side_it.steps[i];
        if (makes_registration(step)) {
            side_it.kernels[step->mark].was_registered = is_registered;
        }
    }
}

static void transact(const sequence_record *record)
{
    static reference after;
    reference_answer answer = promise(&after);
    bool and_after = false;
    unsigned failing = sequence_failing(record, &and_after);
    bool defers = sequence_defers(record);
    uint64_t asked = side_memory_count();
    uint64_t version = UNTOUCHED;
    kw_error err = KW_ERROR_INIT;
    promise_registered(answer.status == KW_OK);
    side_it.promised = &after;
    side_memory_fail_at(failing, and_after);
    kw_status status = side_it.step_count == 1 && !defers ? commit_alone(&side_it.steps[0], &err)
                                                          : commit_together(defers, &version, &err);
    side_memory_fail_at(0, false);
    side_it.promised = NULL;
    bool has_failed = failing != 0 && side_memory_count() - asked >= failing;
    SIDE_HOLDS(status == KW_OK || (err.status == status && err.text[0] != '\0'), "no sentence");
    if (status == KW_NO_MEMORY && has_failed) {
        promise_registered(false);
        operations_figures_all.out_of_memory++;
        return;
    }
    SIDE_HOLDS(status == answer.status, "the library says %s (%s), the reference %s",
               kw_status_name(status), err.text, kw_status_name(answer.status));
    if (status != KW_OK) {
        operations_figures_all.refused++;
        return;
    }
    SIDE_HOLDS(version == UNTOUCHED || version == side_it.first_version + answer.version,
               "the commit has version %llu", (unsigned long long)version);
    side_it.now.state = after;
    side_refresh(&side_it.now);
}

void side_commit(const sequence_record *record)
{
    transact(record);
    operations_figures_all.operations++;
    side_it.step_count = 0;
    side_compare();
}

void side_step(const sequence_record *record)
{
    reference_step step = sequence_step(record);
    bool adds = makes_registration(&step);
    if (side_it.step_count < REFERENCE_STEPS &&
        (!adds || (side_it.mark_count + 1 < SIDE_MARKS &&
                   reference_has_room(&side_it.now.state, side_it.step_count + 1)))) {
        if (adds) {
            step.mark = (uint16_t)++side_it.mark_count;
            side_it.kernels[step.mark].mark = step.mark;
            side_it.kernels[step.mark].library = step.library;
            side_it.kernels[step.mark].is_kernel = step.kind != REFERENCE_DEFINE;
        } else if (step.kind == REFERENCE_REMOVE) {
            step.mark = choose(step.library, record->key);
        }
        side_it.steps[side_it.step_count++] = step;
    }
    if (sequence_has_more(record) && side_it.step_count < REFERENCE_STEPS) {
        return;
    }
    if (side_it.step_count > 0) {
        side_commit(record);
    }
}
