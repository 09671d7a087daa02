// Boxed calls: calls and redispatches that carry their arguments in a frame.
//
// Layer:   call
// Threads: any; wait-free but for the kernel.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "call/begin.h"
#include "call/error.h"
#include "call/frame.h"
#include "call/progress.h"
#include "call/top.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"

// Note [Boxed calls in pieces]
//
// Most boxed calls are of a frame that fits an operator with a definition and holds no list of
// tensors. call_plain() serves them: once for tensors that have their keys in a known place, when
// it calls nothing but the kernel and saves no register for anything else; and once for those that
// the tensor type has to be asked for. What is not so goes on in call_begun(), and what fails ends
// in end_failed() or end_refused(): jumps that do not come back.

// Ends the call of a kernel that failed.
KW_COLD static kw_status end_failed(const kw_operator *op, kw_frame *frame, kw_thread *thread,
                                    uint32_t depth, kw_status status)
{
    kwi_frame_release(op, frame);
    kw_call_end((kw_call){.thread = thread}, depth);
    return kw_call_failed(op, status);
}

// Ends the call of a kernel that returned a view.
KW_COLD static kw_status end_refused(const kw_operator *op, kw_frame *frame, kw_thread *thread,
                                     uint32_t depth, const kw_kernel *kernel)
{
    kw_status status = kwi_frame_refuse(kernel, frame);
    kw_call_end((kw_call){.thread = thread}, depth);
    return kw_call_failed(op, status);
}

// Runs the kernel that the keys of the arguments select, and ends the call.
static inline kw_status run_and_end(const kw_operator *op, kw_frame *frame, kw_call call,
                                    uint32_t depth, kw_keyset argument_keys)
{
    kw_keyset keys;
    const kw_kernel *kernel = kw_call_select(call, argument_keys, &keys)->kernel;
    kw_status status = kernel->boxed(kernel, op, keys, frame);
    if (KW_UNLIKELY(status != KW_OK)) {
        return end_failed(op, frame, call.thread, depth, status);
    }
    if (KW_UNLIKELY(kwi_frame_has_view(frame))) {
        return end_refused(op, frame, call.thread, depth, kernel);
    }
    kw_call_end(call, depth);
    return KW_OK;
}

// The rest of a call that has begun, whatever its frame and its operator are.
__attribute__((noinline)) static kw_status call_begun(const kw_operator *op, kw_frame *frame,
                                                      const kw_table *table, kw_thread *thread,
                                                      uint32_t depth)
{
    const kw_call call = {table, thread, depth};
    kwi_frame_keys read = kwi_frame_read(op, call.table, frame);
    if (KW_UNLIKELY(read.status != KW_OK)) {
        kw_call_end(call, depth);
        return kw_call_failed(op, read.status);
    }
    return run_and_end(op, frame, call, depth, read.keys);
}

__attribute__((always_inline)) static inline kw_status
call_plain(const kw_operator *op, kw_frame *frame, bool in_place, size_t keys_at)
{
    kwi_frame_clear(frame);
    kw_call call = kwi_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    if (KW_UNLIKELY(!kwi_frame_read_plain(op, call.table, frame, in_place, keys_at, &keys))) {
        return call_begun(op, frame, call.table, call.thread, depth);
    }
    return run_and_end(op, frame, call, depth, keys);
}

// Out of line both, so that neither saves registers for the other.

__attribute__((noinline)) static kw_status call_in_place(const kw_operator *op, kw_frame *frame,
                                                         size_t keys_at)
{
    return call_plain(op, frame, true, keys_at);
}

__attribute__((noinline)) static kw_status call_asking(const kw_operator *op, kw_frame *frame)
{
    return call_plain(op, frame, false, 0);
}

kw_status kw_call_boxed(const kw_operator *op, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    size_t keys_at = kwi_dispatcher_keys_at(op->dispatcher);
    return keys_at != 0 ? call_in_place(op, frame, keys_at) : call_asking(op, frame);
}

// Outside every call of the operator, a redispatch is an ordinary call with the given keys.
__attribute__((noinline)) static kw_status redispatch_anew(const kw_operator *op, kw_keyset keys,
                                                           kw_frame *frame)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_failed(op, kw_call_refused(op));
    }
    uint32_t depth = kw_call_depth(call);
    kw_status status = kwi_frame_check(call.table, frame);
    if (KW_LIKELY(status == KW_OK)) {
        status = kwi_frame_run(kw_redispatch_select(call.table, keys), op, keys, frame);
    }
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// What a redispatch says of itself while it runs, and what is said again when it has ended.
//
// A chain of redispatches goes from key to lower key, so one that runs the same slot twice in a
// row, or has more steps than there are slots, goes nowhere: false.
static inline bool step_in(kwi_running *running, kwi_running outer, const kw_table *table,
                           uint32_t depth, uint32_t slot)
{
    uint32_t steps = 0;
    if (outer.table == table && (uint32_t)outer.place == depth) {
        steps = kwi_running_steps(outer.place) + 1;
        if (KW_UNLIKELY(kwi_running_slot(outer.place) == slot || steps > KW_SLOT_COUNT)) {
            return false;
        }
    }
    running->table = table;
    running->place = kwi_running_place(depth, slot, steps);
    return true;
}

KW_COLD static kw_status refuse_step(const kw_operator *op, kw_keyset keys)
{
    return kw_call_failed(op, kwi_progress_refuse(op, keys));
}

kw_status kw_redispatch_boxed(const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_frame_renew(op, frame);
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return redispatch_anew(op, keys, frame);
    }
    if (!kwi_frame_fits(table, frame)) {
        kw_status status = kwi_frame_check(table, frame);
        if (status != KW_OK) {
            return kw_call_failed(op, status);
        }
    }
    kwi_thread_block *block = kwi_top_block();
    kwi_running *running = &kwi_call_area_of(block)->running;
    const kwi_running outer = {.table = running->table, .place = running->place};
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    uint32_t slot = kw_keyset_slot(keys);
    if (KW_UNLIKELY(!step_in(running, outer, table, depth, slot))) {
        return refuse_step(op, keys);
    }
    kw_status status = kwi_frame_run(kwi_table_entry(table, slot), op, keys, frame);
    running->table = outer.table;
    running->place = outer.place;
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}
