// Boxed calls: calls and redispatches that carry their arguments in a frame.
//
// Layer:   call
// Threads: any; wait-free but for the kernel.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "call/error.h"
#include "call/frame.h"
#include "call/progress.h"
#include "registry/operator.h"

kw_status kw_call_boxed(const kw_operator *op, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_frame_clear(frame);
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kwi_frame_keys read = kwi_frame_read(op, call.table, frame);
    kw_status status = read.status;
    if (KW_LIKELY(status == KW_OK)) {
        kw_keyset keys;
        const kw_entry *entry = kw_call_select(call, read.keys, &keys);
        status = kwi_frame_run(entry, op, keys, frame);
    }
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// The redispatch of a call already announced, by the thread that is inside it.
//
// A chain of redispatches goes from key to lower key, so one that runs the same slot twice in a
// row, or has more steps than there are slots, goes nowhere.
static kw_status redispatch_inside(const kw_table *table, const kw_operator *op, kw_keyset keys,
                                   kw_frame *frame)
{
    kwi_thread_block *block = kwi_thread_current();
    kwi_running *running = &kwi_call_area_of(block)->running;
    kwi_running outer = *running;
    kwi_running mine = {
        .table = table,
        .depth = kwi_u32_load_relaxed(&block->hot.depth), // relaxed: its own word
        .slot = kw_keyset_slot(keys),
    };
    if (outer.table == table && outer.depth == mine.depth) {
        mine.steps = outer.steps + 1;
        if (KW_UNLIKELY(outer.slot == mine.slot || mine.steps > KW_SLOT_COUNT)) {
            return kwi_progress_refuse(op, keys);
        }
    }
    *running = mine;
    kw_status status = kwi_frame_run(kwi_table_entry(table, mine.slot), op, keys, frame);
    *running = outer;
    return status;
}

// Outside every call of the operator: an ordinary call with the given keys.
static kw_status redispatch_anew(const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_status status = kwi_frame_check(call.table, frame);
    if (KW_LIKELY(status == KW_OK)) {
        status = kwi_frame_run(kw_redispatch_select(call.table, keys), op, keys, frame);
    }
    kw_call_end(call, depth);
    return status;
}

kw_status kw_redispatch_boxed(const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_frame_renew(op, frame);
    const kw_table *table = kw_redispatch_table(op);
    kw_status status;
    if (KW_LIKELY(table != NULL)) {
        status = kwi_frame_check(table, frame);
        status = status == KW_OK ? redispatch_inside(table, op, keys, frame) : status;
    } else {
        status = redispatch_anew(op, keys, frame);
    }
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}
