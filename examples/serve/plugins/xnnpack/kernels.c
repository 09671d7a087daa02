// Kernels: under the key CPU, under the tag of the layout, and what leads out of it.
//
// Layer:   example (uses the generated nn.h, layout, operation)
// Threads: any
// SPDX-License-Identifier: MIT

#include "kernels.h"

#include <nn.h>

#include <keyway/call.h>

#include "layers.h"
#include "layout.h"
#include "operation.h"

// Whether the CPU is meant, and `x` is an image that a kernel of the tag can take.
static bool is_for_us(kw_keyset keys, const kw_tensor *x)
{
    return kw_keyset_highest_backend(keys) == KW_BACKEND_CPU && xnnpack_is_tagged(x) &&
           kw_tensor_dim(x) == 4 && kw_tensor_dtype(x) == KW_DTYPE_FLOAT32 &&
           kw_tensor_is_on(x, KW_DEVICE_CPU) && !kw_tensor_is_symbolic(x) &&
           kw_tensor_storage(x) != NULL && kw_tensor_numel(x) != 0;
}

// Takes the tag off a tensor, for what is below it; NULL, and what has no tag, is only retained.
static kw_status untag(kw_tensor *tensor, kw_tensor **out_tensor)
{
    if (!xnnpack_is_tagged(tensor)) {
        kw_tensor_retain(tensor);
        *out_tensor = tensor;
        return KW_OK;
    }
    const kw_status status = xnnpack_float_check(tensor, "a tensor in the layout of xnnpack");
    return status == KW_OK ? xnnpack_plain_of(tensor, out_tensor) : status;
}

// Ends a kernel: gives its result to the caller if it was made, and back what it was made of.
static kw_status finish(kw_status status, kw_tensor *take_source, kw_tensor *take_result,
                        kw_tensor **out_0)
{
    kw_tensor_release(take_source);
    if (status != KW_OK) {
        kw_tensor_release(take_result);
        return status;
    }
    *out_0 = take_result;
    return KW_OK;
}

// conv2d
// ----------------------------------------------------------------------------------------

