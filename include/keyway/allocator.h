// The allocator: where the library's memory comes from, if not from malloc.
//
// Layer:     base
// Threads:   see kw_allocator.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_ALLOCATOR_H
#define KW_ALLOCATOR_H

#include <stddef.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// The embedder's functions for memory. Copied; they stay valid as long as the process.
///
/// Everything that the library allocates goes through them, except the blocks of threads, which are
/// mapped, and what liburcu-bp, libffi and the C library allocate for themselves.
///
/// Memory is aligned for every standard type, as malloc's is. Its contents do not matter. Sizes are
/// never 0; a piece is given back with the size it was last asked for. NULL means that there is
/// none; what was asked for then fails with KW_NO_MEMORY and changes nothing.
///
/// The functions are called by any thread, at the same time by several, also while the library
/// holds a lock: they must not call it, nor fork, throw, or end the thread. Calls of operators
/// never reach them.
///
/// If they take a lock for which the host has a handler of pthread_atfork(), see
/// kw_fork_configure(): that handler has to take the lock after kw_fork_prepare().
typedef struct kw_allocator {
    size_t struct_size;
    void *(*allocate)(size_t bytes, void *context);

    /// Grows or shrinks a piece, which is unchanged if NULL is returned. NULL here: a new piece is
    /// allocated and the old one copied.
    void *(*reallocate)(void *memory, size_t old_bytes, size_t new_bytes, void *context);

    void (*free)(void *memory, size_t bytes, void *context);
    void *context;
} kw_allocator;

/// Sets the allocator of the process, once, before the library allocates anything: before the first
/// dispatcher, library or transaction. Static blocks of registrations allocate nothing before
/// kw_startup().
///
/// @retval KW_BUSY              an allocator is set, or memory was taken from malloc already
/// @retval KW_INVALID_ARGUMENT  allocate or free is missing
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_allocator_set(const kw_allocator *allocator, kw_error *err);

// For extensions of the library, such as tensors: memory from the same allocator, counted in
// kw_statistics.memory_bytes.

/// Allocates zeroed memory, aligned for every standard type; NULL if there is none or `bytes` is 0.
/// Owned by the caller, who gives it to kw_memory_free() with the same size.
///
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD void *kw_memory_allocate(size_t bytes);

/// Grows or shrinks a piece of `old_bytes`. What is beyond the old size has no defined contents.
/// NULL, if there is no memory or `new_bytes` is 0: the old piece is unchanged. `memory` NULL, with
/// `old_bytes` 0, allocates.
///
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD void *kw_memory_reallocate(void *memory, size_t old_bytes, size_t new_bytes);

/// Frees a piece of the size it was last asked for. NULL is allowed.
///
/// @threads any
/// @since 0.1
KW_API void kw_memory_free(void *memory, size_t bytes);

KW_END_DECLS

#endif // KW_ALLOCATOR_H
