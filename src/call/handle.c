// Handles: finding the default dispatcher's operators for typed calls.
//
// Layer:   call
// Threads: any; lock-free.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/inline/handle.h>

kw_handle_answer kw_handle_find(kw_handle *handle)
{
    kw_handle_answer answer = {.op = NULL, .status = KW_NO_MEMORY};
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = kw_dispatcher_default();
    kw_status attached = kw_thread_attach(); // it may be the thread's first call: for the text
    (void)attached;
    if (dispatcher == NULL) {
        (void)kw_fail(KW_NO_MEMORY, "no memory for the default dispatcher");
        return answer;
    }
    answer.status =
        kw_operator_find_typed(dispatcher, handle->name, handle->signature, &answer.op, &err);
    if (answer.status != KW_OK) {
        (void)kw_fail(answer.status, "%s", err.text);
        return answer;
    }
    // Whoever loads it sees the operator as it was entered. [pair: handle]
    kwi_ptr_store_release(&handle->op, answer.op);
    return answer;
}
