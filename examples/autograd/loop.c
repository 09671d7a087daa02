// Loops over the elements of up to three tensors: strides and broadcasting.
//
// Layer:     example (uses the library)
// Threads:   a loop is its kernel's own
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "loop.h"

#include <stdbool.h>
#include <stddef.h>

#include <keyway/call.h>
#include <keyway/dispatcher.h>

#include "fail.h"

typedef struct element_loop {
    uint32_t dim;
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t steps[KW_TENSOR_DIM_MAX][GRAD_LOOP_OPERANDS]; // in elements
    void *data[GRAD_LOOP_OPERANDS];
    int64_t element_bytes;
} element_loop;

// The size of dimension `i` of `dim`, counted from the end; 1 beyond the tensor's own.
static int64_t size_at(const kw_tensor *tensor, uint32_t i, uint32_t dim)
{
    const uint32_t own = kw_tensor_dim(tensor);
    return i + own < dim ? 1 : kw_tensor_sizes(tensor)[i + own - dim];
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

kw_status grad_loop_shape(const kw_kernel *self, const kw_tensor *a, const kw_tensor *b,
                          int64_t *out_sizes, uint32_t *out_dim)
{
    const kw_tensor *other = b != NULL ? b : a;
    const uint32_t dim = larger(kw_tensor_dim(a), kw_tensor_dim(other));
    for (uint32_t i = 0; i < dim; i++) {
        const int64_t size_a = size_at(a, i, dim);
        const int64_t size_b = size_at(other, i, dim);
        if (size_a != size_b && size_a != 1 && size_b != 1) {
            return GRAD_FAIL(KW_INVALID_ARGUMENT,
                             "%s: sizes %lld and %lld of dimension %u do not go together",
                             kw_operator_name(self->op), (long long)size_a, (long long)size_b, i);
        }
        out_sizes[i] = size_a != 1 ? size_a : size_b;
    }
    *out_dim = dim;
    return KW_OK;
}

static kw_status check_type(const kw_kernel *self, const kw_tensor *tensor, uint8_t dtype)
{
    if (kw_tensor_dtype(tensor) == dtype &&
        (dtype == KW_DTYPE_FLOAT32 || dtype == KW_DTYPE_FLOAT64)) {
        return KW_OK;
    }
    return GRAD_FAIL(KW_NOT_SUPPORTED, "%s takes float32 or float64 throughout, not %s",
                     kw_operator_name(self->op), kw_dtype_name(kw_tensor_dtype(tensor)));
}

static void set_steps(element_loop *loop, uint32_t operand, const kw_tensor *tensor)
{
    const uint32_t added = loop->dim - kw_tensor_dim(tensor);
    for (uint32_t i = 0; i < loop->dim; i++) {
        bool repeated = size_at(tensor, i, loop->dim) == 1;
        loop->steps[i][operand] = repeated ? 0 : kw_tensor_strides(tensor)[i - added];
    }
}

// Moves every operand by steps of one dimension.
static void move(const element_loop *loop, void **data, uint32_t dimension, int64_t count)
{
    for (uint32_t k = 0; k < GRAD_LOOP_OPERANDS; k++) {
        data[k] = (char *)data[k] + count * loop->steps[dimension][k] * loop->element_bytes;
    }
}

// All rows of the last dimension, one after the other.
static void run(const element_loop *loop, grad_row row, double factor)
{
    static const int64_t no_steps[GRAD_LOOP_OPERANDS] = {0};
    const uint32_t last = loop->dim - 1;
    int64_t index[KW_TENSOR_DIM_MAX] = {0};
    void *data[GRAD_LOOP_OPERANDS] = {loop->data[0], loop->data[1], loop->data[2]};
    if (loop->dim == 0) {
        row(1, data, no_steps, factor);
        return;
    }
    for (;;) {
        row(loop->sizes[last], data, loop->steps[last], factor);
        uint32_t i = last;
        while (i > 0 && index[i - 1] == loop->sizes[i - 1] - 1) {
            i--;
            move(loop, data, i, -index[i]);
            index[i] = 0;
        }
        if (i == 0) {
            return;
        }
        index[i - 1]++;
        move(loop, data, i - 1, 1);
    }
}

static kw_status set_up(const kw_kernel *self, element_loop *loop, kw_tensor *out,
                        const kw_tensor *a, const kw_tensor *b)
{
    const kw_tensor *operands[GRAD_LOOP_OPERANDS] = {out, a, b};
    loop->element_bytes = (int64_t)kw_dtype_bytes(kw_tensor_dtype(out));
    for (uint32_t k = 0; k < GRAD_LOOP_OPERANDS; k++) {
        const kw_tensor *operand = operands[k] != NULL ? operands[k] : a;
        kw_status status = check_type(self, operand, kw_tensor_dtype(out));
        if (status != KW_OK) {
            return status;
        }
        set_steps(loop, k, operand);
        loop->data[k] = (void *)(uintptr_t)kw_tensor_data(operand);
    }
    return KW_OK;
}

kw_status grad_loop_run(const kw_kernel *self, const grad_rows *rows, double factor, kw_tensor *out,
                        const kw_tensor *a, const kw_tensor *b)
{
    kw_error err = KW_ERROR_INIT;
    element_loop loop;
    void *writable = NULL;
    kw_status status = grad_loop_shape(self, a, b, loop.sizes, &loop.dim);
    if (status == KW_OK) {
        status = set_up(self, &loop, out, a, b);
    }
    if (status == KW_OK) {
        status = grad_fail(kw_tensor_mutable_data(out, &writable, &err), &err);
    }
    if (status != KW_OK) {
        return status;
    }
    for (uint32_t i = 0; i < loop.dim; i++) {
        if (loop.sizes[i] == 0) {
            return KW_OK;
        }
    }
    run(&loop, kw_tensor_dtype(out) == KW_DTYPE_FLOAT32 ? rows->float32 : rows->float64, factor);
    return KW_OK;
}
