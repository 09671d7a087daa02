// Storages: counted blocks of memory on a device that tensors share.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/storage.h"

#include <string.h>

#include <keyway/allocator.h>

#include "tensor/failure.h"
#include "tensor/keys.h"

// guard: cell. Relaxed: statistics.
static kwi_u64_cell storage_count;
static kwi_u64_cell allocated_bytes;
static kwi_u64_cell external_bytes;

// Counts up or, with a `delta` of UINT64_MAX for -1, down.
static void count(kw_storage *storage, uint64_t delta)
{
    kwi_u64_cell *bytes = storage->is_external ? &external_bytes : &allocated_bytes;
    if (storage->device_type != KW_DEVICE_META) {
        (void)kwi_u64_add_relaxed(bytes, delta * storage->bytes); // relaxed: statistics
    }
    (void)kwi_u64_add_relaxed(&storage_count, delta); // relaxed: the same
}

static kw_status check_device(kw_device device, kw_error *err)
{
    if (kwi_device_name(device.type) == NULL || device.index < -1 || device.index > INT8_MAX) {
        return kw_error_set(
            err, KW_INVALID_ARGUMENT, "%d:%d is no device: types are 0 to %d, indices -1 to %d",
            (int)device.type, (int)device.index, KW_DEVICE_TYPE_COUNT - 1, INT8_MAX);
    }
    return KW_OK;
}

static kw_storage *make(kw_device device)
{
    kw_storage *storage = kw_memory_allocate(sizeof *storage);
    if (storage != NULL) {
        kwi_u32_store_relaxed(&storage->references, 1); // relaxed: nobody else knows it
        storage->device_type = (uint8_t)device.type;
        storage->device_index = (int8_t)device.index;
    }
    return storage;
}

kw_status kw_storage_create(size_t bytes, kw_device device, kw_storage **out_storage, kw_error *err)
{
    kw_status status = check_device(device, err);
    if (status != KW_OK || out_storage == NULL) {
        return status != KW_OK ? status
                               : kw_error_set(err, KW_INVALID_ARGUMENT, "there is no place");
    }
    kwi_source *source = NULL;
    if (device.type != KW_DEVICE_META) {
        source = kwi_source_take(device.type);
        if (source == NULL) {
            return kw_error_set(err, KW_NOT_FOUND,
                                "storages on %s have no allocator; see "
                                "kw_storage_allocator_set()",
                                kwi_device_name(device.type));
        }
    }
    kw_storage *storage = make(device);
    void *data = NULL;
    if (storage != NULL && source != NULL && bytes > 0) {
        data = source->calls.allocate(bytes, KW_STORAGE_ALIGNMENT, device.index,
                                      source->calls.context);
    }
    if (storage == NULL || (source != NULL && bytes > 0 && data == NULL)) {
        kw_memory_free(storage, sizeof *storage);
        kwi_source_give_back(source);
        return kw_error_set(err, KW_NO_MEMORY,
                            "a storage of %zu bytes on %s could not be allocated", bytes,
                            kwi_device_name(device.type));
    }
    storage->data = data;
    storage->bytes = bytes;
    storage->from.source = source;
    count(storage, 1);
    *out_storage = storage;
    return KW_OK;
}

// External memory -------------------------------------------------------------------------------

static kw_status check_memory(const kw_external_memory *memory, kw_storage **out_storage,
                              kw_error *err)
{
    kw_status status = kw_options_check(memory, sizeof *memory, "kw_external_memory", err);
    if (status == KW_OK) {
        status = check_device(memory->device, err);
    }
    if (status != KW_OK) {
        return status;
    }
    if (out_storage == NULL ||
        (memory->data == NULL && memory->bytes > 0 && memory->device.type != KW_DEVICE_META)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "external memory of %zu bytes has no address, or there is no place "
                            "for the storage",
                            memory->bytes);
    }
    return KW_OK;
}

