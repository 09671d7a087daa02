// Plugins seen: what the server says of its plugins.
//
// Layer:   example (uses wire; needs jansson)
// Threads: one
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_PLUGINS_SEEN_H
#define SELFTEST_PLUGINS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"
#include "findings.h"
#include "history.h"

// A version that stays mapped, and why.
typedef struct selftest_retained {
    char name[SELFTEST_NAME_BYTES];
    char reason[256];
    uint64_t count;
} selftest_retained;

typedef struct selftest_plugins_seen {
    uint64_t version;
    uint64_t loaded; // since the start of the server, as the two that follow
    uint64_t unmapped;
    uint64_t retained;
    uint64_t serving; // at this moment
    uint64_t leaving;
    selftest_name names[SELFTEST_PLUGINS_MAX]; // of files in the plugin folder
    size_t name_count;
    char held_name[SELFTEST_NAME_BYTES]; // one that is held, and by what; "": none
    char held_by[256];
    selftest_retained reasons[SELFTEST_PLUGINS_MAX];
    size_t reason_count;
} selftest_plugins_seen;

/// Asks the server. On false a finding says why it could not be read.
bool selftest_plugins_see(selftest_plugins_seen *out_seen, const selftest_child *child,
                          selftest_findings *findings);

#endif // SELFTEST_PLUGINS_SEEN_H
