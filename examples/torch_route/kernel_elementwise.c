// Sums, products and relu of float32 tensors, element by element.
//
// Layer:   example
// Threads: any; who writes in place has the tensor to himself.
// SPDX-License-Identifier: MIT
//
// Served are contiguous tensors of equal sizes, and a tensor with a number: results then have the
// strides that PyTorch gives them. Broadcasting, other types and other strides are declined.

#include <stddef.h>

#include <keyway/tensor_view.h>

#include "kernels.h"

// The other operand of a binary kernel: elements, or one number for all of them.
typedef struct operand {
    const float *data;
    float number; // where `data` is NULL
} operand;

static bool has_sizes_of(const kw_tensor *a, const kw_tensor *b)
{
    if (kw_tensor_dim(a) != kw_tensor_dim(b)) {
        return false;
    }
    for (uint32_t i = 0; i < kw_tensor_dim(a); i++) {
        if (kw_tensor_sizes(a)[i] != kw_tensor_sizes(b)[i]) {
            return false;
        }
    }
    return true;
}

// A tensor without dimensions takes no part in the promotion of types beside one that has some.
static bool number_of(const kw_tensor *self, const kw_tensor *other, float *out_number)
{
    const void *data = kw_tensor_data(other);
    if (kw_tensor_dim(self) == 0 || kw_tensor_dim(other) != 0 || data == NULL) {
        return false;
    }
    switch (kw_tensor_dtype(other)) {
    case KW_DTYPE_FLOAT32:
        *out_number = *(const float *)data;
        return true;
    case KW_DTYPE_FLOAT64:
        *out_number = (float)*(const double *)data;
        return true;
    case KW_DTYPE_INT64:
        *out_number = (float)*(const int64_t *)data;
        return true;
    default:
        return false;
    }
}

static bool operand_of(const kw_tensor *self, const kw_tensor *other, operand *out_operand)
{
    operand found = {NULL, 0};
    if (!route_takes(self) || !kw_tensor_is_contiguous(self)) {
        return false;
    }
    if (number_of(self, other, &found.number)) {
        *out_operand = found;
        return true;
    }
    found.data = (const float *)kw_tensor_data(other);
    *out_operand = found;
    return route_takes(other) && kw_tensor_is_contiguous(other) && has_sizes_of(self, other);
}

static bool scalar_of(const kw_value *value, float *out_number)
{
    if (value->tag == KW_TAG_INT) {
        *out_number = (float)value->as.as_int;
        return true;
    }
    *out_number = (float)value->as.as_float;
    return value->tag == KW_TAG_FLOAT;
}

static void add(float *to, const float *self, operand other, float alpha, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = self[i] + alpha * (other.data != NULL ? other.data[i] : other.number);
    }
}

static void mul(float *to, const float *self, operand other, float alpha, int64_t count)
{
    (void)alpha;
    for (int64_t i = 0; i < count; i++) {
        to[i] = self[i] * (other.data != NULL ? other.data[i] : other.number);
    }
}

typedef void (*loop)(float *to, const float *self, operand other, float alpha, int64_t count);

// The arguments of a binary kernel, if it can serve them.
static bool binary_args(const kw_frame *frame, operand *out_other, float *out_alpha)
{
    *out_alpha = 1;
    return operand_of(route_tensor(frame, 0), route_tensor(frame, 1), out_other) &&
           (frame->arg_count < 3 || scalar_of(&frame->args[2], out_alpha));
}

static kw_status binary(const kw_kernel *self, const kw_operator *op, kw_frame *frame, loop run)
{
    kw_tensor *from = route_tensor(frame, 0), *result = NULL;
    operand other;
    float alpha, *to = NULL;
    if (!binary_args(frame, &other, &alpha)) {
        return route_decline(self, op, frame);
    }
    kw_status status = route_result(kw_tensor_sizes(from), kw_tensor_dim(from), &result, &to);
    if (status == KW_OK) {
        run(to, (const float *)kw_tensor_data(from), other, alpha, kw_tensor_numel(from));
        frame->returns[0] = kw_value_tensor(result);
        route_served(self);
    }
    return status;
}

static kw_status in_place(const kw_kernel *self, const kw_operator *op, kw_frame *frame, loop run)
{
    kw_tensor *target = route_tensor(frame, 0);
    kw_error err = KW_ERROR_INIT;
    operand other;
    float alpha;
    void *to = NULL;
    if (!binary_args(frame, &other, &alpha)) {
        return route_decline(self, op, frame);
    }
    kw_status status = kw_tensor_mutable_data(target, &to, &err);
    if (status == KW_OK) {
        status = kw_tensor_bump_version(target, &err);
    }
    if (status != KW_OK) {
        return kw_fail(status, "%s", err.text);
    }
    run((float *)to, (const float *)to, other, alpha, kw_tensor_numel(target));
    kw_tensor_retain(target);
    frame->returns[0] = kw_value_tensor(target);
    route_served(self);
    return KW_OK;
}

kw_status route_add(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)keys;
    return binary(self, op, frame, add);
}

kw_status route_mul(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)keys;
    return binary(self, op, frame, mul);
}

kw_status route_add_in_place(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)keys;
    return in_place(self, op, frame, add);
}

kw_status route_mul_in_place(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)keys;
    return in_place(self, op, frame, mul);
}

kw_status route_relu(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kw_tensor *from = route_tensor(frame, 0), *result = NULL;
    float *to = NULL;
    (void)keys;
    if (!route_takes(from) || !kw_tensor_is_contiguous(from)) {
        return route_decline(self, op, frame);
    }
    kw_status status = route_result(kw_tensor_sizes(from), kw_tensor_dim(from), &result, &to);
    if (status != KW_OK) {
        return status;
    }
    const float *data = (const float *)kw_tensor_data(from);
    for (int64_t i = 0; i < kw_tensor_numel(from); i++) {
        to[i] = data[i] < 0 ? 0 : data[i]; // NaN stays
    }
    frame->returns[0] = kw_value_tensor(result);
    route_served(self);
    return KW_OK;
}
