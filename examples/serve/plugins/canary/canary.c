// The plugin `canary`: conv2d and linear of a backend that a request takes or does not take.
//
// Layer:   example (uses the generated nn.h, layers.h)
// Threads: any; scratch is allocated by each call
// SPDX-License-Identifier: MIT
//
// Note [A backend for a share of the requests]
//
// No tensor is of the backend Canary (PrivateUse2): it is in the include set of a thread while the
// thread serves such a request, and the highest backend of the keys then. So these kernels come
// before those of the CPU, also of plugins that are loaded later, and others do not see them.
// Everything that the backend has no kernel for goes on without it, by a fallback: to the kernel
// that serves other requests. So do tensors of another device, and others that the kernels here
// cannot take. Redispatch takes the keys as given: the include set is not asked again.

#include <nn.h>
#include <stdlib.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>

#include "blocked.h"
#include "layers.h"
#include "plugins/support/descriptor.h"
#include "tensors.h"

static kw_keyset without_canary(kw_keyset keys)
{
    return kw_keyset_remove_backend(keys, KW_BACKEND_PrivateUse2);
}

static bool is_plain(const kw_tensor *tensor)
{
    return tensor == NULL ||
           (kw_tensor_dtype(tensor) == KW_DTYPE_FLOAT32 && kw_tensor_is_on(tensor, KW_DEVICE_CPU) &&
            kw_tensor_is_contiguous(tensor) &&
            (kw_tensor_numel(tensor) == 0 || kw_tensor_data(tensor) != NULL));
}

static bool are_plain(const kw_tensor *x, const kw_tensor *weight, const kw_tensor *bias)
{
    return is_plain(x) && is_plain(weight) && is_plain(bias);
}

static kw_status run_conv2d(const fashion_conv2d_shape *shape, kw_tensor *x, kw_tensor *weight,
                            kw_tensor *bias, kw_tensor **out_0)
{
    size_t count = 0;
    float *scratch = blocked_conv2d_scratch_count(shape, &count)
                         ? reallocarray(NULL, count > 0 ? count : 1, sizeof *scratch)
                         : NULL;
    if (scratch == NULL) {
        return kw_fail(KW_NO_MEMORY, "no memory for an image with its padding");
    }
    float *y = NULL;
    const kw_status status = serve_conv2d_result(shape, out_0, &y);
    if (status == KW_OK) {
        blocked_conv2d(shape, serve_tensor_values(x), serve_tensor_values(weight),
                       serve_tensor_values(bias), scratch, y);
    }
    free(scratch);
    return status;
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    if (!are_plain(x, weight, bias)) {
        return nn_conv2d_redispatch_on(self->op, without_canary(keys), x, weight, bias, padding,
                                       out_0);
    }
    fashion_conv2d_shape shape;
    const kw_status status = serve_conv2d_describe(x, weight, bias, padding, &shape);
    return status == KW_OK ? run_conv2d(&shape, x, weight, bias, out_0) : status;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    if (!are_plain(x, weight, bias)) {
        return nn_linear_redispatch_on(self->op, without_canary(keys), x, weight, bias, out_0);
    }
    serve_linear_shape shape;
    float *y = NULL;
    kw_status status = serve_linear_describe(x, weight, bias, &shape);
    if (status == KW_OK) {
        status = serve_linear_result(&shape, out_0, &y);
    }
    if (status == KW_OK) {
        blocked_linear(&shape, serve_tensor_values(x), serve_tensor_values(weight),
                       serve_tensor_values(bias), y);
    }
    return status;
}

// A boxed kernel serves operators of every signature.
static kw_status go_on(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    return kw_redispatch_boxed(op, without_canary(keys), frame);
}

// The plugin's library has no namespace, since a fallback is for operators of all.
static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    const kw_kernel_descriptor fallback = KW_BOXED(go_on);
    kw_status status =
        kw_transaction_fallback(tx, library, KW_KEY_PrivateUse2, &fallback, NULL, err);
    if (status != KW_OK) {
        return status;
    }
    if ((status = nn_conv2d_impl(tx, library, KW_KEY_PrivateUse2, conv2d)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_PrivateUse2, linear)) != KW_OK) {
        *err = *kw_transaction_error(tx);
    }
    return status;
}

KW_PLUGIN = SERVE_PLUGIN(NULL, "canary", "1.0", start, NULL);
