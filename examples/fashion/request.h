// Request: what a thread carries through the calls of one image, beside their arguments.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   owner thread only
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// It is the word that Keyway keeps for the host in each thread (kw_call_context), so that kernels
// reach it without a parameter.

#ifndef FASHION_REQUEST_H
#define FASHION_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/call.h>

typedef struct fashion_request {
    float *scratch; // owned; for the unfolded image of a convolution
    size_t scratch_count;
    uint64_t traced_count;   // calls that a trace kernel saw
    uint64_t autograd_count; // calls that an autograd kernel saw
} fashion_request;

/// Makes an empty request the calling thread's.
kw_status fashion_request_begin(fashion_request *request);

/// Takes it away from the thread and frees the scratch; the counts stay.
void fashion_request_end(fashion_request *request);

/// Returns scratch for `count` floats, valid until the thread asks again; NULL if memory is out or
/// the thread has no request.
float *fashion_request_scratch(size_t count);

/// Returns the calling thread's request; NULL if it has none.
static inline fashion_request *fashion_request_current(void)
{
    return (fashion_request *)kw_call_context();
}

#endif // FASHION_REQUEST_H
