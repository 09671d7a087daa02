// Recipe: describes an operator of a shape to oneDNN.
//
// Layer:   example (uses layer)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Images come channel by channel, which oneDNN has slow code for: 0.5 ms for the second convolution
// of a batch of 16, 1.4 ms for the first pooling. So convolutions leave the formats of all tensors
// to oneDNN, pooling names the one it has code for, and a layer converts around them: 0.3 ms and
// 0.1 ms. Everything else is as fast as memory in the format that comes.

#include "recipe.h"

#include <string.h>

#include <keyway/call.h>

// Tensors of a layer, as they come and go, and as the primitive may take them.
typedef struct descs {
    dnnl_memory_desc_t source;
    dnnl_memory_desc_t weight;
    dnnl_memory_desc_t bias;
    dnnl_memory_desc_t result;
    dnnl_memory_desc_t inner_source;
    dnnl_memory_desc_t inner_weight;
    dnnl_memory_desc_t inner_result;
} descs;

// oneDNN reads as many sizes as there may be at most.
static dnnl_status_t describe(dnnl_memory_desc_t *out, uint32_t dim, const int64_t *sizes,
                              dnnl_format_tag_t format)
{
    dnnl_dims_t dims = {0};
    memcpy(dims, sizes, dim * sizeof dims[0]);
    return dnnl_memory_desc_init_by_tag(out, (int)dim, dims, dnnl_f32, format);
}

static kw_status create(dnnl_status_t status, const_dnnl_op_desc_t operation, const descs *of,
                        const dnnl_memory_desc_t *weight, onednn_layer **out_layer)
{
    if (status != dnnl_success) {
        return kw_fail(KW_NOT_SUPPORTED, "oneDNN takes no layer of this shape: status %d",
                       (int)status);
    }
    const onednn_recipe recipe = {
        .operation = operation,
        .source = &of->source,
        .weight = weight,
        .result = &of->result,
    };
    return onednn_layer_create(&recipe, out_layer);
}

static kw_status make_conv2d(const onednn_shape *shape, onednn_layer **out_layer)
{
    descs of;
    dnnl_convolution_desc_t operation;
    const dnnl_dims_t strides = {1, 1};
    const dnnl_dims_t padding = {shape->padding, shape->padding};
    dnnl_status_t status = dnnl_success;
    if ((status = describe(&of.source, 4, shape->source, dnnl_nchw)) == dnnl_success &&
        (status = describe(&of.weight, 4, shape->weight, dnnl_oihw)) == dnnl_success &&
        (status = describe(&of.bias, 1, shape->weight, dnnl_a)) == dnnl_success &&
        (status = describe(&of.result, 4, shape->result, dnnl_nchw)) == dnnl_success &&
        (status = describe(&of.inner_source, 4, shape->source, dnnl_format_tag_any)) ==
            dnnl_success &&
        (status = describe(&of.inner_weight, 4, shape->weight, dnnl_format_tag_any)) ==
            dnnl_success &&
        (status = describe(&of.inner_result, 4, shape->result, dnnl_format_tag_any)) ==
            dnnl_success) {
        status = dnnl_convolution_forward_desc_init(
            &operation, dnnl_forward_inference, dnnl_convolution_direct, &of.inner_source,
            &of.inner_weight, shape->has_bias != 0 ? &of.bias : NULL, &of.inner_result, strides,
            padding, padding);
    }
    return create(status, &operation, &of, &of.weight, out_layer);
}

static kw_status make_relu(const onednn_shape *shape, onednn_layer **out_layer)
{
    descs of;
    dnnl_eltwise_desc_t operation;
    dnnl_status_t status = describe(&of.source, 1, shape->source, dnnl_a);
    if (status == dnnl_success) {
        of.result = of.source;
        status = dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_inference,
                                                dnnl_eltwise_relu, &of.source, 0, 0);
    }
    return create(status, &operation, &of, NULL, out_layer);
}

static kw_status make_max_pool2d(const onednn_shape *shape, onednn_layer **out_layer)
{
    descs of;
    dnnl_pooling_desc_t operation;
    const dnnl_dims_t window = {shape->window, shape->window};
    const dnnl_dims_t padding = {0, 0};
    dnnl_status_t status = dnnl_success;
    if ((status = describe(&of.source, 4, shape->source, dnnl_nchw)) == dnnl_success &&
        (status = describe(&of.result, 4, shape->result, dnnl_nchw)) == dnnl_success &&
        (status = describe(&of.inner_source, 4, shape->source, dnnl_nChw8c)) == dnnl_success &&
        (status = describe(&of.inner_result, 4, shape->result, dnnl_nChw8c)) == dnnl_success) {
        status = dnnl_pooling_forward_desc_init(&operation, dnnl_forward_inference,
                                                dnnl_pooling_max, &of.inner_source,
                                                &of.inner_result, window, window, padding, padding);
    }
    return create(status, &operation, &of, NULL, out_layer);
}

static kw_status make_linear(const onednn_shape *shape, onednn_layer **out_layer)
{
    descs of;
    dnnl_inner_product_desc_t operation;
    dnnl_status_t status = dnnl_success;
    if ((status = describe(&of.source, 2, shape->source, dnnl_nc)) == dnnl_success &&
        (status = describe(&of.weight, 2, shape->weight, dnnl_oi)) == dnnl_success &&
        (status = describe(&of.bias, 1, shape->weight, dnnl_a)) == dnnl_success &&
        (status = describe(&of.result, 2, shape->result, dnnl_nc)) == dnnl_success &&
        (status = describe(&of.inner_weight, 2, shape->weight, dnnl_format_tag_any)) ==
            dnnl_success) {
        status = dnnl_inner_product_forward_desc_init(
            &operation, dnnl_forward_inference, &of.source, &of.inner_weight,
            shape->has_bias != 0 ? &of.bias : NULL, &of.result);
    }
    return create(status, &operation, &of, &of.weight, out_layer);
}

static kw_status make_softmax(const onednn_shape *shape, onednn_layer **out_layer)
{
    descs of;
    dnnl_softmax_desc_t operation;
    dnnl_status_t status = describe(&of.source, 2, shape->source, dnnl_nc);
    if (status == dnnl_success) {
        of.result = of.source;
        status = dnnl_softmax_forward_desc_init(&operation, dnnl_forward_inference, &of.source, 1);
    }
    return create(status, &operation, &of, NULL, out_layer);
}

kw_status onednn_recipe_make(const onednn_shape *shape, onednn_layer **out_layer)
{
    static kw_status (*const makers[])(const onednn_shape *, onednn_layer **) = {
        [ONEDNN_CONV2D] = make_conv2d,         [ONEDNN_RELU] = make_relu,
        [ONEDNN_MAX_POOL2D] = make_max_pool2d, [ONEDNN_LINEAR] = make_linear,
        [ONEDNN_SOFTMAX] = make_softmax,
    };
    return makers[shape->op](shape, out_layer);
}
