// Hooks: what tables of the registry call back into, for boxing and unboxing by libffi.
//
// Layer:   call
// Threads: run inside calls of any thread.
// SPDX-License-Identifier: MIT

#include "registry/hooks.h"

#include <keyway/call.h>

#include "call/frame.h"
#include "call/top.h"
#include "registry/operator.h"
#include "registry/registration.h"

kw_status kwi_boxed_invoke_top(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    const kw_operator *op = kwi_top_table()->block.owner;
    kw_status status = self->boxed(self, op, keys, frame);
    if (KW_UNLIKELY(status != KW_OK)) {
        kwi_frame_release(op, frame);
    }
    return status;
}

void kwi_boxed_refuse_frame(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    kwi_frame_release(kwi_top_table()->block.owner, frame);
    (void)kw_fail(KW_WRONG_VALUE, "%s: %s",
                  kwi_registration_name(&kwi_kernel_of(self)->registration), sentence);
}

kw_status kwi_unbox_by_ffi(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    const kwi_signature *signature = kwi_kernel_signature(kwi_kernel_of(self));
    kw_error err;
    err.struct_size = sizeof err;
    err.status = KW_OK;
    kw_status status = kwi_signature_unbox(signature, self, self->unboxed, keys, frame, &err);
    if (KW_UNLIKELY(err.status != KW_OK)) {
        return kw_fail(err.status, "%s", err.text);
    }
    return status;
}
