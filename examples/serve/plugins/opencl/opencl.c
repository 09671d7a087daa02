// The plugin opencl: the network's operators on another device, under the key PrivateUse1.
//
// Layer:   example (uses the generated nn.h, device, weight_cache)
// Threads: any
// SPDX-License-Identifier: MIT
//
// conv2d and linear are where tensors change places. Their kernels of the key CPU bring x to the
// device and go on in the same call with the device's key; results stay there, so what follows
// arrives at PrivateUse1 by itself, also with weights that are on the CPU: of two backends the one
// with the higher number has the call. Kernels of PrivateUse1 bring what is not on the device yet,
// and keep the weights there.

#include <nn.h>

#include <keyway/plugin_api.h>

#include "device.h"
#include "layers.h"
#include "plugins/support/descriptor.h"
#include "plugins/support/weight_cache.h"
#include "staging.h"
#include "tensors.h"

static serve_cache weights; // guard: immutable, but for what is in it

// Moving ------------------------------------------------------------------------------------------

// Brings a tensor to the device, unless it is there. `*out_there` is the caller's reference.
static kw_status bring(kw_tensor *tensor, kw_tensor **out_there)
{
    if (kw_tensor_dtype(tensor) != KW_DTYPE_FLOAT32) {
        return kw_fail(KW_WRONG_VALUE, "a tensor without float32 elements");
    }
    kw_error err = KW_ERROR_INIT;
    const kw_status status = serve_tensor_move(tensor, KW_DEVICE_PRIVATEUSE1, out_there, &err);
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err.text);
}

// The same for weight and bias, whose copies are kept. `*out_there` is NULL for NULL.
static kw_status bring_weight(kw_tensor *tensor, kw_tensor **out_there)
{
    if (tensor == NULL) {
        *out_there = NULL;
        return KW_OK;
    }
    return kw_tensor_is_on(tensor, KW_DEVICE_PRIVATEUSE1)
               ? bring(tensor, out_there)
               : serve_weight_cache_get(&weights, tensor, bring, out_there);
}

// The tensors of a call, on the device.
typedef struct inputs {
    kw_tensor *x;
    kw_tensor *weight;
    kw_tensor *bias; // NULL: none
} inputs;

static void inputs_fini(inputs *in)
{
    kw_tensor_release(in->x);
    kw_tensor_release(in->weight);
    kw_tensor_release(in->bias);
}

static kw_status inputs_init(inputs *out_in, kw_tensor *x, kw_tensor *weight, kw_tensor *bias)
{
    inputs in = {.x = NULL};
    kw_status status = KW_OK;
    if ((status = bring(x, &in.x)) != KW_OK ||
        (status = bring_weight(weight, &in.weight)) != KW_OK ||
        (status = bring_weight(bias, &in.bias)) != KW_OK) {
        inputs_fini(&in);
        return status;
    }
    *out_in = in;
    return KW_OK;
}

// Makes the result, the last of a kernel's tensors, and runs the kernel.
static kw_status answer(serve_device_launch *launch, uint32_t dim, const int64_t *sizes,
                        kw_tensor **out_0)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_ALWAYS,
        .device = {KW_DEVICE_PRIVATEUSE1, -1},
    };
    kw_error err = KW_ERROR_INIT;
    kw_tensor *y = NULL;
    kw_status status = kw_tensor_create(&options, &y, &err);
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    launch->tensors[launch->tensor_count++] = y;
    status = serve_device_run(launch);
    if (status != KW_OK) {
        kw_tensor_release(y);
        return status;
    }
    *out_0 = y;
    return KW_OK;
}

