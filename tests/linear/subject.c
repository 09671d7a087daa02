// The subject: a dispatcher of the library, asked in the words of the reference.
//
// Layer:   test
// Threads: any may ask; one begins and ends it while nobody else does.
// SPDX-License-Identifier: MIT

#include "linear/subject.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/library.h>
#include <keyway/snapshot.h>

#include "linear/clock.h"
#include "linear/kernels.h"
#include "support/ops.h"

#define DRAIN_SECONDS UINT64_C(20)
#define NESTED_PAUSE 1023 // with a turn for other threads, so that a commit meets both calls

_Atomic uint64_t linear_response_count;

static kw_dispatcher *dispatcher;
static kw_library *libraries[LINEAR_LIBRARIES];
static const kw_operator *operators[REFERENCE_OPERATORS][LINEAR_ENTRIES];
static uint64_t first_version;

// guard: thread. What the next kernel asks; without a recorder nothing.
static _Thread_local struct {
    linear_recorder *recorder;
    linear_record *snapshot;
    reference_operation asked;
} nested;

// guard: thread. The one that is open.
static _Thread_local kw_snapshot snapshot;

// A snapshot on its way from one thread to another.
typedef struct offer {
    kw_shared_snapshot *shared;
    uint64_t invoked;
    uint64_t responded;
    uint64_t version;
} offer;

// guard: cell. Exchanges acquire and release: the taker reads what the giver has written.
static _Atomic(offer *) offered;

// The beginning and the end ---------------------------------------------------------------------

static void give_up(const char *doing, kw_status status, const kw_error *err)
{
    (void)fprintf(stderr, "linear: %s: %s: %s\n", doing, kw_status_name(status), err->text);
    exit(2);
}

void linear_subject_begin(void)
{
    static const kw_tensor_type type = {
        .struct_size = sizeof type, .name = "tensor of histories", .version = 1, .keys = kwt_keys};
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_dispatcher_create(&options, &dispatcher, &err);
    if (status != KW_OK) {
        give_up("creating a dispatcher", status, &err);
    }
    first_version = kw_version();
    linear_marks_clear();
    memset(libraries, 0, sizeof libraries);
    memset(operators, 0, sizeof operators);
}

static bool end_library(kw_library *library, kw_error *err)
{
    return kw_library_close(library, err) == KW_OK &&
           kw_library_drain(library, DRAIN_SECONDS * 1000000000, err) == KW_OK &&
           kw_library_destroy(library, err) == KW_OK;
}

bool linear_subject_end(void)
{
    kw_error err = KW_ERROR_INIT;
    bool is_ended = true;
    for (unsigned i = 0; i < LINEAR_LIBRARIES && is_ended; i++) {
        is_ended = libraries[i] == NULL || end_library(libraries[i], &err);
    }
    is_ended = is_ended && kw_dispatcher_destroy(dispatcher, &err) == KW_OK;
    if (!is_ended) {
        (void)fprintf(stderr, "linear: something stays at the end: %s\n", err.text);
        return false;
    }
    unsigned left = linear_mark_alive();
    if (left < LINEAR_MARKS) {
        (void)fprintf(stderr, "linear: the user data of kernel #%u is not destroyed\n", left);
        return false;
    }
    return true;
}

// Changes -----------------------------------------------------------------------------------------

static bool is_adding(const reference_step *step)
{
    return step->kind != REFERENCE_REMOVE && step->kind != REFERENCE_CLOSE;
}

// A change in a transaction, or, without one, at once.
static kw_status change(kw_transaction *tx, const reference_step *step)
{
    kw_library *library = libraries[step->library];
    const char *name = reference_operator_name(step->op);
    kw_registration *registration = linear_mark_registration(step->mark);
    if (step->kind == REFERENCE_DEFINE) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s%s", name,
                       reference_schema_text((reference_schema)step->schema));
        const kw_definition definition = KW_DEFINE(schema);
        return tx != NULL ? kw_transaction_define(tx, library, &definition, registration, NULL)
                          : kw_library_define(library, &definition, registration, NULL);
    }
    if (step->kind == REFERENCE_REMOVE) {
        return tx != NULL ? kw_transaction_remove(tx, library, *registration, NULL)
                          : kw_library_remove(library, *registration, NULL);
    }
    if (step->kind == REFERENCE_CLOSE) {
        return tx != NULL ? kw_transaction_close(tx, library, NULL)
                          : kw_library_close(library, NULL);
    }
    const kw_kernel_descriptor kernel = linear_kernel_describe(step);
    kw_key key = (kw_key)step->key;
    if (step->kind == REFERENCE_IMPL) {
        return tx != NULL ? kw_transaction_impl(tx, library, name, key, &kernel, registration, NULL)
                          : kw_library_impl(library, name, key, &kernel, registration, NULL);
    }
    return tx != NULL ? kw_transaction_fallback(tx, library, key, &kernel, registration, NULL)
                      : kw_library_fallback(library, key, &kernel, registration, NULL);
}

