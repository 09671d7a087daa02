// Being inside an interpreter: see Note [Counted in, then looked].
//
// Layer:   interp
// Threads: any; wait-free but for the last one out of an interpreter that is being shut down.
// SPDX-License-Identifier: MIT

#include <sched.h>
#include <stdint.h>

#include <keyway/call.h>

#include "interp/fault.h"
#include "interp/interpreter.h"
#include "interp/thread.h"

static uint32_t phase_of(const kw_interpreter *interpreter)
{
    return kwi_u32_load_seq_cst(&interpreter->phase); // [pair: interp-use]
}

// A number for the processor that the thread is on; where it cannot be had, all share one count.
static uint32_t shard_here(void)
{
    int processor = sched_getcpu();
    return processor > 0 ? (uint32_t)processor % KWI_INTERP_SHARDS : 0;
}

// Whoever finds, after leaving, that the interpreter is being shut down wakes the thread that
// waits: by the note, the thread that goes to sleep has seen the count without this one, or is
// woken.
static void leave_shard(kw_interpreter *interpreter, uint32_t shard)
{
    (void)kwi_u64_sub_seq_cst(&interpreter->shards[shard].inside, 1); // [pair: interp-use]
    if (KW_UNLIKELY(phase_of(interpreter) != KWI_INTERP_ARMED)) {
        kwi_interp_lock();
        kwi_interp_wake();
        kwi_interp_unlock();
    }
}

kw_status kw_interpreter_enter(kw_interpreter *interpreter, kw_interpreter_use *out_use)
{
    if (interpreter == NULL || out_use == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    // Whoever is inside may go further in: it is waited for as it is.
    bool is_inside = kwi_interp_is_inside(interpreter);
    // A look ahead, so that those who come for ever do not keep a count from falling to zero.
    if (!is_inside && phase_of(interpreter) != KWI_INTERP_ARMED) {
        return KW_INTERPRETER_GONE;
    }
    KWI_INTERP_WAIT_AFTER_LOOK();
    uint32_t shard = shard_here();
    (void)kwi_u64_add_seq_cst(&interpreter->shards[shard].inside, 1); // [pair: interp-use]
    if (!is_inside && phase_of(interpreter) != KWI_INTERP_ARMED &&
        !KWI_INTERP_FAULT(LOOK_BEFORE_COUNTING)) {
        leave_shard(interpreter, shard);
        return KW_INTERPRETER_GONE;
    }
    out_use->interpreter = interpreter;
    out_use->shard = shard;
    out_use->outer = kwi_interp_self.uses;
    kwi_interp_self.uses = out_use;
    return KW_OK;
}

void kw_interpreter_leave(kw_interpreter_use *use)
{
    if (use != NULL && use->interpreter != NULL) {
        kwi_interp_self.uses = use->outer;
        leave_shard(use->interpreter, use->shard);
        use->interpreter = NULL;
    }
}

kw_status kwi_interp_enter_call(kw_interpreter *interpreter, kw_interpreter_use *out_use,
                                const char *what)
{
    kw_status status = kw_interpreter_enter(interpreter, out_use);
    return status == KW_OK ? KW_OK
                           : kw_fail(status, "the interpreter %s, which %s, is shut down",
                                     interpreter->name, what);
}

bool kw_interpreter_is_armed(const kw_interpreter *interpreter)
{
    return interpreter != NULL && phase_of(interpreter) == KWI_INTERP_ARMED;
}

bool kwi_interp_is_used(const kw_interpreter *interpreter)
{
    for (uint32_t i = 0; i < KWI_INTERP_SHARDS; i++) {
        if (kwi_u64_load_seq_cst(&interpreter->shards[i].inside) != 0) { // [pair: interp-use]
            return true;
        }
    }
    return false;
}

bool kwi_interp_is_inside(const kw_interpreter *interpreter)
{
    const kw_interpreter_use *use = kwi_interp_self.uses;
    while (use != NULL && interpreter != NULL && use->interpreter != interpreter) {
        use = use->outer;
    }
    return use != NULL;
}

// Functions that only count or tell ------------------------------------------------------------

void kw_interpreter_retain_object(kw_interpreter *interpreter, void *object)
{
    kw_interpreter_use use;
    if (object != NULL && kw_interpreter_enter(interpreter, &use) == KW_OK) {
        if (interpreter->table.retain != NULL) {
            interpreter->table.retain(object, interpreter->table.context);
        }
        kw_interpreter_leave(&use);
    }
}

void kw_interpreter_release_object(kw_interpreter *interpreter, void *object)
{
    kw_interpreter_use use;
    if (object != NULL && kw_interpreter_enter(interpreter, &use) == KW_OK) {
        if (interpreter->table.release != NULL) {
            interpreter->table.release(object, false, interpreter->table.context);
        }
        kw_interpreter_leave(&use);
    }
}

void kw_interpreter_report(kw_interpreter *interpreter, const kw_error *why)
{
    kw_interpreter_use use;
    if (why != NULL && kw_interpreter_enter(interpreter, &use) == KW_OK) {
        if (interpreter->table.report_error != NULL) {
            interpreter->table.report_error(why, interpreter->table.context);
        }
        kw_interpreter_leave(&use);
    }
}
