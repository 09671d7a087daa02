// Copies: clones, contiguous tensors, and writing the elements of one tensor into another.
//
// Layer:   tensor
// Threads: as tensor_view.h says.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <string.h>

#include <keyway/tensor_view.h>

#include "tensor/copy_device.h"
#include "tensor/copy_loops.h"
#include "tensor/shape_view.h"
#include "tensor/version.h"
#include "tensor/view.h"

// Moving ----------------------------------------------------------------------------------------

static bool is_meta(const kw_tensor *tensor)
{
    return tensor->device_type == KW_DEVICE_META;
}

static int64_t count_of(const kwi_view_shape *shape)
{
    int64_t count = 0;
    (void)kwi_sizes_count(shape->sizes, shape->dim, &count);
    return count;
}

// The address of a shape's first element; its storage has one.
static char *address_of(const kw_storage *storage, const kwi_view_shape *shape, uint8_t dtype)
{
    char *data = (char *)(uintptr_t)kw_storage_data(storage);
    return data + (size_t)shape->offset * kw_dtype_bytes(dtype);
}

// Moves the elements of one shape to those of another of the same sizes. Elements on Meta have no
// bytes. `counter`, NULL: none, counts the write before it begins: one that fails may have written.
static kw_status move(const kw_tensor *target, const kwi_view_shape *to, const kw_tensor *source,
                      const kwi_view_shape *from, kwi_counter *counter, kw_error *err)
{
    kwi_loops loops;
    kwi_carrier carrier;
    if (count_of(to) == 0 || is_meta(target)) {
        kwi_version_count(counter);
        return KW_OK;
    }
    if (is_meta(source)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "a tensor on meta has no elements that could be copied");
    }
    kw_status status = kwi_carrier_init(&carrier, target->storage, source->storage, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_loops_plan(&loops, to->sizes, to->strides, from->strides, to->dim,
                   kw_dtype_bytes(target->dtype));
    kwi_version_count(counter);
    status = kwi_carrier_run(&carrier, &loops, address_of(target->storage, to, target->dtype),
                             address_of(source->storage, from, source->dtype), err);
    kwi_carrier_fini(&carrier);
    return status;
}

// New tensors -----------------------------------------------------------------------------------

// The keys of a copy: those of its elements, and whether it is an inference tensor, which the
// thread decides.
static kw_keyset copy_keys(const kw_tensor *tensor)
{
    kw_keyset keys = kwi_view_keys(tensor);
    const kw_keyset autograd = kw_keyset_from_bits(KW_KEYSET_AUTOGRAD_WITH_VIEW);
    if (kwi_thread_is_inferring()) {
        return kw_keyset_difference(keys, autograd);
    }
    return kw_tensor_is_inference(tensor) ? kw_tensor_keys_of(keys, false) : keys;
}

// The shape of a copy in a memory format.
static kw_status copy_shape(const kw_tensor *tensor, uint8_t memory_format,
                            const kwi_view_shape *shape, kwi_view_shape *out_shape, kw_error *err)
{
    out_shape->dim = shape->dim;
    out_shape->offset = 0;
    memcpy(out_shape->sizes, shape->sizes, shape->dim * sizeof shape->sizes[0]);
    if (memory_format == KW_MEMORY_PRESERVE && kw_tensor_is_non_overlapping_and_dense(tensor)) {
        memcpy(out_shape->strides, shape->strides, shape->dim * sizeof shape->strides[0]);
    } else if (memory_format == KW_MEMORY_PRESERVE) {
        kwi_strides_densify(shape->sizes, shape->strides, shape->dim, out_shape->strides);
    } else if (!kwi_strides_of_format(shape->sizes, shape->dim, memory_format,
                                      out_shape->strides)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "memory format %u does not suit %u dimensions: channels last wants "
                            "4, channels last 3d 5, and there is none beyond %u",
                            memory_format, shape->dim, KW_MEMORY_CHANNELS_LAST_3D);
    }
    return KW_OK;
}

