// Child: the server in a process of its own, on ports that are free.
//
// Layer:   example (C library only)
// Threads: one starts and ends it; its ports may be read by all
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_CHILD_H
#define SELFTEST_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "findings.h"
#include "options.h"

typedef struct selftest_child {
    const selftest_options *options; // borrowed
    pid_t pid;                       // 0: there is none
    int output;                      // what the server prints; -1: closed
    uint16_t port;
    uint16_t admin_port;
    char last_line[256]; // that the server printed when it stopped
} selftest_child;

/// Starts the server and waits until its ports are open. On false a finding says why, and nothing
/// runs. `cache_folder` is where an OpenCL platform may keep what it compiles.
///
/// The server is ended by the system if the thread that starts it ends.
bool selftest_child_start(selftest_child *out_child, const selftest_options *options,
                          const char *cache_folder, selftest_findings *findings);

/// Whether it runs. If it has ended, which it must not by itself, a finding says how.
bool selftest_child_is_alive(selftest_child *child, selftest_findings *findings);

/// Asks it to stop, waits and checks how it ended. What does not stop is killed and found. Does
/// nothing for one that has ended.
void selftest_child_stop(selftest_child *child, selftest_findings *findings);

/// Ends one that does not answer any more. Does nothing for one that has ended.
void selftest_child_kill(selftest_child *child);

#endif // SELFTEST_CHILD_H
