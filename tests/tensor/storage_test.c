// Storages: allocated, wrapped, resized; and their sources, which libraries may own.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include <keyway/storage.h>
#include <keyway/tensor.h>

#include "base/memory.h"
#include "support/registry.h"

TestSuite(storage, .init = kwt_begin, .fini = kwt_end);

static const kw_device cpu = {KW_DEVICE_CPU, -1};
static const kw_device cuda = {KW_DEVICE_CUDA, 1};

// An allocator that counts what it does.
typedef struct counted_source {
    int allocations;
    int frees;
    int copies;
    int destroyed;
    bool is_empty;
    kw_status copy_status;
    int32_t last_index;
} counted_source;

static void *counted_allocate(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    counted_source *source = context;
    source->last_index = device_index;
    if (source->is_empty) {
        return NULL;
    }
    source->allocations++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void counted_free(void *data, size_t bytes, int32_t device_index, void *context)
{
    counted_source *source = context;
    (void)bytes;
    (void)device_index;
    source->frees++;
    free(data);
}

static kw_status counted_copy(void *to, kw_device to_device, const void *from,
                              kw_device from_device, size_t bytes, void *context)
{
    counted_source *source = context;
    source->copies++;
    cr_expect_eq(to_device.type, KW_DEVICE_CUDA);
    cr_expect_eq(from_device.index, 1);
    if (source->copy_status == KW_OK) {
        memcpy(to, from, bytes);
    }
    return source->copy_status;
}

static void counted_destroy(void *context)
{
    counted_source *source = context;
    source->destroyed++;
}

static kw_storage_allocator describe(counted_source *source)
{
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "counted",
        .allocate = counted_allocate,
        .free = counted_free,
        .copy = counted_copy,
        .context = source,
        .destroy = counted_destroy,
    };
    return allocator;
}

static kw_storage *make(size_t bytes, kw_device device)
{
    kw_storage *storage = NULL;
    KWT_OK(kw_storage_create(bytes, device, &storage, NULL));
    return storage;
}

static kw_tensor_statistics figures(void)
{
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_tensor_statistics_get(&figures);
    return figures;
}

// Of the CPU ------------------------------------------------------------------------------------

Test(storage, cpu_storage_is_aligned_and_counted)
{
    for (size_t bytes = 1; bytes < 300; bytes += 37) {
        kw_storage *storage = make(bytes, cpu);
        void *data = NULL;
        KWT_OK(kw_storage_mutable_data(storage, &data, NULL));
        cr_expect_eq((uintptr_t)data % KW_STORAGE_ALIGNMENT, 0);
        memset(data, 0x5a, bytes);
        cr_expect_eq(kw_storage_data(storage), data);
        cr_expect_eq(kw_storage_bytes(storage), bytes);
        cr_expect_eq(figures().storage_bytes, bytes);
        kw_storage_retain(storage);
        cr_expect_eq(kw_storage_use_count(storage), 2);
        kw_storage_release(storage);
        kw_storage_release(storage);
        cr_expect_eq(figures().storage_count, 0);
    }
    kw_storage_retain(NULL);
    kw_storage_release(NULL);
}

Test(storage, no_bytes_have_no_address)
{
    kw_storage *storage = make(0, cpu);
    cr_expect_null(kw_storage_data(storage));
    kw_storage_release(storage);
}

