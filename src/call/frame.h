// Frames in calls: what a call reads from a frame before its kernel, and leaves in it after.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_FRAME_H
#define KWI_CALL_FRAME_H

#include <keyway/frame.h>
#include <keyway/inline/table.h>

#include "registry/dispatcher.h"
#include "registry/registration.h"
#include "schema/schema.h"
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

// Note [One return]
//
// Nearly every operator has one return. What is done with each of them before and after a kernel is
// therefore written for one, without a loop's counting, and again for any number.

// Sets every return to None, whatever is there: what a call does with its caller's frame.
static inline void kwi_frame_clear(kw_frame *frame)
{
    const kw_value none = {0}; // in one store
    if (KW_LIKELY(frame->return_count == 1)) {
        frame->returns[0] = none;
        return;
    }
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
    for (uint32_t i = 0; i < frame->return_count; i++) {
        if (KW_UNLIKELY(frame->returns[i].tag >= KW_TAG_POINTER)) { // plain values are below
            kwi_frame_release(op, frame);
            return;
        }
        if (KW_LIKELY(frame->return_count == 1)) {
            break;
        }
    }
    kwi_frame_clear(frame);
}

// Whether the counts are those that the table knows of most operators. If not, it takes
// kwi_frame_check().
static inline bool kwi_frame_fits(const kw_table *table, const kw_frame *frame)
{
    return KW_LIKELY(frame->arg_count == table->frame_args) &&
           KW_LIKELY(frame->return_count == table->frame_returns);
}

// The keys of a tensor of a type that says where they are.
static inline kw_keyset kwi_tensor_keys_at(const void *tensor, size_t keys_at)
{
    const char *place = (const char *)tensor + (keys_at - 1);
    return *(const kw_keyset *)(const void *)place;
}

// The same as kwi_frame_read() for what most frames are, without a test that these do not need.
// With `in_place` tensors have their keys at `keys_at`, which is the dispatcher's; without, the
// tensor type is asked. False: it takes kwi_frame_read().
//
// Tensors are mostly the first arguments, so the mask is gone through bit by bit.
static inline bool kwi_frame_read_plain(const kw_operator *op, const kw_table *table,
                                        const kw_frame *frame, bool in_place, size_t keys_at,
                                        kw_keyset *out_keys)
{
    if (!kwi_frame_fits(table, frame)) {
        return false;
    }
    uint64_t left = table->definition->schema->tensor_mask;
    const kw_tensor_type *type = in_place ? NULL : kwi_dispatcher_tensor_type(op->dispatcher);
    if (!in_place && KW_UNLIKELY(type == NULL) && left != 0) {
        return false;
    }
    kw_keyset keys = kw_keyset_empty();
    for (const kw_value *value = frame->args; left != 0; left >>= 1, value++) {
        if ((left & 1) == 0) {
            continue;
        }
        if (KW_LIKELY(value->tag == KW_TAG_TENSOR)) {
            const void *tensor = value->as.as_tensor;
            keys = kw_keyset_union(keys, in_place ? kwi_tensor_keys_at(tensor, keys_at)
                                                  : type->keys(tensor));
        } else if (value->tag == KW_TAG_TENSOR_LIST) {
            return false;
        }
    }
    *out_keys = keys;
    return true;
}

// Refuses the return of a kernel that succeeded: one is a view. Releases them all, and reports
// KW_WRONG_VALUE.
KW_COLD kw_status kwi_frame_refuse(const kw_kernel *kernel, kw_frame *frame);

static inline bool kwi_frame_has_view(const kw_frame *frame)
{
    if (KW_LIKELY(frame->return_count == 1)) {
        return kwi_value_is_view(&frame->returns[0]);
    }
    for (uint32_t i = 0; i < frame->return_count; i++) {
        if (kwi_value_is_view(&frame->returns[i])) {
            return true;
        }
    }
    return false;
}

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
    return KW_UNLIKELY(kwi_frame_has_view(frame)) ? kwi_frame_refuse(entry->kernel, frame) : KW_OK;
}

#endif // KWI_CALL_FRAME_H
