// Traces: an observer that records calls and scopes, to be read later or written as trace events.
//
// Layer:     call
// Threads:   any, unless a function says otherwise.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// Each record has a fixed size and goes into a ring of its thread, which was allocated when the
// trace began: recording allocates nothing and waits for nobody. A record that finds its ring full
// is dropped and counted.

#ifndef KW_TRACE_H
#define KW_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_trace kw_trace; // opaque; owned by the caller of kw_trace_start()

/// What to record. The filter is that of a kw_observer.
typedef struct kw_trace_options {
    size_t struct_size;
    uint32_t ring_count; // threads with a ring of their own; more share them. 0: 16
    uint32_t ring_size;  // records of a ring, rounded up to a power of two. 0: 4096
    uint64_t scopes;     // bit n: kw_scope n. 0: all of them
    const char *const *only;
    size_t only_count;
    const char *const *except;
    size_t except_count;
    double probability; // 0: every call
    bool this_thread;
} kw_trace_options;

/// One call or scope that has ended.
typedef struct kw_trace_record {
    uint64_t start_ns; // of the clock CLOCK_MONOTONIC
    uint64_t duration_ns;
    const char *name; // of the operator, valid as long as its dispatcher; or of the scope
    kw_keyset keys;   // empty in a scope
    kw_status status;
    uint32_t thread; // as the system numbers threads
    uint32_t scope;  // a kw_scope, or a number of the host's own
    uint32_t ring;
} kw_trace_record;

/// Begins a trace: attaches an observer. `options` may be NULL.
///
/// On success `*out_trace` is owned by the caller, who ends it with kw_trace_destroy().
///
/// @retval KW_INVALID_ARGUMENT  more than 1,024 rings, or 2^24 records of one; a filter that
///                              kw_observer_add() refuses
/// @retval KW_BUSY              the dispatcher has too many observers
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_trace_start(kw_dispatcher *dispatcher,
                                             const kw_trace_options *options, kw_trace **out_trace,
                                             kw_error *err);

/// Ends the recording: calls that begin after the return are not recorded. Those that run still
/// are. Stopping twice is allowed.
///
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any, one at a time; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_trace_stop(kw_trace *trace, kw_error *err);

/// Takes what is recorded out of the rings and calls `visit` for each, ring by ring, each ring in
/// the order in which its calls ended. Returns how many. The trace may go on meanwhile.
///
/// @threads any, one at a time; wait-free but for `visit`
/// @since 0.1
KW_API uint64_t kw_trace_read(kw_trace *trace,
                              void (*visit)(const kw_trace_record *record, void *context),
                              void *context);

/// The same, as one JSON object in the trace event format that Perfetto and Chrome read: a complete
/// event ("ph": "X") for each record, times in microseconds, keys and status as arguments.
///
/// @threads any, one at a time; wait-free but for `write`
/// @since 0.1
KW_API uint64_t kw_trace_write(kw_trace *trace, kw_write_function write, void *context);

/// Returns how many records were dropped so far.
///
/// @threads any; wait-free
/// @since 0.1
KW_API uint64_t kw_trace_dropped(const kw_trace *trace);

/// Stops a trace and frees it, when the last call that it records has ended. NULL is allowed.
///
/// @retval KW_NO_MEMORY, KW_WOULD_WAIT_FOR_SELF  it could not be stopped; nothing changes
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_trace_destroy(kw_trace *take_trace, kw_error *err);

KW_END_DECLS

#endif // KW_TRACE_H
