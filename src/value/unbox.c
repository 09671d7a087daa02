// Unboxing: a frame becomes a call of a typed function.
//
// Layer:   value
// Threads: any. The signature is only read.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "base/text.h"
#include "value/form.h"
#include "value/object.h"
#include "value/refusal.h"
#include "value/signature_body.h"

// What libffi copies an argument from when the frame's value has another layout.
typedef struct argument_slot {
    union {
        double number;
        bool boolean;
        kw_symint symint;
        kw_tensor_list tensors;
        kw_int_list ints;
        kw_float_list floats;
        kw_bool_list bools;
        kw_symint_list symints;
        kw_value_list values;
    } as;
    void *pointer; // of "?x": to the argument, or NULL
} argument_slot;

typedef union return_slot {
    void *tensor;
    int64_t integer;
    double number;
    uint8_t boolean; // a bool, read as its byte
    kw_device device;
    kw_symint symint;
    kw_value value;
    kwi_counted *complex_block; // made before the call, and written to by the function
} return_slot;

// The returns of a call under way.
typedef struct out_slots {
    return_slot slots[KW_FRAME_RETURNS_MAX];
    void *pointers[KW_FRAME_RETURNS_MAX]; // what the function gets
} out_slots;

_Static_assert(sizeof(bool) == sizeof(uint8_t), "a bool is passed as a byte");

static void *unbox_float(kw_value *value, argument_slot *slot)
{
    if (value->tag == KW_TAG_FLOAT) {
        return &value->as.as_float;
    }
    slot->as.number = (double)value->as.as_int;
    return &slot->as;
}

static kw_symint unbox_symint(const kw_value *value)
{
    return value->tag == KW_TAG_INT ? kw_symint_int(value->as.as_int)
                                    : kw_symint_node(value->as.as_object);
}

static void *unbox_list(uint8_t form, const kw_value *value, argument_slot *slot)
{
    switch (form) {
    case KWI_C_TENSOR_LIST:
        slot->as.tensors = (kw_tensor_list){value->as.as_tensors, value->count};
        break;
    case KWI_C_INT_LIST:
        slot->as.ints = (kw_int_list){value->as.as_ints, value->count};
        break;
    case KWI_C_FLOAT_LIST:
        slot->as.floats = (kw_float_list){value->as.as_floats, value->count};
        break;
    case KWI_C_BOOL_LIST:
        slot->as.bools = (kw_bool_list){value->as.as_bools, value->count};
        break;
    case KWI_C_SYM_INT_LIST:
        slot->as.symints = (kw_symint_list){value->as.as_symints, value->count};
        break;
    default: // KWI_C_VALUE_LIST
        slot->as.values = (kw_value_list){value->as.as_values, value->count};
        break;
    }
    return &slot->as;
}

// None, for a parameter that is a pointer.
static void *unbox_none(argument_slot *slot)
{
    slot->pointer = NULL;
    return &slot->pointer;
}

// Where the argument lies, of a form that is no "?x": in the value itself if its layout allows,
// else in the slot. The value fits the form. Nothing writes there: libffi only forgets the const.
static void *unbox_plain(uint8_t form, kw_value *value, argument_slot *slot)
{
    switch (form) {
    case KWI_C_TENSOR:
    case KWI_C_STRING:
    case KWI_C_GENERATOR:
        return KW_LIKELY(value->tag != KW_TAG_NONE) ? &value->as : unbox_none(slot);
    case KWI_C_INT:
    case KWI_C_DEVICE:
        return &value->as;
    case KWI_C_FLOAT:
        return unbox_float(value, slot);
    case KWI_C_BOOL:
        slot->as.boolean = value->as.as_bool;
        return &slot->as;
    case KWI_C_COMPLEX:
        return (void *)(uintptr_t)value->as.as_complex;
    case KWI_C_SYM_INT:
        slot->as.symint = unbox_symint(value);
        return &slot->as;
    case KWI_C_NUMBER:
    case KWI_C_VALUE:
        return value;
    default:
        return unbox_list(form, value, slot);
    }
}

// Where libffi finds the argument.
static void *unbox(uint8_t form, kw_value *value, argument_slot *slot)
{
    uint8_t base = kwi_forms[form].base;
    if (KW_LIKELY(base == form)) {
        return unbox_plain(form, value, slot);
    }
    if (value->tag == KW_TAG_NONE) {
        return unbox_none(slot);
    }
    slot->pointer = unbox_plain(base, value, slot);
    return &slot->pointer;
}

