// Error kernels: the records behind entries that refuse. The process has one of each.
//
// Layer:   registry
// Threads: immutable.
// SPDX-License-Identifier: MIT

#include "registry/error_kernels.h"

#include "registry/hooks.h"

// Without an owner: tables name them, and nobody counts it.
#define ERROR_KERNEL(refuse, text)                                                                 \
    {                                                                                              \
        .kernel = {.base = {.boxed = (refuse)}, .registration = {.kernel_kind = KW_KERNEL_BOXED}}, \
        .name = text                                                                               \
    }

const kwi_error_kernel kwi_kernel_missing = ERROR_KERNEL(kwi_refuse_missing, "missing");
const kwi_error_kernel kwi_kernel_ambiguous =
    ERROR_KERNEL(kwi_refuse_ambiguous, "ambiguous autogradother");
const kwi_error_kernel kwi_kernel_removed = ERROR_KERNEL(kwi_refuse_removed, "removed");
