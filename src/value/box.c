// Boxing: a typed call becomes a frame in stack memory.
//
// Layer:   value
// Threads: any. Nothing here allocates, and the signature is only read.
// SPDX-License-Identifier: MIT

#include "base/text.h"
#include "value/signature_body.h"

// Bytes of the longest sentence handed to `refuse`.
#define SENTENCE_BYTES 128

static kw_value box_optional(uint8_t form, const void *pointer)
{
    if (pointer == NULL) {
        return kw_value_none();
    }
    if (form == KWI_C_OPTIONAL_INT) {
        return kw_value_int(*(const int64_t *)pointer);
    }
    if (form == KWI_C_OPTIONAL_FLOAT) {
        return kw_value_float(*(const double *)pointer);
    }
    return kw_value_bool(*(const bool *)pointer);
}

// `parameter` is where libffi keeps the argument.
static kw_value box(uint8_t form, const void *parameter)
{
    switch ((kwi_c_form)form) {
    case KWI_C_TENSOR:
        return kw_value_tensor(*(void *const *)parameter);
    case KWI_C_INT:
        return kw_value_int(*(const int64_t *)parameter);
    case KWI_C_FLOAT:
        return kw_value_float(*(const double *)parameter);
    case KWI_C_BOOL:
        return kw_value_bool(*(const uint8_t *)parameter != 0);
    case KWI_C_STRING:
        return kw_value_string(*(const char *const *)parameter);
    case KWI_C_TENSOR_LIST:
        return kw_value_tensors(*(const kw_tensor_list *)parameter);
    case KWI_C_INT_LIST:
        return kw_value_ints(*(const kw_int_list *)parameter);
    case KWI_C_FLOAT_LIST:
        return kw_value_floats(*(const kw_float_list *)parameter);
    case KWI_C_BOOL_LIST:
        return kw_value_bools(*(const kw_bool_list *)parameter);
    case KWI_C_GENERATOR:
        return kw_value_generator(*(void *const *)parameter);
    case KWI_C_OPTIONAL_INT:
    case KWI_C_OPTIONAL_FLOAT:
    case KWI_C_OPTIONAL_BOOL:
    case KWI_C_FORM_COUNT:
        break;
    }
    return box_optional(form, *(const void *const *)parameter);
}

// A list or string that came out as None though it is there has more elements than a value counts.
static bool is_too_long(uint8_t form, const void *parameter, const kw_value *value)
{
    if (value->tag != KW_TAG_NONE || form < KWI_C_STRING || form > KWI_C_BOOL_LIST) {
        return false;
    }
    return form != KWI_C_STRING || *(const char *const *)parameter != NULL;
}

KW_COLD static kw_status refuse_argument(const kwi_signature *signature, const kw_kernel *self,
                                         kw_frame *frame, uint32_t index)
{
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_text_add(&text, "argument %u has more than %lu elements", (unsigned)index + 1,
                 (unsigned long)UINT32_MAX);
    signature->refuse(self, frame, sentence);
    return KW_WRONG_VALUE;
}

KW_COLD static kw_status refuse_return(const kwi_signature *signature, const kw_kernel *self,
                                       kw_frame *frame, uint32_t index)
{
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_text_add(&text, "return %u is %s, but the schema says %s", (unsigned)index + 1,
                 kw_tag_name(frame->returns[index].tag),
                 kw_tag_name(kwi_signature_tags[signature->forms.returns[index]]));
    signature->refuse(self, frame, sentence);
    return KW_WRONG_VALUE;
}

static bool fits_return(uint8_t form, const kw_value *value)
{
    return value->tag == kwi_signature_tags[form] ||
           (form == KWI_C_TENSOR && value->tag == KW_TAG_NONE);
}

// `parameter` is where libffi keeps the out pointer.
static void write_return(uint8_t form, const kw_value *value, void *parameter)
{
    if (form == KWI_C_TENSOR) {
        **(void ***)parameter = value->tag == KW_TAG_TENSOR ? value->as.as_tensor : NULL;
    } else if (form == KWI_C_INT) {
        **(int64_t **)parameter = value->as.as_int;
    } else if (form == KWI_C_FLOAT) {
        **(double **)parameter = value->as.as_float;
    } else {
        **(bool **)parameter = value->as.as_bool;
    }
}

// All returns are looked at before the first is written: a caller never gets half of them.
static kw_status finish(const kwi_signature *signature, const kw_kernel *self, kw_frame *frame,
                        void **out_pointers)
{
    const kwi_c_signature *forms = &signature->forms;
    for (uint32_t i = 0; i < forms->return_count; i++) {
        if (KW_UNLIKELY(!fits_return(forms->returns[i], &frame->returns[i]))) {
            return refuse_return(signature, self, frame, i);
        }
    }
    for (uint32_t i = 0; i < forms->return_count; i++) {
        write_return(forms->returns[i], &frame->returns[i], out_pointers[i]);
    }
    return KW_OK;
}

static kw_status run(const kwi_signature *signature, void **parameters)
{
    const kwi_c_signature *forms = &signature->forms;
    const kw_kernel *self = *(const kw_kernel *const *)parameters[0];
    const kw_keyset keys = {.bits = *(const uint64_t *)parameters[1]};
    void **arguments = parameters + KWI_SIGNATURE_LEADING;
    kw_value args[KW_FRAME_ARGS_MAX];
    kw_value returns[KW_FRAME_RETURNS_MAX];
    kw_frame frame = {.args = args,
                      .returns = returns,
                      .arg_count = forms->arg_count,
                      .return_count = forms->return_count};
    for (uint32_t i = 0; i < forms->return_count; i++) {
        returns[i] = kw_value_none();
    }
    for (uint32_t i = 0; i < forms->arg_count; i++) {
        args[i] = box(forms->args[i], arguments[i]);
        if (KW_UNLIKELY(is_too_long(forms->args[i], arguments[i], &args[i]))) {
            frame.arg_count = i; // what follows was never boxed
            return refuse_argument(signature, self, &frame, i);
        }
    }
    kw_status status = signature->invoke(self, keys, &frame);
    return status == KW_OK ? finish(signature, self, &frame, arguments + forms->arg_count) : status;
}

void kwi_signature_box_handler(ffi_cif *cif, void *result, void **parameters, void *user_data)
{
    (void)cif;
    // libffi wants integers narrower than a register widened to one.
    *(ffi_sarg *)result = run(user_data, parameters);
}