static kw_status commit(const reference_operation *asked, uint64_t *out_version)
{
    if (asked->entry != 0) { // the one change as a function of its own
        return change(NULL, &asked->steps[0]);
    }
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(dispatcher, &tx, NULL);
    for (size_t i = 0; i < asked->step_count && status == KW_OK; i++) {
        status = change(tx, &asked->steps[i]);
    }
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    const kw_commit_options options = {.struct_size = sizeof options,
                                       .defer_reclaim = asked->is_typed};
    return kw_transaction_commit(tx, &options, out_version, NULL);
}

// The caller of what failed still owns the user data.
static void settle(const reference_operation *asked, kw_status status)
{
    for (size_t i = 0; i < asked->step_count; i++) {
        const reference_step *step = &asked->steps[i];
        if (is_adding(step) && status == KW_OK) {
            linear_mark_note(step->mark, step->library);
        } else if (is_adding(step)) {
            linear_mark_take_back(step->mark);
        }
    }
}

// Questions ---------------------------------------------------------------------------------------

// The number of the handle; while one thread prepares the rest, the next one if it is new.
static uint8_t entry_of(unsigned op, const kw_operator *handle)
{
    for (uint8_t i = 0; i < LINEAR_ENTRIES; i++) {
        if (operators[op][i] == NULL) {
            operators[op][i] = handle;
        }
        if (operators[op][i] == handle) {
            return i;
        }
    }
    return UINT8_MAX; // no answer that the reference gives
}

static kw_status find(linear_question *question)
{
    const reference_operation *asked = &question->asked;
    const kw_operator *op = NULL;
    const char *name = reference_operator_name(asked->op);
    kw_status status = asked->kind == REFERENCE_FIND
                           ? kw_operator_find(dispatcher, name, &op, NULL)
                           : kw_operator_find_schema(dispatcher, name, &op, NULL);
    if (status == KW_OK) {
        question->entry = entry_of(asked->op, op);
    }
    return status;
}

static kw_status create_library(const reference_operation *asked)
{
    const kw_library_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    return kw_library_create(&options, &libraries[asked->library], NULL);
}

static kw_status destroy_library(const reference_operation *asked)
{
    kw_status status = kw_library_destroy(libraries[asked->library], NULL);
    if (status == KW_OK) {
        libraries[asked->library] = NULL;
    }
    return status;
}

static kw_status call_boxed(const kw_operator *op, unsigned entry, kwt_tensor *x, int64_t n)
{
    kw_value args[] = {kw_value_tensor(x), kw_value_int(n)};
    kw_value result = kw_value_none();
    kw_frame frame = {
        .args = args, .returns = &result, .arg_count = entry == 0 ? 2 : 1, .return_count = 1};
    return kw_call_boxed(op, &frame);
}

static kw_status call(linear_question *question, uint32_t pause)
{
    unsigned entry = question->asked.entry;
    const kw_operator *op = operators[question->asked.op][entry];
    kwt_tensor x = {.keys = question->asked.arguments};
    int64_t result = 0;
    kw_status status;
    linear_kernels_note(question);
    if (!question->asked.is_typed) {
        status = call_boxed(op, entry, &x, pause);
    } else if (entry == 0) {
        status = kwt_call_ti_i(op, &x, pause, &result);
    } else {
        status = kwt_call_t_i(op, &x, &result);
    }
    nested.recorder = NULL;
    return status;
}

static void answer(linear_question *question, uint32_t pause)
{
    const reference_operation *asked = &question->asked;
    const kw_operator *op = operators[asked->op][asked->entry % LINEAR_ENTRIES];
    switch (asked->kind) {
    case REFERENCE_CREATE_LIBRARY:
        question->status = create_library(asked);
        break;
    case REFERENCE_DESTROY_LIBRARY:
        question->status = destroy_library(asked);
        break;
    case REFERENCE_TRANSACTION:
        question->status = commit(asked, &question->version);
        break;
    case REFERENCE_CALL:
        question->status = call(question, pause);
        break;
    case REFERENCE_HAS_KERNEL:
        question->yes = kw_operator_has_kernel(op, (kw_key)asked->key);
        break;
    case REFERENCE_HAS_COMPUTED:
        question->yes = kw_operator_has_computed_kernel(op, (kw_key)asked->key);
        break;
    default:
        question->status = find(question);
        break;
    }
}

