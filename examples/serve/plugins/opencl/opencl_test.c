// Test of the plugin opencl: opencl_test PLUGIN DATA_FOLDER CYCLES, or PLUGIN DATA_FOLDER none
// where there is no platform.
//
// Layer:   example (uses test_host, test_cycles, the generated nn.h)
// Threads: one; test_cycles starts others
// SPDX-License-Identifier: MIT
//
// The driver's cache of compiled kernels goes where POCL_CACHE_DIR says.

#include <fashion/math_plain.h>
#include <nn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"
#include "test_cycles.h"

// Sums of 144 and 1,568 products in another order.
#define DISTANCE 5e-4

enum {
    STATUS_SKIPPED = 77,
    // Shapes at the end of a list that are left out where elements lie apart on the device: they
    // are copied one by one then.
    LARGE_SHAPES = 2,
    LARGE_MATRICES = 1
};

static kw_tensor *move(kw_tensor *take_tensor, int32_t device_type)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *moved = NULL;
    test_must(serve_tensor_move(take_tensor, device_type, &moved, &err) == KW_OK, "%s", err.text);
    kw_tensor_release(take_tensor);
    return moved;
}

// How an argument comes: where it lies, and how.
typedef kw_tensor *(*maker)(test_host *host, uint32_t dim, const int64_t *sizes);

static kw_tensor *make_there(test_host *host, uint32_t dim, const int64_t *sizes)
{
    return move(test_random(host, dim, sizes), KW_DEVICE_PRIVATEUSE1);
}

// The second half of a tensor on the device: its first element is not the buffer's.
static kw_tensor *make_part(test_host *host, uint32_t dim, const int64_t *sizes)
{
    kw_error err = KW_ERROR_INIT;
    int64_t twice[4] = {0};
    memcpy(twice, sizes, dim * sizeof twice[0]);
    twice[0] *= 2;
    kw_tensor *whole = make_there(host, dim, twice);
    kw_tensor *part = NULL;
    test_must(kw_tensor_slice(whole, 0, sizes[0], twice[0], 1, &part, &err) == KW_OK, "%s",
              err.text);
    kw_tensor_release(whole);
    return part;
}

// On the device, and not contiguous there.
static kw_tensor *make_turned(test_host *host, uint32_t dim, const int64_t *sizes)
{
    kw_error err = KW_ERROR_INIT;
    int64_t swapped[4] = {0};
    memcpy(swapped, sizes, dim * sizeof swapped[0]);
    swapped[0] = sizes[dim - 1];
    swapped[dim - 1] = sizes[0];
    kw_tensor *whole = make_there(host, dim, swapped);
    kw_tensor *turned = NULL;
    test_must(kw_tensor_transpose(whole, 0, -1, &turned, &err) == KW_OK, "%s", err.text);
    kw_tensor_release(whole);
    return turned;
}

// Which arguments lie where: x, and weights.
static const struct {
    const char *what;
    maker x;
    maker weight;
} ways[] = {
    {"all on the CPU", test_random, test_random},
    {"lying apart on the CPU", test_random_apart, test_random_apart},
    {"x on the device", make_there, test_random},
    {"weights on the device", test_random, make_there},
    {"parts of tensors on the device", make_part, make_part},
    {"turned on the device", make_turned, make_turned},
};

// Compares a result, which is given up, with the CPU's.
// NOLINTNEXTLINE(readability-function-size): a result, and what it should be
static void check_result(test_host *host, kw_status status, kw_tensor *take_y, uint32_t dim,
                         const int64_t *sizes, const float *expected, const char *what)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *other = NULL;
    float *values = NULL;
    if (!test_check(host, status == KW_OK, "%s: %s", what, kw_call_error())) {
        return;
    }
    test_must(serve_tensor_create(dim, sizes, &other, &values, &err) == KW_OK, "%s", err.text);
    for (int64_t i = 0; i < kw_tensor_numel(other); i++) {
        values[i] = expected[i];
    }
    test_check(host, kw_tensor_is_on(take_y, KW_DEVICE_PRIVATEUSE1), "%s: not on the device", what);
    test_check(host, test_is_close(take_y, other, DISTANCE), "%s: other numbers", what);
    kw_tensor_release(other);
    kw_tensor_release(take_y);
}

static float *numbers(size_t count)
{
    float *values = calloc(count + 1, sizeof *values);
    test_must(values != NULL, "no memory");
    return values;
}

