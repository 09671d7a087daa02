// Snapshots that Python has opened.
//
// Layer:   python (public headers only)
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_SNAPSHOT_H
#define KWI_PYTHON_SNAPSHOT_H

#include <stdbool.h>

// Whether the calling thread is inside a Snapshot of Python's.
bool kwpy_snapshot_is_open(void);

#endif // KWI_PYTHON_SNAPSHOT_H