Test(storage, more_than_there_is_names_the_size)
{
    kw_storage *storage = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NO_MEMORY, kw_storage_create(SIZE_MAX - 8, cpu, &storage, &err));
    KWT_HAS(err.text, "18446744073709551607 bytes on cpu");
    KWT_STATUS(KW_NO_MEMORY, kw_storage_create(SIZE_MAX / 2, cpu, &storage, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_create(8, cpu, NULL, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_create(8, (kw_device){2000, 0}, &storage, &err));
    cr_expect_null(storage);
}

Test(storage, resize_keeps_contents_and_counts)
{
    kw_storage *storage = make(10, cpu);
    void *data = NULL;
    KWT_OK(kw_storage_mutable_data(storage, &data, NULL));
    memcpy(data, "123456789", 10);
    KWT_OK(kw_storage_resize(storage, 1000, NULL));
    cr_expect_str_eq(kw_storage_data(storage), "123456789");
    cr_expect_eq((uintptr_t)kw_storage_data(storage) % KW_STORAGE_ALIGNMENT, 0);
    cr_expect_eq(figures().storage_bytes, 1000);
    KWT_OK(kw_storage_resize(storage, 3, NULL));
    cr_expect_eq(memcmp(kw_storage_data(storage), "123", 3), 0);
    KWT_OK(kw_storage_resize(storage, 0, NULL));
    cr_expect_null(kw_storage_data(storage));
    KWT_OK(kw_storage_resize(storage, 5, NULL));
    cr_expect_not_null(kw_storage_data(storage));
    cr_expect_eq(figures().storage_bytes, 5);
    KWT_STATUS(KW_NO_MEMORY, kw_storage_resize(storage, SIZE_MAX / 2, NULL));
    cr_expect_eq(kw_storage_bytes(storage), 5);
    cr_expect(kw_storage_is_resizable(storage));
    kw_storage_release(storage);
    cr_expect_eq(figures().storage_bytes, 0);
}

Test(storage, meta_storage_is_resized_without_memory)
{
    kw_storage *storage = make(SIZE_MAX, (kw_device){KW_DEVICE_META, -1});
    cr_expect_null(kw_storage_data(storage));
    KWT_OK(kw_storage_resize(storage, 7, NULL));
    cr_expect_eq(kw_storage_bytes(storage), 7);
    cr_expect_eq(figures().storage_bytes, 0);
    kw_storage_release(storage);
}

// External memory -------------------------------------------------------------------------------

static void count_destroy(void *context)
{
    (*(int *)context)++;
}

Test(storage, external_memory_ends_once_with_its_destroy_function)
{
    char memory[16];
    int destroyed = 0;
    kw_external_memory external = {
        .struct_size = sizeof external,
        .data = memory,
        .bytes = sizeof memory,
        .device = {KW_DEVICE_CUDA, 3},
        .destroy = count_destroy,
        .context = &destroyed,
    };
    kw_storage *storage = NULL;
    KWT_OK(kw_storage_wrap(&external, &storage, NULL));
    cr_expect_eq(kw_storage_device(storage).index, 3);
    cr_expect_not(kw_storage_is_read_only(storage));
    cr_expect_not(kw_storage_is_resizable(storage));
    cr_expect_eq(figures().external_bytes, 16);
    cr_expect_eq(figures().storage_bytes, 0);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_SUPPORTED, kw_storage_resize(storage, 32, &err));
    KWT_HAS(err.text, "16 bytes");
    kw_storage_retain(storage);
    kw_storage_release(storage);
    cr_expect_eq(destroyed, 0);
    kw_storage_release(storage);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(figures().external_bytes, 0);
}

Test(storage, external_memory_that_cannot_be_is_refused)
{
    kw_external_memory external = {.struct_size = sizeof external, .bytes = 5, .device = cpu};
    kw_storage *storage = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_wrap(&external, &storage, NULL));
    external.bytes = 0;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_wrap(&external, NULL, NULL));
    external.device.type = -1;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_wrap(&external, &storage, NULL));
    external.device = cpu;
    KWT_OK(kw_storage_wrap(&external, &storage, NULL));
    kw_storage_release(storage);
}

// Sources ---------------------------------------------------------------------------------------

Test(storage, device_gets_its_allocator_and_loses_it)
{
    counted_source source = {0};
    kw_storage_allocator allocator = describe(&source);
    kw_storage *storage = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_storage_create(8, cuda, &storage, NULL));
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, NULL));
    storage = make(8, cuda);
    cr_expect_eq(source.allocations, 1);
    cr_expect_eq(source.last_index, 1);
    KWT_OK(kw_storage_resize(storage, 16, NULL));
    cr_expect_eq(source.copies, 1);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, NULL));
    cr_expect_eq(source.destroyed, 0, "a storage is left");
    kw_storage *another = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_storage_create(8, cuda, &another, NULL));
    kw_storage_release(storage);
    cr_expect_eq(source.frees, 2);
    cr_expect_eq(source.destroyed, 1);
}

Test(storage, replaced_allocator_serves_its_storages_until_they_end)
{
    counted_source sources[3] = {{0}, {0}, {0}};
    kw_storage *storages[3];
    for (int i = 0; i < 3; i++) {
        kw_storage_allocator allocator = describe(&sources[i]);
        KWT_OK(kw_storage_allocator_set(KW_DEVICE_CPU, &allocator, NULL));
        storages[i] = make(8, cpu);
    }
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CPU, NULL, NULL));
    kw_storage *own = make(8, cpu);
    kw_storage_release(own);
    for (int i = 2; i >= 0; i--) {
        cr_expect_eq(sources[i].destroyed, 0);
        kw_storage_release(storages[i]);
        cr_expect_eq(sources[i].allocations, 1);
        cr_expect_eq(sources[i].frees, 1);
        cr_expect_eq(sources[i].destroyed, 1);
    }
}

