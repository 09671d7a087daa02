// Claims: which kernel gets which slots by which rule, before there is a table.
//
// Layer:   table
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_CLAIM_H
#define KWI_TABLE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include "table/layout.h"
#include "table/resolve.h"
#include "table/rule.h"
#include "table/slotset.h"

// One kernel and the slots that one rule gives it.
typedef struct kwi_claim {
    kwi_slotset slots;
    kwi_source source;
    kwi_rule rule;
    bool fallthrough;
} kwi_claim;

// L1  Claims are disjoint and not empty; together with `free` they cover every slot. Once all rules
//     are applied, `free` is empty.
// L2  No two claims have the same kernel and the same rule.
typedef struct kwi_claims {
    kwi_slotset free;
    kwi_slotset fallthrough; // the slots of all claims by fallthroughs
    size_t count;
    kwi_claim list[KW_SLOT_COUNT]; // in no order that matters
} kwi_claims;

// Applies every rule in the order of precedence.
void kwi_rules_apply(const kwi_resolve_input *input, kwi_claims *out_claims);

#endif // KWI_TABLE_CLAIM_H
