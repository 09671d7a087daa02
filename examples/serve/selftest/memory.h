// Memory: what the server holds when it rests, and whether that grows.
//
// Layer:   example (uses wire)
// Threads: one
// SPDX-License-Identifier: MIT
//
// Note [Rests]
//
// From time to time requests and changes stop, every plugin is unloaded, and what serves is what
// served at the start. Then all that differs from an earlier rest has been left behind, so figures
// of one rest can be compared with those of another, however much memory requests need in between.
//
// Rest 0 is before any plugin, rest 1 after each plugin has served once: libraries that stay mapped
// are there by then, and buffers and pools have been made. Flat means, of the rests after it:
//
// - tensors, storages and leases are as many as at rest 0;
// - Keyway's live bytes (what it has allocated, and the storages of tensors) are within
//   SELFTEST_LIVE_SLACK of rest 1, at the last rest;
// - resident memory: the median of the last third of the rests is within SELFTEST_RESIDENT_SLACK
//   of the median of the middle third. The system's allocator keeps what it frees, so single
//   figures jump, and in its first seconds a server grows. Where there are fewer than
//   SELFTEST_MANY_RESTS the first third is compared, and the slack is SELFTEST_RESIDENT_SLACK_FEW.
//   Under a sanitizer, which keeps what was freed on purpose, it is shown but not judged.

#ifndef SELFTEST_MEMORY_H
#define SELFTEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"
#include "findings.h"

enum {
    SELFTEST_RESTS_MAX = 64,
    SELFTEST_LIVE_SLACK = 8 << 10,
    SELFTEST_RESIDENT_SLACK = 4 << 20,
    SELFTEST_RESIDENT_SLACK_FEW = 16 << 20,
    SELFTEST_MANY_RESTS = 9
};

typedef struct selftest_rest {
    double seconds; // since the beginning of the run
    uint64_t resident_bytes;
    uint64_t live_bytes;
    uint64_t tensors;
    uint64_t storages;
    uint64_t leases;
} selftest_rest;

// How a figure went from rest 1 to the last.
typedef struct selftest_trend {
    uint64_t first;
    uint64_t last;
    double per_second; // the slope of a straight line through the rests from rest 1 on
    bool is_judged;
    bool is_flat;
} selftest_trend;

typedef struct selftest_memory {
    selftest_rest rests[SELFTEST_RESTS_MAX];
    size_t count;
    selftest_trend resident; // set by selftest_memory_judge(), as the two that follow
    selftest_trend live;
    bool has_kept_objects;
} selftest_memory;

/// Waits until nothing leaves any more and memory is reclaimed, and notes the figures. On false
/// they could not be had, or a plugin does not leave: a finding says which.
bool selftest_memory_rest(selftest_memory *memory, double seconds, const selftest_child *child,
                          selftest_findings *findings);

/// Judges all rests. What is not flat is a finding.
void selftest_memory_judge(selftest_memory *memory, selftest_findings *findings);

#endif // SELFTEST_MEMORY_H
