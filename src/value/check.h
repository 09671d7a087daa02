// Checking values: does a value fit a type of the schema language, and if not, what is wrong.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_VALUE_CHECK_H
#define KWI_VALUE_CHECK_H

#include <keyway/value.h>

// The same as kw_value_check(); `subject` is what the sentence calls the value.
kw_status kwi_value_check(const kw_value *value, const kw_type *type, const char *subject,
                          kw_error *err);

#endif // KWI_VALUE_CHECK_H
