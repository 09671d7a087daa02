// The rules of precedence: their order, and how they are named and described.
//
// Layer:   table
// Threads: any; constant data.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_RULE_H
#define KWI_TABLE_RULE_H

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

#endif // KWI_TABLE_RULE_H
