// Layer kernels: kernels that look at a call and hand it to the kernels below them.
//
// Layer:     example (uses kernels, request)
// Threads:   any; what they count is the thread's own
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// A real autograd kernel would note how to go back from the result to the arguments, and a real
// tracer what was called with what. These two only count, and redispatch in the two ways there are:
// typed, inline, and boxed, with a frame.

#include "kernels.h"
#include "request.h"

// What is left of a call for the kernels below autograd.
static kw_keyset below_autograd(kw_keyset keys)
{
    fashion_request *request = fashion_request_current();
    if (request != NULL) {
        request->autograd_count++;
    }
    return kw_keyset_intersection(keys, kw_keyset_after_autograd());
}

// NOLINTNEXTLINE(readability-function-size): the schema says how many parameters there are
static kw_status autograd_conv2d(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                                 fashion_tensor *weight, fashion_tensor *bias, int64_t padding,
                                 fashion_tensor **out_0)
{
    fashion_tensor *y = NULL;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_CONV2D);
    if (status != KW_OK) {
        return status;
    }
    status = nn_conv2d_redispatch_on(self->op, below_autograd(keys), x, weight, bias, padding, &y);
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status autograd_relu(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                               fashion_tensor **out_0)
{
    fashion_tensor *y = NULL;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_RELU);
    if (status != KW_OK) {
        return status;
    }
    status = nn_relu_redispatch_on(self->op, below_autograd(keys), x, &y);
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status autograd_max_pool2d(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                                     int64_t size, fashion_tensor **out_0)
{
    fashion_tensor *y = NULL;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_MAX_POOL2D);
    if (status != KW_OK) {
        return status;
    }
    status = nn_max_pool2d_redispatch_on(self->op, below_autograd(keys), x, size, &y);
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status autograd_linear(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                                 fashion_tensor *weight, fashion_tensor *bias,
                                 fashion_tensor **out_0)
{
    fashion_tensor *y = NULL;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_LINEAR);
    if (status != KW_OK) {
        return status;
    }
    status = nn_linear_redispatch_on(self->op, below_autograd(keys), x, weight, bias, &y);
    return fashion_kernel_finish(self, status, y, out_0);
}

static kw_status autograd_softmax(const kw_kernel *self, kw_keyset keys, fashion_tensor *x,
                                  int64_t dim, fashion_tensor **out_0)
{
    fashion_tensor *y = NULL;
    kw_status status = fashion_kernel_enter(self, FASHION_OP_SOFTMAX);
    if (status != KW_OK) {
        return status;
    }
    status = nn_softmax_redispatch_on(self->op, below_autograd(keys), x, dim, &y);
    return fashion_kernel_finish(self, status, y, out_0);
}

void fashion_autograd_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                            fashion_slot *out_slot)
{
    const kw_kernel_descriptor kernels[FASHION_OP_COUNT] = {
        [FASHION_OP_CONV2D] = nn_conv2d_unboxed(autograd_conv2d),
        [FASHION_OP_RELU] = nn_relu_unboxed(autograd_relu),
        [FASHION_OP_MAX_POOL2D] = nn_max_pool2d_unboxed(autograd_max_pool2d),
        [FASHION_OP_LINEAR] = nn_linear_unboxed(autograd_linear),
        [FASHION_OP_SOFTMAX] = nn_softmax_unboxed(autograd_softmax),
    };
    fashion_change_impl(change, library, op, key, kernels[op], out_slot);
}

// One function for five operators: a boxed kernel needs to know no signature.
static kw_status trace(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    const fashion_kernel_state *state = self->user_data;
    kw_status status = fashion_kernel_enter(self, (fashion_op)state->op);
    if (status != KW_OK) {
        return status;
    }
    fashion_request *request = fashion_request_current();
    if (request != NULL) {
        request->traced_count++;
    }
    const kw_keyset below = kw_keyset_full_after(KW_KEY_Tracer);
    fashion_tensor *y = NULL;
    fashion_tensor *out = NULL;
    status = kw_redispatch_boxed(op, kw_keyset_intersection(keys, below), frame);
    if (status == KW_OK) {
        y = frame->returns[0].as.as_tensor;
    }
    status = fashion_kernel_finish(self, status, y, &out);
    frame->returns[0] = kw_value_tensor(out);
    return status;
}

void fashion_trace_stage(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         fashion_slot *out_slot)
{
    fashion_change_impl(change, library, op, key, KW_BOXED(trace), out_slot);
}
