// Failures of the tensor layer that several files report.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_FAILURE_H
#define KWI_TENSOR_FAILURE_H

#include <keyway/status.h>

// The sentence of a failed allocation.
kw_status kwi_tensor_fail_memory(kw_error *err);

// The sentence of a change that the undefined tensor, which all share, refuses.
kw_status kwi_tensor_fail_undefined(kw_error *err);

#endif // KWI_TENSOR_FAILURE_H
