// Expressions: sets of keys written with operators.
//
//     set   := term { op term },  op := '|' | ',' | '&' | '^' | '-'
//     term  := '(' [ set ] ')' | 'DispatchKeySet' '(' [ set ] ')'
//            | 'FULL' | 'FULL_AFTER' '(' KEY ')' | KEY | ALIAS | BACKEND 'Bit' | NUMBER
//
// Operators have no precedence: they apply from left to right, so that `A|B-C` takes C away from
// both. `-` is kw_keyset_difference(): backend bits stay.
//
// Layer:   cli (public headers only)
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_EXPRESSION_H
#define KWI_CLI_EXPRESSION_H

#include <keyway/keyset.h>
#include <keyway/status.h>

KW_NODISCARD kw_status cli_expression_evaluate(const char *text, kw_keyset *out_keys,
                                               kw_error *err);

#endif // KWI_CLI_EXPRESSION_H
