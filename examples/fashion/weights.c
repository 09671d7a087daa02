// Weights: the trained parameters of the example's network, in memory, by name.
//
// Layer:     example (uses float_file)
// Threads:   any; loaded weights do not change and may be read by all
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "weights.h"

#include <stdlib.h>

#include "float_file.h"

// Gives the parameter the next values of the storage.
static void place(fashion_parameter *parameter, const float **next)
{
    parameter->values = *next;
    *next += fashion_parameter_count(parameter);
}

bool fashion_weights_load(const char *path, fashion_weights *out_weights, fashion_error *err)
{
    float *values = NULL;
    size_t count = 0;
    if (!fashion_float_file_load(path, FASHION_WEIGHTS_COUNT, &values, &count, err)) {
        return false;
    }
    if (count != FASHION_WEIGHTS_COUNT) {
        fashion_error_set(err, "%s: %zu floats, expected %u", path, count, FASHION_WEIGHTS_COUNT);
        free(values);
        return false;
    }
    fashion_weights weights = {
        .conv1_weight = {.rank = 4, .shape = {16, 1, 3, 3}},
        .conv1_bias = {.rank = 1, .shape = {16}},
        .conv2_weight = {.rank = 4, .shape = {32, 16, 3, 3}},
        .conv2_bias = {.rank = 1, .shape = {32}},
        .linear1_weight = {.rank = 2, .shape = {64, 1568}},
        .linear1_bias = {.rank = 1, .shape = {64}},
        .linear2_weight = {.rank = 2, .shape = {10, 64}},
        .linear2_bias = {.rank = 1, .shape = {10}},
        .storage = values,
    };
    const float *next = values;
    place(&weights.conv1_weight, &next);
    place(&weights.conv1_bias, &next);
    place(&weights.conv2_weight, &next);
    place(&weights.conv2_bias, &next);
    place(&weights.linear1_weight, &next);
    place(&weights.linear1_bias, &next);
    place(&weights.linear2_weight, &next);
    place(&weights.linear2_bias, &next);
    *out_weights = weights;
    return true;
}

void fashion_weights_fini(fashion_weights *weights)
{
    free(weights->storage);
    *weights = (fashion_weights){.storage = NULL};
}

size_t fashion_parameter_count(const fashion_parameter *parameter)
{
    size_t count = 1;
    for (size_t i = 0; i < parameter->rank; i++) {
        count *= parameter->shape[i];
    }
    return count;
}
