// Operators of the demo: names, schemas, and what a generator would print for each of them.
//
// Layer:     example (uses ops_signatures, tensor)
// Threads:   any; a fashion_ops does not change once it is found
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_OPS_H
#define FASHION_OPS_H

#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/kernel.h>
#include <keyway/library.h>

#include "ops_signatures.h"
#include "tensor.h"

typedef enum fashion_op {
    FASHION_OP_CONV2D = 0,
    FASHION_OP_RELU = 1,
    FASHION_OP_MAX_POOL2D = 2,
    FASHION_OP_LINEAR = 3,
    FASHION_OP_SOFTMAX = 4,
    FASHION_OP_COUNT = 5,
} fashion_op;

// A resolved handle for each operator; valid as long as the dispatcher.
typedef struct fashion_ops {
    const kw_operator *handles[FASHION_OP_COUNT];
} fashion_ops;

/// Returns "nn::conv2d" and so on; valid for ever.
const char *fashion_op_name(fashion_op op);

/// Defines the five operators in a library, in a transaction of its own.
kw_status fashion_ops_define(kw_dispatcher *dispatcher, kw_library *library, kw_error *err);

/// Finds the five handles and proves their C signatures.
kw_status fashion_ops_find(kw_dispatcher *dispatcher, fashion_ops *out_ops, kw_error *err);

// Descriptors of typed kernels. Only a function of the operator's own type compiles.
#define NN_CONV2D_KERNEL(function)                                                                 \
    _Generic(&(function), nn_ttti_t_kernel : KW_UNBOXED("ttti>t", function))
#define NN_RELU_KERNEL(function) _Generic(&(function), nn_t_t_kernel : KW_UNBOXED("t>t", function))
#define NN_MAX_POOL2D_KERNEL(function)                                                             \
    _Generic(&(function), nn_ti_t_kernel : KW_UNBOXED("ti>t", function))
#define NN_LINEAR_KERNEL(function)                                                                 \
    _Generic(&(function), nn_ttt_t_kernel : KW_UNBOXED("ttt>t", function))
#define NN_SOFTMAX_KERNEL(function)                                                                \
    _Generic(&(function), nn_ti_t_kernel : KW_UNBOXED("ti>t", function))

// The keys of an argument; an absent tensor has none.
static inline kw_keyset nn_keys(const fashion_tensor *tensor)
{
    return tensor != NULL ? tensor->keys : kw_keyset_empty();
}

// Hands a result on, on success only.
static inline kw_status nn_return(kw_status status, void *result, fashion_tensor **out_0)
{
    if (KW_LIKELY(status == KW_OK)) {
        *out_0 = (fashion_tensor *)result;
    }
    return status;
}

// Calls. Arguments are borrowed; on success the caller owns `*out_0`, on failure it is untouched
// and kw_call_error() says why.

// nn::conv2d(Tensor x, Tensor weight, Tensor? bias, int padding) -> Tensor
static inline kw_status nn_conv2d_call(const kw_operator *op, fashion_tensor *x,
                                       fashion_tensor *weight, fashion_tensor *bias,
                                       int64_t padding, fashion_tensor **out_0)
{
    kw_keyset keys = kw_keyset_union(kw_keyset_union(nn_keys(x), nn_keys(weight)), nn_keys(bias));
    void *result = NULL;
    kw_status status = nn_ttti_t_call(op, keys, x, weight, bias, padding, &result);
    return nn_return(status, result, out_0);
}

// nn::relu(Tensor x) -> Tensor
static inline kw_status nn_relu_call(const kw_operator *op, fashion_tensor *x,
                                     fashion_tensor **out_0)
{
    void *result = NULL;
    kw_status status = nn_t_t_call(op, nn_keys(x), x, &result);
    return nn_return(status, result, out_0);
}

// nn::max_pool2d(Tensor x, int size) -> Tensor
static inline kw_status nn_max_pool2d_call(const kw_operator *op, fashion_tensor *x, int64_t size,
                                           fashion_tensor **out_0)
{
    void *result = NULL;
    kw_status status = nn_ti_t_call(op, nn_keys(x), x, size, &result);
    return nn_return(status, result, out_0);
}

// nn::linear(Tensor x, Tensor weight, Tensor? bias) -> Tensor
static inline kw_status nn_linear_call(const kw_operator *op, fashion_tensor *x,
                                       fashion_tensor *weight, fashion_tensor *bias,
                                       fashion_tensor **out_0)
{
    kw_keyset keys = kw_keyset_union(kw_keyset_union(nn_keys(x), nn_keys(weight)), nn_keys(bias));
    void *result = NULL;
    kw_status status = nn_ttt_t_call(op, keys, x, weight, bias, &result);
    return nn_return(status, result, out_0);
}

// nn::softmax(Tensor x, int dim) -> Tensor
static inline kw_status nn_softmax_call(const kw_operator *op, fashion_tensor *x, int64_t dim,
                                        fashion_tensor **out_0)
{
    void *result = NULL;
    kw_status status = nn_ti_t_call(op, nn_keys(x), x, dim, &result);
    return nn_return(status, result, out_0);
}

// Redispatches, for kernels: the arguments as the kernel got them, with the keys that are left.

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static inline kw_status nn_conv2d_redispatch(const kw_operator *op, kw_keyset keys, void *x,
                                             void *weight, void *bias, int64_t padding,
                                             void **out_0)
{
    return nn_ttti_t_redispatch(op, keys, x, weight, bias, padding, out_0);
}

static inline kw_status nn_relu_redispatch(const kw_operator *op, kw_keyset keys, void *x,
                                           void **out_0)
{
    return nn_t_t_redispatch(op, keys, x, out_0);
}

static inline kw_status nn_max_pool2d_redispatch(const kw_operator *op, kw_keyset keys, void *x,
                                                 int64_t size, void **out_0)
{
    return nn_ti_t_redispatch(op, keys, x, size, out_0);
}

static inline kw_status nn_linear_redispatch(const kw_operator *op, kw_keyset keys, void *x,
                                             void *weight, void *bias, void **out_0)
{
    return nn_ttt_t_redispatch(op, keys, x, weight, bias, out_0);
}

static inline kw_status nn_softmax_redispatch(const kw_operator *op, kw_keyset keys, void *x,
                                              int64_t dim, void **out_0)
{
    return nn_ti_t_redispatch(op, keys, x, dim, out_0);
}

#endif // FASHION_OPS_H
