// Shutting an interpreter down.
//
// Layer:   interp
// Threads: any; waits without a lock.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <time.h>

#include "interp/fault.h"
#include "interp/interpreter.h"
#include "interp/thread.h"

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t end_of(uint64_t timeout_ns)
{
    uint64_t now = now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

static void set_phase(kw_interpreter *interpreter, kwi_interp_phase phase)
{
    kwi_u32_store_seq_cst(&interpreter->phase, (uint32_t)phase); // [pair: interp-use]
}

static kw_status check_caller(const kw_interpreter *interpreter, uint64_t timeout_ns, kw_error *err)
{
    if (interpreter == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no interpreter to shut down");
    }
    if (kwi_interp_is_inside(interpreter)) {
        return kw_error_set(err, KW_WOULD_WAIT_FOR_SELF,
                            "the calling thread is inside the interpreter %s itself; leave it "
                            "first",
                            interpreter->name);
    }
    if (timeout_ns == KW_FOREVER && kwi_interp_is_inside(NULL)) {
        return kw_error_set(err, KW_WOULD_WAIT_FOR_SELF,
                            "the thread is inside another interpreter, where two of them "
                            "could wait for each other; give it a time, or leave that first");
    }
    return KW_OK;
}

// Waits under the lock until nobody is inside and nobody else finishes; false: the time is over.
static bool wait_until_quiet(kw_interpreter *interpreter, uint64_t end_ns)
{
    while (!KWI_INTERP_FAULT(DISARM_DOES_NOT_WAIT)) {
        // Relaxed: under the lock of its writers.
        bool is_finished_elsewhere =
            kwi_u32_load_relaxed(&interpreter->phase) == KWI_INTERP_FINISHING;
        if (!is_finished_elsewhere && !kwi_interp_is_used(interpreter)) {
            return true;
        }
        if (end_ns != UINT64_MAX && now_ns() >= end_ns) {
            return false;
        }
        kwi_interp_wait(end_ns);
    }
    return true;
}

// The last uses of the table. The thread counts as inside, so that it does not wait for itself.
static void finish(kw_interpreter *interpreter)
{
    kw_interpreter_use use = {
        .interpreter = interpreter,
        .outer = kwi_interp_self.uses,
        .shard = KWI_INTERP_NO_SHARD,
    };
    kwi_interp_self.uses = &use;
    kwi_interp_cache_end(interpreter);
    if (interpreter->table.destroy != NULL) {
        interpreter->table.destroy(interpreter->table.context);
    }
    kwi_interp_self.uses = use.outer;
}

// Ends the first phase, waits, and makes the last uses if nobody else does.
static bool disarm(kw_interpreter *interpreter, uint64_t end_ns)
{
    kwi_interp_lock();
    // Relaxed, here and below: under the lock of its writers.
    if (kwi_u32_load_relaxed(&interpreter->phase) == KWI_INTERP_ARMED) {
        set_phase(interpreter, KWI_INTERP_DISARMED);
    }
    bool is_quiet = wait_until_quiet(interpreter, end_ns);
    bool is_mine = is_quiet && kwi_u32_load_relaxed(&interpreter->phase) == KWI_INTERP_DISARMED;
    if (is_mine) {
        set_phase(interpreter, KWI_INTERP_FINISHING);
    }
    kwi_interp_unlock();
    if (is_mine) {
        finish(interpreter);
        kwi_interp_lock();
        set_phase(interpreter, KWI_INTERP_GONE);
        kwi_interp_wake();
        kwi_interp_unlock();
    }
    return is_quiet;
}

kw_status kw_interpreter_disarm(kw_interpreter *interpreter, uint64_t timeout_ns, kw_error *err)
{
    kw_status status = check_caller(interpreter, timeout_ns, err);
    if (status != KW_OK) {
        return status;
    }
    int cancel_state = PTHREAD_CANCEL_ENABLE; // a cancelled thread would leave the lock behind
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    bool is_done = disarm(interpreter, end_of(timeout_ns));
    (void)pthread_setcancelstate(cancel_state, NULL);
    return is_done ? KW_OK
                   : kw_error_set(err, KW_BUSY,
                                  "a thread is still inside the interpreter %s, or about to "
                                  "finish it",
                                  interpreter->name);
}
