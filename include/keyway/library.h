// Libraries: the owners of registrations, and how they are taken back.
//
// Layer:     library
// Threads:   every function may be called from any thread; each registering call is one
//            transaction.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_LIBRARY_H
#define KW_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/status.h>
#include <keyway/transaction.h>

KW_BEGIN_DECLS

// What a library may register. The strict kinds are PyTorch's library blocks.
typedef enum kw_library_kind {
    KW_LIBRARY_KIND_FREE = 0,     // everything, and fallbacks; in its namespace if it has one
    KW_LIBRARY_KIND_DEF = 1,      // definitions and kernels; the only one of its namespace
    KW_LIBRARY_KIND_FRAGMENT = 2, // definitions and kernels, beside others
    KW_LIBRARY_KIND_IMPL = 3      // kernels; with the namespace "_" fallbacks instead
} kw_library_kind;

typedef struct kw_library_options {
    size_t struct_size;
    kw_dispatcher *dispatcher;         // NULL: the process's default
    const char *name;                  // for texts; NULL: the namespace, or "library". Copied
    const char *ns;                    // NULL: every name carries its namespace. Copied
    const kw_tensor_type *tensor_type; // what its kernels were compiled for; NULL: any
    uint32_t kind;                     // a kw_library_kind
    kw_key key;       // IMPL: the key of its kernels and fallbacks; Undefined: each names its own
    const char *file; // of the creation, for texts; NULL allowed. Copied
    uint32_t line;
    const char *ns_as; // the namespace that `ns` stands for, see kw_library_find(). Copied
} kw_library_options;

/// Creates an empty library. `options` may be NULL.
///
/// On success `*out_library` is owned by the caller, who closes, drains and destroys it.
///
/// @retval KW_TENSOR_TYPE_MISMATCH  the dispatcher has another tensor type; the text names both
/// @retval KW_MALFORMED_NAME        `ns` is no identifier
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_create(const kw_library_options *options,
                                                kw_library **out_library, kw_error *err);

/// Destroys a library that has been closed and drained. Never waits. NULL is allowed.
///
/// @retval KW_BUSY  it is open, or a call, snapshot or lease still holds something of it
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_destroy(kw_library *take_library, kw_error *err);

/// Ends a library that has nothing registered, open or closed, without a transaction: what a
/// failure half-way through making one needs. Never waits, needs no memory. NULL is allowed.
///
/// @retval KW_BUSY  it has registrations, or a lease holds something of it; nothing is changed but
///                  that it is closed if it has none
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_discard(kw_library *take_library, kw_error *err);

/// Each of these is one transaction with one change: see transaction.h for what they do.
KW_API KW_NODISCARD kw_status kw_library_define(kw_library *library,
                                                const kw_definition *definition,
                                                kw_registration *out_registration, kw_error *err);
KW_API KW_NODISCARD kw_status kw_library_impl(kw_library *library, const char *name, kw_key key,
                                              const kw_kernel_descriptor *kernel,
                                              kw_registration *out_registration, kw_error *err);
KW_API KW_NODISCARD kw_status kw_library_fallback(kw_library *library, kw_key key,
                                                  const kw_kernel_descriptor *kernel,
                                                  kw_registration *out_registration, kw_error *err);
KW_API KW_NODISCARD kw_status kw_library_remove(kw_library *library, kw_registration registration,
                                                kw_error *err);

/// Takes back everything the library registered, in one commit, and lets it register no more.
///
/// Returns at once; calls that are running go on. Closing twice is allowed.
///
/// @threads any, also inside a kernel of the library; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_close(kw_library *library, kw_error *err);

