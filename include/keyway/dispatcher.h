// Dispatchers: name spaces of operators with their fallbacks, tensor type and listeners.
//
// Layer:     registry
// Threads:   any, unless a function says otherwise.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_DISPATCHER_H
#define KW_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/status.h>
#include <keyway/tensor_type.h>

KW_BEGIN_DECLS

typedef struct kw_dispatcher kw_dispatcher; // opaque
typedef struct kw_library kw_library;       // opaque; see library.h

typedef struct kw_dispatcher_options {
    size_t struct_size;
    const kw_tensor_type *tensor_type; // NULL: the first library that names one sets it
    bool bare;                         // start without the library `standard` of fallbacks
    uint32_t duplicates;               // a kw_duplicate_policy, for kernels that name none
} kw_dispatcher_options;

/// Returns the process's default dispatcher, made on first use with the standard fallbacks; NULL if
/// it could not be made, as kw_dispatcher_create() would say. The next call tries again.
///
/// It is never destroyed.
///
/// @threads any; may block
/// @since 0.1
KW_API kw_dispatcher *kw_dispatcher_default(void);

/// Creates a dispatcher. `options` may be NULL.
///
/// On success `*out_dispatcher` is owned by the caller, who ends it with kw_dispatcher_destroy().
///
/// @retval KW_ANOTHER_COPY  the process has the library twice, and the other one has a dispatcher;
///                          the text names where it is
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dispatcher_create(const kw_dispatcher_options *options,
                                                   kw_dispatcher **out_dispatcher, kw_error *err);

/// Destroys a dispatcher and every operator handle of it. NULL is allowed.
///
/// @retval KW_BUSY              a library of it is not destroyed, an observer of it not removed, a
///                              call or snapshot holds a table of it, or a thread waits for a
///                              definition; nothing changes
/// @retval KW_INVALID_ARGUMENT  it is the default dispatcher
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dispatcher_destroy(kw_dispatcher *take_dispatcher, kw_error *err);

/// Finds an operator by name, "namespace::name" or "namespace::name.overload".
///
/// An operator is visible while it has a definition or a kernel. The handle stays valid as long as
/// the dispatcher; calls through it answer KW_OPERATOR_REMOVED once the operator is gone.
///
/// @retval KW_NOT_FOUND       nothing is registered under the name
/// @retval KW_MALFORMED_NAME  it is no operator name
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_find(kw_dispatcher *dispatcher, const char *name,
                                               const kw_operator **out_op, kw_error *err);

/// Finds an operator for typed calls: its definition must have the C signature `signature`.
///
/// The signature of a handle never changes, so a typed wrapper asks once.
///
/// @retval KW_NOT_FOUND           nothing is registered under the name
/// @retval KW_OPERATOR_UNDEFINED  there are kernels, but no definition
/// @retval KW_SIGNATURE_MISMATCH  the definition has another C signature; the text names both
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_find_typed(kw_dispatcher *dispatcher, const char *name,
                                                     const char *signature,
                                                     const kw_operator **out_op, kw_error *err);

/// Finds an operator that has a definition.
///
/// @retval KW_NOT_FOUND           nothing is registered under the name
/// @retval KW_OPERATOR_UNDEFINED  there are kernels, but no definition
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_find_schema(kw_dispatcher *dispatcher, const char *name,
                                                      const kw_operator **out_op, kw_error *err);

/// Waits without a limit, where a wait or a drain takes a time.
#define KW_FOREVER UINT64_MAX

/// Waits until an operator has a definition, for code that is loaded before the library that
/// defines what it uses.
///
/// It sleeps until a commit defines something. Look-ups under a snapshot answer as of its version;
/// this one, alone, as of the newest: until the snapshot is closed, calls through the handle find
/// the operator as it was.
///
/// @retval KW_NOT_FOUND            nothing is registered under the name after `timeout_ns`
///                                 nanoseconds; 0 only looks
/// @retval KW_OPERATOR_UNDEFINED   there are kernels by then, but no definition
/// @retval KW_MALFORMED_NAME       it is no operator name; at once
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp; or for ever inside a
///                                 call, snapshot or destructor, which whoever defines may wait for
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_wait(kw_dispatcher *dispatcher, const char *name,
                                               uint64_t timeout_ns, const kw_operator **out_op,
                                               kw_error *err);