// A tensor of the same type and device over a storage of its own, whose contents do not matter.
static kw_status make_copy(const kw_tensor *tensor, const kwi_view_shape *shape, kw_tensor **out,
                           kw_error *err)
{
    kw_storage *storage = NULL;
    size_t bytes = 0;
    if (!kwi_shape_reach_bytes(shape->sizes, shape->strides, shape->dim, 0,
                               kw_dtype_bytes(tensor->dtype), &bytes)) {
        (void)kw_error_set(err, KW_NO_MEMORY,
                           "a copy of %" PRId64 " elements would have more than 2^63 bytes",
                           count_of(shape));
        return KW_NO_MEMORY;
    }
    kw_status status = kw_storage_create(bytes, kw_tensor_device(tensor), &storage, err);
    if (status != KW_OK) {
        return status;
    }
    const kwi_tensor_parts parts = {
        .shape = kwi_view_geometry(shape),
        .keys = copy_keys(tensor),
        .storage = storage,
        .device = kw_tensor_device(tensor),
        .dtype = tensor->dtype,
        .layout = tensor->layout,
    };
    status = kwi_tensor_make(&parts, out, err);
    kw_storage_release(storage); // the tensor has a reference of its own
    return status;
}

kw_status kw_tensor_clone(const kw_tensor *tensor, uint8_t memory_format, kw_tensor **out,
                          kw_error *err)
{
    kwi_view_shape from;
    kwi_view_shape to;
    kw_tensor *made = NULL;
    kw_status status = kwi_view_begin(tensor, out, &from, err);
    if (status == KW_OK) {
        status = copy_shape(tensor, memory_format, &from, &to, err);
    }
    if (status == KW_OK) {
        status = make_copy(tensor, &to, &made, err);
    }
    if (status == KW_OK) {
        status = move(made, &to, tensor, &from, NULL, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out = made;
    return KW_OK;
}

kw_status kw_tensor_contiguous(kw_tensor *tensor, uint8_t memory_format, kw_tensor **out,
                               kw_error *err)
{
    kwi_view_shape shape;
    kw_status status = kwi_view_begin(tensor, out, &shape, err);
    if (status != KW_OK) {
        return status;
    }
    uint8_t order[KW_TENSOR_DIM_MAX];
    if (kwi_format_order(memory_format, shape.dim, order) &&
        kw_tensor_is_contiguous_as(tensor, memory_format)) {
        kw_tensor_retain(tensor);
        *out = tensor;
        return KW_OK;
    }
    uint8_t format = memory_format == KW_MEMORY_PRESERVE ? KW_MEMORY_CONTIGUOUS : memory_format;
    return kw_tensor_clone(tensor, format, out, err);
}

// Writing ---------------------------------------------------------------------------------------

static kw_status check_types(const kw_tensor *target, const kw_tensor *source, kw_error *err)
{
    // Elements that stand for their conjugates or negatives are other numbers with the same bytes.
    const uint64_t meaning = KW_KEYSET_BITS(KW_KEY_Conjugate) | KW_KEYSET_BITS(KW_KEY_Negative) |
                             KW_KEYSET_BITS(KW_KEY_ZeroTensor);
    if (target->dtype != source->dtype) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "elements of type %s are not copied into elements of type %s; "
                            "converting is for a kernel",
                            kw_dtype_name(source->dtype), kw_dtype_name(target->dtype));
    }
    if ((target->keys & meaning) != (source->keys & meaning)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "one of the tensors has the conjugate, negative or zero bit and the "
                            "other has not; resolving is for a kernel");
    }
    return KW_OK;
}

// Whether several indices surely name one element.
static bool repeats(const kwi_view_shape *shape)
{
    for (uint32_t i = 0; i < shape->dim; i++) {
        if (shape->sizes[i] > 1 && shape->strides[i] == 0) {
            return true;
        }
    }
    return false;
}

static kw_status check_target(kw_tensor *target, const kwi_view_shape *to, kw_error *err)
{
    void *data = NULL;
    if (repeats(to)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "several indices of the target name one element; write to a clone");
    }
    // Of the storage, since elements on meta are copied too: there are none to move.
    return kw_storage_mutable_data(target->storage, &data, err);
}

typedef enum overlap {
    OVERLAP_NONE,
    OVERLAP_SAME,    // every index names one element in both
    OVERLAP_PARTLY,  // surely
    OVERLAP_PERHAPS, // the bytes that both reach are not told apart
} overlap;

