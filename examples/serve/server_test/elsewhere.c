// A plugin of the tests whose linear leaves its result on another device, of which relu, linear and
// softmax are served as well: so results come back from a device to a server that asks for numbers.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// The device is memory in which each bit is the opposite of what it means. Who reads it without the
// allocator's `copy` reads wrong numbers.

#include <fashion/math_plain.h>
#include <nn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#include "plugins/support/descriptor.h"
#include "tensors.h"

static void *allocate(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    (void)device_index;
    (void)context;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give_back(void *data, size_t bytes, int32_t device_index, void *context)
{
    (void)bytes;
    (void)device_index;
    (void)context;
    free(data);
}

// Nothing comes back while there is a file with the name in SERVE_TEST_LOST.
static bool is_lost(kw_device to)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char *lost = getenv("SERVE_TEST_LOST");
    return to.type == KW_DEVICE_CPU && lost != NULL && access(lost, F_OK) == 0;
}

static kw_status copy(void *to, kw_device to_device, const void *from, kw_device from_device,
                      size_t bytes, void *context)
{
    (void)context;
    if (is_lost(to_device)) {
        return KW_KERNEL_FAILED;
    }
    const unsigned char flip = to_device.type == from_device.type ? 0 : 0xff;
    for (size_t i = 0; i < bytes; i++) {
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i] ^ flip;
    }
    return KW_OK;
}

static kw_status end(kw_status status, const kw_error *err)
{
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err->text);
}

// Replaces a tensor by one of the device, or of the CPU.
static kw_status go(kw_tensor **tensor, int32_t device_type, kw_error *err)
{
    kw_tensor *moved = NULL;
    const kw_status status = serve_tensor_move(*tensor, device_type, &moved, err);
    if (status == KW_OK) {
        kw_tensor_release(*tensor);
        *tensor = moved;
    }
    return status;
}

// Makes what a kernel needs: `*out_x` is `x` on the CPU, `*out_y` its result there.
static kw_status begin(kw_tensor *x, int64_t columns, kw_tensor **out_x, kw_tensor **out_y,
                       float **out_values, kw_error *err)
{
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], columns};
    kw_status status = serve_tensor_move(x, KW_DEVICE_CPU, out_x, err);
    if (status == KW_OK) {
        status = serve_tensor_create(2, sizes, out_y, out_values, err);
    }
    if (status != KW_OK) {
        kw_tensor_release(*out_x);
    }
    return status;
}

static kw_status finish(kw_tensor *take_x, kw_tensor *take_y, kw_tensor **out_0, kw_error *err)
{
    const kw_status status = go(&take_y, KW_DEVICE_PRIVATEUSE1, err);
    kw_tensor_release(take_x);
    if (status != KW_OK) {
        kw_tensor_release(take_y);
        return end(status, err);
    }
    *out_0 = take_y;
    return KW_OK;
}

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near = NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    const int64_t *sizes = kw_tensor_sizes(weight);
    const kw_status status = begin(x, sizes[0], &near, &y, &values, &err);
    if (status != KW_OK) {
        return end(status, &err);
    }
    fashion_plain_linear((size_t)kw_tensor_sizes(x)[0], (size_t)sizes[1], (size_t)sizes[0],
                         serve_tensor_values(near), serve_tensor_values(weight),
                         serve_tensor_values(bias), values);
    return finish(near, y, out_0, &err);
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near = NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    const kw_status status = begin(x, kw_tensor_sizes(x)[1], &near, &y, &values, &err);
    if (status != KW_OK) {
        return end(status, &err);
    }
    fashion_plain_relu((size_t)kw_tensor_numel(x), serve_tensor_values(near), values);
    return finish(near, y, out_0, &err);
}

static kw_status softmax(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t dim,
                         kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)dim;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near = NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    const int64_t *sizes = kw_tensor_sizes(x);
    const kw_status status = begin(x, sizes[1], &near, &y, &values, &err);
    if (status != KW_OK) {
        return end(status, &err);
    }
    fashion_plain_softmax((size_t)sizes[0], (size_t)sizes[1], serve_tensor_values(near), values);
    return finish(near, y, out_0, &err);
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    // No lease: the server's snapshots hold the plugin for longer than results live.
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "elsewhere",
        .allocate = allocate,
        .free = give_back,
        .copy = copy,
    };
    kw_status status = KW_OK;
    if ((status = nn_linear_impl(tx, library, KW_KEY_CPU, linear)) != KW_OK ||
        (status = nn_linear_impl(tx, library, KW_KEY_PrivateUse1, linear)) != KW_OK ||
        (status = nn_relu_impl(tx, library, KW_KEY_PrivateUse1, relu)) != KW_OK ||
        (status = nn_softmax_impl(tx, library, KW_KEY_PrivateUse1, softmax)) != KW_OK) {
        *err = *kw_transaction_error(tx);
        return status;
    }
    return kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, &allocator, err);
}

static kw_status stop(kw_error *err)
{
    return kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, NULL, err);
}

KW_PLUGIN = SERVE_PLUGIN("nn", "elsewhere", "1.0", start, stop);