/// Waits until nothing of a closed library is in use: no call runs or can reach a kernel of it,
/// every destructor of its user data has returned, and every lease on it has ended: see lease.h.
/// Then its code may be unmapped.
///
/// Who has a lease, for instance by a reference to an object of the library, must not wait here for
/// ever.
///
/// @retval KW_BUSY                 something is still in use after `timeout_ns` nanoseconds; the
///                                 text names what holds it, its thread, and for how long. 0 only
///                                 looks
/// @retval KW_INVALID_ARGUMENT     the library is open
/// @retval KW_WOULD_WAIT_FOR_SELF  the calling thread itself holds it, by a call it is inside or a
///                                 snapshot it has open; or it is inside any call or snapshot and
///                                 asks to wait for ever, which two threads could do for each
///                                 other. A reference to a shared snapshot is nobody's: it is
///                                 waited for
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_drain(kw_library *library, uint64_t timeout_ns,
                                               kw_error *err);

// The longest full name of an operator, with its terminating zero.
#define KW_OPERATOR_NAME_BYTES 256

/// Finds an operator by the name that the library's own code writes for it: a name without a
/// namespace has the library's, one with another namespace means just that.
///
/// A library with `ns_as` is *mapped*: where its texts write the namespace `ns`, in definitions,
/// kernels and these look-ups, they mean `ns_as`. So two versions of one plugin can be loaded side
/// by side, each in a namespace of its own. Dumps, errors and everybody else name the mapped one.
///
/// Fails as kw_operator_find() and kw_operator_find_typed() do.
///
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_find(const kw_library *library, const char *name,
                                              const kw_operator **out_op, kw_error *err);
KW_API KW_NODISCARD kw_status kw_library_find_typed(const kw_library *library, const char *name,
                                                    const char *signature,
                                                    const kw_operator **out_op, kw_error *err);

/// Writes the full name under which kw_library_find() looks, for other look-ups by name. `size` is
/// best KW_OPERATOR_NAME_BYTES.
///
/// @retval KW_INVALID_ARGUMENT  it does not fit
/// @retval KW_MALFORMED_NAME    it is no operator name, or has no namespace and the library none
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_full_name(const kw_library *library, const char *name,
                                                   char *out_name, size_t size, kw_error *err);

// What can hold a library.
typedef enum kw_holder_kind {
    KW_HOLDER_CALL = 1,     // a call that is inside a table which names something of it
    KW_HOLDER_SNAPSHOT = 2, // a thread's snapshot that such a table, replaced since, is kept for
    KW_HOLDER_SHARED_SNAPSHOT =
        3,               // the same of a shared snapshot, whether or not a thread is inside
    KW_HOLDER_OBJECT = 4 // reserved: something the library has made and that is not freed
} kw_holder_kind;

/// An age that nothing is known of.
#define KW_AGE_UNKNOWN UINT64_MAX

/// One holder and one operator. Borrowed for the call, but for `op`, which is valid as long as the
/// dispatcher.
///
/// A snapshot's age counts from its opening, or from the sharing, by a clock that ticks every 1 to
/// 10 ms. A call notes no time when it begins: its age is the time since it was first found to keep
/// a replaced table by itself, so it is at least as old. Of calls inside a table that is the
/// newest, that was replaced a moment ago, or that is kept for a snapshot as well, no age is known.
typedef struct kw_holder {
    size_t struct_size;
    uint32_t kind;      // a kw_holder_kind
    uint32_t thread_id; // of the thread, as in gettid(); 0: it belongs to none
    const char *op;     // the operator whose table is held
    uint64_t version;   // CALL: the one that brought the table; snapshots: theirs
    uint64_t age_ns;    // or KW_AGE_UNKNOWN
} kw_holder;

/// Calls `visit` for everything that holds the library at this moment, open or closed, outside
/// every lock. A call is told once for each level on which it is inside; a snapshot once for each
/// operator.
///
/// @retval KW_NO_MEMORY  nothing was visited
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_library_holders(const kw_library *library,
                                                 void (*visit)(const kw_holder *holder,
                                                               void *context),
                                                 void *context);

/// Returns the library's name; valid as long as the library.
KW_API const char *kw_library_name(const kw_library *library);

/// Returns the dispatcher that the library registers in.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_dispatcher *kw_library_dispatcher(const kw_library *library);

KW_END_DECLS

#endif // KW_LIBRARY_H
