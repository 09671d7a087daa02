// The specification of histories of the library: the sequential reference.
//
// Layer:   test
// Threads: one thread uses it.
// SPDX-License-Identifier: MIT

#include "linear/dispatcher.h"

#include <stdlib.h>

#include <keyway/key.h>
#include <keyway/library.h>
#include <keyway/local.h>

#include "linear/memory.h"
#include "linear/operation.h"

// Tables are resolved when a call first needs them, and serve every question that a search puts to
// the same state.
typedef struct dispatcher {
    reference now;
    reference_table *tables[REFERENCE_OPERATORS][LINEAR_ENTRIES];
} dispatcher;

static void *create(void)
{
    dispatcher *made = linear_allocate(1, sizeof *made);
    reference_init(&made->now, false, KW_DUPLICATE_STACK);
    return made;
}

static void *copy(const void *state)
{
    dispatcher *made = linear_allocate(1, sizeof *made);
    made->now = ((const dispatcher *)state)->now;
    return made;
}

static void destroy(void *state)
{
    dispatcher *dying = state;
    for (unsigned i = 0; i < REFERENCE_OPERATORS; i++) {
        for (unsigned j = 0; j < LINEAR_ENTRIES; j++) {
            linear_free(dying->tables[i][j]);
        }
    }
    linear_free(dying);
}

static bool equal(const void *one, const void *other)
{
    return reference_equal(&((const dispatcher *)one)->now, &((const dispatcher *)other)->now);
}

static uint64_t hash(const void *state)
{
    return reference_hash(&((const dispatcher *)state)->now);
}

static const reference_table *table_of(dispatcher *in, unsigned op, unsigned entry)
{
    reference_table **table = &in->tables[op][entry];
    if (*table == NULL) {
        *table = linear_allocate(1, sizeof **table);
        reference_resolve(&in->now, op, entry, *table);
    }
    return *table;
}

// Whether the kernel redispatches; see linear_key_is_layer().
static bool is_layer(const dispatcher *in, uint16_t mark)
{
    const reference_registration *found = reference_find(&in->now, mark);
    return found != NULL && linear_key_is_layer(found->key);
}

// The whole chain of kernels is that of one table.
static bool call_holds(dispatcher *in, const linear_question *question)
{
    const reference_table *table = table_of(in, question->asked.op, question->asked.entry);
    const kw_local_state local = kw_local_default();
    reference_operation asked = question->asked;
    asked.included = local.included;
    asked.excluded = local.excluded;
    reference_answer answer;
    for (unsigned depth = 0;; depth++) {
        reference_call_in(table, &asked, &answer);
        if (answer.status != KW_OK) {
            return question->status == answer.status && question->mark_count == depth;
        }
        if (depth >= question->mark_count || question->marks[depth] != answer.mark) {
            return false;
        }
        if (!is_layer(in, answer.mark)) {
            return question->status == KW_OK && question->mark_count == depth + 1;
        }
        asked.kind = REFERENCE_REDISPATCH;
        asked.arguments =
            kw_keyset_intersection(answer.keys, kw_keyset_full_after(KW_KEY_AutogradCPU));
    }
}

static bool question_holds(dispatcher *in, const linear_question *question)
{
    if (question->asked.kind == REFERENCE_CALL) {
        return call_holds(in, question);
    }
    reference_answer answer;
    if (!reference_has_room(&in->now, question->asked.step_count)) {
        (void)fprintf(stderr, "linear: more registrations than the reference has room for\n");
        exit(2);
    }
    reference trial = in->now; // what was refused may succeed here, and must not change the state
    reference *target = question->status == KW_OK ? &in->now : &trial;
    reference_apply(target, &question->asked, &answer);
    if (answer.status != question->status || answer.yes != question->yes ||
        answer.entry != question->entry) {
        return false;
    }
    bool is_commit = question->asked.kind == REFERENCE_TRANSACTION;
    return !is_commit || question->version == 0 || question->version == answer.version;
}

static bool snapshot_holds(dispatcher *in, const linear_operation *operation)
{
    bool holds = operation->version == LINEAR_ANY_VERSION || in->now.version == operation->version;
    for (uint32_t i = 0; i < operation->question_count && holds; i++) {
        holds = question_holds(in, &operation->questions[i]);
    }
    return holds;
}

// Whether a library is in use is not the reference's to say: both answers are legal of a closed
// one. That a kernel of a drained one does not run any more, linear_drains_check() sees to.
static bool drain_holds(const dispatcher *in, const linear_operation *operation)
{
    const reference_library *library = &in->now.libraries[operation->library];
    if (!library->is_there || !library->is_closed) {
        return operation->status == KW_INVALID_ARGUMENT;
    }
    return operation->status == KW_OK || operation->status == KW_BUSY ||
           operation->status == KW_WOULD_WAIT_FOR_SELF;
}

static bool apply(void *state, const void *operation)
{
    dispatcher *in = state;
    const linear_operation *done = operation;
    switch (done->kind) {
    case LINEAR_ASK:
        break;
    case LINEAR_SNAPSHOT:
        return snapshot_holds(in, done);
    case LINEAR_VERSION:
        return in->now.version == done->version;
    case LINEAR_DRAIN:
        return drain_holds(in, done);
    }
    return question_holds(in, done->questions);
}

static bool is_observer(const void *operation)
{
    return linear_operation_is_observer(operation);
}

const linear_specification linear_dispatcher = {
    .create = create,
    .copy = copy,
    .destroy = destroy,
    .equal = equal,
    .hash = hash,
    .apply = apply,
    .is_observer = is_observer,
};

const reference *linear_dispatcher_reference(const void *state)
{
    return &((const dispatcher *)state)->now;
}

static const char *const sorts[] = {"?", "definition", "kernel", "fallback"};

static void print_registration(const reference_registration *each, FILE *to)
{
    bool is_fallback = each->sort == REFERENCE_FALLBACK;
    (void)fprintf(to, "  #%u  %s of L%u", each->mark, sorts[each->sort], each->library);
    if (!is_fallback) {
        (void)fprintf(to, " for %s", reference_operator_name(each->op));
    }
    if (each->sort != REFERENCE_DEFINITION) {
        (void)fprintf(to, " %s%s", kw_key_name((kw_key)each->key),
                      each->form == REFERENCE_FORM_FALLTHROUGH ? " fallthrough" : "");
    }
    (void)fprintf(to, "%s\n", each->priority != 0 ? " of priority 1" : "");
}

void linear_dispatcher_print(const void *state, unsigned operators, FILE *to)
{
    const reference *now = linear_dispatcher_reference(state);
    unsigned left_out = 0;
    (void)fprintf(to, "  version %llu\n", (unsigned long long)now->version);
    for (unsigned i = 0; i < LINEAR_LIBRARIES; i++) {
        if (!now->libraries[i].is_there || now->libraries[i].is_closed) {
            (void)fprintf(to, "  L%u is %s\n", i,
                          now->libraries[i].is_there ? "closed" : "not there");
        }
    }
    for (unsigned i = 0; i < now->registration_count; i++) {
        const reference_registration *each = &now->registrations[i];
        if (each->sort == REFERENCE_FALLBACK || (operators >> each->op & 1) != 0) {
            print_registration(each, to);
        } else {
            left_out++;
        }
    }
    if (left_out > 0) {
        (void)fprintf(to, "  and %u registrations of operators that are not named below\n",
                      left_out);
    }
}
