// DLPack, outwards: structures that hold the storage of a tensor.
//
// Layer:   tensor
// Threads: as dlpack.h says; deleters run in any thread.
// SPDX-License-Identifier: MIT

#include <keyway/allocator.h>
#include <keyway/dlpack.h>

#include "tensor/dlpack_abi.h"
#include "tensor/dlpack_type.h"
#include "tensor/failure.h"
#include "tensor/view.h"

// One allocation: the structure, which another library reads and ours ends, then its numbers. The
// storage is held and not the tensor, whose shape and data may be changed meanwhile.
typedef struct exported {
    union {
        struct DLManagedTensor plain;
        struct DLManagedTensorVersioned versioned;
    } managed;
    kw_storage *storage;
    uint32_t dim;
    int64_t words[]; // sizes, then strides
} exported;

static size_t exported_bytes(uint32_t dim)
{
    return sizeof(exported) + 2 * (size_t)dim * sizeof(int64_t);
}

static void end_exported(exported *made)
{
    kw_storage_release(made->storage);
    kw_memory_free(made, exported_bytes(made->dim));
}

static void delete_plain(struct DLManagedTensor *self)
{
    end_exported(self->manager_ctx);
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    end_exported(self->manager_ctx);
}

// What a structure cannot say of the elements.
static kw_status check_meaning(const kw_tensor *tensor, kw_error *err)
{
    if (kw_tensor_is_conj(tensor) || kw_tensor_is_neg(tensor) || kw_tensor_is_zero_tensor(tensor)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "DLPack has no %s bit; resolve it first: the elements in memory are "
                            "other numbers",
                            kw_tensor_is_conj(tensor)  ? "conjugate"
                            : kw_tensor_is_neg(tensor) ? "negative"
                                                       : "zero");
    }
    return KW_OK;
}

static kw_status describe(kw_tensor *tensor, const void *place, kwi_view_shape *shape,
                          kwi_dl_tensor *out, kw_error *err)
{
    kw_status status = kwi_view_begin(tensor, place, shape, err);
    if (status == KW_OK) {
        status = check_meaning(tensor, err);
    }
    if (status == KW_OK) {
        status = kwi_dlpack_type_of(tensor->dtype, &out->dtype, err);
    }
    if (status == KW_OK) {
        status = kwi_dlpack_device_of(kw_tensor_device(tensor), &out->device, err);
    }
    return status;
}

// Where the first element is. Consumers are known that do not read the offset, so it is added to
// the address wherever that is one.
static void set_data(kwi_dl_tensor *out, const kw_tensor *tensor)
{
    const void *first = kw_tensor_data(tensor); // NULL: no elements
    out->byte_offset = 0;
    if (first != NULL && kwi_dlpack_has_handles(tensor->device_type)) {
        out->byte_offset = (uint64_t)tensor->offset * kw_dtype_bytes(tensor->dtype);
        first = kw_storage_data(tensor->storage);
    }
    out->data = (void *)(uintptr_t)first;
}

// Makes the structure but for what the two forms have apart. `in_place` is where its tensor lies.
static exported *make(const kw_tensor *tensor, const kwi_view_shape *shape,
                      const kwi_dl_tensor *described, size_t in_place)
{
    exported *made = kw_memory_allocate(exported_bytes(shape->dim));
    if (made == NULL) {
        return NULL;
    }
    kwi_dl_tensor *out = (kwi_dl_tensor *)(void *)((unsigned char *)&made->managed + in_place);
    *out = *described;
    out->ndim = (int32_t)shape->dim;
    out->shape = made->words;
    out->strides = made->words + shape->dim;
    for (uint32_t i = 0; i < shape->dim; i++) {
        out->shape[i] = shape->sizes[i];
        out->strides[i] = shape->strides[i];
    }
    set_data(out, tensor);
    kw_storage_retain(tensor->storage);
    made->storage = tensor->storage;
    made->dim = shape->dim;
    return made;
}

kw_status kw_tensor_to_dlpack_versioned(kw_tensor *tensor,
                                        struct DLManagedTensorVersioned **out_managed,
                                        kw_error *err)
{
    kwi_view_shape shape;
    kwi_dl_tensor described;
    kw_status status = describe(tensor, out_managed, &shape, &described, err);
    if (status != KW_OK) {
        return status;
    }
    exported *made =
        make(tensor, &shape, &described, offsetof(struct DLManagedTensorVersioned, dl_tensor));
    if (made == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    struct DLManagedTensorVersioned *managed = &made->managed.versioned;
    managed->version = (kwi_dl_version){KW_DLPACK_MAJOR, KW_DLPACK_MINOR};
    managed->manager_ctx = made;
    managed->deleter = delete_versioned;
    managed->flags = kw_storage_is_read_only(tensor->storage) ? KWI_DL_READ_ONLY : 0;
    *out_managed = managed;
    return KW_OK;
}

// What only the newer structure can say.
static kw_status check_plain(const kw_tensor *tensor, kwi_dl_type type, kw_error *err)
{
    if (kw_storage_is_read_only(tensor->storage)) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the memory is read-only, which DLPack says from 1.0 on; export the "
                            "versioned structure, or a clone");
    }
    if (type.code > KWI_DL_BOOL) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "DLPack has elements of type %s from 1.1 on; export the versioned "
                            "structure",
                            kw_dtype_name(tensor->dtype));
    }
    return KW_OK;
}

kw_status kw_tensor_to_dlpack(kw_tensor *tensor, struct DLManagedTensor **out_managed,
                              kw_error *err)
{
    kwi_view_shape shape;
    kwi_dl_tensor described;
    kw_status status = describe(tensor, out_managed, &shape, &described, err);
    if (status == KW_OK) {
        status = check_plain(tensor, described.dtype, err);
    }
    if (status != KW_OK) {
        return status;
    }
    exported *made = make(tensor, &shape, &described, offsetof(struct DLManagedTensor, dl_tensor));
    if (made == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    struct DLManagedTensor *managed = &made->managed.plain;
    managed->manager_ctx = made;
    managed->deleter = delete_plain;
    *out_managed = managed;
    return KW_OK;
}

// Structures that nobody took over --------------------------------------------------------------

void kw_dlpack_delete(struct DLManagedTensor *take_managed)
{
    if (take_managed != NULL && take_managed->deleter != NULL) {
        take_managed->deleter(take_managed);
    }
}

void kw_dlpack_delete_versioned(struct DLManagedTensorVersioned *take_managed)
{
    if (take_managed != NULL && take_managed->deleter != NULL) {
        take_managed->deleter(take_managed);
    }
}
