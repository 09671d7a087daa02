// Detached tensors, and other data in a tensor: copies of everything but the elements.
//
// Layer:   tensor
// Threads: as tensor_view.h says.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/tensor_view.h>

#include "tensor/extra.h"
#include "tensor/failure.h"
#include "tensor/version.h"
#include "tensor/view.h"

static kw_status check(const kw_tensor *tensor, const void *place, kw_error *err)
{
    if (tensor == NULL || place == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no tensor, or no other one");
    }
    return kw_tensor_is_defined(tensor) ? KW_OK : kwi_tensor_fail_undefined(err);
}

// Copies what a side block says of the elements, and not of who uses them.
static kw_status copy_extra(const kwi_extra *from, kw_tensor *tensor, kw_error *err)
{
    if (from == NULL ||
        (from->names == NULL && from->symbols == NULL && from->backend_metadata == NULL)) {
        return KW_OK;
    }
    kwi_extra *extra = kwi_extra_make(tensor);
    if (extra == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    if (from->names != NULL) {
        kwi_names *names = kwi_names_copy(from->names);
        if (names == NULL) {
            return kwi_tensor_fail_memory(err);
        }
        kwi_tensor_set_names(tensor, names);
    }
    if (from->symbols != NULL) {
        kwi_symbols *symbols = kwi_symbols_copy(from->symbols);
        if (symbols == NULL) {
            return kwi_tensor_fail_memory(err);
        }
        kwi_tensor_set_symbols(tensor, symbols);
    }
    kw_object_retain(from->backend_metadata);
    extra->backend_metadata = from->backend_metadata;
    return KW_OK;
}

kw_status kwi_view_copy_shallow(const kw_tensor *tensor, kw_tensor **out, kw_error *err)
{
    const kwi_tensor_parts parts = {
        .shape = kwi_tensor_shape(tensor),
        .keys = kwi_view_keys(tensor), // with names comes Named
        .storage = tensor->storage,
        .device = kw_tensor_device(tensor),
        .dtype = tensor->dtype,
        .layout = tensor->layout,
        .flags = tensor->flags & KWI_TENSOR_WRAPPED_NUMBER,
    };
    kw_tensor *made = NULL;
    kw_status status = kwi_tensor_make(&parts, &made, err);
    if (status == KW_OK) {
        status = copy_extra(kwi_extra_of(tensor), made, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out = made;
    return KW_OK;
}

kw_status kw_tensor_detach(kw_tensor *tensor, kw_tensor **out, kw_error *err)
{
    kw_tensor *made = NULL;
    kw_status status = check(tensor, out, err);
    if (status == KW_OK) {
        status = kwi_view_copy_shallow(tensor, &made, err);
    }
    if (status == KW_OK) {
        status = kwi_version_share(made, tensor, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out = made;
    return KW_OK;
}

// A counter of the tensor's own, which begins at 0.
static kw_status set_fresh_counter(kw_tensor *tensor, kw_error *err)
{
    kwi_counter *counter = kwi_extra_make(tensor) != NULL ? kwi_counter_create() : NULL;
    if (counter == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    kwi_version_set(tensor, counter);
    return KW_OK;
}

kw_status kw_tensor_data_alias(kw_tensor *tensor, kw_tensor **out, kw_error *err)
{
    kw_tensor *made = NULL;
    kw_status status = check(tensor, out, err);
    if (status == KW_OK) {
        status = kwi_view_copy_shallow(tensor, &made, err);
    }
    if (status == KW_OK && !kw_tensor_is_inference(made)) {
        status = set_fresh_counter(made, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(made);
        return status;
    }
    *out = made;
    return KW_OK;
}

// Other data ------------------------------------------------------------------------------------

// Field by field: other threads may count references meanwhile.
void kwi_view_swap_shapes(kw_tensor *a, kw_tensor *b)
{
    const uint16_t of_shape = KWI_SHAPE_FLAGS | KWI_TENSOR_SYMBOLIC;
    unsigned char shape[sizeof a->shape];
    uint8_t dim = a->dim;
    int64_t offset = a->offset;
    uint16_t flags = a->flags;
    memcpy(shape, &a->shape, sizeof shape);
    a->shape = b->shape;
    a->dim = b->dim;
    a->offset = b->offset;
    a->flags = (uint16_t)((a->flags & ~of_shape) | (b->flags & of_shape));
    memcpy(&b->shape, shape, sizeof shape);
    b->dim = dim;
    b->offset = offset;
    b->flags = (uint16_t)((b->flags & ~of_shape) | (flags & of_shape));
}

// Makes the tensor keep its counter when it gets another storage.
static kw_status keep_counter(kw_tensor *tensor, bool will_be_inference, kw_error *err)
{
    if (kwi_version_is_own(tensor)) {
        return KW_OK;
    }
    if (kw_tensor_is_inference(tensor)) {
        return will_be_inference ? KW_OK : set_fresh_counter(tensor, err);
    }
    kwi_counter *counter = kwi_version_counter(tensor);
    if (counter == NULL || kwi_extra_make(tensor) == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    kwi_counter_retain(counter);
    kwi_version_set(tensor, counter);
    return KW_OK;
}

// Exchanges what the side blocks say of the elements. The tensor has a side block.
static void swap_extras(kw_tensor *tensor, kw_tensor *other)
{
    kwi_extra *to = kwi_extra_of(tensor);
    kwi_extra *from = kwi_extra_of(other);
    kwi_extra none = {.names = NULL};
    from = from != NULL ? from : &none;
    kwi_names *names = from->names;
    kwi_symbols *symbols = from->symbols;
    kw_object *metadata = from->backend_metadata;
    from->names = NULL;
    from->symbols = NULL;
    from->backend_metadata = NULL;
    kwi_tensor_set_names(tensor, names);
    kwi_symbols_free(to->symbols);
    to->symbols = symbols;
    kw_object_release(to->backend_metadata);
    to->backend_metadata = metadata;
}

// Exchanges the data of two tensors, of which `other` is nobody else's. Nothing here can fail.
static void swap_data(kw_tensor *tensor, kw_tensor *other)
{
    const uint64_t python = tensor->keys & KW_KEYSET_PYTHON;
    const uint16_t wrapped = KWI_TENSOR_WRAPPED_NUMBER;
    kw_storage *storage = tensor->storage;
    tensor->storage = other->storage;
    other->storage = storage;
    tensor->keys = (other->keys & ~KW_KEYSET_PYTHON) | python;
    tensor->dtype = other->dtype;
    tensor->layout = other->layout;
    tensor->device_type = other->device_type;
    tensor->device_index = other->device_index;
    tensor->flags = (uint16_t)((tensor->flags & ~wrapped) | (other->flags & wrapped));
    kwi_view_swap_shapes(tensor, other);
    swap_extras(tensor, other);
}

kw_status kw_tensor_set_data(kw_tensor *tensor, const kw_tensor *source, kw_error *err)
{
    kw_tensor *copy = NULL;
    kw_status status = check(tensor, source, err);
    if (status == KW_OK && !kw_tensor_is_defined(source)) {
        status = kwi_tensor_fail_undefined(err);
    }
    if (status != KW_OK || tensor == source) {
        return status;
    }
    status = kwi_view_copy_shallow(source, &copy, err);
    if (status == KW_OK && kwi_extra_make(tensor) == NULL) {
        status = kwi_tensor_fail_memory(err);
    }
    if (status == KW_OK) {
        status = keep_counter(tensor, kw_tensor_is_inference(source), err);
    }
    if (status == KW_OK) {
        swap_data(tensor, copy);
    }
    kw_tensor_release(copy); // with what the tensor had
    return status;
}
