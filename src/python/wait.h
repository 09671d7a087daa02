// Waiting in slices, so that a signal such as Ctrl-C is heard.
//
// Layer:   python (public headers only)
// Threads: the one that waits; it holds the GIL between two slices.
// SPDX-License-Identifier: MIT
//
//     kwpy_wait wait = kwpy_wait_begin(timeout_ns);
//     do {
//         ... give the GIL up, wait for wait.slice_ns, take it ...
//     } while (status == KW_BUSY && kwpy_wait_again(&wait));
//
// Where nobody may wait for ever, inside a call or snapshot, the wait is not cut: the library then
// refuses it.

#ifndef KWI_PYTHON_WAIT_H
#define KWI_PYTHON_WAIT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kwpy_wait {
    uint64_t slice_ns; // how long to wait next
    uint64_t left_ns;  // after that
} kwpy_wait;

kwpy_wait kwpy_wait_begin(uint64_t timeout_ns);

// Whether to wait once more: there is time left, and no signal's handler has raised.
bool kwpy_wait_again(kwpy_wait *wait);

#endif // KWI_PYTHON_WAIT_H