void linear_subject_ask(linear_recorder *recorder, const reference_operation *asked, uint32_t pause)
{
    linear_record *record = linear_recorder_next(recorder, LINEAR_ASK);
    linear_question *question = linear_record_ask(record, REFERENCE_CALL);
    question->asked = *asked;
    record->invoked = linear_clock_invoke();
    answer(question, pause);
    record->responded = linear_clock_respond();
    if (asked->kind == REFERENCE_TRANSACTION) {
        settle(asked, question->status);
        question->version -= question->version != 0 ? first_version : 0;
    }
}

void linear_subject_nest(linear_recorder *recorder, linear_record *of,
                         const reference_operation *asked)
{
    nested.recorder = recorder;
    nested.snapshot = of;
    nested.asked = *asked;
}

void linear_subject_ask_nested(void)
{
    linear_recorder *recorder = nested.recorder;
    if (recorder == NULL) {
        return;
    }
    nested.recorder = NULL;
    if (nested.snapshot != NULL) {
        linear_subject_snapshot_ask(nested.snapshot, &nested.asked, NESTED_PAUSE);
    } else {
        linear_subject_ask(recorder, &nested.asked, NESTED_PAUSE);
    }
}

void linear_subject_version(linear_recorder *recorder)
{
    linear_record *record = linear_recorder_next(recorder, LINEAR_VERSION);
    record->invoked = linear_clock_invoke();
    uint64_t version = kw_version();
    record->responded = linear_clock_respond();
    record->operation.version = version - first_version;
}

kw_status linear_subject_drain(linear_recorder *recorder, unsigned library, uint64_t timeout_ns)
{
    linear_record *record = linear_recorder_next(recorder, LINEAR_DRAIN);
    record->operation.library = (uint8_t)library;
    record->invoked = linear_clock_invoke();
    kw_status status = kw_library_drain(libraries[library], timeout_ns, NULL);
    record->responded = linear_clock_respond();
    record->operation.status = status;
    return status;
}

linear_record *linear_subject_snapshot_open(linear_recorder *recorder)
{
    linear_record *record = linear_recorder_next(recorder, LINEAR_SNAPSHOT);
    record->invoked = linear_clock_invoke();
    kw_status status = kw_snapshot_open(&snapshot);
    record->responded = linear_clock_respond();
    if (status != KW_OK) {
        recorder->count--;
        return NULL;
    }
    record->operation.version = snapshot.version - first_version;
    return record;
}

void linear_subject_snapshot_ask(linear_record *of, const reference_operation *asked,
                                 uint32_t pause)
{
    linear_question *question = linear_record_ask(of, REFERENCE_CALL);
    question->asked = *asked;
    answer(question, pause);
}

void linear_subject_snapshot_close(void)
{
    kw_status status = kw_snapshot_close(&snapshot);
    if (status != KW_OK) {
        (void)fprintf(stderr, "linear: closing a snapshot: %s\n", kw_status_name(status));
        exit(2);
    }
}

void linear_subject_snapshot_ask_nested(linear_record *of, const reference_operation *asked,
                                        uint32_t pause)
{
    kw_snapshot outer = snapshot;
    if (kw_snapshot_open(&snapshot) == KW_OK) {
        linear_subject_snapshot_ask(of, asked, pause);
        linear_subject_snapshot_close();
        snapshot = outer;
    }
}

// Handing over ------------------------------------------------------------------------------------

static void end_offer(offer *ending)
{
    if (ending != NULL) {
        kw_shared_snapshot_release(ending->shared);
        free(ending);
    }
}

void linear_subject_offer(const linear_record *of)
{
    offer *made = calloc(1, sizeof *made);
    if (made == NULL || kw_snapshot_share(&snapshot, &made->shared, NULL) != KW_OK) {
        free(made);
        return;
    }
    made->invoked = of->invoked;
    made->responded = of->responded;
    made->version = of->operation.version;
    end_offer(atomic_exchange_explicit(&offered, made, memory_order_acq_rel));
}

linear_record *linear_subject_take_over(linear_recorder *recorder)
{
    offer *taken = atomic_exchange_explicit(&offered, NULL, memory_order_acq_rel);
    if (taken == NULL) {
        return NULL;
    }
    linear_record *record = NULL;
    if (kw_shared_snapshot_enter(taken->shared, &snapshot) == KW_OK) {
        record = linear_recorder_next(recorder, LINEAR_SNAPSHOT);
        record->invoked = taken->invoked;
        record->responded = taken->responded;
        record->operation.version = taken->version;
    }
    end_offer(taken);
    return record;
}

void linear_subject_withdraw(void)
{
    end_offer(atomic_exchange_explicit(&offered, NULL, memory_order_acq_rel));
}