// Records of sources are used again, so setting allocators for ever takes no memory.
Test(storage, setting_many_allocators_takes_no_memory)
{
    counted_source source = {0};
    kw_storage_allocator allocator = describe(&source);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_XPU, &allocator, NULL));
    uint64_t bytes = kwi_memory_bytes();
    for (int i = 0; i < 1000; i++) {
        KWT_OK(kw_storage_allocator_set(KW_DEVICE_XPU, &allocator, NULL));
    }
    cr_expect_eq(kwi_memory_bytes(), bytes);
    cr_expect_eq(source.destroyed, 1000);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_XPU, NULL, NULL));
}

Test(storage, allocator_that_cannot_be_is_refused)
{
    counted_source source = {0};
    kw_storage_allocator allocator = describe(&source);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_allocator_set(KW_DEVICE_META, &allocator, &err));
    KWT_HAS(err.text, "Meta");
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_allocator_set(21, &allocator, &err));
    allocator.free = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, &err));
    KWT_HAS(err.text, "storages on cuda");
    allocator = describe(&source);
    allocator.name = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, &err));
    cr_expect_eq(source.destroyed, 0, "the caller still has it");
}

Test(storage, allocator_without_memory_or_copy_leaves_everything)
{
    counted_source source = {0};
    kw_storage_allocator allocator = describe(&source);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, NULL));
    kw_storage *storage = make(8, cuda);
    kw_storage *another = NULL;
    source.is_empty = true;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NO_MEMORY, kw_storage_create(64, cuda, &another, &err));
    KWT_HAS(err.text, "64 bytes on cuda");
    KWT_STATUS(KW_NO_MEMORY, kw_storage_resize(storage, 64, &err));
    source.is_empty = false;
    source.copy_status = KW_KERNEL_FAILED;
    KWT_STATUS(KW_KERNEL_FAILED, kw_storage_resize(storage, 64, &err));
    KWT_HAS(err.text, "the allocator 'counted' could not copy");
    cr_expect_eq(kw_storage_bytes(storage), 8);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, NULL));
    kw_storage_release(storage);
    cr_expect_eq(source.allocations, source.frees);
    cr_expect_eq(source.destroyed, 1);
}

// Leases ----------------------------------------------------------------------------------------

static void expect_busy(kw_library *library, const char *piece)
{
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_drain(library, 0, &err));
    KWT_HAS(err.text, piece);
}

Test(storage, library_of_an_allocator_waits_for_its_storages)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "device");
    counted_source source = {0};
    kw_storage_allocator allocator = describe(&source);
    allocator.library = library;
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, NULL));
    kw_storage *storage = make(8, cuda);
    kwt_close(library);
    expect_busy(library, "allocator of storages");
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, NULL));
    expect_busy(library, "allocator of storages");
    kw_storage_release(storage);
    cr_expect_eq(source.destroyed, 1);
    KWT_OK(kw_library_drain(library, 0, NULL));
    kwt_end_library(library);
}

Test(storage, library_of_external_memory_waits_for_its_end)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    int destroyed = 0;
    char memory[8];
    const kw_external_memory external = {
        .struct_size = sizeof external,
        .data = memory,
        .bytes = sizeof memory,
        .device = cpu,
        .destroy = count_destroy,
        .context = &destroyed,
        .library = library,
    };
    kw_tensor_options options = {.struct_size = sizeof options,
                                 .sizes = (const int64_t[]){2},
                                 .dim = 1,
                                 .dtype = KW_DTYPE_FLOAT32,
                                 .device = cpu};
    KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
    kw_tensor *tensor = NULL;
    KWT_OK(kw_tensor_create(&options, &tensor, NULL));
    kw_storage_release(options.storage);
    kwt_close(library);
    expect_busy(library, "external memory");
    kw_tensor_release(tensor);
    cr_expect_eq(destroyed, 1);
    KWT_OK(kw_library_drain(library, 0, NULL));
    kwt_end_library(library);
}
