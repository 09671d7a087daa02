// Snapshots: a scope in which a thread sees the registry as of one version.
//
// Layer:     rcu
// Threads:   a snapshot belongs to the thread that opened it; a shared one to whoever counts.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_SNAPSHOT_H
#define KW_SNAPSHOT_H

#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// Storage of an open snapshot, provided by the caller. Only `version` is for reading.
typedef struct kw_snapshot {
    uint64_t version; // the version that calls, look-ups and dumps answer with
    uint64_t outer;   // what was pinned before
    void *thread;
    uint32_t depth;
    uint32_t was_limited; // calls kept to what was pinned before
} kw_snapshot;

/// Opens a snapshot of the newest version on the calling thread.
///
/// Until it is closed, every call, look-up by name and computed table of this thread answers as of
/// that version, and everything that version needs stays in memory. What is said of registrations
/// themselves, as by kw_operator_dump(), is always the newest. A snapshot inside another keeps the
/// outer one's version. The thread's own commits show after the outermost snapshot is closed.
///
/// @retval KW_NO_MEMORY  the thread could not be attached; nothing is open
/// @threads owner thread only; wait-free once the thread is attached
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_snapshot_open(kw_snapshot *out_snapshot);

/// Closes the snapshot that this thread opened last.
///
/// @retval KW_WRONG_ORDER  another snapshot was opened after it, it is closed already, or another
///                         thread opened it; nothing changes
/// @threads owner thread only; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_snapshot_close(kw_snapshot *snapshot);

// Shared snapshots
// ---------------------------------------------------------------------------------

/// A snapshot that threads of one request use together. Opaque and counted: it keeps its version as
/// long as somebody has a reference, whether or not a thread is inside.
typedef struct kw_shared_snapshot kw_shared_snapshot;

/// Makes a shared snapshot of the version of `open`, which is any of the snapshots that the calling
/// thread has open; it stays open, and may be closed at any time.
///
/// On success `*out_shared` is one reference, owned by the caller, who ends it with
/// kw_shared_snapshot_release().
///
/// @retval KW_WRONG_ORDER  `open` is closed, or another thread opened it
/// @retval KW_NO_MEMORY    nothing is shared
/// @threads owner thread of `open`; blocks for as long as a pass reads what is pinned
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_snapshot_share(const kw_snapshot *open,
                                                kw_shared_snapshot **out_shared, kw_error *err);

/// Makes a shared snapshot of the newest version, or, under a snapshot, of that one's; the thread
/// is not inside it.
///
/// Ownership and failure are as with kw_snapshot_share().
///
/// @threads any; blocks for as long as a pass reads what is pinned
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_shared_snapshot_create(kw_shared_snapshot **out_shared,
                                                        kw_error *err);

/// Adds a reference, for another thread or task, and returns `shared`. NULL is allowed.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_shared_snapshot *kw_shared_snapshot_retain(kw_shared_snapshot *shared);

/// Ends a reference. Threads that are inside stay in their version: they need none. NULL is
/// allowed.
///
/// @threads any; wait-free, but for the last one, which blocks for as long as a pass reads what is
///          pinned
/// @since 0.1
KW_API void kw_shared_snapshot_release(kw_shared_snapshot *shared);

/// Returns the version of a shared snapshot; 0 for NULL.
///
/// @threads any; wait-free
/// @since 0.1
KW_API uint64_t kw_shared_snapshot_version(const kw_shared_snapshot *shared);

/// Opens a snapshot of the shared one's version on the calling thread. The caller has a reference,
/// which may be released as soon as this has returned.
///
/// The snapshot is like any other: kw_snapshot_close() ends it, in order, on this thread; the end
/// of the thread ends it too.
///
/// @retval KW_OTHER_VERSION  the thread is under a snapshot of another version, which it keeps
/// @retval KW_NO_MEMORY      the thread could not be attached; nothing is open
/// @threads any; wait-free once the thread is attached
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_shared_snapshot_enter(kw_shared_snapshot *shared,
                                                       kw_snapshot *out_snapshot);

/// Returns the number of the newest commit of the process. It never decreases.
///
/// @threads any; wait-free
/// @since 0.1
KW_API uint64_t kw_version(void);

KW_END_DECLS

#endif // KW_SNAPSHOT_H
