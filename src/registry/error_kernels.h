// Error kernels: the records behind entries that refuse. The process has one of each.
//
// Layer:   registry
// Threads: immutable.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_ERROR_KERNELS_H
#define KWI_REGISTRY_ERROR_KERNELS_H

#include "registry/registration.h"

// A kernel with its name behind it, as allocated ones have it.
typedef struct kwi_error_kernel {
    kwi_kernel kernel;
    char name[24];
} kwi_error_kernel;

extern const kwi_error_kernel kwi_kernel_missing;
extern const kwi_error_kernel kwi_kernel_ambiguous;
extern const kwi_error_kernel kwi_kernel_removed;

#endif // KWI_REGISTRY_ERROR_KERNELS_H
