// Frames: checking them against a schema, and giving their returns back.
//
// Layer:   value
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include <keyway/frame.h>

#include "base/text.h"
#include "schema/schema.h"
#include "value/check.h"

// Bytes of the longest subject: "argument 64 (...)", with names that are cut.
#define SUBJECT_BYTES 96

static kw_status fail_counts(const kw_schema *schema, const kw_frame *frame, kw_error *err)
{
    return kwi_fail(err, KW_WRONG_VALUE,
                    "the frame has %u arguments and %u returns; `%s` takes %u and gives %u",
                    (unsigned)frame->arg_count, (unsigned)frame->return_count,
                    kwi_schema_text(schema), (unsigned)schema->arg_count,
                    (unsigned)schema->return_count);
}

// A count as the schema has it; "..." takes any number more.
static bool fits_count(uint32_t count, uint32_t expected, bool open)
{
    return count == expected || (open && count > expected);
}

kw_status kw_frame_check(const kw_schema *schema, const kw_frame *frame, kw_error *err)
{
    if (schema == NULL || frame == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a check needs a schema and a frame");
    }
    if (!fits_count(frame->arg_count, schema->arg_count, schema->vararg) ||
        !fits_count(frame->return_count, schema->return_count, schema->varret)) {
        return fail_counts(schema, frame, err);
    }
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        kw_argument argument = kw_schema_arg(schema, i);
        char subject[SUBJECT_BYTES];
        kwi_text text;
        kwi_text_init(&text, subject, sizeof subject);
        kwi_text_add(&text, "argument %u", (unsigned)i + 1);
        if (argument.name.length > 0) {
            kwi_text_add(&text, " (%.*s)", (int)argument.name.length, argument.name.data);
        }
        kw_status status = kwi_value_check(&frame->args[i], argument.type, subject, err);
        if (status != KW_OK) {
            return status;
        }
    }
    return KW_OK;
}

void kw_frame_release_returns(kw_frame *frame, const kw_tensor_type *type)
{
    for (uint32_t i = 0; frame != NULL && i < frame->return_count; i++) {
        kw_value_release(&frame->returns[i], type);
    }
}
