// Error kernels: the records behind entries that refuse. The process has one of each.
//
// Layer:   registry
// Threads: immutable.
// SPDX-License-Identifier: MIT

#include "registry/error_kernels.h"

#include "registry/hooks.h"

// Without an owner: tables name them, and nobody counts it.
const kwi_kernel kwi_kernel_missing = {
    .base = {.boxed = kwi_refuse_missing},
    .registration = {.name = "missing", .file = ""},
    .kind = KW_KERNEL_BOXED,
};

const kwi_kernel kwi_kernel_ambiguous = {
    .base = {.boxed = kwi_refuse_ambiguous},
    .registration = {.name = "ambiguous autogradother", .file = ""},
    .kind = KW_KERNEL_BOXED,
};

const kwi_kernel kwi_kernel_removed = {
    .base = {.boxed = kwi_refuse_removed},
    .registration = {.name = "removed", .file = ""},
    .kind = KW_KERNEL_BOXED,
};