static void check_conv2d(test_host *host, size_t way)
{
    // batch, channels, height, width, out channels, kernel's height and width, padding
    static const int64_t shapes[][8] = {
        {1, 1, 1, 1, 1, 1, 1, 0}, {2, 3, 5, 9, 4, 2, 5, 0},    {1, 2, 4, 3, 2, 4, 3, 3},
        {2, 2, 3, 3, 2, 5, 5, 0}, {3, 1, 28, 28, 16, 3, 3, 1}, {2, 16, 14, 14, 5, 3, 3, 1},
    };
    const size_t count =
        sizeof shapes / sizeof shapes[0] - (ways[way].x == make_turned ? LARGE_SHAPES : 0);
    for (size_t i = 0; i < count; i++) {
        const int64_t *of = shapes[i];
        kw_tensor *x = ways[way].x(host, 4, of);
        kw_tensor *weight =
            ways[way].weight(host, 4, (const int64_t[]){of[4], of[1], of[5], of[6]});
        kw_tensor *bias = i % 2 != 0 ? ways[way].weight(host, 1, &of[4]) : NULL;
        kw_tensor *near[] = {test_plain(x), test_plain(weight), bias ? test_plain(bias) : NULL};
        const fashion_conv2d_shape shape = {(size_t)of[0], (size_t)of[1], (size_t)of[2],
                                            (size_t)of[3], (size_t)of[4], (size_t)of[5],
                                            (size_t)of[6], (size_t)of[7]};
        const int64_t sizes[] = {of[0], of[4], (int64_t)fashion_conv2d_out_height(&shape),
                                 (int64_t)fashion_conv2d_out_width(&shape)};
        float *expected = numbers((size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]));
        fashion_plain_conv2d(&shape, serve_tensor_values(near[0]), serve_tensor_values(near[1]),
                             serve_tensor_values(near[2]), expected);
        kw_tensor *y = NULL;
        const kw_status status =
            nn_conv2d_call_on(host->network.ops[SERVE_OP_CONV2D], x, weight, bias, of[7], &y);
        check_result(host, status, y, 4, sizes, expected, ways[way].what);
        free(expected);
        kw_tensor *gone[] = {x, weight, bias, near[0], near[1], near[2]};
        for (size_t j = 0; j < sizeof gone / sizeof gone[0]; j++) {
            kw_tensor_release(gone[j]);
        }
    }
}

static void check_linear(test_host *host, size_t way)
{
    static const int64_t matrices[][3] = {{1, 1, 1}, {3, 67, 10}, {16, 1568, 64}};
    const size_t count =
        sizeof matrices / sizeof matrices[0] - (ways[way].x == make_turned ? LARGE_MATRICES : 0);
    for (size_t i = 0; i < count; i++) {
        const int64_t *of = matrices[i];
        kw_tensor *x = ways[way].x(host, 2, of);
        kw_tensor *weight = ways[way].weight(host, 2, (const int64_t[]){of[2], of[1]});
        kw_tensor *bias = i % 2 != 0 ? ways[way].weight(host, 1, &of[2]) : NULL;
        kw_tensor *near[] = {test_plain(x), test_plain(weight), bias ? test_plain(bias) : NULL};
        float *expected = numbers((size_t)(of[0] * of[2]));
        fashion_plain_linear((size_t)of[0], (size_t)of[1], (size_t)of[2],
                             serve_tensor_values(near[0]), serve_tensor_values(near[1]),
                             serve_tensor_values(near[2]), expected);
        kw_tensor *y = NULL;
        const kw_status status =
            nn_linear_call_on(host->network.ops[SERVE_OP_LINEAR], x, weight, bias, &y);
        check_result(host, status, y, 2, (const int64_t[]){of[0], of[2]}, expected, ways[way].what);
        free(expected);
        kw_tensor *gone[] = {x, weight, bias, near[0], near[1], near[2]};
        for (size_t j = 0; j < sizeof gone / sizeof gone[0]; j++) {
            kw_tensor_release(gone[j]);
        }
    }
}

// Operators that only tensors of the device bring to the plugin.
static void check_others(test_host *host, maker make, const char *what)
{
    const kw_operator *const *ops = host->network.ops;
    const int64_t sizes[] = {2, 3, 7, 5};
    const size_t count = 210; // of their product
    const fashion_pool2d_shape pool = {
        .planes = 6, .height = 7, .width = 5, .kernel = 2, .stride = 2};
    kw_tensor *x = make(host, 4, sizes);
    kw_tensor *near = test_plain(x);
    kw_tensor *y = NULL;
    float *expected = numbers(count);
    fashion_plain_relu(count, serve_tensor_values(near), expected);
    kw_status status = nn_relu_call_on(ops[SERVE_OP_RELU], x, &y);
    check_result(host, status, y, 4, sizes, expected, what);
    fashion_plain_max_pool2d(&pool, serve_tensor_values(near), expected);
    status = nn_max_pool2d_call_on(ops[SERVE_OP_MAX_POOL2D], x, 2, &y);
    check_result(host, status, y, 4, (const int64_t[]){2, 3, 3, 2}, expected, what);
    kw_tensor_release(x);
    kw_tensor_release(near);

    x = make(host, 2, (const int64_t[]){5, 10});
    near = test_plain(x);
    fashion_plain_softmax(5, 10, serve_tensor_values(near), expected);
    status = nn_softmax_call_on(ops[SERVE_OP_SOFTMAX], x, -1, &y);
    check_result(host, status, y, 2, (const int64_t[]){5, 10}, expected, what);
    free(expected);
    kw_tensor_release(x);
    kw_tensor_release(near);
}

