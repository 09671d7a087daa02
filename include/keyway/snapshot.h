// Snapshots: a scope in which a thread sees the registry as of one version.
//
// Layer:     rcu
// Threads:   a snapshot belongs to the thread that opened it.
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

/// Returns the number of the newest commit of the process. It never decreases.
///
/// @threads any; wait-free
/// @since 0.1
KW_API uint64_t kw_version(void);

KW_END_DECLS

#endif // KW_SNAPSHOT_H