/// Returns the tags of the operator's definition (kw_tag_bit); 0 if it has none.
///
/// @threads any; wait-free
/// @since 0.1
KW_API uint64_t kw_operator_tags(const kw_operator *op);

/// Returns the tensor type of the operator's dispatcher; NULL while it has none. Borrowed; valid as
/// long as the dispatcher.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const kw_tensor_type *kw_operator_tensor_type(const kw_operator *op);

/// Returns the operator's full name; valid as long as its dispatcher.
KW_API const char *kw_operator_name(const kw_operator *op);

/// Copies the schema text, as far as `size` allows, and returns the length of the whole; 0 if the
/// operator has no definition.
///
/// @threads any; wait-free
/// @since 0.1
KW_API size_t kw_operator_schema(const kw_operator *op, char *buffer, size_t size);

/// Returns whether a kernel is registered under exactly this key; aliases are keys too.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API bool kw_operator_has_kernel(const kw_operator *op, kw_key key);

/// Returns whether the slot of a runtime key resolves to a kernel, by whatever rule.
///
/// False for aliases, which have no slot. Answers as of the thread's snapshot.
///
/// @threads any; wait-free
/// @since 0.1
KW_API bool kw_operator_has_computed_kernel(const kw_operator *op, kw_key key);

/// Calls `visit` for every visible operator, in no particular order, outside every lock.
///
/// @retval KW_NO_MEMORY  nothing was visited
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dispatcher_visit(
    kw_dispatcher *dispatcher, void (*visit)(const kw_operator *op, void *context), void *context);

/// The same for the operators that have kernels but no definition.
KW_API KW_NODISCARD kw_status kw_dispatcher_visit_dangling(
    kw_dispatcher *dispatcher, void (*visit)(const kw_operator *op, void *context), void *context);

/// The same for the operators with a kernel registered under exactly this key; with Undefined, for
/// those that have any kernel.
KW_API KW_NODISCARD kw_status kw_dispatcher_visit_key(kw_dispatcher *dispatcher, kw_key key,
                                                      void (*visit)(const kw_operator *op,
                                                                    void *context),
                                                      void *context);

/// Receives a dump piece by piece. `text` is not terminated; it is valid for the call.
typedef void (*kw_write_function)(const char *text, size_t length, void *context);

/// Writes the operator's registrations: name, schema, and each kernel, newest first, with its key,
/// kind, library, source place and priority if it is not 0. Kernels that another one covers are
/// marked "(inactive)".
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_dump(const kw_operator *op, kw_write_function write,
                                               void *context);

/// Writes the operator's computed table: for each runtime key with a kernel, one line with the
/// kernel, its place and the rule that put it there. Answers as of the thread's snapshot.
///
/// @threads any; wait-free but for `write`
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_dump_table(const kw_operator *op, kw_write_function write,
                                                     void *context);

// Listeners
// ----------------------------------------------------------------------------------------

typedef enum kw_event_kind {
    KW_EVENT_DEFINED = 1,   // an operator got its definition
    KW_EVENT_UNDEFINED = 2, // an operator lost its definition
    KW_EVENT_KERNEL = 3,    // the active kernel of an operator's key is another one, or none
    KW_EVENT_FALLBACK = 4,  // the active fallback of a key is another one, or none
    KW_EVENT_REPLACED = 10, // a kernel, active or covered, was removed because another replaced it

    // Lint, for listeners that ask for it: what is allowed and often not meant.
    KW_EVENT_HIDDEN_COMPOSITE = 5, // a kernel for a key took its slot from a composite kernel
    KW_EVENT_AMBIGUOUS = 6,        // AutogradOther of an operator became ambiguous

    // Of the process, told to the listeners of every dispatcher.
    KW_EVENT_FORCED_CLEANUP = 7, // a thread ended inside a call or under a snapshot
    KW_EVENT_BACKLOG = 8,        // replaced tables wait in greater number than they should
    KW_EVENT_PLUGIN_RETAINED = 9 // a plugin that was unloaded stays mapped
} kw_event_kind;