static kw_status compute_conv2d(const fashion_conv2d_shape *shape, kw_tensor *x,
                                const kw_tensor *weight, const kw_tensor *bias, kw_tensor **out_0)
{
    int64_t sizes[4];
    serve_conv2d_sizes(shape, sizes);
    kw_tensor *result = NULL;
    kw_tensor *image = NULL;
    float *y = NULL;
    kw_status status = xnnpack_image_create(sizes, &result, &y);
    if (status == KW_OK && kw_tensor_numel(result) != 0) {
        status = kw_tensor_numel(x) != 0 && kw_tensor_numel(weight) != 0
                     ? xnnpack_image_of(x, &image)
                     : kw_fail(KW_NOT_SUPPORTED, "XNNPACK makes no sums without terms");
        if (status == KW_OK) {
            status = xnnpack_conv2d(image, weight, bias, (int64_t)shape->padding, y);
        }
    }
    return finish(status, image, result, out_0);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, int64_t padding, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    fashion_conv2d_shape shape;
    kw_status status = KW_OK;
    if ((status = xnnpack_float_check(x, "x")) != KW_OK ||
        (status = serve_weights_check(weight, 4, bias)) != KW_OK ||
        (status = serve_conv2d_describe(x, weight, bias, padding, &shape)) != KW_OK) {
        return status;
    }
    return compute_conv2d(&shape, x, weight, bias, out_0);
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d_below(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                              kw_tensor *weight, kw_tensor *bias, int64_t padding,
                              kw_tensor **out_0)
{
    kw_tensor *plain[3] = {NULL, NULL, NULL};
    kw_status status = KW_OK;
    if ((status = untag(x, &plain[0])) == KW_OK && (status = untag(weight, &plain[1])) == KW_OK &&
        (status = untag(bias, &plain[2])) == KW_OK) {
        status = nn_conv2d_redispatch_on(self->op, xnnpack_keys_below(keys), plain[0], plain[1],
                                         plain[2], padding, out_0);
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        kw_tensor_release(plain[i]);
    }
    return status;
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status conv2d_tagged(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                               kw_tensor *weight, kw_tensor *bias, int64_t padding,
                               kw_tensor **out_0)
{
    if (!is_for_us(keys, x) || xnnpack_is_tagged(weight) || xnnpack_is_tagged(bias)) {
        return conv2d_below(self, keys, x, weight, bias, padding, out_0);
    }
    return conv2d(self, keys, x, weight, bias, padding, out_0);
}

// relu and max_pool2d
// ----------------------------------------------------------------------------------------

static kw_status relu_tagged(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    kw_tensor *taken = NULL;
    if (!is_for_us(keys, x)) {
        kw_status status = untag(x, &taken);
        if (status == KW_OK) {
            status = nn_relu_redispatch_on(self->op, xnnpack_keys_below(keys), taken, out_0);
        }
        kw_tensor_release(taken);
        return status;
    }
    kw_tensor *result = NULL;
    float *y = NULL;
    kw_status status = xnnpack_image_of(x, &taken);
    if (status == KW_OK) {
        status = xnnpack_image_create(kw_tensor_sizes(x), &result, &y);
    }
    if (status == KW_OK) {
        status = xnnpack_relu(taken, y);
    }
    return finish(status, taken, result, out_0);
}

// XNNPACK has no window of one pixel, and rounds the number of windows up to one.
static bool has_windows(const kw_tensor *x, int64_t size)
{
    return size > 1 && size <= kw_tensor_sizes(x)[2] && size <= kw_tensor_sizes(x)[3];
}

static kw_status max_pool2d_below(const kw_kernel *self, kw_keyset keys, kw_tensor *x, int64_t size,
                                  kw_tensor **out_0)
{
    kw_tensor *plain = NULL;
    kw_status status = untag(x, &plain);
    if (status == KW_OK) {
        status =
            nn_max_pool2d_redispatch_on(self->op, xnnpack_keys_below(keys), plain, size, out_0);
    }
    kw_tensor_release(plain);
    return status;
}

static kw_status max_pool2d_tagged(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                                   int64_t size, kw_tensor **out_0)
{
    if (!is_for_us(keys, x) || !has_windows(x, size)) {
        return max_pool2d_below(self, keys, x, size, out_0);
    }
    fashion_pool2d_shape shape;
    kw_status status = serve_max_pool2d_describe(x, size, &shape);
    if (status != KW_OK) {
        return status;
    }
    int64_t sizes[4];
    serve_max_pool2d_sizes(x, &shape, sizes);
    kw_tensor *taken = NULL;
    kw_tensor *result = NULL;
    float *y = NULL;
    status = xnnpack_image_of(x, &taken);
    if (status == KW_OK) {
        status = xnnpack_image_create(sizes, &result, &y);
    }
    if (status == KW_OK) {
        status = xnnpack_max_pool2d(taken, size, y);
    }
    return finish(status, taken, result, out_0);
}

// linear
// ----------------------------------------------------------------------------------------

static kw_status linear(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *weight,
                        kw_tensor *bias, kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    serve_linear_shape shape;
    kw_status status = KW_OK;
    if ((status = xnnpack_float_check(x, "x")) != KW_OK ||
        (status = serve_weights_check(weight, 2, bias)) != KW_OK ||
        (status = serve_linear_describe(x, weight, bias, &shape)) != KW_OK) {
        return status;
    }
    kw_tensor *rows = NULL;
    kw_tensor *result = NULL;
    float *y = NULL;
    status = serve_linear_result(&shape, &result, &y);
    if (status == KW_OK && kw_tensor_numel(result) != 0) {
        status = shape.columns != 0
                     ? xnnpack_plain_of(x, &rows)
                     : kw_fail(KW_NOT_SUPPORTED, "XNNPACK makes no sums without terms");
        if (status == KW_OK) {
            status = xnnpack_linear(rows, weight, bias, y);
        }
    }
    return finish(status, rows, result, out_0);
}

// The way out
// ----------------------------------------------------------------------------------------

// Makes plain what the list has tagged would take a list of its own; no operator here has lists.
static kw_status refuse_list(kw_value value)
{
    for (uint32_t i = 0; i < value.count; i++) {
        if (xnnpack_is_tagged(value.as.as_tensors[i])) {
            return kw_fail(KW_NOT_SUPPORTED,
                           "a list has a tensor in the layout of xnnpack, which only goes as "
                           "an argument of its own");
        }
    }
    return KW_OK;
}

static kw_status untag_value(kw_value *value, kw_tensor **out_plain)
{
    if (value->tag == KW_TAG_TENSOR_LIST) {
        return refuse_list(*value);
    }
    if (value->tag != KW_TAG_TENSOR || !xnnpack_is_tagged(value->as.as_tensor)) {
        return KW_OK;
    }
    const kw_status status = untag(value->as.as_tensor, out_plain);
    if (status == KW_OK) {
        *value = kw_value_tensor(*out_plain);
    }
    return status;
}

// For every operator without a kernel of the tag. None of the namespace writes to its arguments;
// for one that does, what it wrote would have to be brought back.
static kw_status leave_layout(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)self;
    kw_value given[KW_FRAME_ARGS_MAX];
    kw_tensor *plain[KW_FRAME_ARGS_MAX] = {NULL};
    kw_status status = KW_OK;
    for (uint32_t i = 0; i < frame->arg_count; i++) {
        given[i] = frame->args[i];
    }
    for (uint32_t i = 0; i < frame->arg_count && status == KW_OK; i++) {
        status = untag_value(&frame->args[i], &plain[i]);
    }
    if (status == KW_OK) {
        status = kw_redispatch_boxed(op, xnnpack_keys_below(keys), frame);
    }
    for (uint32_t i = 0; i < frame->arg_count; i++) {
        frame->args[i] = given[i];
        kw_tensor_release(plain[i]);
    }
    return status;
}

kw_status xnnpack_kernels_stage(kw_transaction *tx, kw_library *library)
{
    const kw_kernel_descriptor fallback = KW_BOXED(leave_layout);
    kw_error ignored = KW_ERROR_INIT; // the transaction keeps it
    kw_status status = KW_OK;
    if ((status = nn_conv2d_impl(tx, library, KW_KEY_CPU, conv2d)) == KW_OK &&
        (status = nn_linear_impl(tx, library, KW_KEY_CPU, linear)) == KW_OK &&
        (status = nn_conv2d_impl(tx, library, XNNPACK_TAG, conv2d_tagged)) == KW_OK &&
        (status = nn_relu_impl(tx, library, XNNPACK_TAG, relu_tagged)) == KW_OK &&
        (status = nn_max_pool2d_impl(tx, library, XNNPACK_TAG, max_pool2d_tagged)) == KW_OK) {
        status = kw_transaction_fallback(tx, library, XNNPACK_TAG, &fallback, NULL, &ignored);
    }
    return status;
}
