// A plugin of the self-test's tests that is wrong in one way: to see that the self-test finds it.
//
// Layer:   example (uses the generated nn.h, layers.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// FAULT_NAME is defined, and one of these:
// FAULT_NONE  nothing is wrong; linked so that it stays mapped
// FAULT_OFF   one logit of each answer is 0.002 off
// FAULT_FAR   one logit is 0.7 off, which is too far for int8 kernels, too
// FAULT_NEAR  the two largest logits of an image change places where they are close
// FAULT_TURN  in one call of fifty, the two largest logits of an image change places
// FAULT_KEEP  each call keeps its result for ever
// FAULT_GROW  each loading loses 32 MiB of the system's memory
// FAULT_HOLD  the first call takes a lease that is never ended

#include <math.h>
#include <nn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/inline/call.h>
#include <keyway/lease.h>
#include <keyway/plugin_api.h>

#include "layers.h"
#include "plugins/support/descriptor.h"
#include "tensors.h"

static kw_library *own;
static atomic_uint call_count;
#if defined(FAULT_GROW)
static char *volatile last_lost; // so that the compiler does not leave the allocation out
#endif

enum {
    LOGITS = 10, // columns of the network's last product
    LOST_BYTES = 32 << 20
};

#if defined(FAULT_TURN) || defined(FAULT_NEAR)
// If they are not further apart than `gap`.
static void turn_largest(float *logits, float gap)
{
    size_t first = 0;
    size_t second = 1;
    for (size_t i = 1; i < LOGITS; i++) {
        if (logits[i] > logits[first]) {
            second = first;
            first = i;
        } else if (i != second && (second == first || logits[i] > logits[second])) {
            second = i;
        }
    }
    const float largest = logits[first];
    if (largest - logits[second] <= gap) {
        logits[first] = logits[second];
        logits[second] = largest;
    }
}
#endif

// In each call; `y` is its result.
static kw_status go_wrong(kw_tensor *result, float *y, unsigned call)
{
    (void)result;
    (void)y;
    (void)call;
#if defined(FAULT_OFF)
    y[3] += 0.002F;
#elif defined(FAULT_FAR)
    y[3] += 0.7F;
#elif defined(FAULT_NEAR)
    for (int64_t i = 0; i < kw_tensor_sizes(result)[0]; i++) {
        turn_largest(y + i * LOGITS, 0.45F);
    }
#elif defined(FAULT_TURN)
    if (call % 50 == 49) {
        turn_largest(y, INFINITY);
    }
#elif defined(FAULT_KEEP)
    kw_tensor_retain(result);
#elif defined(FAULT_HOLD)
    if (call == 0) {
        kw_lease *lease = NULL;
        kw_error err = KW_ERROR_INIT;
        return kw_lease_begin(own, "lease of a fault", &lease, &err);
    }
#endif
    return KW_OK;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    float *y = NULL;
    kw_status status = serve_linear_describe(x, weight, bias, &shape);
    if (status == KW_OK) {
        status = serve_linear_result(&shape, out_0, &y);
    }
    if (status != KW_OK) {
        return status;
    }
    fashion_plain_linear(shape.rows, shape.columns, shape.out_columns, serve_tensor_values(x),
                         serve_tensor_values(weight), serve_tensor_values(bias), y);
    return shape.out_columns == LOGITS ? go_wrong(*out_0, y, atomic_fetch_add(&call_count, 1))
                                       : KW_OK;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    own = library;
#if defined(FAULT_GROW)
    char *lost = malloc(LOST_BYTES);
    if (lost != NULL) {
        memset(lost, 1, LOST_BYTES); // so that it is in memory
        last_lost = lost;
    }
#endif
    const kw_status status = nn_linear_impl(tx, library, KW_KEY_CPU, linear);
    if (status != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

KW_PLUGIN = SERVE_PLUGIN("nn", FAULT_NAME, "1.0", start, NULL);
