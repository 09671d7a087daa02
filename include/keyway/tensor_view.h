// Views, copies and versions of reference tensors.
//
// Layer:     tensor
// Threads:   as tensor.h. A version counter is shared, and atomic.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// A view shares storage and version counter with its base, and has the base's type, device and
// keys, but for the keys Python, PythonTLSSnapshot and Named: it has no interpreter and no names.
// So it is an inference tensor exactly if its base is one, wherever it is made. Dimensions may be
// given from the end: -1 is the last. Each function that makes a tensor gives one reference, owned
// by the caller, and leaves `*out` alone on failure.
//
// Shapes are the original's, also where sizes are 0 or 1; what does not fit 63 bits is refused.

#ifndef KW_TENSOR_VIEW_H
#define KW_TENSOR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>
#include <keyway/tensor.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

// Views. All answer KW_INVALID_ARGUMENT with the dimension and its size for what does not fit,
// KW_NOT_SUPPORTED for a tensor without storage or with a symbolic shape, and KW_NO_MEMORY.
// ----------------------------------------------------------------------------------------

/// The same shape: an alias.
KW_API KW_NODISCARD kw_status kw_tensor_alias(kw_tensor *tensor, kw_tensor **out, kw_error *err);

/// Other sizes for the same elements, one of which may be -1: what remains.
///
/// @retval KW_NOT_SUPPORTED  sizes and strides cannot be expressed without a copy: reshape
KW_API KW_NODISCARD kw_status kw_tensor_view(kw_tensor *tensor, kw_int_list sizes, kw_tensor **out,
                                             kw_error *err);

/// The same, with a copy where a view cannot be had.
KW_API KW_NODISCARD kw_status kw_tensor_reshape(kw_tensor *tensor, kw_int_list sizes,
                                                kw_tensor **out, kw_error *err);

/// Elements `start` up to, not including, `end` of a dimension, every `step`-th. Bounds are
/// clamped; negative ones count from the end; KW_SLICE_END is the end.
#define KW_SLICE_END INT64_MAX
KW_API KW_NODISCARD kw_status kw_tensor_slice(kw_tensor *tensor, int64_t dim, int64_t start,
                                              int64_t end, int64_t step, kw_tensor **out,
                                              kw_error *err);

/// One element of a dimension, which goes.
KW_API KW_NODISCARD kw_status kw_tensor_select(kw_tensor *tensor, int64_t dim, int64_t index,
                                               kw_tensor **out, kw_error *err);

/// Exactly `length` elements from `start`; nothing is clamped.
KW_API KW_NODISCARD kw_status kw_tensor_narrow(kw_tensor *tensor, int64_t dim, int64_t start,
                                               int64_t length, kw_tensor **out, kw_error *err);

KW_API KW_NODISCARD kw_status kw_tensor_transpose(kw_tensor *tensor, int64_t dim_0, int64_t dim_1,
                                                  kw_tensor **out, kw_error *err);
KW_API KW_NODISCARD kw_status kw_tensor_permute(kw_tensor *tensor, kw_int_list dims,
                                                kw_tensor **out, kw_error *err);

/// Repeats dimensions of size 1 with stride 0; -1 keeps a size; new dimensions come in front.
KW_API KW_NODISCARD kw_status kw_tensor_expand(kw_tensor *tensor, kw_int_list sizes,
                                               kw_tensor **out, kw_error *err);

/// Drops one dimension of size 1 (others are left alone), or puts one in. Here, and in transpose, a
/// tensor without dimensions counts as one with a dimension of size 1.
KW_API KW_NODISCARD kw_status kw_tensor_squeeze(kw_tensor *tensor, int64_t dim, kw_tensor **out,
                                                kw_error *err);
KW_API KW_NODISCARD kw_status kw_tensor_unsqueeze(kw_tensor *tensor, int64_t dim, kw_tensor **out,
                                                  kw_error *err);

/// Any sizes, strides and offset that lie within the storage.
///
/// @retval KW_INVALID_ARGUMENT  an element would lie outside; the text says how many bytes are
///                              needed and there
KW_API KW_NODISCARD kw_status kw_tensor_as_strided(kw_tensor *tensor, kw_int_list sizes,
                                                   kw_int_list strides, int64_t storage_offset,
                                                   kw_tensor **out, kw_error *err);

