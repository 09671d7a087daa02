// Storages: counted blocks of memory on a device that tensors share.
//
// Layer:     tensor
// Threads:   any; references are counted atomically. The bytes are their users' business.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_STORAGE_H
#define KW_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dtype.h>
#include <keyway/export.h>
#include <keyway/lease.h>
#include <keyway/status.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

typedef struct kw_storage kw_storage; // opaque, counted

// What every allocation is aligned to at least, in bytes: one cache line, and what AVX-512 asks
// for.
#define KW_STORAGE_ALIGNMENT 64

/// Where the memory of a device type comes from. Copied.
///
/// `allocate` returns NULL when there is no memory; a size of 0 is never asked for. `free` gets
/// what `allocate` has returned, in any thread, and with it the size that was asked for. `copy`
/// moves bytes between two blocks of which at least one is of this device type, the other of it or
/// of the CPU; NULL: plain memory, memcpy.
typedef struct kw_storage_allocator {
    size_t struct_size;
    const char *name; // such as "malloc"; copied
    void *(*allocate)(size_t bytes, size_t alignment, int32_t device_index, void *context);
    void (*free)(void *data, size_t bytes, int32_t device_index, void *context);
    kw_status (*copy)(void *to, kw_device to_device, const void *from, kw_device from_device,
                      size_t bytes, void *context);
    void *context;
    void (*destroy)(void *context); // after the last storage of it and its replacement; NULL: none
    kw_library *library;            // whose code it is: leased until `destroy` returned; NULL: none
} kw_storage_allocator;

/// Sets the allocator of a device type for storages that are created from now on; `allocator` NULL
/// takes it away (the CPU then has its own again). Storages keep the one they were made with.
///
/// The CPU has one from the start: the process's allocator (allocator.h), aligned. KW_DEVICE_META
/// takes none: its storages have a size and no memory.
///
/// @retval KW_INVALID_ARGUMENT  no such device type, Meta, or a function is missing
/// @retval KW_NO_MEMORY         nothing is changed
/// @threads any; blocks while another thread sets one
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_storage_allocator_set(int32_t device_type,
                                                       const kw_storage_allocator *allocator,
                                                       kw_error *err);

/// Creates a storage of `bytes`, whose contents do not matter, on a device. 0 bytes allocate
/// nothing and give a NULL data pointer. On success `*out_storage` is one reference, owned by the
/// caller.
///
/// @retval KW_NOT_FOUND  the device type has no allocator; the text names it
/// @retval KW_NO_MEMORY  nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_storage_create(size_t bytes, kw_device device,
                                                kw_storage **out_storage, kw_error *err);

/// Describes memory of somebody else that a storage stands for.
typedef struct kw_external_memory {
    size_t struct_size;
    void *data;
    size_t bytes;
    kw_device device;
    bool read_only;                 // asking for the data to write fails
    void (*destroy)(void *context); // at the last release; NULL: nothing to do
    void *context;
    kw_library *library; // whose code `destroy` is: leased until it has returned; NULL: nobody's
} kw_external_memory;

/// Wraps memory of somebody else, of any alignment. It cannot be resized.
///
/// `context` is owned by the storage on success, by the caller on failure. KW_DEVICE_META needs no
/// address.
///
/// @retval KW_INVALID_ARGUMENT  bytes without an address, or no such device
/// @retval KW_NO_MEMORY         nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_storage_wrap(const kw_external_memory *memory,
                                              kw_storage **out_storage, kw_error *err);

/// One more reference, and one fewer; the last frees the memory in the calling thread. NULL is
/// allowed.
///
/// @threads any; wait-free but for freeing
/// @since 0.1
KW_API void kw_storage_retain(kw_storage *storage);
KW_API void kw_storage_release(kw_storage *storage);

/// References at this moment: exact only when no other thread changes them.
KW_API uint32_t kw_storage_use_count(const kw_storage *storage);

/// The bytes, borrowed. The first is for reading only; the second fails for read-only memory.
///
/// @retval KW_NOT_SUPPORTED  the memory is read-only
/// @threads any; wait-free
/// @since 0.1
KW_API const void *kw_storage_data(const kw_storage *storage);
KW_API KW_NODISCARD kw_status kw_storage_mutable_data(kw_storage *storage, void **out_data,
                                                      kw_error *err);

KW_API size_t kw_storage_bytes(const kw_storage *storage);
KW_API kw_device kw_storage_device(const kw_storage *storage);
KW_API bool kw_storage_is_read_only(const kw_storage *storage);
KW_API bool kw_storage_is_resizable(const kw_storage *storage);

/// Makes a storage larger or smaller, with its contents as far as they fit. The data pointer
/// changes, under every tensor that shares the storage: no other thread may use it meanwhile.
///
/// @retval KW_NOT_SUPPORTED  external memory
/// @retval KW_NO_MEMORY      nothing is changed
/// @threads no other thread uses the storage
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_storage_resize(kw_storage *storage, size_t bytes, kw_error *err);

KW_END_DECLS

#endif // KW_STORAGE_H
