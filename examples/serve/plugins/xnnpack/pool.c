// Pool: XNNPACK operators that do the same, for as many threads as run one at a time.
//
// Layer:   example (uses XNNPACK)
// Threads: any, but for create and destroy
// SPDX-License-Identifier: MIT

#include "pool.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    IDLE_MAX = 16
};

struct xnnpack_pool {
    pthread_mutex_t mutex;
    xnn_operator_t idle[IDLE_MAX]; // guard: lock mutex. Owned; the first `count`
    size_t count;                  // guard: lock mutex
};

xnnpack_pool *xnnpack_pool_create(void)
{
    xnnpack_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL && pthread_mutex_init(&pool->mutex, NULL) != 0) {
        free(pool);
        return NULL;
    }
    return pool;
}

void xnnpack_pool_destroy(xnnpack_pool *take_pool)
{
    if (take_pool == NULL) {
        return;
    }
    for (size_t i = 0; i < take_pool->count; i++) {
        (void)xnn_delete_operator(take_pool->idle[i]);
    }
    (void)pthread_mutex_destroy(&take_pool->mutex);
    free(take_pool);
}

xnn_operator_t xnnpack_pool_take(xnnpack_pool *pool)
{
    (void)pthread_mutex_lock(&pool->mutex);
    // The one that came back last: its memory is the warmest.
    const xnn_operator_t taken = pool->count > 0 ? pool->idle[--pool->count] : NULL;
    (void)pthread_mutex_unlock(&pool->mutex);
    return taken;
}

void xnnpack_pool_give(xnnpack_pool *pool, xnn_operator_t take_operator)
{
    (void)pthread_mutex_lock(&pool->mutex);
    const bool has_room = pool->count < IDLE_MAX;
    if (has_room) {
        pool->idle[pool->count++] = take_operator;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    if (!has_room) {
        (void)xnn_delete_operator(take_operator);
    }
}