// Detached tensors and other data
// ----------------------------------------------------------------------------------------

// They have names, symbolic shape and backend metadata of the tensor, but for its Python keys, and
// neither autograd metadata nor an interpreter's object. A tensor without storage has them too.

/// A tensor over the same storage that shares the version counter.
KW_API KW_NODISCARD kw_status kw_tensor_detach(kw_tensor *tensor, kw_tensor **out, kw_error *err);

/// A tensor over the same storage with a version counter of its own that begins at 0, as `.data`
/// has.
KW_API KW_NODISCARD kw_status kw_tensor_data_alias(kw_tensor *tensor, kw_tensor **out,
                                                   kw_error *err);

/// Makes `tensor` what `source` is: storage, shape, names, type, device, backend metadata and keys;
/// it keeps its own Python keys, version counter, autograd metadata and interpreter slot.
///
/// Views made of `tensor` before stay with the storage before, and count with `tensor` as before.
///
/// @retval KW_NO_MEMORY  nothing is changed
KW_API KW_NODISCARD kw_status kw_tensor_set_data(kw_tensor *tensor, const kw_tensor *source,
                                                 kw_error *err);

/// Gives the tensor other sizes in place, contiguous ones, and its storage room for them. The
/// storage never gets smaller; elements beyond the old end do not matter. With the sizes that it
/// has the tensor stays as it is, strides too.
///
/// @retval KW_INVALID_ARGUMENT  sizes that cannot be
/// @retval KW_NOT_SUPPORTED     the storage must grow and cannot; or the dimensions have names, the
///                              shape is symbolic, or there is no storage
/// @retval KW_NO_MEMORY         nothing is changed
/// @threads no other thread uses the tensor, nor, if it grows, the storage
KW_API KW_NODISCARD kw_status kw_tensor_resize(kw_tensor *tensor, kw_int_list sizes, kw_error *err);

// Copies. They move bytes with the allocator of the device that is not the CPU (storage.h): between
// two such devices there is no copy. KW_NOT_SUPPORTED for what has no storage, or a symbolic shape.
// ----------------------------------------------------------------------------------------

/// A new tensor with the elements of this one, in a memory format; Preserve keeps the strides of a
/// dense tensor, and for others their order.
///
/// It is an inference tensor exactly if the thread is in inference mode, has the other keys of the
/// tensor as a view has them, and neither names nor autograd metadata. Its version is 0.
///
/// @retval KW_INVALID_ARGUMENT  the format wants another number of dimensions
KW_API KW_NODISCARD kw_status kw_tensor_clone(const kw_tensor *tensor, uint8_t memory_format,
                                              kw_tensor **out, kw_error *err);

/// The tensor itself with one more reference if it lies in the format, else a copy.
KW_API KW_NODISCARD kw_status kw_tensor_contiguous(kw_tensor *tensor, uint8_t memory_format,
                                                   kw_tensor **out, kw_error *err);

/// Writes the elements of `source`, expanded to the sizes of `target`, of the same type. Bumps the
/// version of `target`, also when a device's allocator fails in the middle.
///
/// @retval KW_INVALID_ARGUMENT  the sizes do not fit; several indices of `target` name one element;
///                              or both are dense and share part of their memory. (Of other shapes
///                              that may share elements `source` is copied aside first.)
/// @retval KW_NOT_SUPPORTED     types or the conjugate, negative or zero bits differ; read-only
///                              memory; an inference tensor outside of inference mode; a source on
///                              meta; or no allocator copies between the devices
KW_API KW_NODISCARD kw_status kw_tensor_copy(kw_tensor *target, const kw_tensor *source,
                                             kw_error *err);

// Versions
// ----------------------------------------------------------------------------------------

/// How often the tensor's elements were written in place. A tensor, its views and what was detached
/// of it count together.
///
/// @retval KW_NOT_SUPPORTED  an inference tensor
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_version(const kw_tensor *tensor, uint32_t *out_version,
                                                kw_error *err);

/// Counts one more write. For an inference tensor: nothing inside inference mode, an error outside.
///
/// @retval KW_NOT_SUPPORTED  an inference tensor, and the thread is not in inference mode
/// @retval KW_NO_MEMORY      the first of a counter
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_bump_version(kw_tensor *tensor, kw_error *err);

KW_END_DECLS

#endif // KW_TENSOR_VIEW_H
