// The leaf lock: the one mutex of the tensor library, held for a few steps.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/leaf_lock.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void kwi_leaf_lock(void)
{
    (void)pthread_mutex_lock(&mutex); // cannot fail: initialised, not recursive
}

void kwi_leaf_unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

// When the library is loaded. The handlers of the prepare phase run in the reverse order, so that
// those of a host, which may release tensors, come before.
__attribute__((constructor)) static void init_at_load(void)
{
    (void)pthread_atfork(kwi_leaf_lock, kwi_leaf_unlock, kwi_leaf_unlock);
}
