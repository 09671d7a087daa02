// Reference tensors and interpreters: where a tensor has its interpreter, and what it answers
// itself.
//
// Layer:   interp
// Threads: any; objects are set under the interpreter's own lock.
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include <keyway/tensor.h>

#include "interp/interpreter.h"

static kw_interpreter *find(const void *tensor, void **out_object, void *context)
{
    (void)context;
    bool is_owned;
    kw_interpreter *interpreter = kw_tensor_interpreter(tensor);
    *out_object = interpreter != NULL ? kw_tensor_object(tensor, interpreter, &is_owned) : NULL;
    return interpreter;
}

static kw_symint symbolic_of(const kw_tensor *tensor, const kw_metadata *metadata)
{
    switch (metadata->code) {
    case KW_METADATA_SYMBOLIC_SIZE:
        return kw_tensor_symbolic_size(tensor, metadata->index);
    case KW_METADATA_SYMBOLIC_STRIDE:
        return kw_tensor_symbolic_stride(tensor, metadata->index);
    case KW_METADATA_SYMBOLIC_STORAGE_OFFSET:
        return kw_tensor_symbolic_storage_offset(tensor);
    default:
        return kw_symint_int(kw_tensor_numel(tensor));
    }
}

static kw_status answer_symbolic(const kw_tensor *tensor, kw_metadata *metadata)
{
    bool is_of_dimension = metadata->code == KW_METADATA_SYMBOLIC_SIZE ||
                           metadata->code == KW_METADATA_SYMBOLIC_STRIDE;
    if (is_of_dimension && metadata->index >= kw_tensor_dim(tensor)) {
        return KW_INVALID_ARGUMENT;
    }
    // The number of elements would be a product, which only the nodes' owner can make.
    if (metadata->code == KW_METADATA_SYMBOLIC_NUMEL && kw_tensor_is_symbolic(tensor)) {
        return KW_NOT_SUPPORTED;
    }
    metadata->answer.as_symint = symbolic_of(tensor, metadata);
    return KW_OK;
}

// What a tensor with a symbolic shape has no integers for.
static kw_status answer_plain(const kw_tensor *tensor, kw_metadata *metadata)
{
    if (kw_tensor_is_symbolic(tensor)) {
        return KW_NOT_SUPPORTED;
    }
    switch (metadata->code) {
    case KW_METADATA_NUMEL:
        metadata->answer.as_int = kw_tensor_numel(tensor);
        return KW_OK;
    case KW_METADATA_STORAGE_OFFSET:
        metadata->answer.as_int = kw_tensor_storage_offset(tensor);
        return KW_OK;
    case KW_METADATA_SIZES:
        metadata->answer.as_ints = (kw_int_list){kw_tensor_sizes(tensor), kw_tensor_dim(tensor)};
        return KW_OK;
    default:
        metadata->answer.as_ints = (kw_int_list){kw_tensor_strides(tensor), kw_tensor_dim(tensor)};
        return KW_OK;
    }
}

static kw_status answer(const void *tensor, kw_metadata *metadata, void *context)
{
    (void)context;
    switch (metadata->code) {
    case KW_METADATA_IS_CONTIGUOUS:
        metadata->answer.as_bool = kw_tensor_is_contiguous_as(tensor, (uint8_t)metadata->index);
        return KW_OK;
    case KW_METADATA_IS_STRIDES_LIKE:
        metadata->answer.as_bool = kw_tensor_is_strides_like(tensor, (uint8_t)metadata->index);
        return KW_OK;
    case KW_METADATA_IS_NON_OVERLAPPING_AND_DENSE:
        metadata->answer.as_bool = kw_tensor_is_non_overlapping_and_dense(tensor);
        return KW_OK;
    case KW_METADATA_DEVICE:
        metadata->answer.as_device = kw_tensor_device(tensor);
        return KW_OK;
    case KW_METADATA_DIM:
        metadata->answer.as_int = kw_tensor_dim(tensor);
        return KW_OK;
    case KW_METADATA_LAYOUT:
        metadata->answer.as_int = kw_tensor_layout(tensor);
        return KW_OK;
    case KW_METADATA_NUMEL:
    case KW_METADATA_STORAGE_OFFSET:
    case KW_METADATA_SIZES:
    case KW_METADATA_STRIDES:
        return answer_plain(tensor, metadata);
    case KW_METADATA_SYMBOLIC_SIZE:
    case KW_METADATA_SYMBOLIC_STRIDE:
    case KW_METADATA_SYMBOLIC_NUMEL:
    case KW_METADATA_SYMBOLIC_STORAGE_OFFSET:
        return answer_symbolic(tensor, metadata);
    default:
        return KW_NOT_SUPPORTED;
    }
}

static kw_interpreter_tensors reference_tensors = {
    .struct_size = sizeof reference_tensors,
    .find = find,
    .metadata = answer,
};

static void set_type(void)
{
    reference_tensors.type = kw_tensor_reference_type();
}

const kw_interpreter_tensors *kw_interpreter_reference_tensors(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set_type); // cannot fail: the control block is right
    return &reference_tensors;
}

static void release_object(kw_interpreter *interpreter, void *object)
{
    kw_interpreter_use use;
    if (object != NULL && kw_interpreter_enter(interpreter, &use) == KW_OK) {
        if (interpreter->table.release != NULL) {
            interpreter->table.release(object, true, interpreter->table.context);
        }
        kw_interpreter_leave(&use);
    }
}

kw_status kw_interpreter_set_object(kw_interpreter *interpreter, kw_tensor *tensor, void *object,
                                    bool owned, kw_error *err)
{
    if (interpreter == NULL || tensor == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "an interpreter and a tensor are needed");
    }
    kw_status status = kw_tensor_claim(tensor, interpreter, err);
    return status == KW_OK
               ? kw_tensor_set_object(tensor, interpreter, object, owned, release_object, err)
               : status;
}
