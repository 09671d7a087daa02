// Faults of the model: orders that are relaxed and rules that are broken, one at a time.
//
// Layer:   test
// Threads: set before a search begins.
// SPDX-License-Identifier: MIT
//
// X(name, text, scenario that finds it). `relaxed-…` makes one access relaxed, the others break a
// rule as the faults of src/base/yield.h do, whose names they have. NOBODY: no scenario finds it,
// and docs/concurrency.md says why.

#ifndef TESTS_MODELS_RELACY_FAULTS_HPP
#define TESTS_MODELS_RELACY_FAULTS_HPP

#include "cell.hpp"

#define NOBODY ""

#define FAULT_LIST(X)                                                                              \
    X(NONE, "none", NOBODY)                                                                        \
    X(RELAXED_VERSION_STORE, "relaxed-version-store", "instant")                                   \
    X(RELAXED_VERSION_LOAD, "relaxed-version-load", "instant")                                     \
    X(RELAXED_SNAPSHOT_VERSION, "relaxed-snapshot-version", NOBODY)                                \
    X(RELAXED_PUBLICATION, "relaxed-publication", "call")                                          \
    X(RELAXED_ROOT_LOAD, "relaxed-root-load", "call")                                              \
    X(RELAXED_UNLINK, "relaxed-unlink", NOBODY)                                                    \
    X(RELAXED_OLDER_LOAD, "relaxed-older-load", NOBODY)                                            \
    X(RELAXED_RAISE, "relaxed-raise", "nested")                                                    \
    X(RELAXED_SLOT_STORE, "relaxed-slot-store", "slot")                                            \
    X(RELAXED_POP, "relaxed-pop", "call")                                                          \
    X(RELAXED_SCAN, "relaxed-scan", "call")                                                        \
    X(RELAXED_DEPTH_LOAD, "relaxed-depth-load", "call")                                            \
    X(RELAXED_SLOT_LOAD, "relaxed-slot-load", "slot")                                              \
    X(RELAXED_PIN, "relaxed-pin", "reopen")                                                        \
    X(RELAXED_UNPIN, "relaxed-unpin", "snapshot")                                                  \
    X(RELAXED_PIN_LOAD, "relaxed-pin-load", "snapshot")                                            \
    X(RELAXED_SHARED_RELEASE, "relaxed-shared-release", "shared")                                  \
    X(RELAXED_SHARED_LAST, "relaxed-shared-last", "shared")                                        \
    X(RELAXED_DEEP_LINK, "relaxed-deep-link", NOBODY)                                              \
    X(RELAXED_DEEP_LOAD, "relaxed-deep-load", NOBODY)                                              \
    X(RELAXED_CHUNK_LINK, "relaxed-chunk-link", "attach")                                          \
    X(RELAXED_CHUNK_LOAD, "relaxed-chunk-load", "attach")                                          \
    X(RELAXED_CHUNK_LOST, "relaxed-chunk-lost", NOBODY)                                            \
    X(RELAXED_BLOCK_GIVE, "relaxed-block-give", "reuse")                                           \
    X(RELAXED_BLOCK_TAKE, "relaxed-block-take", "reuse")                                           \
    X(RELAXED_END_POP, "relaxed-end-pop", "thread-end")                                            \
    X(RELAXED_END_UNPIN, "relaxed-end-unpin", "thread-end-pinned")                                 \
    X(RELAXED_REPORT_STORE, "relaxed-report-store", "report")                                      \
    X(RELAXED_REPORT_LOAD, "relaxed-report-load", "report")                                        \
    X(RELAXED_REPORT_FREE, "relaxed-report-free", "report")                                        \
    X(RELAXED_REPORT_TAKE, "relaxed-report-take", "report")                                        \
    X(RELAXED_ONCE_STORE, "relaxed-once-store", "once")                                            \
    X(RELAXED_ONCE_LOAD, "relaxed-once-load", "once")                                              \
    X(RELAXED_CHOICE, "relaxed-choice", "allocator")                                               \
    X(RELAXED_CHOICE_LOAD, "relaxed-choice-load", "allocator")                                     \
    X(RELAXED_CHOICE_LOST, "relaxed-choice-lost", "allocator")                                     \
    X(RELAXED_PUSH, "relaxed-push", "sorts")                                                       \
    X(RELAXED_PUSH_LOST, "relaxed-push-lost", "sorts")                                             \
    X(RELAXED_SORTS_LOAD, "relaxed-sorts-load", "sorts")                                           \
    X(RELAXED_PENDING_PUSH, "relaxed-pending-push", "blocks")                                      \
    X(RELAXED_PENDING_HEAD, "relaxed-pending-head", NOBODY)                                        \
    X(RELAXED_PENDING_LOAD, "relaxed-pending-load", "blocks")                                      \
    X(RELAXED_PENDING_LOST, "relaxed-pending-lost", "blocks")                                      \
    X(RELAXED_PENDING_TAKE, "relaxed-pending-take", NOBODY)                                        \
    X(RELAXED_LEASE_END, "relaxed-lease-end", "lease")                                             \
    X(RELAXED_LEASE_LOAD, "relaxed-lease-load", "lease")                                           \
    X(RELAXED_GIVE_BACK, "relaxed-give-back", "references")                                        \
    X(RELAXED_LAST_LOAD, "relaxed-last-load", "references")                                        \
    X(RELAXED_DETACH, "relaxed-detach", NOBODY)                                                    \
    X(RELAXED_INDEX_PUT, "relaxed-index-put", "names")                                             \
    X(RELAXED_INDEX_GET, "relaxed-index-get", "names")                                             \
    X(RELAXED_STAY, "relaxed-stay", "shutdown-one")                                                \
    X(RELAXED_STAY_LOOK, "relaxed-stay-look", "shutdown-one")                                      \
    X(RELAXED_STAY_END, "relaxed-stay-end", "shutdown-one")                                        \
    X(RELAXED_STAY_WAKE, "relaxed-stay-wake", "shutdown-one")                                      \
    X(RELAXED_DISARM, "relaxed-disarm", "shutdown-one")                                            \
    X(RELAXED_DISARM_LOOK, "relaxed-disarm-look", "shutdown-one")                                  \
    X(NO_STAY_LOOK, "no-stay-look", "shutdown-one")                                                \
    X(NO_GRACE_PERIOD, "no-grace-period", "call")                                                  \
    X(ANNOUNCE_AFTER_LEAVING, "announce-after-leaving", "call")                                    \
    X(SLOT_BEFORE_DEPTH, "slot-before-depth", "signal")                                            \
    X(IGNORE_ANNOUNCEMENTS, "ignore-announcements", "call")                                        \
    X(TOP_ANNOUNCEMENT_ONLY, "top-announcement-only", "nested")                                    \
    X(TABLE_BEFORE_COMPLETE, "table-before-complete", "call")                                      \
    X(MASK_OF_OTHER_VERSION, "mask-of-other-version", "call")                                      \
    X(KERNEL_FREED_WITH_REGISTRATION, "kernel-freed-with-registration", "call")                    \
    X(VERSION_BEFORE_TABLES, "version-before-tables", "instant")                                   \
    X(LIMIT_WITHOUT_VERSION, "limit-without-version", "instant")                                   \
    X(PIN_OUTSIDE_SECTION, "pin-outside-section", "snapshot")                                      \
    X(NESTED_SNAPSHOT_REPINS, "nested-snapshot-repins", "inner-snapshot")                          \
    X(IGNORE_PINS, "ignore-pins", "snapshot")                                                      \
    X(ANNOUNCEMENTS_BEFORE_PINS, "announcements-before-pins", "snapshot")                          \
    X(NO_NEW_TICKET, "no-new-ticket", "middle")                                                    \
    X(MIDDLE_FREED_AT_ONCE, "middle-freed-at-once", "middle")                                      \
    X(UNRIPE_RECLAIMED, "unripe-reclaimed", "writers")                                             \
    X(PIN_COPIED, "pin-copied", "shared")                                                          \
    X(SHARED_NOT_SCANNED, "shared-not-scanned", "shared")                                          \
    X(SHARED_RELEASED_FIRST, "shared-released-first", "shared")                                    \
    X(SHARED_SCANNED_APART, "shared-scanned-apart", "handover")

enum fault {
#define FAULT_ENUMERATOR(name, text, scenario) FAULT_##name,
    FAULT_LIST(FAULT_ENUMERATOR)
#undef FAULT_ENUMERATOR
    FAULT_COUNT
};

struct fault_facts {
    const char *text;
    const char *scenario;
};

static const fault_facts fault_table[] = {
#define FAULT_FACTS(name, text, scenario) {text, scenario},
    FAULT_LIST(FAULT_FACTS)
#undef FAULT_FACTS
};

static fault active_fault = FAULT_NONE;

static inline bool is_active(fault which)
{
    return active_fault == which;
}

// The order of an access, unless its fault is active. The second says the same of two faults.
static inline rl::memory_order order(fault which, rl::memory_order usual)
{
    return is_active(which) ? rl::mo_relaxed : usual;
}

static inline rl::memory_order order(fault one, fault other, rl::memory_order usual)
{
    return is_active(one) || is_active(other) ? rl::mo_relaxed : usual;
}

#endif // TESTS_MODELS_RELACY_FAULTS_HPP
