// Failures, told as kernels tell theirs: kw_call_error() has the sentence.
//
// Layer:     example (uses the library)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_FAIL_H
#define GRAD_FAIL_H

#include <keyway/call.h>
#include <keyway/status.h>

// kw_fail(), written so that a reader of the code, who may be a program, sees which status comes of
// it.
#define GRAD_FAIL(status, ...) ((void)kw_fail((status), __VA_ARGS__), (status))

// Makes the sentence in `err` the thread's, unless `status` is KW_OK, and returns the status.
static inline kw_status grad_fail(kw_status status, const kw_error *err)
{
    if (status != KW_OK) {
        (void)kw_fail(status, "%s", err->text);
    }
    return status;
}

#endif // GRAD_FAIL_H