// What has to end with the memory; NULL in `*out_owner` if nothing has.
static kw_status make_owner(const kw_external_memory *memory, kwi_owner **out_owner, kw_error *err)
{
    *out_owner = NULL;
    if (memory->destroy == NULL && memory->library == NULL) {
        return KW_OK;
    }
    kwi_owner *owner = kw_memory_allocate(sizeof *owner);
    if (owner == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    kw_status status = memory->library != NULL
                           ? kw_lease_begin(memory->library, "external memory", &owner->lease, err)
                           : KW_OK;
    if (status != KW_OK) {
        kw_memory_free(owner, sizeof *owner);
        return status;
    }
    owner->destroy = memory->destroy;
    owner->context = memory->context;
    *out_owner = owner;
    return KW_OK;
}

kw_status kw_storage_wrap(const kw_external_memory *memory, kw_storage **out_storage, kw_error *err)
{
    kw_status status = check_memory(memory, out_storage, err);
    if (status != KW_OK) {
        return status;
    }
    kw_storage *storage = make(memory->device);
    if (storage == NULL) {
        return kwi_tensor_fail_memory(err);
    }
    status = make_owner(memory, &storage->from.owner, err);
    if (status != KW_OK) {
        kw_memory_free(storage, sizeof *storage);
        return status;
    }
    storage->is_external = true;
    storage->is_read_only = memory->read_only;
    storage->data = memory->data;
    storage->bytes = memory->bytes;
    count(storage, 1);
    *out_storage = storage;
    return KW_OK;
}

static void end_owner(kwi_owner *owner)
{
    if (owner != NULL) {
        if (owner->destroy != NULL) {
            owner->destroy(owner->context);
        }
        kw_lease *lease = owner->lease;
        kw_memory_free(owner, sizeof *owner);
        kw_lease_end(lease);
    }
}

// References ------------------------------------------------------------------------------------

void kw_storage_retain(kw_storage *storage)
{
    if (storage != NULL) {
        (void)kwi_u32_add_relaxed(&storage->references, 1); // relaxed: the caller has a reference
    }
}

static void free_data(kw_storage *storage)
{
    kwi_source *source = storage->from.source;
    if (storage->data != NULL) {
        source->calls.free(storage->data, storage->bytes, storage->device_index,
                           source->calls.context);
    }
    kwi_source_give_back(source);
}

// Gives one reference back; whether it was the last one. Who has the only one shares it with no
// thread that could make another, and needs no read-modify-write.
static bool give_back(kw_storage *storage)
{
    if (kwi_u32_load_acquire(&storage->references) == 1) { // [pair: storage-count]
        return true;
    }
    if (kwi_u32_sub_release(&storage->references, 1) != 1) { // [pair: storage-count]
        return false;
    }
    (void)kwi_u32_load_acquire(&storage->references); // [pair: storage-count]
    return true;
}

void kw_storage_release(kw_storage *storage)
{
    if (storage == NULL || !give_back(storage)) {
        return;
    }
    count(storage, UINT64_MAX);
    if (storage->is_external) {
        end_owner(storage->from.owner);
    } else {
        free_data(storage);
    }
    // Relaxed: nobody else knows the storage any more. [pair: storage-count]
    kwi_counter_release(kwi_ptr_load_relaxed(&storage->counter));
    kw_memory_free(storage, sizeof *storage);
}

uint32_t kw_storage_use_count(const kw_storage *storage)
{
    return kwi_u32_load_relaxed(&storage->references); // relaxed: a hint
}

// Size and data ---------------------------------------------------------------------------------

const void *kw_storage_data(const kw_storage *storage)
{
    return storage->data;
}

kw_status kw_storage_mutable_data(kw_storage *storage, void **out_data, kw_error *err)
{
    if (storage->is_read_only) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "the memory of %zu bytes is read-only; copy it to write",
                            storage->bytes);
    }
    *out_data = storage->data;
    return KW_OK;
}

size_t kw_storage_bytes(const kw_storage *storage)
{
    return storage->bytes;
}

kw_device kw_storage_device(const kw_storage *storage)
{
    return (kw_device){.type = storage->device_type, .index = storage->device_index};
}

bool kw_storage_is_read_only(const kw_storage *storage)
{
    return storage->is_read_only;
}

bool kw_storage_is_resizable(const kw_storage *storage)
{
    return !storage->is_external;
}

// Moves the contents, as far as they fit, to new memory.
static kw_status move(const kw_storage *storage, void *to, size_t bytes)
{
    const kw_storage_allocator *calls = &storage->from.source->calls;
    size_t common = bytes < storage->bytes ? bytes : storage->bytes;
    if (common == 0) {
        return KW_OK;
    }
    if (calls->copy == NULL) {
        memcpy(to, storage->data, common);
        return KW_OK;
    }
    kw_device device = kw_storage_device(storage);
    return calls->copy(to, device, storage->data, device, common, calls->context);
}

static kw_status resize_data(kw_storage *storage, size_t bytes, kw_error *err)
{
    const kw_storage_allocator *calls = &storage->from.source->calls;
    void *data = NULL;
    if (bytes > 0) {
        data = calls->allocate(bytes, KW_STORAGE_ALIGNMENT, storage->device_index, calls->context);
        if (data == NULL) {
            return kw_error_set(err, KW_NO_MEMORY,
                                "a storage of %zu bytes could not be resized to %zu",
                                storage->bytes, bytes);
        }
    }
    kw_status status = move(storage, data, bytes);
    if (status != KW_OK) {
        calls->free(data, bytes, storage->device_index, calls->context);
        return kw_error_set(err, status, "the allocator '%s' could not copy %zu bytes: %s",
                            calls->name, storage->bytes, kw_status_message(status));
    }
    if (storage->data != NULL) {
        calls->free(storage->data, storage->bytes, storage->device_index, calls->context);
    }
    storage->data = data;
    return KW_OK;
}

kw_status kw_storage_resize(kw_storage *storage, size_t bytes, kw_error *err)
{
    if (storage->is_external) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "memory of somebody else, %zu bytes, cannot be resized",
                            storage->bytes);
    }
    bool has_memory = storage->device_type != KW_DEVICE_META;
    if (has_memory && bytes != storage->bytes) {
        kw_status status = resize_data(storage, bytes, err);
        if (status != KW_OK) {
            return status;
        }
        // Relaxed: statistics. Unsigned arithmetic makes less of it, too.
        (void)kwi_u64_add_relaxed(&allocated_bytes, (uint64_t)bytes - storage->bytes);
    }
    storage->bytes = bytes;
    return KW_OK;
}

kwi_counter *kwi_storage_counter(kw_storage *storage)
{
    void *there = kwi_ptr_load_acquire(&storage->counter); // [pair: storage-counter]
    if (there != NULL) {
        return there;
    }
    kwi_counter *made = kwi_counter_create();
    // [pair: storage-counter] release publishes it; acquire, if another thread was faster.
    if (made != NULL &&
        !kwi_ptr_compare_exchange_release_acquire(&storage->counter, &there, made)) {
        kwi_counter_release(made);
        return there;
    }
    return made;
}

uint64_t kwi_storage_count(void)
{
    return kwi_u64_load_relaxed(&storage_count); // relaxed: statistics
}

uint64_t kwi_storage_allocated_bytes(void)
{
    return kwi_u64_load_relaxed(&allocated_bytes); // relaxed: statistics
}

uint64_t kwi_storage_external_bytes(void)
{
    return kwi_u64_load_relaxed(&external_bytes); // relaxed: statistics
}
