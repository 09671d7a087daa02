// Refusals: the sentences about values that do not fit a C signature.
//
// Layer:   value
// Threads: any. Nothing here allocates.
// SPDX-License-Identifier: MIT

#include "value/refusal.h"

#include "value/form.h"
#include "value/view.h"

kw_status kwi_refuse_counts(const kw_frame *frame, uint32_t arg_count, uint32_t return_count,
                            kw_error *err)
{
    return kwi_fail(err, KW_WRONG_VALUE,
                    "the frame has %u arguments and %u returns, the C signature %u and %u",
                    (unsigned)frame->arg_count, (unsigned)frame->return_count, (unsigned)arg_count,
                    (unsigned)return_count);
}

kw_status kwi_refuse_symbolic(uint32_t index, const char *clause, kw_error *err)
{
    return kwi_fail(err, KW_SYMBOLIC_VALUE,
                    "argument %u %s, but the kernel takes plain integers; register a kernel with "
                    "the symbolic signature, or resolve the value before the call",
                    (unsigned)index + 1, clause);
}

kw_status kwi_refuse_argument(uint8_t form, uint32_t index, const kw_value *value, kw_error *err)
{
    if (!kwi_tag_in(kwi_forms[form].arg_tags, value->tag)) {
        if (value->tag == KW_TAG_SYM_INT && kwi_forms[form].base == KWI_C_INT) {
            return kwi_refuse_symbolic(index, "is a symbolic integer", err);
        }
        return kwi_fail(err, KW_WRONG_VALUE, "argument %u is %s, but the schema says %s",
                        (unsigned)index + 1, kw_tag_name(value->tag), kwi_forms[form].word);
    }
    const char *clause = NULL;
    kw_status status = kwi_form_look(form, value, &clause);
    if (status == KW_OK) {
        return KW_OK;
    }
    return status == KW_SYMBOLIC_VALUE
               ? kwi_refuse_symbolic(index, clause, err)
               : kwi_fail(err, status, "argument %u %s", (unsigned)index + 1, clause);
}

kw_status kwi_refuse_return(uint8_t form, uint32_t index, const kw_value *value, kw_error *err)
{
    // None is what an invalid symbolic integer gives.
    const char *found = kwi_forms[form].base == KWI_C_SYM_INT ? "invalid" : kw_tag_name(value->tag);
    return kwi_fail(err, KW_WRONG_VALUE, "return %u is %s, but the schema says %s",
                    (unsigned)index + 1, found, kwi_forms[form].word);
}

void kwi_explain_argument(kwi_text *text, uint8_t form, uint32_t index)
{
    const char *clause = "has more than 4294967295 elements";
    if (kwi_forms[form].base == KWI_C_SYM_INT) {
        clause = "is an invalid symbolic integer: integers below -2^62 have no symbolic form";
    } else if (form == KWI_C_STRING) {
        clause = "has more than 4294967295 bytes";
    }
    kwi_text_add(text, "argument %u %s", (unsigned)index + 1, clause);
}

void kwi_explain_return(kwi_text *text, uint8_t form, uint32_t index, const kw_value *value)
{
    if (!kwi_tag_in(kwi_forms[form].return_tags, value->tag)) {
        kwi_text_add(text, "return %u is %s, but the schema says %s", (unsigned)index + 1,
                     kw_tag_name(value->tag), kwi_forms[form].word);
    } else if (kwi_value_is_view(value)) {
        kwi_view_explain(text, value, index);
    } else {
        kwi_text_add(text, "return %u is an integer below -2^62, which has no symbolic form",
                     (unsigned)index + 1);
    }
}
