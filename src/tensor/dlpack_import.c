// DLPack, inwards: tensors over memory that a structure of another library holds.
//
// Layer:   tensor
// Threads: as dlpack.h says; the structure's deleter runs where the storage ends.
// SPDX-License-Identifier: MIT

#include <inttypes.h>

#include <keyway/dlpack.h>

#include "tensor/dlpack_abi.h"
#include "tensor/dlpack_type.h"
#include "tensor/shape_view.h"
#include "tensor/view.h"

// What is read of a structure before anything is made.
typedef struct reading {
    kwi_view_shape shape;
    kw_external_memory memory;
    uint8_t dtype;
} reading;

static kw_status read_sizes(const kwi_dl_tensor *from, kwi_view_shape *shape, kw_error *err)
{
    if (from->ndim < 0 || from->ndim > KW_TENSOR_DIM_MAX) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the structure has %d dimensions; a tensor has 0 to %d",
                            (int)from->ndim, KW_TENSOR_DIM_MAX);
    }
    if (from->ndim > 0 && from->shape == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the structure has %d dimensions and no sizes", (int)from->ndim);
    }
    shape->dim = (uint32_t)from->ndim;
    shape->offset = 0;
    for (uint32_t i = 0; i < shape->dim; i++) {
        shape->sizes[i] = from->shape[i];
    }
    return kwi_sizes_check((kw_int_list){shape->sizes, shape->dim}, err);
}

// The strides, in elements; where no index is ever multiplied with one, whatever a producer has put
// there is replaced.
static kw_status read_strides(const kwi_dl_tensor *from, kwi_view_shape *shape, kw_error *err)
{
    int64_t count = 0;
    (void)kwi_sizes_count(shape->sizes, shape->dim, &count);
    (void)kwi_strides_of_format(shape->sizes, shape->dim, KW_MEMORY_CONTIGUOUS, shape->strides);
    for (uint32_t i = 0; i < shape->dim && from->strides != NULL; i++) {
        int64_t stride = from->strides[i];
        if (stride >= 0) {
            shape->strides[i] = stride;
        } else if (count > 0 && shape->sizes[i] > 1) {
            return kw_error_set(err, KW_INVALID_ARGUMENT,
                                "dimension %u has the stride %" PRId64
                                "; strides are not negative here: export a copy, such as "
                                "numpy.ascontiguousarray() makes",
                                i, stride);
        }
    }
    return KW_OK;
}

// The bytes that the elements of an address reach, which must be there.
static kw_status check_address(const void *data, uint64_t byte_offset, size_t bytes,
                               size_t alignment, kw_error *err)
{
    uintptr_t end = 0;
    uintptr_t begin = 0;
    if (data == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the structure has elements and no data pointer");
    }
    if (byte_offset > PTRDIFF_MAX || __builtin_add_overflow((uintptr_t)data, byte_offset, &begin) ||
        __builtin_add_overflow(begin, bytes, &end)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%zu bytes from byte %" PRIu64 " on do not lie behind the data "
                            "pointer: addresses end before",
                            bytes, byte_offset);
    }
    if (begin % alignment != 0) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the first element lies %zu bytes beside a multiple of %zu, which "
                            "its type needs; export a copy",
                            (size_t)(begin % alignment), alignment);
    }
    return KW_OK;
}

// A complex number is aligned as its parts are.
static size_t alignment_of(uint8_t dtype)
{
    size_t bytes = kw_dtype_bytes(dtype);
    return kw_dtype_kind_of(dtype) == KW_DTYPE_KIND_COMPLEX ? bytes / 2 : bytes;
}

// For a handle the offset is in the tensor, in elements.
static kw_status read_handle(const kwi_dl_tensor *from, reading *out, size_t element_bytes,
                             kw_error *err)
{
    if (from->data == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "the structure has elements and no data");
    }
    if (from->byte_offset % element_bytes != 0 ||
        from->byte_offset / element_bytes > INT64_MAX / 2) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the offset is %" PRIu64 " bytes, which are no number of elements "
                            "of %zu bytes",
                            from->byte_offset, element_bytes);
    }
    out->shape.offset = (int64_t)(from->byte_offset / element_bytes);
    out->memory.data = from->data;
    return KW_OK;
}

