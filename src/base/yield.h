// Schedule points and seeded faults: how tests prove that they would find a defect.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT
//
// A schedule point stands where the order of threads matters: KWI_YIELD on the path of every call,
// KWI_YIELD_HERE there where a test runs a step of its own, KWI_YIELD_OFTEN on the path of commits
// and snapshots, which are rarer and worth longer waits.
//
// All are empty in the shipped library. A test build compiles every fault in; one at a time is
// switched on. docs/concurrency.md says which guarantee each fault breaks.

#ifndef KWI_BASE_YIELD_H
#define KWI_BASE_YIELD_H

#define KWI_FAULT_LIST(X)                                                                          \
    X(NONE, "none")                                                                                \
    X(NO_GRACE_PERIOD, "no-grace-period")                                                          \
    X(ANNOUNCE_AFTER_LEAVING, "announce-after-leaving")                                            \
    X(ANNOUNCE_UNCHECKED, "announce-unchecked")                                                    \
    X(SLOT_BEFORE_DEPTH, "slot-before-depth")                                                      \
    X(VERSION_BEFORE_TABLES, "version-before-tables")                                              \
    X(LIMIT_WITHOUT_VERSION, "limit-without-version")                                              \
    X(PIN_OUTSIDE_SECTION, "pin-outside-section")                                                  \
    X(NESTED_SNAPSHOT_REPINS, "nested-snapshot-repins")                                            \
    X(IGNORE_PINS, "ignore-pins")                                                                  \
    X(IGNORE_ANNOUNCEMENTS, "ignore-announcements")                                                \
    X(TOP_ANNOUNCEMENT_ONLY, "top-announcement-only")                                              \
    X(ANNOUNCEMENTS_BEFORE_PINS, "announcements-before-pins")                                      \
    X(UNRIPE_RECLAIMED, "unripe-reclaimed")                                                        \
    X(NO_NEW_TICKET, "no-new-ticket")                                                              \
    X(MIDDLE_FREED_AT_ONCE, "middle-freed-at-once")                                                \
    X(KERNEL_FREED_WITH_REGISTRATION, "kernel-freed-with-registration")                            \
    X(PIN_COPIED, "pin-copied")                                                                    \
    X(SHARED_NOT_SCANNED, "shared-not-scanned")                                                    \
    X(SHARED_RELEASED_FIRST, "shared-released-first")                                              \
    X(SHARED_SCANNED_APART, "shared-scanned-apart")                                                \
    X(TABLE_BEFORE_COMPLETE, "table-before-complete")                                              \
    X(MASK_OF_OTHER_VERSION, "mask-of-other-version")                                              \
    X(DRAIN_WITHOUT_GRACE_PERIOD, "drain-without-grace-period")                                    \
    X(RELAXED_SLOT_STORE, "relaxed-slot-store")                                                    \
    X(RELAXED_POP, "relaxed-pop")                                                                  \
    X(RELAXED_PUBLICATION, "relaxed-publication")                                                  \
    X(RELAXED_SCAN, "relaxed-scan")                                                                \
    X(LOST_FALLTHROUGH_UPDATE, "lost-fallthrough-update")                                          \
    X(POP_FORGETS_LEVEL, "pop-forgets-level")                                                      \
    X(CLOSED_NOT_CHECKED, "closed-not-checked")                                                    \
    X(LEASE_IGNORED, "lease-ignored")                                                              \
    X(GONE_BEFORE_DESTRUCTOR, "gone-before-destructor")                                            \
    X(UNMAPPED_BEFORE_DRAINED, "unmapped-before-drained")

typedef enum kwi_fault {
#define KWI_FAULT_ENUMERATOR(name, text) KWI_FAULT_##name,
    KWI_FAULT_LIST(KWI_FAULT_ENUMERATOR)
#undef KWI_FAULT_ENUMERATOR
} kwi_fault;

#ifdef KWI_TESTING

#include <stdbool.h>
#include <stdint.h>

// Switches one fault on. Call before other threads run.
void kwi_fault_set(kwi_fault fault);
bool kwi_fault_is(kwi_fault fault);

// Makes every schedule point wait at random about once in `one_in` passes; 0 switches them off.
void kwi_yield_set(uint32_t one_in);
void kwi_yield(uint32_t weight); // waits `weight` times as often

// Runs `step` when a thread comes to the schedule point in the function named `place`, once: what
// another thread could do there. NULL: nothing.
void kwi_yield_interrupt(const char *place, void (*step)(void));
bool kwi_yield_is_awaited(void); // a step is to be run on this thread
void kwi_yield_here(const char *place);
void kwi_yield_often(const char *place);

#define KWI_FAULT(name) kwi_fault_is(KWI_FAULT_##name)
#define KWI_YIELD() kwi_yield(1)
#define KWI_YIELD_HERE() kwi_yield_here(__func__)
#define KWI_YIELD_OFTEN() kwi_yield_often(__func__)

#else

#define KWI_FAULT(name) 0
#define KWI_YIELD() ((void)0)
#define KWI_YIELD_HERE() ((void)0)
#define KWI_YIELD_OFTEN() ((void)0)

#endif

#endif // KWI_BASE_YIELD_H