// Kernels of the device ---------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    inputs in;
    int64_t sizes[4];
    kw_status status = serve_conv2d_describe(x, weight, bias, padding, &shape);
    if (status == KW_OK) {
        status = inputs_init(&in, x, weight, bias);
    }
    if (status != KW_OK) {
        return status;
    }
    serve_conv2d_sizes(&shape, sizes);
    serve_device_launch launch = {
        .kernel = DEVICE_CONV2D,
        .count = (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]),
        .tensors = {in.x, in.weight, in.bias},
        .tensor_count = 3,
        .numbers = {shape.batch, shape.in_channels, shape.height, shape.width, shape.out_channels,
                    shape.kernel_height, shape.kernel_width, shape.padding, (size_t)sizes[2],
                    (size_t)sizes[3]},
        .number_count = 10,
    };
    status = answer(&launch, 4, sizes, out_0);
    inputs_fini(&in);
    return status;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    inputs in;
    kw_status status = serve_linear_describe(x, weight, bias, &shape);
    if (status == KW_OK) {
        status = inputs_init(&in, x, weight, bias);
    }
    if (status != KW_OK) {
        return status;
    }
    serve_device_launch launch = {
        .kernel = DEVICE_LINEAR,
        .count = shape.rows * shape.out_columns,
        .tensors = {in.x, in.weight, in.bias},
        .tensor_count = 3,
        .numbers = {shape.rows, shape.columns, shape.out_columns},
        .number_count = 3,
    };
    status = answer(&launch, 2, (const int64_t[]){(int64_t)shape.rows, (int64_t)shape.out_columns},
                    out_0);
    inputs_fini(&in);
    return status;
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_tensor *there = NULL;
    kw_status status = bring(x, &there);
    if (status != KW_OK) {
        return status;
    }
    const size_t count = (size_t)kw_tensor_numel(x);
    serve_device_launch launch = {
        .kernel = DEVICE_RELU,
        .count = count,
        .tensors = {there},
        .tensor_count = 1,
        .numbers = {count},
        .number_count = 1,
    };
    status = answer(&launch, kw_tensor_dim(x), kw_tensor_sizes(x), out_0);
    kw_tensor_release(there);
    return status;
}

static kw_status max_pool2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t size,
                            kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_pool2d_shape shape;
    kw_tensor *there = NULL;
    int64_t sizes[4];
    kw_status status = serve_max_pool2d_describe(x, size, &shape);
    if (status == KW_OK) {
        status = bring(x, &there);
    }
    if (status != KW_OK) {
        return status;
    }
    serve_max_pool2d_sizes(x, &shape, sizes);
    serve_device_launch launch = {
        .kernel = DEVICE_MAX_POOL2D,
        .count = (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]),
        .tensors = {there},
        .tensor_count = 1,
        .numbers = {shape.planes, shape.height, shape.width, shape.kernel, (size_t)sizes[2],
                    (size_t)sizes[3]},
        .number_count = 6,
    };
    status = answer(&launch, 4, sizes, out_0);
    kw_tensor_release(there);
    return status;
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    size_t rows = 0;
    size_t columns = 0;
    kw_tensor *there = NULL;
    kw_status status = serve_softmax_describe(x, dim, &rows, &columns);
    if (status == KW_OK) {
        status = bring(x, &there);
    }
    if (status != KW_OK) {
        return status;
    }
    serve_device_launch launch = {
        .kernel = DEVICE_SOFTMAX,
        .count = columns > 0 ? rows : 0,
        .tensors = {there},
        .tensor_count = 1,
        .numbers = {rows, columns},
        .number_count = 2,
    };
    status = answer(&launch, 2, kw_tensor_sizes(x), out_0);
    kw_tensor_release(there);
    return status;
}

// Kernels of the CPU ------------------------------------------------------------------------------

// Only the key is added: a fresh call would join the thread's include set again, and go wherever
// that leads.
static kw_keyset device_keys(kw_keyset keys)
{
    return kw_keyset_add(keys, KW_KEY_PrivateUse1);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d_cpu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                            kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    kw_tensor *there = NULL;
    kw_status status = bring(x, &there);
    if (status == KW_OK) {
        status = nn_conv2d_redispatch_on(self->op, device_keys(keys), there, weight, bias, padding,
                                         out_0);
        kw_tensor_release(there);
    }
    return status;
}

static kw_status linear_cpu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                            kw_tensor *bias, kw_tensor **out_0)
{
    kw_tensor *there = NULL;
    kw_status status = bring(x, &there);
    if (status == KW_OK) {
        status = nn_linear_redispatch_on(self->op, device_keys(keys), there, weight, bias, out_0);
        kw_tensor_release(there);
    }
    return status;
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    kw_status status = serve_device_open(err);
    if (status == KW_OK) {
        status = serve_weight_cache_init(&weights, err);
    }
    if (status != KW_OK) {
        return status;
    }
    if (nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d_cpu) != KW_OK ||
        nn_linear_impl(tx, library, KW_KEY_CPU, linear_cpu) != KW_OK ||
        !SERVE_KERNELS_STAGE(tx, library, KW_KEY_PrivateUse1)) {
        *err = *kw_transaction_error(tx);
        serve_cache_fini(&weights);
        return err->status;
    }
    return KW_OK;
}

static kw_status stop(kw_error *err)
{
    (void)err;
    serve_cache_fini(&weights);
    return KW_OK;
}

KW_PLUGIN = SERVE_PLUGIN("nn", "opencl", "1.0", start, stop);
