// Refusals: the sentences about values that do not fit a C signature.
//
// Layer:   value
// Threads: any. Nothing here allocates.
// SPDX-License-Identifier: MIT

#ifndef KWI_VALUE_REFUSAL_H
#define KWI_VALUE_REFUSAL_H

#include <stdint.h>

#include <keyway/frame.h>
#include <keyway/value.h>

#include "base/text.h"

// Unboxing. Arguments and returns are numbered from 0 here, from 1 in the sentences.

// The frame's counts are not the signature's: KW_WRONG_VALUE.
KW_COLD kw_status kwi_refuse_counts(const kw_frame *frame, uint32_t arg_count,
                                    uint32_t return_count, kw_error *err);

// Looks at an argument: KW_OK if it fits the form, else KW_WRONG_VALUE or KW_SYMBOLIC_VALUE.
KW_COLD kw_status kwi_refuse_argument(uint8_t form, uint32_t index, const kw_value *value,
                                      kw_error *err);

// A symbolic integer, or a list that holds one, where a kernel takes plain ones. `clause` says what
// it is: KW_SYMBOLIC_VALUE.
KW_COLD kw_status kwi_refuse_symbolic(uint32_t index, const char *clause, kw_error *err);

// What a typed kernel returned is not what the form says: KW_WRONG_VALUE.
KW_COLD kw_status kwi_refuse_return(uint8_t form, uint32_t index, const kw_value *value,
                                    kw_error *err);

// Boxing.

// An argument that came out as None is not None.
KW_COLD void kwi_explain_argument(kwi_text *text, uint8_t form, uint32_t index);

// What a boxed kernel returned is not what the form says, or a view.
KW_COLD void kwi_explain_return(kwi_text *text, uint8_t form, uint32_t index,
                                const kw_value *value);

#endif // KWI_VALUE_REFUSAL_H
