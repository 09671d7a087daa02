// DLPack: tensors of other libraries as reference tensors and the reverse, without a copy.
//
// Layer:     tensor
// Threads:   any, one thread to a tensor; deleters may be called by any thread.
// Stability: stable since 0.1. The structures are DLPack's: 0.6 and 1.x.
// SPDX-License-Identifier: MIT
//
// The structures are only declared here, so that this header gets along with every version of
// DLPack's own. Who takes a structure over calls its deleter in the end.

#ifndef KW_DLPACK_H
#define KW_DLPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>
#include <keyway/tensor.h>

KW_BEGIN_DECLS

struct DLManagedTensor;
struct DLManagedTensorVersioned;

// The version of DLPack that exports carry, and the newest that imports take: another major number
// is refused.
#define KW_DLPACK_MAJOR 1
#define KW_DLPACK_MINOR 0

/// Exports a tensor: the structure holds a reference to it until its deleter runs.
///
/// @retval KW_NOT_SUPPORTED  a type, layout or device that DLPack has not; conjugate or negative
///                           bit, a symbolic shape, or read-only memory, which the old structure
///                           cannot say; the text names it
/// @retval KW_NO_MEMORY      nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_to_dlpack(kw_tensor *tensor,
                                                  struct DLManagedTensor **out_managed,
                                                  kw_error *err);

/// The same in the structure of DLPack 1.x, with its version and the flag "read-only".
KW_API KW_NODISCARD kw_status kw_tensor_to_dlpack_versioned(
    kw_tensor *tensor, struct DLManagedTensorVersioned **out_managed, kw_error *err);

/// Imports a structure: the tensor's storage owns it from then on, and calls its deleter in the
/// end. `library`, NULL allowed, is whose code the deleter is.
///
/// On failure the caller still owns the structure.
///
/// @retval KW_NOT_SUPPORTED     a type, a device or lanes that kw_tensor has not; the text names it
/// @retval KW_INVALID_ARGUMENT  sizes, strides, offset or pointers that cannot be; the text says
///                              which
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_from_dlpack(struct DLManagedTensor *take_managed,
                                                    kw_library *library, kw_tensor **out_tensor,
                                                    kw_error *err);
KW_API KW_NODISCARD kw_status kw_tensor_from_dlpack_versioned(
    struct DLManagedTensorVersioned *take_managed, kw_library *library, kw_tensor **out_tensor,
    kw_error *err);

KW_END_DECLS

#endif // KW_DLPACK_H
