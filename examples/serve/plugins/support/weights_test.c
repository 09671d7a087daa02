// Test of a plugin that prepares weights: weights_test PLUGIN DATA_FOLDER.
//
// Layer:   example (uses test_host, the generated nn.h)
// Threads: one
// SPDX-License-Identifier: MIT
//
// Answers are always those of the weights that a call has: after they were written to, at another
// place of the same storage, with other data in the same tensor, with or without a bias, and after
// more weights and shapes than the plugin keeps. What it keeps does not grow beyond its bounds.

#include <malloc.h>
#include <nn.h>
#include <stdio.h>

#include <keyway/local.h>

#include "layers.h"
#include "tensors.h"
#include "test_host.h"

enum {
    SHAPES = 280, // more than any plugin keeps
    MORE = 100,
    BYTES_MAX = 64 * 1024
};

#define DISTANCE 1e-4 // elements are below 100

static void check_conv2d(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias,
                         const char *what)
{
    const fashion_conv2d_shape shape = {
        (size_t)kw_tensor_sizes(x)[0],      (size_t)kw_tensor_sizes(x)[1],
        (size_t)kw_tensor_sizes(x)[2],      (size_t)kw_tensor_sizes(x)[3],
        (size_t)kw_tensor_sizes(weight)[0], (size_t)kw_tensor_sizes(weight)[2],
        (size_t)kw_tensor_sizes(weight)[3], 1};
    int64_t sizes[4];
    kw_error err = KW_ERROR_INIT;
    kw_tensor *expected = NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    serve_conv2d_sizes(&shape, sizes);
    test_must(serve_tensor_create(4, sizes, &expected, &values, &err) == KW_OK, "%s", err.text);
    fashion_plain_conv2d(&shape, serve_tensor_values(x), serve_tensor_values(weight),
                         serve_tensor_values(bias), values);
    test_must(nn_conv2d_call_on(host->network.ops[SERVE_OP_CONV2D], x, weight, bias, 1, &y) ==
                  KW_OK,
              "%s: %s", what, kw_call_error());
    (void)test_check(host, test_is_close(y, expected, DISTANCE), "conv2d: %s", what);
    kw_tensor_release(y);
    kw_tensor_release(expected);
}

static void check_linear(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias,
                         const char *what)
{
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], kw_tensor_sizes(weight)[0]};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *expected = NULL;
    kw_tensor *y = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(2, sizes, &expected, &values, &err) == KW_OK, "%s", err.text);
    fashion_plain_linear((size_t)sizes[0], (size_t)kw_tensor_sizes(weight)[1], (size_t)sizes[1],
                         serve_tensor_values(x), serve_tensor_values(weight),
                         serve_tensor_values(bias), values);
    test_must(nn_linear_call_on(host->network.ops[SERVE_OP_LINEAR], x, weight, bias, &y) == KW_OK,
              "%s: %s", what, kw_call_error());
    (void)test_check(host, test_is_close(y, expected, DISTANCE), "linear: %s", what);
    kw_tensor_release(y);
    kw_tensor_release(expected);
}

