// Forms: what values each letter of a C signature takes and gives.
//
// Layer:   value
// Threads: any; the table is constant.
// SPDX-License-Identifier: MIT
//
// Note [What a C parameter takes]
//
// A value fits a parameter if its tag is the one of the parameter's own, and besides:
//
//   - None fits pointers, and so every optional, and a number (`n`);
//   - an int fits a float, and a symbolic integer;
//   - a number is an int, float, bool, complex or symbolic integer or bool;
//   - int[] fits SymInt[] if every element has a symbolic form, and SymInt[] fits int[] if every
//     element is an integer; a node where the function takes integers is KW_SYMBOLIC_VALUE;
//   - a list without a tag of its own, such as str[] or int?[], is KW_TAG_LIST and nothing else
//     fits: elements are never converted;
//   - `v` takes everything.

#ifndef KWI_VALUE_FORM_H
#define KWI_VALUE_FORM_H

#include <ffi.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/value.h>

#include "schema/c_signature.h"

typedef struct kwi_form {
    const char *word;     // for texts: the schema's word for the type
    uint64_t arg_tags;    // bit t: an argument may have the tag t
    uint64_t return_tags; // the same for a return; 0: there is no such return
    uint64_t look_tags;   // those among them where the contents decide: see kwi_form_look()
    ffi_type *type;       // of the parameter
    uint8_t base;         // of "?x": the form of x; else the form itself
} kwi_form;

extern const kwi_form kwi_forms[KWI_C_FORM_COUNT];

static inline bool kwi_tag_in(uint64_t tags, uint32_t tag)
{
    return tag < 64 && (tags >> tag & 1) != 0;
}

// Whether the words are symbolic integers of which none is a node or invalid.
static inline bool kwi_words_are_integers(const uint64_t *words, uint32_t count)
{
    bool integers = true;
    for (uint32_t i = 0; i < count; i++) {
        integers &= kw_symint_is_int((kw_symint){words[i]});
    }
    return integers;
}

// Looks into a value with one of the form's `look_tags`: KW_OK, or why it does not fit after all,
// as a clause without a subject.
kw_status kwi_form_look_into(uint8_t form, const kw_value *value, const char **out_clause);

// The same for any tag that fits.
static inline kw_status kwi_form_look(uint8_t form, const kw_value *value, const char **out_clause)
{
    return kwi_tag_in(kwi_forms[form].look_tags, value->tag)
               ? kwi_form_look_into(form, value, out_clause)
               : KW_OK;
}

#endif // KWI_VALUE_FORM_H
