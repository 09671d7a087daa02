// The backend CPU: kernels for float32 and float64.
//
// Layer:     example (uses loop, fresh)
// Threads:   any; a tensor that is changed in place is the caller's alone
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <math.h>
#include <ops.h>

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/tensor_view.h>

#include "fail.h"
#include "fresh.h"
#include "layers.h"
#include "loop.h"

// Rows: an expression of a, b, the factor, and what is there, for both types ---------------------

#define ROW(name, type, expression)                                                                \
    static void name##_##type(int64_t count, void *const *data, const int64_t *steps,              \
                              double factor)                                                       \
    {                                                                                              \
        (void)factor;                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type *out = (type *)data[0] + i * steps[0];                                            \
            const type a = ((const type *)data[1])[i * steps[1]];                                  \
            const type b = ((const type *)data[2])[i * steps[2]];                                  \
            (void)a;                                                                               \
            (void)b;                                                                               \
            *out = (type)(expression);                                                             \
        }                                                                                          \
    }

#define ROWS(name, expression)                                                                     \
    ROW(name, float, expression)                                                                   \
    ROW(name, double, expression)                                                                  \
    static const grad_rows name##_rows = {name##_float, name##_double};

ROWS(add, a + factor * b)
ROWS(mul, a *b)
ROWS(div, a / b)
ROWS(scale, a *factor)
ROWS(relu, a > 0 ? a : 0)
ROWS(mask, b > 0 ? a : 0)
ROWS(exp, exp(a))
ROWS(log, log(a))
ROWS(fill, factor)
ROWS(sum, *out + a)

static kw_status map(const kw_kernel *self, const grad_rows *rows, double factor, kw_tensor *a,
                     kw_tensor *b, kw_tensor **out_0)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    uint32_t dim = 0;
    kw_tensor *out = NULL;
    kw_status status = grad_loop_shape(self, a, b, sizes, &dim);
    if (status == KW_OK) {
        status = grad_fresh(sizes, dim, a, &out);
    }
    if (status == KW_OK) {
        status = grad_loop_run(self, rows, factor, out, a, b);
    }
    if (status != KW_OK) {
        kw_tensor_release(out);
        return status;
    }
    *out_0 = out;
    return KW_OK;
}

static kw_status add(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                     double alpha, kw_tensor **out_0)
{
    (void)keys;
    return map(self, &add_rows, alpha, a, b, out_0);
}

static kw_status mul(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                     kw_tensor **out_0)
{
    (void)keys;
    return map(self, &mul_rows, 0, a, b, out_0);
}

static kw_status div_(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                      kw_tensor **out_0)
{
    (void)keys;
    return map(self, &div_rows, 0, a, b, out_0);
}

static kw_status scale(const kw_kernel *self, kw_keyset keys, kw_tensor *x, double factor,
                       kw_tensor **out_0)
{
    (void)keys;
    return map(self, &scale_rows, factor, x, NULL, out_0);
}

static kw_status relu(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)keys;
    return map(self, &relu_rows, 0, x, NULL, out_0);
}

static kw_status relu_mask(const kw_kernel *self, kw_keyset keys, kw_tensor *grad, kw_tensor *y,
                           kw_tensor **out_0)
{
    (void)keys;
    return map(self, &mask_rows, 0, grad, y, out_0);
}

static kw_status exp_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)keys;
    return map(self, &exp_rows, 0, x, NULL, out_0);
}

static kw_status log_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor **out_0)
{
    (void)keys;
    return map(self, &log_rows, 0, x, NULL, out_0);
}

// In place -------------------------------------------------------------------------------------

