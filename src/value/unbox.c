// Unboxing: a frame becomes a call of a typed function.
//
// Layer:   value
// Threads: any. Nothing here allocates, and the signature is only read.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "base/text.h"
#include "value/signature_body.h"

// What libffi copies an argument from when the frame's value has another layout. An optional float
// that is given as an int needs both a double and a pointer to it.
typedef union argument_slot {
    struct {
        void *pointer;
        double number;
    } optional;
    double number;
    uint8_t boolean;
    kw_tensor_list tensors;
    kw_int_list ints;
    kw_float_list floats;
    kw_bool_list bools;
} argument_slot;

typedef union return_slot {
    void *tensor;
    int64_t integer;
    double number;
    uint8_t boolean; // a bool, read as its byte
} return_slot;

_Static_assert(sizeof(bool) == sizeof(uint8_t), "a bool is passed as a byte");

static bool takes_none(uint8_t form)
{
    return form == KWI_C_TENSOR || form == KWI_C_STRING || form >= KWI_C_GENERATOR;
}

static bool takes_int_as_float(uint8_t form, const kw_value *value)
{
    return value->tag == KW_TAG_INT && (form == KWI_C_FLOAT || form == KWI_C_OPTIONAL_FLOAT);
}

static bool fits_argument(uint8_t form, const kw_value *value)
{
    return value->tag == kwi_signature_tags[form] ||
           (value->tag == KW_TAG_NONE && takes_none(form)) || takes_int_as_float(form, value);
}

static void *unbox_float(kw_value *value, double *number)
{
    if (value->tag == KW_TAG_FLOAT) {
        return &value->as.as_float;
    }
    *number = (double)value->as.as_int;
    return number;
}

static void *unbox_optional(uint8_t form, kw_value *value, argument_slot *slot)
{
    if (form == KWI_C_OPTIONAL_FLOAT) {
        slot->optional.pointer = unbox_float(value, &slot->optional.number);
    } else {
        slot->optional.pointer = &value->as; // an int or a bool, which lies at its start
    }
    return &slot->optional.pointer;
}

// Where libffi finds the argument: in the value itself if its layout allows, else in the slot. The
// value fits the form. Nothing writes there: libffi only forgets the const.
static void *unbox(uint8_t form, kw_value *value, argument_slot *slot)
{
    if (value->tag == KW_TAG_NONE) {
        slot->optional.pointer = NULL;
        return &slot->optional.pointer;
    }
    switch ((kwi_c_form)form) {
    case KWI_C_TENSOR:
    case KWI_C_INT:
    case KWI_C_STRING:
    case KWI_C_GENERATOR:
        return &value->as;
    case KWI_C_FLOAT:
        return unbox_float(value, &slot->number);
    case KWI_C_BOOL:
        slot->boolean = value->as.as_bool ? 1 : 0;
        return slot;
    case KWI_C_TENSOR_LIST:
        slot->tensors = (kw_tensor_list){value->as.as_tensors, value->count};
        return slot;
    case KWI_C_INT_LIST:
        slot->ints = (kw_int_list){value->as.as_ints, value->count};
        return slot;
    case KWI_C_FLOAT_LIST:
        slot->floats = (kw_float_list){value->as.as_floats, value->count};
        return slot;
    case KWI_C_BOOL_LIST:
        slot->bools = (kw_bool_list){value->as.as_bools, value->count};
        return slot;
    case KWI_C_OPTIONAL_INT:
    case KWI_C_OPTIONAL_FLOAT:
    case KWI_C_OPTIONAL_BOOL:
    case KWI_C_FORM_COUNT:
        break;
    }
    return unbox_optional(form, value, slot);
}

static kw_value box_return(uint8_t form, const return_slot *slot)
{
    if (form == KWI_C_TENSOR) {
        return kw_value_tensor(slot->tensor);
    }
    if (form == KWI_C_INT) {
        return kw_value_int(slot->integer);
    }
    if (form == KWI_C_FLOAT) {
        return kw_value_float(slot->number);
    }
    return kw_value_bool(slot->boolean != 0);
}

static void clear_returns(kw_frame *frame)
{
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = kw_value_none();
    }
}

KW_COLD static kw_status fail_counts(const kwi_c_signature *forms, const kw_frame *frame,
                                     kw_error *err)
{
    return kwi_fail(err, KW_WRONG_VALUE,
                    "the frame has %u arguments and %u returns, the C signature %u and %u",
                    (unsigned)frame->arg_count, (unsigned)frame->return_count,
                    (unsigned)forms->arg_count, (unsigned)forms->return_count);
}

KW_COLD static kw_status fail_argument(uint8_t form, uint32_t index, uint32_t tag, kw_error *err)
{
    bool or_none = takes_none(form) && form != KWI_C_TENSOR;
    return kwi_fail(err, KW_WRONG_VALUE, "argument %u is %s, but the schema says %s%s",
                    (unsigned)index + 1, kw_tag_name(tag), kw_tag_name(kwi_signature_tags[form]),
                    or_none ? " or None" : "");
}

// Fills `parameters`; `slots` must live until the call is over.
static kw_status unbox_arguments(const kwi_c_signature *forms, kw_frame *frame, void **parameters,
                                 argument_slot *slots, kw_error *err)
{
    for (uint32_t i = 0; i < forms->arg_count; i++) {
        kw_value *value = &frame->args[i];
        uint8_t form = forms->args[i];
        if (KW_UNLIKELY(!fits_argument(form, value))) {
            return fail_argument(form, i, value->tag, err);
        }
        parameters[i] = unbox(form, value, &slots[i]);
    }
    return KW_OK;
}

kw_status kwi_signature_unbox(const kwi_signature *signature, const kw_kernel *self,
                              kw_function function, kw_keyset keys, kw_frame *frame, kw_error *err)
{
    const kwi_c_signature *forms = &signature->forms;
    void *parameters[KWI_SIGNATURE_PARAMETERS_MAX];
    argument_slot slots[KW_FRAME_ARGS_MAX];
    return_slot outs[KW_FRAME_RETURNS_MAX];
    return_slot *out_pointers[KW_FRAME_RETURNS_MAX];
    clear_returns(frame);
    if (frame->arg_count != forms->arg_count || frame->return_count != forms->return_count) {
        return fail_counts(forms, frame, err);
    }
    parameters[0] = &self;
    parameters[1] = &keys.bits;
    void **arguments = parameters + KWI_SIGNATURE_LEADING;
    kw_status status = unbox_arguments(forms, frame, arguments, slots, err);
    if (status != KW_OK) {
        return status;
    }
    for (uint32_t i = 0; i < forms->return_count; i++) {
        memset(&outs[i], 0, sizeof outs[i]);
        out_pointers[i] = &outs[i];
        arguments[forms->arg_count + i] = &out_pointers[i];
    }
    ffi_sarg result = KW_OK; // libffi widens what is narrower than a register
    ffi_call(signature->cif, function, &result, parameters);
    status = (kw_status)result;
    for (uint32_t i = 0; status == KW_OK && i < forms->return_count; i++) {
        frame->returns[i] = box_return(forms->returns[i], &outs[i]);
    }
    return status;
}
