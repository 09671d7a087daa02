// Local sets: the calling thread's include and exclude sets, their guards, capture and restore.
//
// Layer:     call
// Threads:   owner thread only; every function is wait-free once the thread is attached.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// A thread starts with BackendSelect and ADInplaceOrView included and every autocast key excluded.
// The keys of a call are ((arguments | included) - excluded) & mask; excluding a backend's key
// never takes the backend's bit away.

#ifndef KW_LOCAL_H
#define KW_LOCAL_H

#include <stdbool.h>

#include <keyway/export.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// Both sets of a thread. A value: capture it on one thread, set it on another.
typedef struct kw_local_state {
    kw_keyset included;
    kw_keyset excluded;
} kw_local_state;

/// Storage of a guard, provided by the caller.
typedef struct kw_local_guard {
    kw_local_state saved;
} kw_local_guard;

/// Returns the state of the calling thread; the defaults if it never attached.
KW_API kw_local_state kw_local_capture(void);

/// Returns the state that every thread starts with.
KW_API kw_local_state kw_local_default(void);

/// Sets both sets exactly, until the guard is restored.
///
/// @retval KW_NO_MEMORY  the thread could not be attached; nothing is changed
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_local_force(kw_local_state state, kw_local_guard *out_guard);

/// Add keys to the include or exclude set until the guard is restored.
///
/// @retval KW_NO_MEMORY  the thread could not be attached; nothing is changed
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_local_include(kw_keyset keys, kw_local_guard *out_guard);
KW_API KW_NODISCARD kw_status kw_local_exclude(kw_keyset keys, kw_local_guard *out_guard);

/// The guards of handlers and modes, each until it is restored. Below autograd every autograd key
/// is excluded; below views ADInplaceOrView too. Inference mode excludes autograd and takes
/// ADInplaceOrView out of the include set; switched off inside it, it does the reverse.
///
/// @retval KW_NO_MEMORY  the thread could not be attached; nothing is changed
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_local_below_autograd(kw_local_guard *out_guard);
KW_API KW_NODISCARD kw_status kw_local_below_view(kw_local_guard *out_guard);
KW_API KW_NODISCARD kw_status kw_local_inference_mode(bool enabled, kw_local_guard *out_guard);

/// Returns whether all of a key is in the thread's include or exclude set.
///
/// @since 0.1
KW_API bool kw_local_is_included(kw_key key);
KW_API bool kw_local_is_excluded(kw_key key);

/// Puts both words back as they were when the guard was made, backend bits included. On the same
/// thread, in the reverse order of the guards.
///
/// @since 0.1
KW_API void kw_local_restore(const kw_local_guard *guard);

KW_END_DECLS

#endif // KW_LOCAL_H
