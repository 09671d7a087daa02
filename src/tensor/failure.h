// Failures of the tensor layer: sentences for kw_error, and the check of sized options.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_FAILURE_H
#define KWI_TENSOR_FAILURE_H

#include <stddef.h>

#include <keyway/status.h>

// Writes status and sentence, if `err` is not NULL, and returns the status. No allocation.
kw_status kwi_tensor_fail(kw_error *err, kw_status status, const char *format, ...) KW_PRINTF(3, 4);

// The sentence of a failed allocation.
kw_status kwi_tensor_fail_memory(kw_error *err);

// The sentence of a change that the undefined tensor, which all share, refuses.
kw_status kwi_tensor_fail_undefined(kw_error *err);

// Whether a struct whose first member is its size may be read as one of `known` bytes: not smaller,
// and nothing but zeros beyond. NULL is refused.
kw_status kwi_tensor_options_check(const void *options, size_t known, const char *name,
                                   kw_error *err);

#endif // KWI_TENSOR_FAILURE_H