static kw_status change(const kw_kernel *self, const grad_rows *rows, double factor, kw_tensor *x,
                        kw_tensor *y, kw_tensor **out_0)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    uint32_t dim = 0;
    kw_status status = grad_loop_shape(self, x, y, sizes, &dim);
    bool fits = dim == kw_tensor_dim(x);
    for (uint32_t i = 0; fits && i < dim; i++) {
        fits = sizes[i] == kw_tensor_sizes(x)[i];
    }
    if (status == KW_OK && !fits) {
        status = GRAD_FAIL(KW_INVALID_ARGUMENT, "%s: the result is larger than what is changed",
                           kw_operator_name(self->op));
    }
    if (status == KW_OK) {
        status = grad_loop_run(self, rows, factor, x, x, y);
    }
    if (status == KW_OK) {
        kw_tensor_retain(x);
        *out_0 = x;
    }
    return status;
}

static kw_status add_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *y,
                      double alpha, kw_tensor **out_0)
{
    (void)keys;
    return change(self, &add_rows, alpha, x, y, out_0);
}

static kw_status mul_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, kw_tensor *y,
                      kw_tensor **out_0)
{
    (void)keys;
    return change(self, &mul_rows, 0, x, y, out_0);
}

static kw_status fill_(const kw_kernel *self, kw_keyset keys, kw_tensor *x, double value,
                       kw_tensor **out_0)
{
    (void)keys;
    return change(self, &fill_rows, value, x, NULL, out_0);
}

// sum: a loop over x, whose output is repeated along what is summed up
// -----------------------------

// Sets `out_kept` to the sizes with 1 in place of what goes, and `out_left` to those that stay.
static kw_status sum_sizes(const kw_tensor *x, const kw_int_list *dims, int64_t *out_kept,
                           int64_t *out_left, uint32_t *out_left_count)
{
    const uint32_t dim = kw_tensor_dim(x);
    bool goes[KW_TENSOR_DIM_MAX] = {false};
    for (size_t i = 0; dims != NULL && i < dims->count; i++) {
        int64_t each = dims->data[i] < 0 ? dims->data[i] + dim : dims->data[i];
        if (each < 0 || each >= dim) {
            return GRAD_FAIL(KW_INVALID_ARGUMENT, "%s: there is no dimension %lld of %u",
                             MATH_SUM_NAME, (long long)dims->data[i], dim);
        }
        goes[each] = true;
    }
    *out_left_count = 0;
    for (uint32_t i = 0; i < dim; i++) {
        const bool stays = dims != NULL && !goes[i];
        out_kept[i] = stays ? kw_tensor_sizes(x)[i] : 1;
        if (stays) {
            out_left[(*out_left_count)++] = kw_tensor_sizes(x)[i];
        }
    }
    return KW_OK;
}

static kw_status sum(const kw_kernel *self, kw_keyset keys, kw_tensor *x, const kw_int_list *dim,
                     bool keepdim, kw_tensor **out_0)
{
    (void)keys;
    kw_error err = KW_ERROR_INIT;
    int64_t kept[KW_TENSOR_DIM_MAX];
    int64_t left[KW_TENSOR_DIM_MAX];
    uint32_t left_count = 0;
    kw_tensor *out = NULL;
    kw_status status = sum_sizes(x, dim, kept, left, &left_count);
    if (status == KW_OK) {
        status = grad_fresh(kept, kw_tensor_dim(x), x, &out);
    }
    if (status == KW_OK) {
        status = grad_loop_run(self, &fill_rows, 0, out, out, NULL);
    }
    if (status == KW_OK) {
        status = grad_loop_run(self, &sum_rows, 0, out, x, NULL);
    }
    if (status == KW_OK && !keepdim) {
        kw_tensor *shaped = NULL;
        const kw_int_list sizes = {left, left_count};
        status = grad_fail(kw_tensor_view(out, sizes, &shaped, &err), &err);
        kw_tensor_release(out);
        out = shaped;
    }
    if (status != KW_OK) {
        kw_tensor_release(out);
        return status;
    }
    *out_0 = out;
    return KW_OK;
}

// The product of matrices ------------------------------------------------------------------------

