// Pool: XNNPACK operators that do the same, for as many threads as run one at a time.
//
// Layer:   example (uses XNNPACK)
// Threads: any, but for create and destroy
// SPDX-License-Identifier: MIT
//
// An XNNPACK operator keeps the addresses of the run that it is set up for, so only one thread may
// use it at a time. It also owns its packed weights. So a thread checks one out for a run; the pool
// makes a new one when all are out. Operators belong to the pool and not to threads: when the
// plugin stops they are all here, whatever has become of the threads that used them.

#ifndef SERVE_PLUGINS_XNNPACK_POOL_H
#define SERVE_PLUGINS_XNNPACK_POOL_H

#include <xnnpack.h>

#include <keyway/status.h>

typedef struct xnnpack_pool xnnpack_pool; // opaque

/// Makes a pool without operators. NULL: no memory.
xnnpack_pool *xnnpack_pool_create(void);

/// Deletes the operators, none of which is out. NULL is allowed.
void xnnpack_pool_destroy(xnnpack_pool *take_pool);

/// Takes an operator that nobody uses; NULL: the caller makes one.
xnn_operator_t xnnpack_pool_take(xnnpack_pool *pool);

/// Brings one back, or a new one. One too many is deleted.
void xnnpack_pool_give(xnnpack_pool *pool, xnn_operator_t take_operator);

#endif // SERVE_PLUGINS_XNNPACK_POOL_H