/// One change, told after it has become visible. Borrowed for the call.
///
/// `previous` and `current` are provenance sentences, "name in library at file:line"; NULL: none.
/// An override is a KERNEL event with both. HIDDEN_COMPOSITE has the composite kernel first and the
/// one that hides it second; AMBIGUOUS the composite kernel and that of the backend. In events of
/// the process `current` is a sentence that says it all.
typedef struct kw_event {
    size_t struct_size;
    uint32_t kind; // a kw_event_kind
    kw_key key;    // KERNEL, FALLBACK, REPLACED, HIDDEN_COMPOSITE, AMBIGUOUS
    uint64_t version;
    const char *op; // the operator's name; NULL for FALLBACK, and where there is none
    const char *previous;
    const char *current;
    uint64_t previous_registration; // the numbers of both; 0: none
    uint64_t current_registration;
    int32_t previous_priority; // of kernels; 0 where there is none
    int32_t current_priority;
} kw_event;

typedef struct kw_listener {
    size_t struct_size;
    void (*event)(const kw_event *event, void *context);
    void *context;
    void (*destroy)(void *context); // NULL: nothing to destroy
    bool wants_lint;                // it costs each commit a look at the tables it makes
    kw_library *library; // whose code it is, held until `destroy` has returned; NULL: nobody's
} kw_listener;

/// Adds a listener. It is told at once of every operator that is defined, and then, in the
/// committing thread and outside every lock, of each change. It may register and remove.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dispatcher_listen(kw_dispatcher *dispatcher,
                                                   const kw_listener *listener, uint64_t *out_id,
                                                   kw_error *err);

/// Removes a listener. A change that is being told in another thread may still reach it; `destroy`
/// runs when the last one has returned.
///
/// @retval KW_NOT_FOUND  no listener has this number
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dispatcher_unlisten(kw_dispatcher *dispatcher, uint64_t id);

// Memory
// -------------------------------------------------------------------------------------------

/// Figures of the whole process, for tests and metrics.
typedef struct kw_statistics {
    size_t struct_size;
    uint64_t version;
    uint64_t memory_bytes;   // allocated by the library and not freed
    uint64_t interned_bytes; // of it, in names without a registration
    uint64_t operator_count; // visible ones, over all dispatchers
    uint64_t kernel_count;   // alive: registered, or named by a table that is not freed
    uint64_t retired_count;  // replaced tables that are not freed
    uint64_t retired_bytes;
    uint64_t thread_blocks;   // mapped, each 2 KiB
    uint64_t forced_cleanups; // threads that ended inside a call or under a snapshot

    // Snapshots. A thread counts once, however many it has open inside one another.
    uint64_t snapshot_count;        // threads under a snapshot
    uint64_t shared_snapshot_count; // shared ones that are not released, entered or not
    uint64_t held_version_count;    // different versions that these are of
    uint64_t held_table_count;      // replaced tables that are kept for these versions
    uint64_t held_table_bytes;
    uint64_t oldest_snapshot_ns; // since the oldest of them was opened, give or take 10 ms; or 0
    uint64_t oldest_version; // the oldest version that one is of; the newest one if there is none

    // Replaced tables whose grace period nobody has waited for yet, as after deferring commits.
    uint64_t deferred_count;
    uint64_t deferred_bytes;
    uint64_t lease_count;   // objects, listeners and other leases that hold a library
    uint64_t backlog_waits; // commits that waited for the backlog to shrink (backlog.h)
    uint64_t backlog_refusals;
} kw_statistics;

/// Fills in the figures that fit `out_statistics->struct_size`, which the caller sets.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API void kw_statistics_get(kw_statistics *out_statistics);

/// Frees every replaced table that nobody uses any more, waiting for grace periods as needed.
///
/// Commits do this by themselves; it is for commits that defer it, and for the moment after a
/// snapshot or a long call has ended.
///
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_reclaim(void);

KW_END_DECLS

#endif // KW_DISPATCHER_H
