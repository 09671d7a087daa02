// Failures of the tensor layer that several files report.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/failure.h"

kw_status kwi_tensor_fail_memory(kw_error *err)
{
    return kw_error_set(err, KW_NO_MEMORY, "memory could not be allocated; nothing was changed");
}

kw_status kwi_tensor_fail_undefined(kw_error *err)
{
    return kw_error_set(err, KW_INVALID_ARGUMENT, "the undefined tensor cannot be changed");
}