// Fills `parameters`; `slots` must live until the call is over.
static kw_status unbox_arguments(const kwi_c_signature *forms, kw_frame *frame, void **parameters,
                                 argument_slot *slots, kw_error *err)
{
    for (uint32_t i = 0; i < forms->arg_count; i++) {
        kw_value *value = &frame->args[i];
        uint8_t form = forms->args[i];
        const char *clause = NULL;
        if (KW_UNLIKELY(!kwi_tag_in(kwi_forms[form].arg_tags, value->tag) ||
                        kwi_form_look(form, value, &clause) != KW_OK)) {
            return kwi_refuse_argument(form, i, value, err);
        }
        parameters[i] = unbox(form, value, &slots[i]);
    }
    return KW_OK;
}

// Frees what was made for complex returns that nobody gets.
static void drop_outs(const kwi_c_signature *forms, out_slots *outs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (forms->returns[i] == KWI_C_COMPLEX) {
            kwi_counted_free(outs->slots[i].complex_block);
        }
    }
}

// Makes room for each return, zero where the function writes nothing.
static kw_status make_outs(const kwi_c_signature *forms, out_slots *outs, kw_error *err)
{
    for (uint32_t i = 0; i < forms->return_count; i++) {
        return_slot *slot = &outs->slots[i];
        memset(slot, 0, sizeof *slot);
        outs->pointers[i] = slot;
        if (forms->returns[i] == KWI_C_COMPLEX) {
            slot->complex_block = kwi_counted_create(KW_TAG_COMPLEX, 0);
            if (slot->complex_block == NULL) {
                drop_outs(forms, outs, i);
                return kwi_fail_memory(err);
            }
            outs->pointers[i] = kwi_counted_payload(slot->complex_block);
        }
    }
    return KW_OK;
}

static kw_value box_return(uint8_t form, return_slot *slot)
{
    switch (form) {
    case KWI_C_TENSOR:
        return kw_value_tensor(slot->tensor);
    case KWI_C_INT:
        return kw_value_int(slot->integer);
    case KWI_C_FLOAT:
        return kw_value_float(slot->number);
    case KWI_C_BOOL:
        return kw_value_bool(slot->boolean != 0);
    case KWI_C_COMPLEX:
        return kwi_counted_value(slot->complex_block);
    case KWI_C_DEVICE:
        return kw_value_device(slot->device);
    case KWI_C_SYM_INT:
        return kw_value_symint(slot->symint);
    default: // KWI_C_NUMBER, KWI_C_VALUE
        return slot->value;
    }
}

// Boxes all returns, also behind a wrong one, so that everything owned is in the frame.
static kw_status box_returns(const kwi_c_signature *forms, out_slots *outs, kw_frame *frame,
                             kw_error *err)
{
    kw_status status = KW_OK;
    for (uint32_t i = forms->return_count; i-- > 0;) {
        uint8_t form = forms->returns[i];
        frame->returns[i] = box_return(form, &outs->slots[i]);
        if (KW_UNLIKELY(!kwi_tag_in(kwi_forms[form].return_tags, frame->returns[i].tag))) {
            status = kwi_refuse_return(form, i, &frame->returns[i], err);
        }
    }
    return status;
}

static void clear_returns(kw_frame *frame)
{
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = kw_value_none();
    }
}

kw_status kwi_signature_unbox(const kwi_signature *signature, const kw_kernel *self,
                              kw_function function, kw_keyset keys, kw_frame *frame, kw_error *err)
{
    const kwi_c_signature *forms = &signature->forms;
    void *parameters[KWI_SIGNATURE_PARAMETERS_MAX];
    argument_slot slots[KW_FRAME_ARGS_MAX];
    out_slots outs;
    clear_returns(frame);
    if (frame->arg_count != forms->arg_count || frame->return_count != forms->return_count) {
        return kwi_refuse_counts(frame, forms->arg_count, forms->return_count, err);
    }
    parameters[0] = &self;
    parameters[1] = &keys.bits;
    void **arguments = parameters + KWI_SIGNATURE_LEADING;
    kw_status status = unbox_arguments(forms, frame, arguments, slots, err);
    if (status == KW_OK) {
        status = make_outs(forms, &outs, err);
    }
    if (status != KW_OK) {
        return status;
    }
    for (uint32_t i = 0; i < forms->return_count; i++) {
        arguments[forms->arg_count + i] = &outs.pointers[i];
    }
    ffi_sarg result = KW_OK; // libffi widens what is narrower than a register
    ffi_call(signature->cif, function, &result, parameters);
    status = (kw_status)result;
    if (status != KW_OK) {
        drop_outs(forms, &outs, forms->return_count);
        return status;
    }
    return box_returns(forms, &outs, frame, err);
}
