// The interpreter's slot of a tensor: the claim, and the interpreter's object.
//
// Layer:   tensor
// Threads: claims by any thread; the object is the interpreter's, under its own lock.
// SPDX-License-Identifier: MIT

#include "tensor/extra.h"
#include "tensor/failure.h"

kw_status kw_tensor_claim(kw_tensor *tensor, kw_interpreter *interpreter, kw_error *err)
{
    if (interpreter == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "a claim needs an interpreter");
    }
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    kwi_extra *extra = kwi_extra_make(tensor);
    if (extra == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    void *holder = NULL;
    // Release: what the interpreter has made ready comes before. [pair: tensor-claim]
    if (kwi_ptr_compare_exchange_release_acquire(&extra->interpreter, &holder, interpreter) ||
        holder == interpreter) {
        return KW_OK;
    }
    return kw_error_set(err, KW_BUSY, "another interpreter has claimed the tensor");
}

kw_interpreter *kw_tensor_interpreter(const kw_tensor *tensor)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    // [pair: tensor-claim]
    return extra != NULL ? kwi_ptr_load_acquire(&extra->interpreter) : NULL;
}

kw_status kw_tensor_set_object(kw_tensor *tensor, kw_interpreter *interpreter, void *object,
                               bool owned,
                               void (*release)(kw_interpreter *interpreter, void *object),
                               kw_error *err)
{
    if (interpreter == NULL || kw_tensor_interpreter(tensor) != interpreter) {
        return kw_error_set(err, KW_NOT_FOUND, "the interpreter has not claimed the tensor");
    }
    if (owned && (object == NULL || release == NULL)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "a tensor that owns its object needs the object and a function to "
                            "release it");
    }
    kwi_extra *extra = kwi_extra_of(tensor);
    extra->object = object;
    extra->owns_object = owned;
    extra->release_object = release;
    return KW_OK;
}

void *kw_tensor_object(const kw_tensor *tensor, const kw_interpreter *interpreter, bool *out_owned)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    if (extra == NULL || interpreter == NULL || kw_tensor_interpreter(tensor) != interpreter) {
        return NULL;
    }
    if (out_owned != NULL) {
        *out_owned = extra->owns_object;
    }
    return extra->object;
}
