// The reference tensor: 128 bytes of metadata over a shared storage.
//
// Layer:     tensor
// Threads:   a tensor is read by any number of threads, or changed by one alone. References are
//            counted atomically; what a function says otherwise is in its own lines.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// An embedder that has tensors of its own uses none of this: see tensor_type.h. Views, copies and
// versions are in tensor_view.h, exchange with other libraries in dlpack.h.

#ifndef KW_TENSOR_H
#define KW_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dtype.h>
#include <keyway/export.h>
#include <keyway/inline/tensor.h>
#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/object.h>
#include <keyway/status.h>
#include <keyway/storage.h>
#include <keyway/symint.h>
#include <keyway/tensor_type.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

/// Returns the tensor type "kw_tensor", for kw_dispatcher_options: keys are read in place. Static.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const kw_tensor_type *kw_tensor_reference_type(void);

// Making tensors
// ----------------------------------------------------------------------------------------

// Whether a tensor is an inference tensor: one without autograd keys and version counter.
typedef enum kw_inference_code {
    KW_INFERENCE_OF_THREAD = 0, // as kw_local_inference_mode() has it
    KW_INFERENCE_NEVER = 1,
    KW_INFERENCE_ALWAYS = 2
} kw_inference_code;

typedef struct kw_tensor_options {
    size_t struct_size;
    const int64_t *sizes; // `dim` of them; copied. NULL with dim 0: one element
    uint32_t dim;         // KW_TENSOR_DIM_MAX at most
    uint8_t dtype;        // a kw_dtype_code
    uint8_t layout;       // a kw_layout_code
    uint8_t inference;    // a kw_inference_code
    bool metadata_only;   // no storage is made: the tensor stands for something else
    kw_device device;
    const int64_t *strides; // in elements, `dim` of them; copied. NULL: contiguous
    int64_t storage_offset; // in elements
    kw_storage *storage;    // retained. NULL: a new one, as large as needed; strided layouts only
    kw_keyset keys;         // empty: of device, layout and type. Else the backend's key, from which
                            // the rest follows; for backends that no device type names
} kw_tensor_options;

/// Creates a tensor. Contents of a new storage do not matter.
///
/// On success `*out_tensor` is one reference, owned by the caller. A tensor of another layout than
/// strided has no storage of its own: what it consists of is its backend metadata.
///
/// @retval KW_INVALID_ARGUMENT  a negative size or stride, too many dimensions, an unknown type, a
///                              size beyond 64 bits; the text names it
/// @retval KW_NOT_SUPPORTED     no key serves this layout on this device; the text names both
/// @retval KW_WRONG_VALUE       the storage is too small, or on another device; the text says so
/// @retval KW_NOT_FOUND         a new storage is needed, and the device type has no allocator
/// @retval KW_NO_MEMORY         nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_create(const kw_tensor_options *options,
                                               kw_tensor **out_tensor, kw_error *err);

/// Returns the undefined tensor, which has no type, no sizes and no storage, and the keys
/// ADInplaceOrView and AutogradOther. Static; counting it does nothing.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_tensor *kw_tensor_undefined(void);
KW_API bool kw_tensor_is_defined(const kw_tensor *tensor);

/// One more reference, and one fewer; the last frees the tensor in the calling thread. NULL is
/// allowed. There may be 2^32 - 1 of each sort.
///
/// @threads any; wait-free but for freeing
/// @since 0.1
KW_API void kw_tensor_retain(kw_tensor *tensor);
KW_API void kw_tensor_release(kw_tensor *tensor);

/// References at this moment: exact only when no other thread changes them.
KW_API uint32_t kw_tensor_use_count(const kw_tensor *tensor);

/// Weak references keep the 128 bytes and nothing else. kw_tensor_lock() makes a strong one of a
/// weak one, which stays; false: the tensor is gone. NULL is allowed.
///
/// @threads any; lock-free
/// @since 0.1
KW_API void kw_tensor_weak_retain(kw_tensor *tensor);
KW_API void kw_tensor_weak_release(kw_tensor *tensor);
KW_API KW_NODISCARD bool kw_tensor_lock(kw_tensor *weak);

// Keys
// ----------------------------------------------------------------------------------------

/// Finds the backend key of a device, layout and element type.
///
/// @retval KW_NOT_SUPPORTED  there is none; the text names layout and device
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_backend_key(int32_t device_type, uint8_t layout,
                                                    uint8_t dtype, kw_key *out_key, kw_error *err);

/// Returns the set of a tensor with this backend key: with its autocast key and, unless it is an
/// inference tensor, ADInplaceOrView and its autograd keys; without Python and PythonTLSSnapshot.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_keyset kw_tensor_keys_of(kw_keyset backend_keys, bool is_inference);

