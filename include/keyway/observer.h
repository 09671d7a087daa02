// Observers: callbacks around calls, and around scopes that the host opens itself.
//
// Layer:     registry
// Threads:   any, unless a function says otherwise.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// Attaching an observer is a commit that swaps the tables of the operators it watches. An operator
// that nobody watches has an ordinary table, so its calls cost what they cost without observers.

#ifndef KW_OBSERVER_H
#define KW_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/keyset.h>
#include <keyway/status.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

// Observers of one dispatcher at a time.
#define KW_OBSERVERS_MAX 32

/// What is observed. The host's own kinds of scope are the numbers from KW_SCOPE_FIRST_OWN to 63.
typedef enum kw_scope {
    KW_SCOPE_CALL = 0, // a call of an operator
    KW_SCOPE_USER = 1, // opened with kw_observe_begin(): a request, a step, a model
    KW_SCOPE_FIRST_OWN = 32,
    KW_SCOPE_LIMIT = 64
} kw_scope;

/// One call or scope, as callbacks see it. Borrowed for the callback.
typedef struct kw_observation {
    size_t struct_size;
    uint32_t scope;          // a kw_scope, or a number of the host's own
    kw_status status;        // what the call returned; KW_OK at the start
    const char *name;        // of the operator, valid as long as its dispatcher; or of the scope
    const kw_operator *op;   // NULL in a scope
    kw_keyset keys;          // what the kernel gets
    const kw_value *args;    // NULL unless inputs are wanted
    const kw_value *returns; // at the end of a call that succeeded; NULL unless outputs are wanted
    uint32_t arg_count;
    uint32_t return_count;
} kw_observation;

/// Describes an observer. Everything is copied but the code and `context`.
///
/// Names in `only` and `except` are those of operators: "ns::name", with every overload;
/// "ns::name.overload"; or a prefix with a '*' at its end. They say nothing of scopes.
typedef struct kw_observer {
    size_t struct_size;

    /// Called before the kernel; what it returns is handed to `end`. NULL: nothing, and `end` gets
    /// NULL.
    void *(*start)(const kw_observation *observation, void *context);
    /// Called after the kernel, whether it succeeded or not, once for each start. NULL: nothing.
    void (*end)(const kw_observation *observation, void *word, void *context);
    void *context;
    /// Called when no call or scope can reach the observer any more, outside every lock. NULL:
    /// nothing to destroy.
    void (*destroy)(void *context);

    uint64_t scopes; // bit n: kw_scope n. 0: all of them
    const char *const *only;
    size_t only_count; // 0: every operator but those of kw_observer_is_quiet()
    const char *const *except;
    size_t except_count;
    double probability; // of a call to be observed, from 1e-8 to 1; 0: every call
    bool wants_inputs;
    bool wants_outputs;
    bool this_thread; // calls and scopes of the calling thread only
    bool disabled;    // to be enabled later
} kw_observer;

/// Adds an observer. Calls that begin after the return are observed.
///
/// On success the library owns `context`. Callbacks run in the calling thread, inside the call:
/// they may do what a kernel may, and must return. Calls they make are not observed. What they
/// leave in the thread's text is undone. Numbers are never used again in the process.
///
/// @retval KW_INVALID_ARGUMENT  a scope, name or probability is none; the text says which
/// @retval KW_BUSY              the dispatcher has KW_OBSERVERS_MAX of them
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any, also inside a kernel or callback; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_observer_add(kw_dispatcher *dispatcher,
                                              const kw_observer *observer, uint64_t *out_number,
                                              kw_error *err);

/// Removes an observer. Calls that begin after the return are not observed; one that runs, or runs
/// under an older snapshot, still gets its end. `destroy` says when the last one has, from then on
/// nothing of the observer is called: as the destructor of a kernel it runs in whatever thread
/// commits or calls kw_reclaim() then.
///
/// @retval KW_NOT_FOUND  the dispatcher has no observer with this number
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any, also inside a kernel or callback; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_observer_remove(kw_dispatcher *dispatcher, uint64_t number,
                                                 kw_error *err);

/// Enables or disables an observer. While it is disabled calls are as if it were not there.
///
/// @retval KW_NOT_FOUND  the dispatcher has no observer with this number
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any, also inside a kernel or callback; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_observer_enable(kw_dispatcher *dispatcher, uint64_t number,
                                                 bool enabled, kw_error *err);

/// Returns whether operators of this name are observed only where an observer's `only` has it
/// letter by letter: PyTorch's accessors, such as "aten::size", called more often than anything.
///
/// @threads any
/// @since 0.1
KW_API bool kw_observer_is_quiet(const char *name);

/// A scope that is open, in the caller's memory; set by kw_observe_begin().
typedef struct kw_observed_scope {
    const char *name;
    uint32_t scope;
    uint32_t count;
    void *observers[KW_OBSERVERS_MAX];
    void *words[KW_OBSERVERS_MAX];
} kw_observed_scope;

/// Opens a scope: runs the start of every observer of the dispatcher that wants this kind.
///
/// `name` is not copied and outlives the scope; a trace keeps it until it is read. Scopes nest with
/// each other and with calls in any way. Ends with kw_observe_end(), which must be called if and
/// only if this succeeded.
///
/// @retval KW_INVALID_ARGUMENT  `scope` is KW_SCOPE_CALL or too large
/// @retval KW_NO_MEMORY, KW_NESTED_TOO_DEEP  the thread could not be attached
/// @threads any; wait-free but for the callbacks
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_observe_begin(kw_dispatcher *dispatcher, uint32_t scope,
                                               const char *name, kw_observed_scope *out_scope);

/// Closes a scope: runs the end of each observer whose start ran, also if it was removed since.
///
/// @threads the thread that opened it
/// @since 0.1
KW_API void kw_observe_end(kw_observed_scope *scope, kw_status status);

KW_END_DECLS

#endif // KW_OBSERVER_H
