// Model: the network, with every operator called through Keyway.
//
// Layer:     example (uses ops, weights)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "model.h"

#include <string.h>

static fashion_tensor *copy_parameter(const fashion_parameter *parameter)
{
    fashion_tensor *tensor = fashion_tensor_create(parameter->rank, parameter->shape);
    if (tensor != NULL) {
        memcpy(tensor->values, parameter->values, tensor->count * sizeof tensor->values[0]);
    }
    return tensor;
}

bool fashion_model_init(fashion_model *model, const fashion_ops *ops,
                        const fashion_weights *weights)
{
    *model = (fashion_model){
        .ops = *ops,
        .conv1_weight = copy_parameter(&weights->conv1_weight),
        .conv1_bias = copy_parameter(&weights->conv1_bias),
        .conv2_weight = copy_parameter(&weights->conv2_weight),
        .conv2_bias = copy_parameter(&weights->conv2_bias),
        .linear1_weight = copy_parameter(&weights->linear1_weight),
        .linear1_bias = copy_parameter(&weights->linear1_bias),
        .linear2_weight = copy_parameter(&weights->linear2_weight),
        .linear2_bias = copy_parameter(&weights->linear2_bias),
    };
    if (model->conv1_weight == NULL || model->conv1_bias == NULL || model->conv2_weight == NULL ||
        model->conv2_bias == NULL || model->linear1_weight == NULL || model->linear1_bias == NULL ||
        model->linear2_weight == NULL || model->linear2_bias == NULL) {
        fashion_model_fini(model);
        return false;
    }
    return true;
}

void fashion_model_fini(fashion_model *model)
{
    fashion_tensor_release(model->conv1_weight);
    fashion_tensor_release(model->conv1_bias);
    fashion_tensor_release(model->conv2_weight);
    fashion_tensor_release(model->conv2_bias);
    fashion_tensor_release(model->linear1_weight);
    fashion_tensor_release(model->linear1_bias);
    fashion_tensor_release(model->linear2_weight);
    fashion_tensor_release(model->linear2_bias);
    *model = (fashion_model){.conv1_weight = NULL};
}

// The layers below replace `*x` by their result, or leave it as it is and say why.

static kw_status replace(kw_status status, fashion_tensor **x, fashion_tensor *take_result)
{
    if (status == KW_OK) {
        fashion_tensor_release(*x);
        *x = take_result;
    }
    return status;
}

static kw_status conv2d(const fashion_ops *ops, fashion_tensor *weight, fashion_tensor *bias,
                        fashion_tensor **x)
{
    fashion_tensor *y = NULL;
    const kw_status status =
        nn_conv2d_call_on(ops->handles[FASHION_OP_CONV2D], *x, weight, bias, 1, &y);
    return replace(status, x, y);
}

static kw_status relu(const fashion_ops *ops, fashion_tensor **x)
{
    fashion_tensor *y = NULL;
    const kw_status status = nn_relu_call_on(ops->handles[FASHION_OP_RELU], *x, &y);
    return replace(status, x, y);
}

static kw_status max_pool2d(const fashion_ops *ops, fashion_tensor **x)
{
    fashion_tensor *y = NULL;
    const kw_status status = nn_max_pool2d_call_on(ops->handles[FASHION_OP_MAX_POOL2D], *x, 2, &y);
    return replace(status, x, y);
}

static kw_status linear(const fashion_ops *ops, fashion_tensor *weight, fashion_tensor *bias,
                        fashion_tensor **x)
{
    fashion_tensor *y = NULL;
    const kw_status status =
        nn_linear_call_on(ops->handles[FASHION_OP_LINEAR], *x, weight, bias, &y);
    return replace(status, x, y);
}

static kw_status conv_block(const fashion_ops *ops, fashion_tensor *weight, fashion_tensor *bias,
                            fashion_tensor **x)
{
    kw_status status = conv2d(ops, weight, bias, x);
    if (status == KW_OK) {
        status = relu(ops, x);
    }
    return status == KW_OK ? max_pool2d(ops, x) : status;
}

static kw_status head(const fashion_model *model, fashion_tensor **x)
{
    kw_status status = linear(&model->ops, model->linear1_weight, model->linear1_bias, x);
    if (status == KW_OK) {
        status = relu(&model->ops, x);
    }
    return status == KW_OK ? linear(&model->ops, model->linear2_weight, model->linear2_bias, x)
                           : status;
}

kw_status fashion_model_run(const fashion_model *model, fashion_tensor *images,
                            fashion_tensor **out_logits, fashion_tensor **out_probabilities)
{
    fashion_tensor *x = fashion_tensor_retain(images);
    fashion_tensor *probabilities = NULL;
    kw_status status = conv_block(&model->ops, model->conv1_weight, model->conv1_bias, &x);
    if (status == KW_OK) {
        status = conv_block(&model->ops, model->conv2_weight, model->conv2_bias, &x);
    }
    if (status == KW_OK) {
        status = head(model, &x);
    }
    if (status == KW_OK) {
        status = nn_softmax_call_on(model->ops.handles[FASHION_OP_SOFTMAX], x, 1, &probabilities);
    }
    if (status != KW_OK) {
        fashion_tensor_release(x);
        return status;
    }
    *out_logits = x;
    *out_probabilities = probabilities;
    return KW_OK;
}
