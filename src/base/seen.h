// Interleavings of interest: how a test proves that what it is about has happened.
//
// Layer:   base
// Threads: any, signal handlers included; nothing here orders anything.
// SPDX-License-Identifier: MIT
//
// KWI_SEEN counts at the place where an interleaving shows. In the shipped library nothing of it is
// left; conditions are not evaluated.

#ifndef KWI_BASE_SEEN_H
#define KWI_BASE_SEEN_H

#define KWI_SEEN_LIST(X)                                                                           \
    X(TABLE_BEFORE_VERSION, "readers at a table before its version")                               \
    X(LATE_ANNOUNCEMENT, "announcements of tables that were replaced meanwhile")                   \
    X(OLDER_TABLE, "readers past newer tables to their pin's")                                     \
    X(CALL_BETWEEN_STORES, "handlers' calls between depth and slot")                               \
    X(COMMIT_IN_CALL, "calls their operator's commit came into")                                   \
    X(DEEP_CALL, "calls deeper than a thread's block holds")                                       \
    X(COMMIT_IN_GRACE_PERIOD, "commits in another's grace period")                                 \
    X(UNRIPE_TABLE, "unripe tables that a pass left alone")                                        \
    X(ANNOUNCED_TABLE, "tables that a pass kept for calls")                                        \
    X(PINNED_TABLE, "tables that a pass kept for snapshots")                                       \
    X(MIDDLE_TABLE, "tables unlinked under an older pin")                                          \
    X(BUCKETS_FULL, "tables kept when all buckets were taken")                                     \
    X(CALL_ENDED_IN_SCAN, "calls that ended during a scan")                                        \
    X(SNAPSHOT_IN_SCAN, "snapshots opened during a scan")                                          \
    X(CLOSE_IN_SCAN, "snapshots closed during a scan")                                             \
    X(ATTACH_IN_SCAN, "threads attached during a scan")                                            \
    X(LATE_KERNEL, "passes that ended removed kernels")                                            \
    X(DRAIN_HELD, "looks of drains that found a holder")

typedef enum kwi_seen {
#define KWI_SEEN_ENUMERATOR(name, text) KWI_SEEN_##name,
    KWI_SEEN_LIST(KWI_SEEN_ENUMERATOR)
#undef KWI_SEEN_ENUMERATOR
    KWI_SEEN_LIMIT
} kwi_seen;

#ifdef KWI_TESTING

#include <stdbool.h>
#include <stdint.h>

void kwi_seen_add(kwi_seen what);
uint64_t kwi_seen_count(kwi_seen what);

// Whether a pass reads the threads' words.
void kwi_seen_scan_set(bool is_ongoing);
bool kwi_seen_scan_is_ongoing(void);

// Around the two stores of an announcement. The begin answers whether the thread, which a handler
// has interrupted then, is between them already.
bool kwi_seen_announce_begin(void);
void kwi_seen_announce_end(void);

#define KWI_SEEN(name) kwi_seen_add(KWI_SEEN_##name)
#define KWI_SEEN_WHEN(condition, name) ((condition) ? kwi_seen_add(KWI_SEEN_##name) : (void)0)
#define KWI_SEEN_SCAN(is_ongoing) kwi_seen_scan_set(is_ongoing)
#define KWI_SEEN_IN_SCAN(name) KWI_SEEN_WHEN(kwi_seen_scan_is_ongoing(), name)
#define KWI_SEEN_ANNOUNCE_BEGIN() KWI_SEEN_WHEN(kwi_seen_announce_begin(), CALL_BETWEEN_STORES)
#define KWI_SEEN_ANNOUNCE_END() kwi_seen_announce_end()

#else

#define KWI_SEEN(name) ((void)0)
#define KWI_SEEN_WHEN(condition, name) ((void)sizeof((condition) ? 1 : 0))
#define KWI_SEEN_SCAN(is_ongoing) ((void)0)
#define KWI_SEEN_IN_SCAN(name) ((void)0)
#define KWI_SEEN_ANNOUNCE_BEGIN() ((void)0)
#define KWI_SEEN_ANNOUNCE_END() ((void)0)

#endif

#endif // KWI_BASE_SEEN_H