static bool same_strides(const kwi_view_shape *a, const kwi_view_shape *b)
{
    for (uint32_t i = 0; i < a->dim; i++) {
        if (a->sizes[i] > 1 && a->strides[i] != b->strides[i]) {
            return false;
        }
    }
    return true;
}

// How the elements of two shapes of the same sizes share memory. Compared are addresses: external
// memory may be wrapped twice.
static overlap find_overlap(const kw_tensor *target, const kwi_view_shape *to,
                            const kw_tensor *source, const kwi_view_shape *from)
{
    size_t to_bytes = 0;
    size_t from_bytes = 0;
    bool is_near = kw_tensor_is_on(source, target->device_type) && !is_meta(target) &&
                   source->device_index == target->device_index;
    if (!is_near || count_of(to) == 0) {
        return OVERLAP_NONE;
    }
    const size_t bytes = kw_dtype_bytes(target->dtype);
    (void)kwi_shape_reach_bytes(to->sizes, to->strides, to->dim, 0, bytes, &to_bytes);
    (void)kwi_shape_reach_bytes(from->sizes, from->strides, from->dim, 0, bytes, &from_bytes);
    uintptr_t to_begin = (uintptr_t)address_of(target->storage, to, target->dtype);
    uintptr_t from_begin = (uintptr_t)address_of(source->storage, from, source->dtype);
    if (to_begin + to_bytes <= from_begin || from_begin + from_bytes <= to_begin) {
        return OVERLAP_NONE;
    }
    if (to_begin == from_begin && same_strides(to, from)) {
        return OVERLAP_SAME;
    }
    bool are_dense =
        (kwi_shape_flags(to->sizes, to->strides, to->dim) &
         kwi_shape_flags(from->sizes, from->strides, from->dim) & KWI_TENSOR_DENSE) != 0;
    return are_dense ? OVERLAP_PARTLY : OVERLAP_PERHAPS;
}

// Moves by way of a clone of the source, so that nothing is read that was written already.
static kw_status move_apart(kw_tensor *target, const kwi_view_shape *to, const kw_tensor *source,
                            const kwi_view_shape *from, kwi_counter *counter, kw_error *err)
{
    kw_tensor *clone = NULL;
    kwi_view_shape apart = *from;
    kwi_strides_densify(from->sizes, from->strides, from->dim, apart.strides);
    apart.offset = 0;
    kw_status status = make_copy(source, &apart, &clone, err);
    if (status == KW_OK) {
        status = move(clone, &apart, source, from, NULL, err);
    }
    if (status == KW_OK) {
        status = move(target, to, clone, &apart, counter, err);
    }
    kw_tensor_release(clone);
    return status;
}

static kw_status write_elements(kw_tensor *target, const kwi_view_shape *to,
                                const kw_tensor *source, const kwi_view_shape *from,
                                kwi_counter *counter, kw_error *err)
{
    switch (find_overlap(target, to, source, from)) {
    case OVERLAP_SAME:
        kwi_version_count(counter);
        return KW_OK;
    case OVERLAP_PARTLY:
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "source and target share part of their memory; copy a clone of the "
                            "source");
    case OVERLAP_PERHAPS:
        return move_apart(target, to, source, from, counter, err);
    case OVERLAP_NONE:
    default:
        return move(target, to, source, from, counter, err);
    }
}

kw_status kw_tensor_copy(kw_tensor *target, const kw_tensor *source, kw_error *err)
{
    kwi_view_shape to;
    kwi_view_shape from;
    kwi_counter *counter = NULL;
    kw_status status = kwi_view_begin(target, target, &to, err);
    if (status == KW_OK) {
        status = kwi_view_begin(source, source, &from, err);
    }
    if (status == KW_OK) {
        status = check_types(target, source, err);
    }
    if (status == KW_OK) {
        status = kwi_shape_expand(&from, (kw_int_list){to.sizes, to.dim}, err);
    }
    if (status == KW_OK) {
        status = check_target(target, &to, err);
    }
    if (status == KW_OK) {
        status = kwi_version_prepare(target, &counter, err);
    }
    return status == KW_OK ? write_elements(target, &to, source, &from, counter, err) : status;
}
