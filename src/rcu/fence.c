// Fences of two weights: the heavy one.
//
// Layer:   rcu
// Threads: any.
// SPDX-License-Identifier: MIT

#include "rcu/fence.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

// guard: immutable. Set by ask(), once.
static bool is_there;

// A child of fork keeps what its parent has asked for.
static void ask(void)
{
    is_there = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
}

bool kwi_fences_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, ask) == 0 && is_there;
}

bool kwi_heavy_fence(void)
{
    return kwi_fences_init() && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
}
