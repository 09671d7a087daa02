// Versions: the number of the newest commit, one counter for the process.
//
// Layer:   rcu
// Threads: read by any thread, raised by a commit.
// SPDX-License-Identifier: MIT

#ifndef KWI_RCU_VERSION_H
#define KWI_RCU_VERSION_H

#include <keyway/inline/cell.h>

// A line of its own: every call reads it, and nothing else may move it between caches.
typedef struct kwi_version_line {
    // guard: rcu. Store: release, under the writer lock, after every table of the commit.
    // Load: acquire, inside enter/leave. [pair: version]
    _Alignas(64) kwi_u64_cell newest;
    char padding[56];
} kwi_version_line;

// Hidden, so that calls read it in place and not through the table of addresses.
extern kwi_version_line kwi_version __attribute__((visibility("hidden")));

#endif // KWI_RCU_VERSION_H