typedef struct matrix {
    const void *data;
    int64_t rows;
    int64_t columns;
    int64_t row_step; // in elements
    int64_t column_step;
} matrix;

static matrix matrix_of(const kw_tensor *tensor)
{
    const int64_t *sizes = kw_tensor_sizes(tensor);
    const int64_t *strides = kw_tensor_strides(tensor);
    return (matrix){kw_tensor_data(tensor), sizes[0], sizes[1], strides[0], strides[1]};
}

// One element of `a` at a time, so that rows of `b` and of the output are gone through in order.
#define MATMUL(type)                                                                               \
    static void matmul_##type(matrix a, matrix b, type *out)                                       \
    {                                                                                              \
        for (int64_t i = 0; i < a.rows * b.columns; i++) {                                         \
            out[i] = 0;                                                                            \
        }                                                                                          \
        for (int64_t i = 0; i < a.rows; i++) {                                                     \
            for (int64_t k = 0; k < a.columns; k++) {                                              \
                const type x = ((const type *)a.data)[i * a.row_step + k * a.column_step];         \
                const type *row = (const type *)b.data + k * b.row_step;                           \
                for (int64_t j = 0; j < b.columns; j++) {                                          \
                    out[i * b.columns + j] += x * row[j * b.column_step];                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

MATMUL(float)
MATMUL(double)

static kw_status matmul(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                        kw_tensor **out_0)
{
    (void)keys;
    const uint8_t dtype = kw_tensor_dtype(a);
    if (kw_tensor_dim(a) != 2 || kw_tensor_dim(b) != 2 ||
        kw_tensor_sizes(a)[1] != kw_tensor_sizes(b)[0] || kw_tensor_dtype(b) != dtype ||
        (dtype != KW_DTYPE_FLOAT32 && dtype != KW_DTYPE_FLOAT64)) {
        return GRAD_FAIL(KW_INVALID_ARGUMENT,
                         "%s takes two matrices of one float type, the first as wide as the second "
                         "is high",
                         kw_operator_name(self->op));
    }
    const int64_t sizes[2] = {kw_tensor_sizes(a)[0], kw_tensor_sizes(b)[1]};
    kw_tensor *out = NULL;
    kw_status status = grad_fresh(sizes, 2, a, &out);
    if (status != KW_OK) {
        return status;
    }
    void *data = (void *)(uintptr_t)kw_tensor_data(out);
    if (dtype == KW_DTYPE_FLOAT32) {
        matmul_float(matrix_of(a), matrix_of(b), data);
    } else {
        matmul_double(matrix_of(a), matrix_of(b), data);
    }
    *out_0 = out;
    return KW_OK;
}

kw_status grad_stage_cpu(kw_transaction *tx, kw_library *library)
{
    const grad_kernel kernels[] = {
        {MATH_ADD_NAME, math_add_unboxed(add)},
        {MATH_MUL_NAME, math_mul_unboxed(mul)},
        {MATH_DIV_NAME, math_div_unboxed(div_)},
        {MATH_SCALE_NAME, math_scale_unboxed(scale)},
        {MATH_MATMUL_NAME, math_matmul_unboxed(matmul)},
        {MATH_RELU_NAME, math_relu_unboxed(relu)},
        {MATH_RELU_MASK_NAME, math_relu_mask_unboxed(relu_mask)},
        {MATH_EXP_NAME, math_exp_unboxed(exp_)},
        {MATH_LOG_NAME, math_log_unboxed(log_)},
        {MATH_SUM_NAME, math_sum_unboxed(sum)},
        {MATH_ADD__NAME, math_add__unboxed(add_)},
        {MATH_MUL__NAME, math_mul__unboxed(mul_)},
        {MATH_FILL__NAME, math_fill__unboxed(fill_)},
    };
    return grad_stage(tx, library, KW_KEY_CPU, kernels, sizeof kernels / sizeof *kernels);
}
