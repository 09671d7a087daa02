// Waiting in slices, so that a signal such as Ctrl-C is heard.
//
// Layer:   python (public headers only)
// Threads: the one that waits; it holds the GIL between two slices.
// SPDX-License-Identifier: MIT

#include "python/wait.h"

#include <keyway/call.h>
#include <keyway/dispatcher.h>

#include "python/python.h"
#include "python/snapshot.h"

// What a person at a keyboard takes for at once.
#define SLICE_NS UINT64_C(50000000)

static void cut(kwpy_wait *wait, uint64_t timeout_ns)
{
    wait->slice_ns = timeout_ns < SLICE_NS ? timeout_ns : SLICE_NS;
    wait->left_ns = timeout_ns == KW_FOREVER ? KW_FOREVER : timeout_ns - wait->slice_ns;
}

kwpy_wait kwpy_wait_begin(uint64_t timeout_ns)
{
    kwpy_wait wait = {.slice_ns = timeout_ns};
    if (timeout_ns != KW_FOREVER || (kw_call_operator() == NULL && !kwpy_snapshot_is_open())) {
        cut(&wait, timeout_ns);
    }
    return wait;
}

bool kwpy_wait_again(kwpy_wait *wait)
{
    if (PyErr_CheckSignals() != 0 || wait->left_ns == 0) {
        return false;
    }
    cut(wait, wait->left_ns);
    return true;
}
