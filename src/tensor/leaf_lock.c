// The leaf lock: the one mutex of the tensor library, held for a few steps.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/leaf_lock.h"

#include <pthread.h>

#include <keyway/fork.h>

#include "tensor/slab.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void kwi_leaf_lock(void)
{
    (void)pthread_mutex_lock(&mutex); // cannot fail: initialised, not recursive
}

void kwi_leaf_unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

// The library's own locks are taken before: a function that runs under one of them may use tensors.
// Pairs of kw_fork_prepare() nest, so that the library's handlers, and those of a host that calls
// these functions itself, find done what they would do, whatever the order of handlers is.
static void prepare(void)
{
    kw_fork_prepare();
    kwi_leaf_lock();
}

static void end_in_parent(void)
{
    kwi_leaf_unlock();
    kw_fork_parent();
}

static void end_in_child(void)
{
    kwi_slab_after_fork_child();
    kwi_leaf_unlock();
    kw_fork_child();
}

__attribute__((constructor)) static void init_at_load(void)
{
    // Without memory for it a child of another thread's fork may find the lock taken.
    (void)pthread_atfork(prepare, end_in_parent, end_in_child);
}