static kw_status read_data(const kwi_dl_tensor *from, reading *out, kw_error *err)
{
    kwi_view_shape *shape = &out->shape;
    const size_t element_bytes = kw_dtype_bytes(out->dtype);
    bool is_handle = kwi_dlpack_has_handles(out->memory.device.type);
    int64_t count = 0;
    (void)kwi_sizes_count(shape->sizes, shape->dim, &count);
    if (count == 0) {
        return KW_OK; // no memory, whatever the pointer is
    }
    kw_status status = is_handle ? read_handle(from, out, element_bytes, err) : KW_OK;
    if (status != KW_OK) {
        return status;
    }
    if (!kwi_shape_reach_bytes(shape->sizes, shape->strides, shape->dim, shape->offset,
                               element_bytes, &out->memory.bytes) ||
        out->memory.bytes > PTRDIFF_MAX) { // no memory is as large
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "sizes and strides reach further than 63 bits");
    }
    if (!is_handle) {
        status = check_address(from->data, from->byte_offset, out->memory.bytes,
                               alignment_of(out->dtype), err);
        out->memory.data = status == KW_OK ? (unsigned char *)from->data + from->byte_offset : NULL;
    }
    return status;
}

static kw_status read_tensor(const kwi_dl_tensor *from, reading *out, kw_error *err)
{
    kw_status status = kwi_dlpack_type_read(from->dtype, &out->dtype, err);
    if (status == KW_OK) {
        status = kwi_dlpack_device_read(from->device, &out->memory.device, err);
    }
    if (status == KW_OK) {
        status = read_sizes(from, &out->shape, err);
    }
    if (status == KW_OK) {
        status = read_strides(from, &out->shape, err);
    }
    return status == KW_OK ? read_data(from, out, err) : status;
}

// The tensor first and its storage last: once there is one, it owns the structure.
static kw_status make(const reading *from, kw_tensor **out_tensor, kw_error *err)
{
    kw_key key = KW_KEY_Undefined;
    kw_tensor *made = NULL;
    kw_status status =
        kw_tensor_backend_key(from->memory.device.type, KW_LAYOUT_STRIDED, from->dtype, &key, err);
    if (status != KW_OK) {
        return status;
    }
    const kwi_tensor_parts parts = {
        .shape = kwi_view_geometry(&from->shape),
        .keys = kw_tensor_keys_of(kw_keyset_from_key(key), kwi_thread_is_inferring()),
        .device = from->memory.device,
        .dtype = from->dtype,
        .layout = KW_LAYOUT_STRIDED,
    };
    status = kwi_tensor_make(&parts, &made, err);
    if (status == KW_OK) {
        status = kw_storage_wrap(&from->memory, &made->storage, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out_tensor = made;
    return KW_OK;
}

static kw_status check_arguments(const void *managed, const void *place, kw_error *err)
{
    return managed != NULL && place != NULL
               ? KW_OK
               : kw_error_set(err, KW_INVALID_ARGUMENT,
                              "there is no structure, or no place for the tensor");
}

static void delete_plain(void *managed)
{
    kw_dlpack_delete(managed);
}

static void delete_versioned(void *managed)
{
    kw_dlpack_delete_versioned(managed);
}

kw_status kw_tensor_from_dlpack(struct DLManagedTensor *take_managed, kw_library *library,
                                kw_tensor **out_tensor, kw_error *err)
{
    kw_status status = check_arguments(take_managed, out_tensor, err);
    if (status != KW_OK) {
        return status;
    }
    reading from = {.memory = {.struct_size = sizeof from.memory,
                               .destroy = delete_plain,
                               .context = take_managed,
                               .library = library}};
    status = read_tensor(&take_managed->dl_tensor, &from, err);
    return status == KW_OK ? make(&from, out_tensor, err) : status;
}

kw_status kw_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *take_managed,
                                          kw_library *library, kw_tensor **out_tensor,
                                          kw_error *err)
{
    kw_status status = check_arguments(take_managed, out_tensor, err);
    if (status != KW_OK) {
        return status;
    }
    if (take_managed->version.major != KW_DLPACK_MAJOR) { // what follows may lie anywhere
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the structure is of DLPack %" PRIu32 ".%" PRIu32
                            "; this library reads %d.x: ask the producer for that version",
                            take_managed->version.major, take_managed->version.minor,
                            KW_DLPACK_MAJOR);
    }
    reading from = {.memory = {.struct_size = sizeof from.memory,
                               .read_only = (take_managed->flags & KWI_DL_READ_ONLY) != 0,
                               .destroy = delete_versioned,
                               .context = take_managed,
                               .library = library}};
    status = read_tensor(&take_managed->dl_tensor, &from, err);
    return status == KW_OK ? make(&from, out_tensor, err) : status;
}
