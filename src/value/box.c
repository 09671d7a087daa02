// Boxing: a typed call becomes a frame in stack memory.
//
// Layer:   value
// Threads: any. Nothing here allocates, and the signature is only read.
// SPDX-License-Identifier: MIT

#include "base/text.h"
#include "value/form.h"
#include "value/refusal.h"
#include "value/signature_body.h"
#include "value/view.h"

// Bytes of the longest sentence handed to `refuse`.
#define SENTENCE_BYTES 160

// `parameter` is where the argument lies, of a form that is no "?x".
static kw_value box_plain(uint8_t form, const void *parameter)
{
    switch (form) {
    case KWI_C_TENSOR:
        return kw_value_tensor(*(void *const *)parameter);
    case KWI_C_INT:
        return kw_value_int(*(const int64_t *)parameter);
    case KWI_C_FLOAT:
        return kw_value_float(*(const double *)parameter);
    case KWI_C_BOOL:
        return kw_value_bool(*(const uint8_t *)parameter != 0);
    case KWI_C_COMPLEX:
        return kw_value_complex(parameter);
    case KWI_C_DEVICE:
        return kw_value_device(*(const kw_device *)parameter);
    case KWI_C_SYM_INT:
        return kw_value_symint(*(const kw_symint *)parameter);
    case KWI_C_STRING:
        return kw_value_string(*(const char *const *)parameter);
    case KWI_C_GENERATOR:
        return kw_value_generator(*(void *const *)parameter);
    case KWI_C_TENSOR_LIST:
        return kw_value_tensors(*(const kw_tensor_list *)parameter);
    case KWI_C_INT_LIST:
        return kw_value_ints(*(const kw_int_list *)parameter);
    case KWI_C_FLOAT_LIST:
        return kw_value_floats(*(const kw_float_list *)parameter);
    case KWI_C_BOOL_LIST:
        return kw_value_bools(*(const kw_bool_list *)parameter);
    case KWI_C_SYM_INT_LIST:
        return kw_value_symints(*(const kw_symint_list *)parameter);
    case KWI_C_VALUE_LIST:
        return kw_value_values(*(const kw_value_list *)parameter);
    default: // KWI_C_NUMBER, KWI_C_VALUE
        return *(const kw_value *)parameter;
    }
}

// Whether an argument that came out as None has no boxed form: a list or string has more elements
// than a value counts, or a symbolic integer is invalid.
static bool is_unboxable(uint8_t form, const void *parameter)
{
    if (form == KWI_C_STRING) {
        return *(const char *const *)parameter != NULL;
    }
    return form == KWI_C_SYM_INT || (form >= KWI_C_TENSOR_LIST && form <= KWI_C_VALUE_LIST);
}

// `parameter` is where libffi keeps the argument. False if it has no boxed form.
static bool box(uint8_t form, const void *parameter, kw_value *out_value)
{
    uint8_t base = kwi_forms[form].base;
    if (base != form) {
        parameter = *(const void *const *)parameter;
        if (parameter == NULL) {
            *out_value = kw_value_none();
            return true;
        }
    }
    *out_value = box_plain(base, parameter);
    return KW_LIKELY(out_value->tag != KW_TAG_NONE) || !is_unboxable(base, parameter);
}

// Of the argument behind those that the frame has.
KW_COLD static kw_status refuse_argument(const kwi_signature *signature, const kw_kernel *self,
                                         kw_frame *frame)
{
    uint32_t index = frame->arg_count;
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_explain_argument(&text, signature->forms.args[index], index);
    signature->refuse(self, frame, sentence);
    return KW_WRONG_VALUE;
}

KW_COLD static kw_status refuse_return(const kwi_signature *signature, const kw_kernel *self,
                                       kw_frame *frame, uint32_t index)
{
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_explain_return(&text, signature->forms.returns[index], index, &frame->returns[index]);
    signature->refuse(self, frame, sentence);
    return KW_WRONG_VALUE;
}

static bool fits_return(uint8_t form, const kw_value *value)
{
    const char *clause = NULL;
    return kwi_tag_in(kwi_forms[form].return_tags, value->tag) && !kwi_value_is_view(value) &&
           kwi_form_look(form, value, &clause) == KW_OK;
}

// Hands a return on, with what it owns. `parameter` is where libffi keeps the out pointer.
static void write_return(uint8_t form, kw_value *value, void *parameter)
{
    switch (form) {
    case KWI_C_TENSOR:
        **(void ***)parameter = value->tag == KW_TAG_TENSOR ? value->as.as_tensor : NULL;
        break;
    case KWI_C_INT:
        **(int64_t **)parameter = value->as.as_int;
        break;
    case KWI_C_FLOAT:
        **(double **)parameter = value->as.as_float;
        break;
    case KWI_C_BOOL:
        **(bool **)parameter = value->as.as_bool;
        break;
    case KWI_C_COMPLEX:
        **(kw_complex **)parameter = *value->as.as_complex;
        kw_value_release(value, NULL);
        break;
    case KWI_C_DEVICE:
        **(kw_device **)parameter = value->as.as_device;
        break;
    case KWI_C_SYM_INT:
        **(kw_symint **)parameter = value->tag == KW_TAG_INT ? kw_symint_int(value->as.as_int)
                                                             : kw_symint_node(value->as.as_object);
        break;
    default: // KWI_C_NUMBER, KWI_C_VALUE
        **(kw_value **)parameter = *value;
        break;
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
        if (KW_UNLIKELY(!box(forms->args[i], arguments[i], &args[i]))) {
            frame.arg_count = i; // what follows was never boxed
            return refuse_argument(signature, self, &frame);
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