// A tensor of the device may be copied within it, outlives the plugin, and can be read then.
static void check_outliving(test_host *host, const char *path)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = test_random(host, 2, (const int64_t[]){3, 4});
    kw_tensor *there = NULL;
    kw_tensor *copy = NULL;
    kw_tensor *y = NULL;
    test_must(serve_tensor_move(x, KW_DEVICE_PRIVATEUSE1, &there, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_clone(there, KW_MEMORY_CONTIGUOUS, &copy, &err) == KW_OK, "%s", err.text);
    test_check(host, test_is_close(copy, x, 0), "a copy within the device has other numbers");
    test_host_unload(host);
    test_check(host, test_is_close(there, x, 0), "other numbers when the plugin has left");
    test_check(host,
               nn_relu_call_on(host->network.ops[SERVE_OP_RELU], there, &y) == KW_NO_KERNEL_FOR_KEY,
               "when the plugin has left: %s", kw_call_error());
    test_host_load(host, path);
    test_check(host, nn_relu_call_on(host->network.ops[SERVE_OP_RELU], there, &y) == KW_OK, "%s",
               kw_call_error());
    kw_tensor_release(y);
    kw_tensor_release(copy);
    kw_tensor_release(there);
    kw_tensor_release(x);
}

static void check_refused(test_host *host)
{
    const int64_t sizes[] = {2, 4};
    static float memory[8];
    kw_error err = KW_ERROR_INIT;
    const kw_external_memory foreign = {.struct_size = sizeof foreign,
                                        .data = memory,
                                        .bytes = sizeof memory,
                                        .device = {KW_DEVICE_PRIVATEUSE1, -1}};
    kw_tensor_options options = {.struct_size = sizeof options,
                                 .sizes = sizes,
                                 .dim = 2,
                                 .dtype = KW_DTYPE_FLOAT32,
                                 .inference = KW_INFERENCE_ALWAYS,
                                 .device = foreign.device};
    kw_tensor *x = NULL;
    kw_tensor *y = NULL;
    test_must(kw_storage_wrap(&foreign, &options.storage, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_create(&options, &x, &err) == KW_OK, "%s", err.text);
    kw_storage_release(options.storage);
    test_check(host, nn_relu_call_on(host->network.ops[SERVE_OP_RELU], x, &y) == KW_NOT_SUPPORTED,
               "memory of another device with the same number");
    kw_tensor_release(x);
    options.storage = NULL;
    options.dtype = KW_DTYPE_INT32;
    test_must(kw_tensor_create(&options, &x, &err) == KW_OK, "%s", err.text);
    test_check(host, nn_relu_call_on(host->network.ops[SERVE_OP_RELU], x, &y) == KW_WRONG_VALUE,
               "whole numbers");
    kw_tensor_release(x);
}

// Where no platform is, loading says so, and leaves nothing.
static int check_no_platform(test_host *host, const char *path)
{
    const kw_plugin_options options = {.struct_size = sizeof options,
                                       .dispatcher = host->dispatcher};
    kw_error err = KW_ERROR_INIT;
    kw_storage *storage = NULL;
    for (int i = 0; i < 2; i++) {
        const kw_status status = kw_plugin_load(path, &options, &host->plugin, &err);
        test_check(host, status == KW_NOT_FOUND, "%s: %s", kw_status_name(status), err.text);
        test_check(host, strstr(err.text, "no OpenCL platform") != NULL, "%s", err.text);
    }
    test_check(
        host,
        !kw_operator_has_computed_kernel(host->network.ops[SERVE_OP_RELU], KW_KEY_PrivateUse1),
        "a kernel of the device is there");
    test_check(host,
               kw_storage_create(4, (kw_device){KW_DEVICE_PRIVATEUSE1, -1}, &storage, &err) ==
                   KW_NOT_FOUND,
               "the device has memory");
    return test_host_stop(host);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)puts("usage: opencl_test PLUGIN DATA_FOLDER CYCLES|none");
        return 2;
    }
    test_host host;
    test_host_start(&host, argv[2]);
    if (strcmp(argv[3], "none") == 0) {
        return check_no_platform(&host, argv[1]);
    }
    const kw_plugin_options options = {.struct_size = sizeof options,
                                       .dispatcher = host.dispatcher};
    kw_error err = KW_ERROR_INIT;
    const kw_status status = kw_plugin_load(argv[1], &options, &host.plugin, &err);
    if (status == KW_NOT_FOUND) {
        (void)printf("skipped: %s\n", err.text);
        (void)test_host_stop(&host);
        return STATUS_SKIPPED;
    }
    test_must(status == KW_OK, "%s", err.text);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        check_conv2d(&host, i);
        check_linear(&host, i);
    }
    check_others(&host, make_there, "on the device");
    check_others(&host, make_part, "parts of tensors on the device");
    check_others(&host, make_turned, "turned on the device");
    check_outliving(&host, argv[1]);
    check_refused(&host);
    test_host_unload(&host);
    test_cycles(&host, argv[1], argv[2], (unsigned)strtoul(argv[3], NULL, 10), 1e-3F);
    return test_host_stop(&host);
}
