// The product of two float32 matrices of any strides.
//
// Layer:   example
// Threads: any.
// SPDX-License-Identifier: MIT

#include "kernels.h"

typedef struct matrix {
    const float *data;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
} matrix;

static bool matrix_of(const kw_tensor *tensor, matrix *out_matrix)
{
    if (!route_takes(tensor) || kw_tensor_dim(tensor) != 2) {
        return false;
    }
    const int64_t *sizes = kw_tensor_sizes(tensor), *strides = kw_tensor_strides(tensor);
    *out_matrix =
        (matrix){(const float *)kw_tensor_data(tensor), sizes[0], sizes[1], strides[0], strides[1]};
    return true;
}

// Sums in double: the result is the exact one but for its last rounding, or nearly.
static float dot(matrix a, matrix b, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t k = 0; k < a.columns; k++) {
        sum += (double)a.data[row * a.row_stride + k * a.column_stride] *
               (double)b.data[k * b.row_stride + column * b.column_stride];
    }
    return (float)sum;
}

kw_status route_mm(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kw_tensor *result = NULL;
    float *to = NULL;
    matrix a, b;
    (void)keys;
    if (!matrix_of(route_tensor(frame, 0), &a) || !matrix_of(route_tensor(frame, 1), &b) ||
        a.columns != b.rows) {
        return route_decline(self, op, frame);
    }
    kw_status status = route_result((int64_t[]){a.rows, b.columns}, 2, &result, &to);
    if (status != KW_OK) {
        return status;
    }
    for (int64_t row = 0; row < a.rows; row++) {
        for (int64_t column = 0; column < b.columns; column++) {
            to[row * b.columns + column] = dot(a, b, row, column);
        }
    }
    frame->returns[0] = kw_value_tensor(result);
    route_served(self);
    return KW_OK;
}
