// Operations of histories of the library: what was asked, and what was answered.
//
// Layer:   test
// Threads: plain data.
// SPDX-License-Identifier: MIT

#include "linear/operation.h"

#include <string.h>

#include <keyway/key.h>

const uint8_t linear_operators[LINEAR_OPERATORS] = {0, 2, 4};

const uint16_t linear_keys[LINEAR_KEYS] = {
    KW_KEY_CPU,
    KW_KEY_CUDA,
    KW_KEY_AutogradCPU,
    KW_KEY_CompositeImplicitAutograd,
};

static const char *const tensor_names[LINEAR_TENSORS] = {"cpu", "cpu+autograd", "cuda+autograd",
                                                         "bare"};

kw_keyset linear_tensor_keys(unsigned tensor)
{
    kw_keyset keys = kw_keyset_empty();
    if (tensor == 0 || tensor == 1) {
        keys = kw_keyset_add(keys, KW_KEY_CPU);
    }
    if (tensor == 1) {
        keys = kw_keyset_add(keys, KW_KEY_AutogradCPU);
    }
    if (tensor == 2) {
        keys = kw_keyset_add(kw_keyset_from_key(KW_KEY_CUDA), KW_KEY_AutogradCUDA);
    }
    return keys;
}

const char *linear_tensor_name(unsigned tensor)
{
    return tensor_names[tensor];
}

reference_schema linear_entry_schema(unsigned entry)
{
    return entry == 0 ? REFERENCE_SCHEMA_TI : REFERENCE_SCHEMA_T;
}

reference_form linear_entry_form(unsigned entry)
{
    return entry == 0 ? REFERENCE_FORM_TI : REFERENCE_FORM_T;
}

bool linear_key_is_layer(unsigned key)
{
    return key == KW_KEY_AutogradCPU;
}

bool linear_operation_is_observer(const linear_operation *operation)
{
    if (operation->kind != LINEAR_ASK) {
        return true;
    }
    const linear_question *question = operation->questions;
    switch (question->asked.kind) {
    case REFERENCE_CREATE_LIBRARY:
    case REFERENCE_DESTROY_LIBRARY:
    case REFERENCE_TRANSACTION:
        return question->status != KW_OK;
    default:
        return true;
    }
}

// Printing ----------------------------------------------------------------------------------------

static const char *const forms[REFERENCE_FORM_COUNT] = {"boxed", "fallthrough", "t", "ti"};

static const char *tensor_of(kw_keyset keys)
{
    for (unsigned i = 0; i < LINEAR_TENSORS; i++) {
        if (linear_tensor_keys(i).bits == keys.bits) {
            return tensor_names[i];
        }
    }
    return "?";
}

// The second entry of an operator has a mark behind its name, or behind what found it.
static const char *entry_of(unsigned entry)
{
    return entry == 0 ? "" : "'";
}

static const char *key_of(unsigned key)
{
    return kw_key_name((kw_key)key);
}

static void print_step(const reference_step *step, FILE *to)
{
    const char *name = reference_operator_name(step->op);
    switch (step->kind) {
    case REFERENCE_DEFINE:
        (void)fprintf(to, "define L%u %s %s #%u", step->library, name,
                      step->schema == REFERENCE_SCHEMA_TI ? "ti" : "t", step->mark);
        break;
    case REFERENCE_IMPL:
        (void)fprintf(to, "impl L%u %s %s %s %d #%u", step->library, name, key_of(step->key),
                      forms[step->form], step->priority, step->mark);
        break;
    case REFERENCE_FALL_BACK:
        (void)fprintf(to, "fallback L%u %s %s #%u", step->library, key_of(step->key),
                      forms[step->form], step->mark);
        break;
    case REFERENCE_REMOVE:
        (void)fprintf(to, "remove L%u #%u", step->library, step->mark);
        break;
    default:
        (void)fprintf(to, "close L%u", step->library);
        break;
    }
}

static void print_commit(const linear_question *question, FILE *to)
{
    (void)fputs("commit {", to);
    for (size_t i = 0; i < question->asked.step_count; i++) {
        (void)fputs(i > 0 ? " ; " : " ", to);
        print_step(&question->asked.steps[i], to);
    }
    (void)fprintf(to, " } = %s", kw_status_name(question->status));
    if (question->version != 0) {
        (void)fprintf(to, " v%llu", (unsigned long long)question->version);
    }
}

static void print_call(const linear_question *question, FILE *to)
{
    (void)fprintf(to, "%s %s%s %s = %s", question->asked.is_typed ? "call" : "call_boxed",
                  reference_operator_name(question->asked.op), entry_of(question->asked.entry),
                  tensor_of(question->asked.arguments), kw_status_name(question->status));
    for (unsigned i = 0; i < question->mark_count; i++) {
        (void)fprintf(to, " #%u", question->marks[i]);
    }
    (void)fprintf(to, " @%llu", (unsigned long long)question->ran_at);
}

static void print_question(const linear_question *question, FILE *to)
{
    const reference_operation *asked = &question->asked;
    const char *name = reference_operator_name(asked->op);
    const char *status = kw_status_name(question->status);
    switch (asked->kind) {
    case REFERENCE_CREATE_LIBRARY:
        (void)fprintf(to, "create L%u = %s", asked->library, status);
        break;
    case REFERENCE_DESTROY_LIBRARY:
        (void)fprintf(to, "destroy L%u = %s", asked->library, status);
        break;
    case REFERENCE_TRANSACTION:
        print_commit(question, to);
        break;
    case REFERENCE_FIND:
    case REFERENCE_FIND_SCHEMA:
        (void)fprintf(to, "%s %s = %s%s", asked->kind == REFERENCE_FIND ? "find" : "find_schema",
                      name, status, entry_of(question->entry));
        break;
    case REFERENCE_CALL:
        print_call(question, to);
        break;
    default:
        (void)fprintf(to, "%s %s%s %s = %s",
                      asked->kind == REFERENCE_HAS_KERNEL ? "has" : "computed", name,
                      entry_of(asked->entry), key_of(asked->key), question->yes ? "yes" : "no");
        break;
    }
}

static void print_version(uint64_t version, FILE *to)
{
    if (version == LINEAR_ANY_VERSION) {
        (void)fputs("any", to);
    } else {
        (void)fprintf(to, "%llu", (unsigned long long)version);
    }
}

void linear_operation_print(const linear_operation *operation, FILE *to)
{
    switch (operation->kind) {
    case LINEAR_VERSION:
        (void)fprintf(to, "version = %llu", (unsigned long long)operation->version);
        break;
    case LINEAR_DRAIN:
        (void)fprintf(to, "drain L%u = %s", operation->library, kw_status_name(operation->status));
        break;
    case LINEAR_ASK:
        print_question(operation->questions, to);
        break;
    case LINEAR_SNAPSHOT:
        (void)fprintf(to, "snapshot ");
        print_version(operation->version, to);
        (void)fprintf(to, " [");
        for (uint32_t i = 0; i < operation->question_count; i++) {
            (void)fputs(i > 0 ? " | " : " ", to);
            print_question(&operation->questions[i], to);
        }
        (void)fputs(" ]", to);
        break;
    }
}
