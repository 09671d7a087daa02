// Error kernels: the records behind entries that refuse. The process has one of each.
//
// Layer:   registry
// Threads: immutable.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_ERROR_KERNELS_H
#define KWI_REGISTRY_ERROR_KERNELS_H

#include "registry/registration.h"

extern const kwi_kernel kwi_kernel_missing;
extern const kwi_kernel kwi_kernel_ambiguous;
extern const kwi_kernel kwi_kernel_removed;

#endif // KWI_REGISTRY_ERROR_KERNELS_H
