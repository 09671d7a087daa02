// Backlog: how much memory may wait to be reclaimed, and what a commit does beyond that.
//
// Layer:     registry
// Threads:   any.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// A table that a commit replaces is freed once no call and no snapshot needs it. A call that lasts
// holds the tables that it is inside, a snapshot one table of each operator that changes while it
// is open. The limits are of the process: with them a commit that would add to a full backlog
// waits, and is then refused, so that the backlog is never larger than the limit and what one
// commit for each committing thread replaces.

#ifndef KW_BACKLOG_H
#define KW_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_backlog_limits {
    size_t struct_size;
    uint64_t table_count;    // replaced tables that are not freed; 0: no limit, the default
    uint64_t table_bytes;    // their bytes; 0: no limit, the default
    uint64_t wait_ns;        // how long a commit waits before it is refused; default 0
    uint64_t deferred_count; // tables from which commits that defer reclaiming do it; default 1024
} kw_backlog_limits;

/// Sets the limits of the process, for the commits that follow.
///
/// A commit that finds the backlog at a limit reclaims first, waits up to `wait_ns` for calls and
/// snapshots to end, and is then refused with KW_BACKLOG_FULL and a text that says what holds the
/// tables. Inside a call, snapshot or destructor it does not wait. A commit that only removes or
/// closes is never refused: taking back adds at most what was registered below the limit.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_backlog_limits_set(const kw_backlog_limits *limits, kw_error *err);

/// Fills in the limits that fit `out_limits->struct_size`, which the caller sets. How much waits is
/// in kw_statistics.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API void kw_backlog_limits_get(kw_backlog_limits *out_limits);

KW_END_DECLS

#endif // KW_BACKLOG_H