// Bits that a tensor has beyond those of its backend. Each is one key, or two for Python. Setting
// is for a thread that has the tensor alone; for the undefined tensor it does nothing.
KW_API bool kw_tensor_is_conj(const kw_tensor *tensor);
KW_API bool kw_tensor_is_neg(const kw_tensor *tensor);
KW_API bool kw_tensor_is_zero_tensor(const kw_tensor *tensor);
KW_API bool kw_tensor_is_python_dispatch(const kw_tensor *tensor);
KW_API void kw_tensor_set_conj(kw_tensor *tensor, bool is_conj);
KW_API void kw_tensor_set_neg(kw_tensor *tensor, bool is_neg);
KW_API void kw_tensor_set_zero_tensor(kw_tensor *tensor, bool is_zero);
KW_API void kw_tensor_set_python_dispatch(kw_tensor *tensor, bool is_python);

/// Adds or takes away functionality keys of an embedder's own, such as Functionalize or Batched.
///
/// @retval KW_INVALID_ARGUMENT  keys of a backend, autograd, autocast, ADInplaceOrView, or a key
/// that
///                              a function above or kw_tensor_set_names() keeps in step; the text
///                              names them
/// @threads no other thread uses the tensor
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_change_keys(kw_tensor *tensor, kw_keyset added,
                                                    kw_keyset removed, kw_error *err);

/// Puts the tensor on another backend in place: its backend bit, functionality and autocast key are
/// exchanged for those of `backend_key`. Other keys stay, autograd keys among them, and so do
/// device and storage: it is for tensors that stand for something elsewhere.
///
/// @retval KW_INVALID_ARGUMENT  no key of a backend; the text names it
/// @threads no other thread uses the tensor
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_change_backend(kw_tensor *tensor, kw_key backend_key,
                                                       kw_error *err);

// Queries. By device: the device's field. By keys: everything else.
// ----------------------------------------------------------------------------------------

KW_API kw_device kw_tensor_device(const kw_tensor *tensor);
KW_API bool kw_tensor_is_on(const kw_tensor *tensor, int32_t device_type);
KW_API bool kw_tensor_is_inference(const kw_tensor *tensor);
KW_API bool kw_tensor_is_sparse(const kw_tensor *tensor);
KW_API bool kw_tensor_is_sparse_csr(const kw_tensor *tensor); // any of the compressed layouts
KW_API bool kw_tensor_is_quantized(const kw_tensor *tensor);
KW_API bool kw_tensor_is_mkldnn(const kw_tensor *tensor);
KW_API bool kw_tensor_is_nested(const kw_tensor *tensor);
KW_API bool kw_tensor_is_view(const kw_tensor *tensor);
KW_API bool kw_tensor_is_wrapped_number(const kw_tensor *tensor);
KW_API void kw_tensor_set_wrapped_number(kw_tensor *tensor, bool is_wrapped);

/// Whether the elements lie in the order of a memory format without gaps; Preserve counts as
/// contiguous.
KW_API bool kw_tensor_is_contiguous_as(const kw_tensor *tensor, uint8_t memory_format);
KW_API bool kw_tensor_is_strides_like(const kw_tensor *tensor, uint8_t memory_format);
KW_API bool kw_tensor_is_non_overlapping_and_dense(const kw_tensor *tensor);

/// Storage, borrowed; NULL if there is none.
KW_API kw_storage *kw_tensor_storage(const kw_tensor *tensor);

/// The first element: for reading, NULL where none has an address; and for writing, which fails
/// then, so that KW_OK means that all elements may be written. NULL with KW_OK if there are none.
///
/// @retval KW_NOT_SUPPORTED     the memory is read-only; or there are elements without memory: the
///                              tensor has no storage, is on meta or has a symbolic shape
/// @retval KW_INVALID_ARGUMENT  the undefined tensor
/// @threads any; wait-free
/// @since 0.1
KW_API const void *kw_tensor_data(const kw_tensor *tensor);
KW_API KW_NODISCARD kw_status kw_tensor_mutable_data(kw_tensor *tensor, void **out_data,
                                                     kw_error *err);

// What few tensors have, in a block of its own
// ----------------------------------------------------------------------------------------

/// What autograd, or a backend, keeps for the tensor: an object, borrowed; NULL: none. Setting
/// retains the new one and releases the old one. `requires_grad` changes no key.
///
/// @retval KW_NO_MEMORY         nothing is changed
/// @retval KW_INVALID_ARGUMENT  the undefined tensor, here and below
/// @threads setting: no other thread uses the tensor
/// @since 0.1
KW_API kw_object *kw_tensor_autograd(const kw_tensor *tensor);
KW_API KW_NODISCARD kw_status kw_tensor_set_autograd(kw_tensor *tensor, kw_object *metadata,
                                                     kw_error *err);
