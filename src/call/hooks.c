// Hooks: what tables of the registry call back into, for boxing and unboxing by libffi.
//
// Layer:   call
// Threads: run inside calls of any thread.
// SPDX-License-Identifier: MIT

#include "registry/hooks.h"

#include <keyway/call.h>

#include "call/top.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"
#include "registry/registration.h"

kw_status kwi_boxed_invoke_top(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    return self->boxed(self, kwi_top_table()->block.owner, keys, frame);
}

void kwi_boxed_refuse_frame(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    const kw_operator *op = kwi_top_table()->block.owner;
    const kw_tensor_type *type = op != NULL ? kwi_dispatcher_tensor_type(op->dispatcher) : NULL;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        kw_value *value = &frame->returns[i];
        if (value->tag == KW_TAG_TENSOR && type != NULL && type->release != NULL) {
            type->release(value->as.as_tensor);
        }
        *value = kw_value_none();
    }
    (void)kw_fail(KW_WRONG_VALUE, "%s: %s", kwi_kernel_of(self)->registration.name, sentence);
}

kw_status kwi_unbox_by_ffi(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    const kwi_kernel *kernel = kwi_kernel_of(self);
    kw_error err;
    err.struct_size = sizeof err;
    err.status = KW_OK;
    kw_status status =
        kwi_signature_unbox(kernel->signature, self, kernel->unboxed, keys, frame, &err);
    if (KW_UNLIKELY(err.status != KW_OK)) {
        return kw_fail(err.status, "%s", err.text);
    }
    return status;
}
