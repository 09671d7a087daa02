// The lock of interpreters, and what becomes of them around fork().
//
// Layer:   interp
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Forks and interpreters]
//
// The child has one thread. It stays inside whatever it was inside; the others are inside nothing,
// so their counts are made up of its own stays. An interpreter that another thread was about to
// finish counts as finished: whatever that thread had begun is taken as done.

#include <pthread.h>
#include <time.h>

#include "interp/interpreter.h"
#include "interp/thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken;
static bool handlers_are_set;

static void make_woken(void)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes); // these fail for unknown clocks only
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&woken, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void kwi_interp_lock(void)
{
    (void)pthread_mutex_lock(&mutex); // cannot fail: initialised, not recursive
}

void kwi_interp_unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

void kwi_interp_wait(uint64_t end_ns)
{
    if (end_ns == UINT64_MAX) {
        (void)pthread_cond_wait(&woken, &mutex);
        return;
    }
    const struct timespec end = {
        .tv_sec = (time_t)(end_ns / 1000000000),
        .tv_nsec = (long)(end_ns % 1000000000),
    };
    (void)pthread_cond_timedwait(&woken, &mutex, &end);
}

void kwi_interp_wake(void)
{
    (void)pthread_cond_broadcast(&woken);
}

// Whether the calling thread is the one that finishes the interpreter.
static bool is_finishing_here(const kw_interpreter *interpreter)
{
    const kw_interpreter_use *use = kwi_interp_self.uses;
    while (use != NULL && !(use->interpreter == interpreter && use->shard == KWI_INTERP_NO_SHARD)) {
        use = use->outer;
    }
    return use != NULL;
}

// Relaxed throughout: the child has one thread.
static void forget_others(kw_interpreter *interpreter)
{
    for (uint32_t i = 0; i < KWI_INTERP_SHARDS; i++) {
        kwi_u64_store_relaxed(&interpreter->shards[i].inside, 0);
    }
    if (kwi_u32_load_relaxed(&interpreter->phase) == KWI_INTERP_FINISHING &&
        !is_finishing_here(interpreter)) {
        kwi_u32_store_relaxed(&interpreter->phase, KWI_INTERP_GONE);
    }
}

static void after_in_child(void)
{
    make_woken(); // it may count threads that the child does not have
    for (kw_interpreter *each = kwi_interp_first(); each != NULL; each = each->next) {
        forget_others(each);
    }
    for (const kw_interpreter_use *use = kwi_interp_self.uses; use != NULL; use = use->outer) {
        if (use->shard != KWI_INTERP_NO_SHARD) {
            // Relaxed: see above.
            (void)kwi_u64_add_relaxed(&use->interpreter->shards[use->shard].inside, 1);
        }
    }
    kwi_interp_unlock();
}

static void set_handlers(void)
{
    make_woken();
    handlers_are_set = pthread_atfork(kwi_interp_lock, kwi_interp_unlock, after_in_child) == 0;
}

bool kwi_interp_fork_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, set_handlers) == 0 && handlers_are_set;
}