// A contiguous tensor with a version, part of a storage twice as large.
static kw_tensor *make_weight(test_host *host, uint32_t dim, const int64_t *sizes, bool is_second)
{
    int64_t twice[4] = {0};
    kw_error err = KW_ERROR_INIT;
    for (uint32_t i = 0; i < dim; i++) {
        twice[i] = i == 0 ? 2 * sizes[i] : sizes[i];
    }
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = twice,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_NEVER,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor *whole = NULL;
    kw_tensor *part = NULL;
    kw_tensor *values = test_random(host, dim, twice);
    test_must(kw_tensor_create(&options, &whole, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_copy(whole, values, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_narrow(whole, 0, is_second ? sizes[0] : 0, sizes[0], &part, &err) == KW_OK,
              "%s", err.text);
    kw_tensor_release(values);
    kw_tensor_release(whole);
    return part;
}

static kw_tensor *other_half(kw_tensor *weight)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *half = NULL;
    const kw_int_list sizes = {kw_tensor_sizes(weight), kw_tensor_dim(weight)};
    const kw_int_list strides = {kw_tensor_strides(weight), kw_tensor_dim(weight)};
    test_must(kw_tensor_as_strided(weight, sizes, strides, kw_tensor_numel(weight), &half, &err) ==
                  KW_OK,
              "%s", err.text);
    return half;
}

typedef void (*check_function)(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias,
                               const char *what);

static void check_changes(test_host *host, check_function check, uint32_t dim,
                          const int64_t *x_sizes, const int64_t *weight_sizes)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = test_random(host, dim, x_sizes);
    kw_tensor *weight = make_weight(host, dim, weight_sizes, false);
    kw_tensor *bias = make_weight(host, 1, weight_sizes, false);
    check(host, x, weight, bias, "new weights");
    check(host, x, weight, NULL, "without the bias");
    kw_tensor *half = other_half(weight);
    check(host, x, half, bias, "another part of the storage");
    kw_tensor_release(half);
    half = other_half(bias);
    check(host, x, weight, half, "another bias of the storage");
    kw_tensor_release(half);

    kw_tensor *values = test_random(host, dim, weight_sizes);
    test_must(kw_tensor_copy(weight, values, &err) == KW_OK, "%s", err.text);
    check(host, x, weight, bias, "a weight that was written to");
    kw_tensor_release(values);
    values = test_random(host, 1, weight_sizes);
    test_must(kw_tensor_copy(bias, values, &err) == KW_OK, "%s", err.text);
    check(host, x, weight, bias, "a bias that was written to");
    kw_tensor_release(values);
    for (size_t i = 0; i < 8; i++) { // the storage of one turn is free for the next but one
        values = make_weight(host, dim, weight_sizes, false);
        test_must(kw_tensor_set_data(weight, values, &err) == KW_OK, "%s", err.text);
        kw_tensor_release(values);
        check(host, x, weight, bias, "a weight with other data");
    }
    kw_tensor_release(x);
    kw_tensor_release(weight);
    kw_tensor_release(bias);
}

static size_t heap_bytes(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

// Each turn has weights and a number of rows that no other has had.
static void check_bounds(test_host *host)
{
    size_t before = 0;
    for (int64_t i = 0; i < SHAPES + MORE; i++) {
        if (i == SHAPES) {
            before = heap_bytes();
        }
        kw_tensor *x = test_random(host, 2, (const int64_t[]){1 + i, 8});
        kw_tensor *weight = test_random(host, 2, (const int64_t[]){16, 8});
        check_linear(host, x, weight, NULL, "many shapes");
        kw_tensor_release(x);
        kw_tensor_release(weight);
    }
    const size_t after = heap_bytes();
    (void)test_check(host, after < before + BYTES_MAX, "the heap has grown from %zu bytes to %zu",
                     before, after);
}

int main(int argc, char **argv)
{
    static test_host host;
    if (argc != 3) {
        (void)fputs("weights_test PLUGIN DATA_FOLDER\n", stderr);
        return 2;
    }
    test_host_start(&host, argv[2]);
    test_host_load(&host, argv[1]);
    // Weights that have a version have keys of autograd and views, which nothing serves here.
    kw_local_guard guard;
    test_must(kw_local_below_view(&guard) == KW_OK, "a guard");
    check_changes(&host, check_conv2d, 4, (const int64_t[]){2, 3, 5, 6},
                  (const int64_t[]){8, 3, 3, 3});
    check_changes(&host, check_linear, 2, (const int64_t[]){3, 24}, (const int64_t[]){16, 24});
    check_bounds(&host);
    kw_local_restore(&guard);
    test_host_unload(&host);
    return test_host_stop(&host);
}
