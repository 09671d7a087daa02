// Network: the classifier of Fashion-MNIST images, with every layer a call through Keyway.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "network.h"

#include <nn.h>
#include <string.h>

#include "tensors.h"

typedef kw_status (*find_function)(kw_dispatcher *dispatcher, const kw_operator **out_op,
                                   kw_error *err);

static const find_function finders[SERVE_OP_COUNT] = {
    [SERVE_OP_CONV2D] = nn_conv2d_find,         [SERVE_OP_RELU] = nn_relu_find,
    [SERVE_OP_MAX_POOL2D] = nn_max_pool2d_find, [SERVE_OP_LINEAR] = nn_linear_find,
    [SERVE_OP_SOFTMAX] = nn_softmax_find,
};

static kw_status copy_parameter(const fashion_parameter *parameter, kw_tensor **out_tensor,
                                kw_error *err)
{
    int64_t sizes[4];
    for (size_t i = 0; i < parameter->rank; i++) {
        sizes[i] = (int64_t)parameter->shape[i];
    }
    float *values = NULL;
    const kw_status status =
        serve_tensor_create((uint32_t)parameter->rank, sizes, out_tensor, &values, err);
    if (status == KW_OK) {
        memcpy(values, parameter->values, fashion_parameter_count(parameter) * sizeof values[0]);
    }
    return status;
}

kw_status serve_network_init(serve_network *out_network, kw_dispatcher *dispatcher,
                             const fashion_weights *weights, kw_error *err)
{
    const fashion_parameter *const parameters[SERVE_PARAMETER_COUNT] = {
        &weights->conv1_weight,   &weights->conv1_bias,     &weights->conv2_weight,
        &weights->conv2_bias,     &weights->linear1_weight, &weights->linear1_bias,
        &weights->linear2_weight, &weights->linear2_bias,
    };
    serve_network network = {.ops = {NULL}};
    kw_status status = KW_OK;
    for (size_t i = 0; i < SERVE_OP_COUNT && status == KW_OK; i++) {
        status = finders[i](dispatcher, &network.ops[i], err);
    }
    for (size_t i = 0; i < SERVE_PARAMETER_COUNT && status == KW_OK; i++) {
        status = copy_parameter(parameters[i], &network.parameters[i], err);
    }
    if (status != KW_OK) {
        serve_network_fini(&network);
        return status;
    }
    *out_network = network;
    return KW_OK;
}

void serve_network_fini(serve_network *network)
{
    for (size_t i = 0; i < SERVE_PARAMETER_COUNT; i++) {
        kw_tensor_release(network->parameters[i]);
        network->parameters[i] = NULL;
    }
}

size_t serve_network_op(const serve_network *network, const kw_operator *op)
{
    size_t index = 0;
    while (index < SERVE_OP_COUNT && network->ops[index] != op) {
        index++;
    }
    return index;
}

bool serve_network_has_canary(const serve_network *network)
{
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        if (!kw_operator_has_computed_kernel(network->ops[i], KW_KEY_PrivateUse2)) {
            return false;
        }
    }
    return true;
}

// Each layer replaces `*x` by its result, or leaves it and says why.

static kw_status replace(kw_status status, kw_tensor **x, kw_tensor *take_result)
{
    if (status == KW_OK) {
        kw_tensor_release(*x);
        *x = take_result;
    }
    return status;
}

static kw_status relu(const serve_network *network, kw_tensor **x)
{
    kw_tensor *y = NULL;
    const kw_status status = nn_relu_call_on(network->ops[SERVE_OP_RELU], *x, &y);
    return replace(status, x, y);
}

// Convolution, relu and pooling, with the parameters from `index` on.
static kw_status block(const serve_network *network, size_t index, kw_tensor **x)
{
    kw_tensor *const *const parameters = network->parameters + index;
    kw_tensor *y = NULL;
    kw_status status =
        nn_conv2d_call_on(network->ops[SERVE_OP_CONV2D], *x, parameters[0], parameters[1], 1, &y);
    status = replace(status, x, y);
    if (status == KW_OK) {
        status = relu(network, x);
    }
    if (status == KW_OK) {
        status = nn_max_pool2d_call_on(network->ops[SERVE_OP_MAX_POOL2D], *x, 2, &y);
        status = replace(status, x, y);
    }
    return status;
}

static kw_status linear(const serve_network *network, size_t index, kw_tensor **x)
{
    kw_tensor *y = NULL;
    const kw_status status =
        nn_linear_call_on(network->ops[SERVE_OP_LINEAR], *x, network->parameters[index],
                          network->parameters[index + 1], &y);
    return replace(status, x, y);
}

kw_status serve_network_run(const serve_network *network, kw_tensor *images, kw_tensor **out_logits,
                            kw_tensor **out_probabilities)
{
    kw_tensor *x = images;
    kw_tensor_retain(x);
    kw_tensor *probabilities = NULL;
    kw_status status = KW_OK;
    if ((status = block(network, 0, &x)) != KW_OK || (status = block(network, 2, &x)) != KW_OK ||
        (status = linear(network, 4, &x)) != KW_OK || (status = relu(network, &x)) != KW_OK ||
        (status = linear(network, 6, &x)) != KW_OK ||
        (status = nn_softmax_call_on(network->ops[SERVE_OP_SOFTMAX], x, 1, &probabilities)) !=
            KW_OK) {
        kw_tensor_release(x);
        return status;
    }
    *out_logits = x;
    *out_probabilities = probabilities;
    return KW_OK;
}
