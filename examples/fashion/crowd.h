// Crowd: many threads inside calls at once, so that Keyway's working memory has its full size.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   the controlling thread; it starts others and joins them
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// To find what is in use, Keyway lists all running calls and open snapshots, in memory that it
// keeps. How much that is depends on how many threads it has met inside at once. A comparison of
// bytes before and after a run needs it to be settled before.

#ifndef FASHION_CROWD_H
#define FASHION_CROWD_H

#include <stddef.h>

#include <keyway/library.h>

/// Commits while `count` threads are inside a call under a snapshot. Nothing of it stays but the
/// memory.
kw_status fashion_crowd_gather(kw_dispatcher *dispatcher, size_t count, kw_error *err);

#endif // FASHION_CROWD_H
