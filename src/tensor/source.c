// Sources: where storages get their memory, one for each device type, replaceable at any time.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/source.h"

#include <string.h>

#include <keyway/allocator.h>

#include "tensor/aligned.h"
#include "tensor/failure.h"
#include "tensor/keys.h"
#include "tensor/leaf_lock.h"
#include "tensor/step.h"

static void *allocate_on_cpu(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    (void)device_index;
    (void)context;
    return kwi_aligned_allocate(bytes, alignment);
}

static void free_on_cpu(void *data, size_t bytes, int32_t device_index, void *context)
{
    (void)device_index;
    (void)context;
    kwi_aligned_free(data, bytes, KW_STORAGE_ALIGNMENT);
}

static kwi_source of_cpu = {
    .is_static = true,
    .calls =
        {
            .struct_size = sizeof of_cpu.calls,
            .name = "malloc",
            .allocate = allocate_on_cpu,
            .free = free_on_cpu,
        },
};

// guard: cell. NULL: none. Store: release, under the lock. Load: acquire. [pair: source]
static kwi_ptr_cell places[KW_DEVICE_TYPE_COUNT] = {[KW_DEVICE_CPU] = {&of_cpu}};

// Records for two sources of each device, before memory is asked for: see Note [Sources].
static kwi_source first_records[2 * KW_DEVICE_TYPE_COUNT];

// guard: lock leaf.
static kwi_source *free_records;
static size_t first_used;

// Taking ----------------------------------------------------------------------------------------

// Counts a source, unless it has ended.
static bool count(kwi_source *source)
{
    uint32_t references = kwi_u32_load_relaxed(&source->references); // relaxed: the swap decides
    while (references > 0) {
        // [pair: source-count] acquire: what the last user of the record wrote comes before.
        if (kwi_u32_compare_exchange_acquire_relaxed(&source->references, &references,
                                                     references + 1)) {
            return true;
        }
    }
    return false;
}

// Counts the source that was found at a place, unless it has ended or left the place.
static bool take(kwi_source *source, const kwi_ptr_cell *place)
{
    KWI_TENSOR_STEP(NULL);
    if (!count(source)) {
        return false;
    }
    KWI_TENSOR_STEP(NULL);
    // [pair: source] acquire, as before: see Note [Sources].
    if (kwi_ptr_load_acquire(place) == source || KWI_TENSOR_FAULT(SOURCE_NOT_LOOKED_AT)) {
        return true;
    }
    kwi_source_give_back(source);
    return false;
}

kwi_source *kwi_source_take(int32_t device_type)
{
    if (device_type < 0 || device_type >= KW_DEVICE_TYPE_COUNT) {
        return NULL;
    }
    const kwi_ptr_cell *place = &places[device_type];
    for (;;) {
        kwi_source *source = kwi_ptr_load_acquire(place); // [pair: source]
        if (source == NULL || source->is_static || take(source, place)) {
            return source;
        }
    }
}

static void keep_record(kwi_source *record)
{
    if (record != NULL) {
        kwi_leaf_lock();
        record->next_free = free_records;
        free_records = record;
        kwi_leaf_unlock();
    }
}

static void end_source(kwi_source *source)
{
    if (source->calls.destroy != NULL) {
        source->calls.destroy(source->calls.context);
    }
    kw_memory_free((void *)(uintptr_t)source->calls.name, strlen(source->calls.name) + 1);
    kw_lease *lease = source->lease;
    keep_record(source);
    kw_lease_end(lease); // the last touch of its library
}

void kwi_source_give_back(kwi_source *source)
{
    // [pair: source-count]
    if (source != NULL && !source->is_static && kwi_u32_sub_release(&source->references, 1) == 1) {
        (void)kwi_u32_load_acquire(&source->references); // [pair: source-count]
        end_source(source);
    }
}

// Setting ---------------------------------------------------------------------------------------

static kw_status check(int32_t device_type, const kw_storage_allocator *allocator, kw_error *err)
{
    const char *device = kwi_device_name(device_type);
    if (device == NULL || device_type == KW_DEVICE_META) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            device == NULL ? "%d is no device type"
                                           : "device type %d is Meta, whose storages have no "
                                             "memory and need no allocator",
                            (int)device_type);
    }
    if (allocator == NULL) {
        return KW_OK;
    }
    kw_status status = kw_options_check(allocator, sizeof *allocator, "kw_storage_allocator", err);
    if (status == KW_OK &&
        (allocator->allocate == NULL || allocator->free == NULL || allocator->name == NULL)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "an allocator of storages on %s needs a name and functions to "
                            "allocate and to free",
                            device);
    }
    return status;
}

static kwi_source *take_record(void)
{
    kwi_leaf_lock();
    kwi_source *record = free_records;
    if (record != NULL) {
        free_records = record->next_free;
    } else if (first_used < sizeof first_records / sizeof *first_records) {
        record = &first_records[first_used++];
    }
    kwi_leaf_unlock();
    return record != NULL ? record : kw_memory_allocate(sizeof *record);
}

static kw_status make_source(const kw_storage_allocator *allocator, kwi_source **out_source,
                             kw_error *err)
{
    size_t name_bytes = strlen(allocator->name) + 1;
    char *name = kw_memory_allocate(name_bytes);
    kwi_source *source = take_record();
    kw_lease *lease = NULL;
    kw_status status = KW_OK;
    if (name == NULL || source == NULL) {
        status = kwi_tensor_fail_memory(err);
    } else if (allocator->library != NULL) {
        status = kw_lease_begin(allocator->library, "allocator of storages", &lease, err);
    }
    if (status != KW_OK || name == NULL || source == NULL) {
        kw_memory_free(name, name_bytes);
        keep_record(source);
        return status;
    }
    source->calls = *allocator;
    source->calls.name = memcpy(name, allocator->name, name_bytes);
    source->lease = lease;
    *out_source = source;
    return KW_OK;
}

kw_status kw_storage_allocator_set(int32_t device_type, const kw_storage_allocator *allocator,
                                   kw_error *err)
{
    kw_status status = check(device_type, allocator, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_source *source = device_type == KW_DEVICE_CPU ? &of_cpu : NULL;
    if (allocator != NULL) {
        status = make_source(allocator, &source, err);
        if (status != KW_OK) {
            return status;
        }
        // Store: release, for who counts a record that was used before. [pair: source-count]
        kwi_u32_store_release(&source->references, 1);
    }
    kwi_leaf_lock();
    // Relaxed: only written under the lock.
    kwi_source *before = kwi_ptr_load_relaxed(&places[device_type]);
    kwi_ptr_store_release(&places[device_type], source); // [pair: source]
    kwi_leaf_unlock();
    kwi_source_give_back(before);
    return KW_OK;
}
