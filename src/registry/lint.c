// Lint: what a commit does to an operator that is allowed and often not meant.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/lint.h"

#include "base/memory.h"
#include "registry/listener.h"

static void describe(const kwi_kernel *kernel, char *buffer)
{
    kwi_text text;
    kwi_text_init(&text, buffer, KWI_EVENT_TEXT_BYTES);
    if (kernel != NULL) {
        kwi_registration_describe(&kernel->registration, &text);
    }
}

typedef struct finding {
    kw_event_kind kind;
    kw_key key;
    const kwi_kernel *composite;
    const kwi_kernel *other;
} finding;

static kw_status add(kwi_pointers *events, const kw_operator *op, const finding *found,
                     kw_error *err)
{
    kwi_event *event = kwi_allocate(sizeof *event);
    if (event == NULL || !kwi_pointers_add(events, event)) {
        kwi_free(event, sizeof *event);
        return kwi_fail_memory(err);
    }
    event->kind = (uint32_t)found->kind;
    event->key = found->key;
    event->op = op->name;
    describe(found->composite, event->previous);
    describe(found->other, event->current);
    return KW_OK;
}

static bool is_composite(kwi_rule rule)
{
    return rule == KWI_RULE_IMPLICIT || rule == KWI_RULE_EXPLICIT ||
           rule == KWI_RULE_NON_FUNCTIONAL || rule == KWI_RULE_NESTED;
}

static const kwi_kernel *kernel_at(const kw_table *table, unsigned slot)
{
    return kwi_kernel_of(kwi_table_entry(table, slot)->kernel);
}

// The active kernel of a backend whose tensors carry AutogradOther.
static const kwi_kernel *claimant(const kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    const kw_keyset others = {KW_KEYSET_AUTOGRADOTHER_BACKENDS};
    for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
         kernel = kernel->registration.older) {
        if (!kw_key_is_alias(kernel->registration.key) &&
            kw_keyset_has(others, kernel->registration.key) &&
            kwi_operator_active_kernel(op, kernel->registration.key) == kernel) {
            return kernel;
        }
    }
    return NULL;
}

kw_status kwi_lint_operator(const kw_operator *op, kwi_pointers *events, kw_error *err)
{
    const kw_table *before = kwi_operator_newest(op);
    const kw_table *after = op->pending;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        kwi_rule rule = kwi_table_rule(after, slot);
        kwi_rule old = kwi_table_rule(before, slot);
        finding found = {.key = kw_key_of_slot((int)slot)};
        if (rule == KWI_RULE_DIRECT && is_composite(old)) {
            found.kind = KW_EVENT_HIDDEN_COMPOSITE;
            found.composite = kernel_at(before, slot);
            found.other = kernel_at(after, slot);
        } else if (rule == KWI_RULE_AMBIGUOUS && old != KWI_RULE_AMBIGUOUS) {
            found.kind = KW_EVENT_AMBIGUOUS;
            found.composite = kwi_operator_active_kernel(op, KW_KEY_CompositeImplicitAutograd);
            found.other = claimant(op);
        } else {
            continue;
        }
        kw_status status = add(events, op, &found, err);
        if (status != KW_OK) {
            return status;
        }
    }
    return KW_OK;
}
