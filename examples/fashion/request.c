// Request: what a thread carries through the calls of one image, beside their arguments.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   owner thread only
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "request.h"

#include <stdlib.h>

kw_status fashion_request_begin(fashion_request *request)
{
    *request = (fashion_request){.scratch = NULL};
    return kw_call_context_set(request, NULL);
}

void fashion_request_end(fashion_request *request)
{
    // Cannot fail: the thread was attached when the request began.
    (void)!kw_call_context_set(NULL, NULL);
    free(request->scratch);
    request->scratch = NULL;
    request->scratch_count = 0;
}

float *fashion_request_scratch(size_t count)
{
    fashion_request *request = fashion_request_current();
    if (request == NULL) {
        return NULL;
    }
    if (request->scratch_count < count) {
        free(request->scratch);
        request->scratch = malloc(count * sizeof *request->scratch);
        request->scratch_count = request->scratch != NULL ? count : 0;
    }
    return request->scratch;
}
