// The rules of precedence: which kernel of an operator gets which slot, and why.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_RULE_H
#define KWI_TABLE_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/kernel.h>

#include "table/candidate.h"
#include "table/slotset.h"

// The order of the numbers is the order of precedence: a rule gets what those before it left.
typedef enum kwi_rule {
    KWI_RULE_DIRECT = 0,
    KWI_RULE_NON_FUNCTIONAL = 1,
    KWI_RULE_EXPLICIT = 2,
    KWI_RULE_NESTED = 3,
    KWI_RULE_AMBIGUOUS = 4,
    KWI_RULE_IMPLICIT = 5,
    KWI_RULE_AUTOGRAD = 6,
    KWI_RULE_BATCHED = 7,
    KWI_RULE_FALLBACK = 8,
    KWI_RULE_MISSING = 9
} kwi_rule;

#define KWI_RULE_COUNT 10

// The rule's own name, such as "implicit"; the word PyTorch's dump of a table has for it, such as
// "math kernel"; and the rule as one sentence. Static storage.
const char *kwi_rule_name(kwi_rule rule);
const char *kwi_rule_reason(kwi_rule rule);
const char *kwi_rule_sentence(kwi_rule rule);

// Everything a table depends on. Borrowed for the call, but for what the table names: kernels,
// functions, definition and owner.
typedef struct kwi_resolve_input {
    // One for each key that has a kernel, in any order. None for Undefined: whoever registers for
    // it means CompositeImplicitAutograd, and the caller says so.
    const kwi_candidate *kernels;
    size_t kernel_count;
    const kwi_fallbacks *fallbacks;          // NULL for none
    const kw_kernel *missing;                // boxed: reports that nothing serves the slot
    const kw_kernel *ambiguous;              // boxed: reports the ambiguity of AutogradOther
    kw_function box;                         // boxing entry of the operator's C signature
    const struct kwi_definition *definition; // NULL while the operator has none
    const void *owner;                       // of the table's block
} kwi_resolve_input;

// One kernel and the slots that one rule gives it.
typedef struct kwi_claim {
    const kw_kernel *kernel;
    kw_function unboxed; // NULL: boxed
    kwi_slotset slots;
    kwi_rule rule;
    bool fallthrough;
} kwi_claim;

// C1  Claims are disjoint and not empty; together with `free` they cover every slot. Once all rules
//     are applied, `free` is empty.
// C2  No two claims have the same kernel and the same rule.
typedef struct kwi_claims {
    kwi_slotset free;
    kwi_slotset fallthrough; // the slots of all claims by fallthroughs
    size_t count;
    kwi_claim list[KW_SLOT_COUNT]; // in no order that matters
} kwi_claims;

void kwi_rules_apply(const kwi_resolve_input *input, kwi_claims *out_claims);

#endif // KWI_TABLE_RULE_H
