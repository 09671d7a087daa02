// Symbolic integers in calls: the failure of code that needs an integer and has a symbol.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT
//
// Declared in keyway/symint.h, defined here: only this layer has the thread's text.

#include <keyway/call.h>
#include <keyway/symint.h>

kw_status kw_symint_refuse(kw_symint symint, const char *place)
{
    const char *what = place != NULL ? place : "the value";
    const kw_object *node = kw_symint_object(symint);
    if (node == NULL) {
        return kw_fail(KW_WRONG_VALUE,
                       "%s is an invalid symbolic integer; integers below -2^62 have no symbolic "
                       "form",
                       what);
    }
    return kw_fail(KW_SYMBOLIC_VALUE,
                   "%s is a symbolic integer (%s), but a plain integer is needed; register a "
                   "kernel with the symbolic signature, or resolve the value before the call",
                   what, kw_object_type_name(node));
}