KW_API kw_object *kw_tensor_backend_metadata(const kw_tensor *tensor);
KW_API KW_NODISCARD kw_status kw_tensor_set_backend_metadata(kw_tensor *tensor, kw_object *metadata,
                                                             kw_error *err);

/// Names of dimensions: `dim` of them, copied, NULL for one without a name; `names` NULL takes all
/// away. The key Named follows.
///
/// @retval KW_INVALID_ARGUMENT  a name is no identifier, or is there twice; the text says which
/// @retval KW_NO_MEMORY         nothing is changed
/// @threads setting: no other thread uses the tensor
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_set_names(kw_tensor *tensor, const char *const *names,
                                                  kw_error *err);
KW_API bool kw_tensor_has_names(const kw_tensor *tensor);
KW_API const char *kw_tensor_name_of(const kw_tensor *tensor, uint32_t dim_index);

/// A symbolic shape: sizes, strides and offset of symbolic integers, whose nodes are retained. If
/// all are integers, the tensor has a plain shape afterwards. While a symbol is there, no flag of
/// contiguity is set and no address of elements is given.
///
/// @retval KW_INVALID_ARGUMENT  a negative integer, an invalid word, counts that differ or are
/// beyond
///                              KW_TENSOR_DIM_MAX, or another number of dimensions than have names
/// @retval KW_WRONG_VALUE       a plain shape that the storage is too small for
/// @retval KW_NO_MEMORY         nothing is changed
/// @threads no other thread uses the tensor
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_set_symbolic_shape(kw_tensor *tensor, kw_symint_list sizes,
                                                           kw_symint_list strides,
                                                           kw_symint storage_offset, kw_error *err);

/// Symbolic integers of any tensor, borrowed from it.
KW_API kw_symint kw_tensor_symbolic_size(const kw_tensor *tensor, uint32_t dim_index);
KW_API kw_symint kw_tensor_symbolic_stride(const kw_tensor *tensor, uint32_t dim_index);
KW_API kw_symint kw_tensor_symbolic_storage_offset(const kw_tensor *tensor);

// The interpreter's slot: which interpreter has an object for this tensor, and which. Interpreters
// are in interpreter.h; to a tensor they are an address.

typedef struct kw_interpreter kw_interpreter; // opaque

/// Claims the tensor for an interpreter. The first one keeps it, for as long as the tensor lives.
///
/// @retval KW_BUSY       another interpreter has it
/// @retval KW_NO_MEMORY  nothing is changed
/// @threads any: of several at once one wins
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_tensor_claim(kw_tensor *tensor, kw_interpreter *interpreter,
                                              kw_error *err);

/// The interpreter that has claimed the tensor; NULL: none.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_interpreter *kw_tensor_interpreter(const kw_tensor *tensor);

/// The interpreter's object for the tensor, and whether the tensor holds the reference to it
/// (`owned`), or the object the one to the tensor. Setting is for the interpreter alone, under its
/// own lock. When a tensor ends that owns its object, `release` is called with both.
///
/// @retval KW_NOT_FOUND         the interpreter has not claimed the tensor
/// @retval KW_INVALID_ARGUMENT  owned, without an object or a function to release it
/// @threads under the interpreter's lock
/// @since 0.1
KW_API KW_NODISCARD kw_status
kw_tensor_set_object(kw_tensor *tensor, kw_interpreter *interpreter, void *object, bool owned,
                     void (*release)(kw_interpreter *interpreter, void *object), kw_error *err);
KW_API void *kw_tensor_object(const kw_tensor *tensor, const kw_interpreter *interpreter,
                              bool *out_owned);

// Figures
// ----------------------------------------------------------------------------------------

typedef struct kw_tensor_statistics {
    size_t struct_size;
    uint64_t tensor_count; // alive, weak ones among them
    uint64_t tensor_bytes; // that they and free places between them take
    uint64_t extra_count;  // side blocks
    uint64_t storage_count;
    uint64_t storage_bytes; // asked of allocators
    uint64_t external_bytes;
} kw_tensor_statistics;

/// Fills in the figures that fit `out_statistics->struct_size`, which the caller sets.
///
/// @threads any
/// @since 0.1
KW_API void kw_tensor_statistics_get(kw_tensor_statistics *out_statistics);

KW_END_DECLS

#endif // KW_TENSOR_H
