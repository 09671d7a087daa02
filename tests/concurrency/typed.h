// The operator form that concurrency tests and the stress driver use: (Tensor x, int n) -> int.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Calls and redispatches are written out as Note [Typed wrappers] says.

#ifndef TESTS_CONCURRENCY_TYPED_H
#define TESTS_CONCURRENCY_TYPED_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/inline/call.h>

#define TYPED_SIGNATURE "ti>i"

// A tensor is its key set.
typedef struct tensor {
    kw_keyset keys;
} tensor;

typedef kw_status (*typed_function)(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                    int64_t *out_0);

static inline kw_keyset typed_tensor_keys(const void *x)
{
    return ((const tensor *)x)->keys;
}

static inline kw_tensor_type typed_tensor_type(void)
{
    return (kw_tensor_type){
        .struct_size = sizeof(kw_tensor_type),
        .name = "tensor of the tests",
        .version = 1,
        .keys = typed_tensor_keys,
    };
}

static inline tensor typed_tensor(kw_keyset keys)
{
    return (tensor){keys};
}

static inline kw_status typed_call(const kw_operator *op, tensor *x, int64_t n, int64_t *out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, x->keys, &keys);
    kw_status status = ((typed_function)entry->function)(entry->kernel, keys, x, n, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status typed_redispatch(const kw_operator *op, kw_keyset keys, tensor *x,
                                         int64_t n, int64_t *out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_LIKELY(table != NULL)) {
        const kw_entry *entry = kw_redispatch_select(table, keys);
        kw_status status = ((typed_function)entry->function)(entry->kernel, keys, x, n, out_0);
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
    }
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((typed_function)entry->function)(entry->kernel, keys, x, n, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status typed_call_boxed(const kw_operator *op, tensor *x, int64_t n,
                                         int64_t *out_0)
{
    kw_value args[2] = {kw_value_tensor(x), kw_value_int(n)};
    kw_value returns[1] = {kw_value_none()};
    kw_frame frame = {.args = args, .returns = returns, .arg_count = 2, .return_count = 1};
    kw_status status = kw_call_boxed(op, &frame);
    if (status == KW_OK) {
        *out_0 = returns[0].as.as_int;
    }
    return status;
}

#endif // TESTS_CONCURRENCY_TYPED_H
