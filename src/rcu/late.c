// Late blocks: blocks of threads that attached while they ended.
//
// Layer:   rcu
// Threads: any.
// SPDX-License-Identifier: MIT

#include "rcu/late.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <keyway/inline/cell.h>

// The upper half of `late` counts the times that the block was late, so that a compare-and-swap
// does not mistake another thread that got the same number for the one that was looked at.
#define THREAD_MASK UINT64_C(0xffffffff)
#define ONE_TIME (THREAD_MASK + 1)

// guard: thread.
static _Thread_local bool is_ending;

void kwi_late_begin(void)
{
    is_ending = true;
}

void kwi_late_mark(kwi_thread_block *block)
{
    if (is_ending) {
        uint64_t times = kwi_u64_load_relaxed(&block->late) & ~THREAD_MASK; // relaxed: its own
        uint64_t self = (uint32_t)syscall(SYS_gettid);
        kwi_u64_store_relaxed(&block->late,
                              (times + ONE_TIME) | self); // relaxed: see kwi_late_take
    }
}

void kwi_late_unmark(kwi_thread_block *block)
{
    uint64_t late = kwi_u64_load_relaxed(&block->late); // relaxed: its own word
    if ((late & THREAD_MASK) != 0) {
        kwi_u64_store_relaxed(&block->late,
                              late & ~THREAD_MASK); // relaxed: `used` is stored after it
    }
}

// A thread that is gone has run its last instruction.
static bool is_gone(uint64_t thread)
{
    int saved_errno = errno;
    bool gone = syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return gone;
}

kwi_thread_block *kwi_late_take(void)
{
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        // Relaxed: the system has seen the end of the thread, which comes after its stores.
        uint64_t late = kwi_u64_load_relaxed(&block->late);
        uint64_t thread = late & THREAD_MASK;
        // [pair: block-holder] acquire: whoever takes it finds it as a holder left it.
        if (thread != 0 && is_gone(thread) &&
            kwi_u64_compare_exchange_acquire_relaxed(&block->late, &late, late - thread)) {
            return block;
        }
    }
    return NULL;
}
