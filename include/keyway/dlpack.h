// DLPack: tensors of other libraries as reference tensors and the reverse, without a copy.
//
// Layer:     tensor
// Threads:   any, one thread to a tensor; deleters may be called by any thread.
// Stability: stable since 0.1. The structures are DLPack's: 0.6 and 1.x.
// SPDX-License-Identifier: MIT
//
// The structures are only declared here, so that this header gets along with every version of
// DLPack's own. Who takes a structure over calls its deleter in the end.
//
// Types go both ways: bool, signed and unsigned integers, float16, 32 and 64, bfloat16, complex
// numbers, and in the structure of 1.x the four kinds of float8. So do devices: cpu, cuda, hip
// (ROCM), xpu (OneAPI), mps (Metal), vulkan, maia, privateuse1 (ExtDev). Memory of the kinds
// CUDAHost, ROCMHost and CUDAManaged is imported as memory of the CPU.

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

// The version of DLPack that exports carry. Imports take every minor number of this major one.
#define KW_DLPACK_MAJOR 1
#define KW_DLPACK_MINOR 1

/// Exports a tensor: the structure holds a reference to its storage until its deleter runs. Sizes,
/// strides and data pointer are those of this moment. Views and copies of the elements are not
/// made: both sides write to the same memory, and no version counts what the other side writes.
///
/// The data pointer is that of the first element, and the byte offset 0; on vulkan and mps, whose
/// pointers are handles, the pointer is the storage's. Without elements it is NULL.
///
/// @retval KW_NOT_SUPPORTED  a type, layout or device that DLPack has not; a conjugate, negative or
///                           zero bit; a symbolic shape; and what the old structure cannot say:
///                           read-only memory, float8. The text names it
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
/// On failure the caller still owns the structure, and nothing of it was called. A structure
/// without a deleter is for somebody else to end, after the storage. The tensor is an inference
/// tensor exactly if the thread is in inference mode. What cannot be checked is that memory is
/// really there: DLPack does not say how much there is.
///
/// @retval KW_NOT_SUPPORTED     a type, a device, lanes or a major version that this library has
///                              not; the text names it. Of a structure of another major version
///                              nothing but the version is read
/// @retval KW_INVALID_ARGUMENT  sizes, strides, offset or pointers that cannot be; negative
/// strides;
///                              a first element that is not aligned as its type needs. The text
///                              says which, and the way out
/// @retval KW_NO_MEMORY         nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_from_dlpack(struct DLManagedTensor *take_managed,
                                                    kw_library *library, kw_tensor **out_tensor,
                                                    kw_error *err);
KW_API KW_NODISCARD kw_status
kw_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *take_managed, kw_library *library,
                                kw_tensor **out_tensor, kw_error *err);

/// Ends a structure that nobody has taken over, as the destructor of a capsule does: calls its
/// deleter, if it has one. NULL is allowed.
///
/// @threads any
/// @since 0.1
KW_API void kw_dlpack_delete(struct DLManagedTensor *take_managed);
KW_API void kw_dlpack_delete_versioned(struct DLManagedTensorVersioned *take_managed);

KW_END_DECLS

#endif // KW_DLPACK_H
