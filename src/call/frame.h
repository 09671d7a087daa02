// Frames in calls: what a call reads from a frame before its kernel, and leaves in it after.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_FRAME_H
#define KWI_CALL_FRAME_H

#include <keyway/frame.h>
#include <keyway/inline/table.h>

#include "registry/registration.h"
#include "value/view.h"

// Whether the counts fit the definition, if there is one. On failure the thread's text says why.
kw_status kwi_frame_check(const kw_table *table, const kw_frame *frame);

// The same, and the keys of the arguments; an operator without a definition sees no tensors. On
// failure the thread's text says why. Returned in two registers.
typedef struct kwi_frame_keys {
    kw_keyset keys;
    kw_status status;
} kwi_frame_keys;
kwi_frame_keys kwi_frame_read(const kw_operator *op, const kw_table *table, const kw_frame *frame);

// Sets every return to None, whatever is there: what a call does with its caller's frame.
static inline void kwi_frame_clear(kw_frame *frame)
{
    const kw_value none = {0}; // in one store
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = none;
    }
}

// Releases what the returns own, through the tensor type of the operator's dispatcher, and leaves
// None.
KW_COLD void kwi_frame_release(const kw_operator *op, kw_frame *frame);

// The same, quick where nothing is owned: what a redispatch does with its kernel's frame.
static inline void kwi_frame_renew(const kw_operator *op, kw_frame *frame)
{
    uint32_t tags = 0;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        tags |= frame->returns[i].tag;
    }
    if (KW_UNLIKELY(tags >= KW_TAG_POINTER)) { // plain tags together do not reach it
        kwi_frame_release(op, frame);
    }
    kwi_frame_clear(frame);
}

// Refuses the return of a kernel that succeeded: it is a view. Releases them all, and reports
// KW_WRONG_VALUE.
KW_COLD kw_status kwi_frame_refuse(const kw_kernel *kernel, kw_frame *frame, uint32_t index);

// Runs an entry's kernel in its boxed form. The returns are None before it; after a failure, or if
// it returns a view, they are released and None.
static inline kw_status kwi_frame_run(const kw_entry *entry, const kw_operator *op, kw_keyset keys,
                                      kw_frame *frame)
{
    kw_status status = entry->kernel->boxed(entry->kernel, op, keys, frame);
    if (KW_UNLIKELY(status != KW_OK)) {
        kwi_frame_release(op, frame);
        return status;
    }
    for (uint32_t i = 0; i < frame->return_count; i++) {
        if (KW_UNLIKELY(kwi_value_is_view(&frame->returns[i]))) {
            return kwi_frame_refuse(entry->kernel, frame, i);
        }
    }
    return KW_OK;
}

#endif // KWI_CALL_FRAME_H
