// Operators: calls of one operator after another, with arguments that the network does not have.
//
// Layer:   example (uses host, the generated nn.h)
// Threads: the one that started the host
// SPDX-License-Identifier: MIT

#include "operators.h"

#include <fashion/math_plain.h>
#include <math.h>
#include <nn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/tensor_view.h>

#include "layers.h"
#include "tensors.h"

enum {
    ELEMENTS_MAX = 1 << 14, // of a result
    TURNS = 6               // with other weights of the same shape, likely at the same address
};

typedef struct test_bench {
    test_host *host;
    const char *loaded;
    double tolerance; // relative to the largest element
    bool may_refuse;  // the next call
    unsigned state;   // of the random numbers
    float expected[ELEMENTS_MAX];
    float between[ELEMENTS_MAX];
} test_bench;

static kw_tensor *make(test_bench *bench, uint32_t dim, const int64_t *sizes)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    float *values = NULL;
    if (serve_tensor_create(dim, sizes, &tensor, &values, &err) != KW_OK) {
        abort();
    }
    for (int64_t i = 0; i < kw_tensor_numel(tensor); i++) {
        bench->state = bench->state * 1664525U + 1013904223U;
        values[i] = (float)(bench->state >> 8) / (float)(1U << 23) - 1;
    }
    return tensor;
}

// Results may be laid out in another way, or lie on another device.
static kw_tensor *bring(const kw_tensor *result, kw_error *err)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = kw_tensor_sizes(result),
        .dim = kw_tensor_dim(result),
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_NEVER, // others cannot be written here
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor *here = NULL;
    if (kw_tensor_create(&options, &here, err) != KW_OK) {
        return NULL;
    }
    if (kw_tensor_copy(here, result, err) != KW_OK) {
        kw_tensor_release(here);
        return NULL;
    }
    return here;
}

static void compare_values(test_bench *bench, const char *what, const float *found, size_t count)
{
    double largest = 1;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)bench->expected[i]));
    }
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs((double)found[i] - (double)bench->expected[i]);
        if (!(difference <= bench->tolerance * largest)) {
            test_fail(bench->host, "%s: %s: element %zu is %g, not %g", bench->loaded, what, i,
                      (double)found[i], (double)bench->expected[i]);
            return;
        }
    }
}

// Whether a kernel says that it cannot take the arguments, which is not that there is no kernel.
static bool is_refusal(kw_status status)
{
    return (status == KW_WRONG_VALUE || status == KW_NOT_SUPPORTED ||
            status == KW_INVALID_ARGUMENT) &&
           kw_call_error()[0] != '\0';
}

// Takes the result of a call, and compares it with bench->expected.
static void compare(test_bench *bench, const char *what, uint32_t dim, const int64_t *sizes,
                    kw_status status, kw_tensor *take_result)
{
    test_host *host = bench->host;
    if (status != KW_OK) {
        if (!bench->may_refuse || !is_refusal(status)) {
            test_fail(host, "%s: %s: %s", bench->loaded, what, kw_call_error());
        }
        bench->may_refuse = false;
        return;
    }
    kw_error err = KW_ERROR_INIT;
    kw_tensor *here = NULL;
    if (take_result == NULL) {
        test_fail(host, "%s: %s: no result and no failure", bench->loaded, what);
    } else if (kw_tensor_dim(take_result) != dim ||
               memcmp(kw_tensor_sizes(take_result), sizes, dim * sizeof sizes[0]) != 0) {
        test_fail(host, "%s: %s: the result has other extents", bench->loaded, what);
    } else if (kw_tensor_numel(take_result) > 0) {
        here = bring(take_result, &err);
        if (here == NULL) {
            test_fail(host, "%s: %s: %s", bench->loaded, what, err.text);
        } else {
            compare_values(bench, what, kw_tensor_data(here), (size_t)kw_tensor_numel(here));
        }
    }
    bench->may_refuse = false;
    kw_tensor_release(here);
    kw_tensor_release(take_result);
}

typedef struct conv2d_case {
    int64_t x[4];
    int64_t weight[4];
    int64_t padding;
    bool has_bias;
    bool is_turned; // x is a view whose rows are columns
    bool is_empty;  // the kernel does not fit
} conv2d_case;

static const conv2d_case conv2d_cases[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, 0, true, false, false},
    {{2, 3, 5, 7}, {5, 3, 3, 2}, 1, true, false, false},
    {{1, 2, 4, 4}, {3, 2, 5, 5}, 1, false, false, false},
    {{3, 16, 9, 17}, {6, 16, 3, 3}, 2, true, false, false},
    {{1, 4, 8, 8}, {8, 4, 1, 1}, 3, true, false, false},
    {{2, 3, 6, 9}, {4, 3, 3, 3}, 1, true, true, false},
    {{1, 2, 3, 3}, {3, 2, 5, 5}, 0, true, false, true},
};

// The arguments of a case, x as `plain` memory too.
typedef struct conv2d_arguments {
    fashion_conv2d_shape shape;
    kw_tensor *x;
    kw_tensor *plain;
    kw_tensor *weight;
    kw_tensor *bias;
    int64_t sizes[4]; // of the result
} conv2d_arguments;

static void make_conv2d(test_bench *bench, const conv2d_case *c, conv2d_arguments *out)
{
    kw_error err = KW_ERROR_INIT;
    out->plain = make(bench, 4, c->x);
    out->weight = make(bench, 4, c->weight);
    out->bias = c->has_bias ? make(bench, 1, c->weight) : NULL;
    out->x = out->plain;
    kw_tensor_retain(out->x);
    if (c->is_turned) { // turned, laid out anew, and turned back
        kw_tensor *turned = NULL;
        kw_tensor *moved = NULL;
        kw_tensor_release(out->x);
        if (kw_tensor_transpose(out->plain, 2, 3, &turned, &err) != KW_OK ||
            kw_tensor_clone(turned, KW_MEMORY_CONTIGUOUS, &moved, &err) != KW_OK ||
            kw_tensor_transpose(moved, 2, 3, &out->x, &err) != KW_OK) {
            abort();
        }
        kw_tensor_release(turned);
        kw_tensor_release(moved);
    }
    if (serve_conv2d_describe(out->plain, out->weight, out->bias, c->padding, &out->shape) !=
        KW_OK) {
        abort();
    }
    serve_conv2d_sizes(&out->shape, out->sizes);
}

static void end_conv2d(conv2d_arguments *arguments)
{
    kw_tensor_release(arguments->x);
    kw_tensor_release(arguments->plain);
    kw_tensor_release(arguments->weight);
    kw_tensor_release(arguments->bias);
}

static void expect_conv2d(const conv2d_arguments *a, float *out)
{
    fashion_plain_conv2d(&a->shape, serve_tensor_values(a->plain), serve_tensor_values(a->weight),
                         serve_tensor_values(a->bias), out);
}

static kw_status call_conv2d(const test_bench *bench, const conv2d_case *c,
                             const conv2d_arguments *a, kw_tensor **out_y)
{
    return nn_conv2d_call_on(bench->host->network.ops[SERVE_OP_CONV2D], a->x, a->weight, a->bias,
                             c->padding, out_y);
}

static void check_conv2d(test_bench *bench, const conv2d_case *c, size_t turn)
{
    char what[96];
    conv2d_arguments arguments;
    kw_tensor *y = NULL;
    (void)snprintf(what, sizeof what, "conv2d of case %td, turn %zu", c - conv2d_cases, turn);
    make_conv2d(bench, c, &arguments);
    if (!c->is_empty) {
        expect_conv2d(&arguments, bench->expected);
    }
    bench->may_refuse = c->is_turned || c->is_empty;
    const kw_status status = call_conv2d(bench, c, &arguments, &y);
    compare(bench, what, 4, arguments.sizes, status, y);
    end_conv2d(&arguments);
}

// What a convolution returns may be laid out in its own way; what follows has to understand it.
static void check_chain(test_bench *bench, const conv2d_case *c)
{
    const serve_network *network = &bench->host->network;
    conv2d_arguments a;
    make_conv2d(bench, c, &a);
    expect_conv2d(&a, bench->between);
    fashion_plain_relu((size_t)(a.sizes[0] * a.sizes[1] * a.sizes[2] * a.sizes[3]), bench->between,
                       bench->expected);
    const fashion_pool2d_shape pool = {
        .planes = (size_t)(a.sizes[0] * a.sizes[1]),
        .height = (size_t)a.sizes[2],
        .width = (size_t)a.sizes[3],
        .kernel = 2,
        .stride = 2,
    };
    const size_t plane = fashion_pool2d_out_height(&pool) * fashion_pool2d_out_width(&pool);
    float *pooled = calloc(pool.planes * plane, sizeof *pooled);
    const int64_t sizes[] = {3, a.sizes[1] * (int64_t)plane};
    const int64_t out_sizes[] = {a.sizes[0], 3};
    kw_tensor *weight = make(bench, 2, sizes);
    kw_tensor *steps[4] = {NULL};
    kw_status status = pooled != NULL ? call_conv2d(bench, c, &a, &steps[0]) : KW_NO_MEMORY;
    if (status == KW_OK) {
        fashion_plain_max_pool2d(&pool, bench->expected, pooled);
        fashion_plain_linear((size_t)a.sizes[0], (size_t)sizes[1], 3, pooled,
                             serve_tensor_values(weight), NULL, bench->expected);
        status = nn_relu_call_on(network->ops[SERVE_OP_RELU], steps[0], &steps[1]);
    }
    if (status == KW_OK) {
        status = nn_max_pool2d_call_on(network->ops[SERVE_OP_MAX_POOL2D], steps[1], 2, &steps[2]);
    }
    if (status == KW_OK) {
        status =
            nn_linear_call_on(network->ops[SERVE_OP_LINEAR], steps[2], weight, NULL, &steps[3]);
    }
    compare(bench, "conv2d, relu, max_pool2d and linear", 2, out_sizes, status, steps[3]);
    for (size_t i = 0; i < 3; i++) {
        kw_tensor_release(steps[i]);
    }
    kw_tensor_release(weight);
    free(pooled);
    end_conv2d(&a);
}

// linear of what a convolution returns, without anything between.
static void check_conv2d_linear(test_bench *bench, const conv2d_case *c)
{
    conv2d_arguments a;
    make_conv2d(bench, c, &a);
    expect_conv2d(&a, bench->between);
    const int64_t columns = a.sizes[1] * a.sizes[2] * a.sizes[3];
    const int64_t sizes[] = {2, columns};
    const int64_t out_sizes[] = {a.sizes[0], 2};
    kw_tensor *weight = make(bench, 2, sizes);
    kw_tensor *between = NULL;
    kw_tensor *y = NULL;
    fashion_plain_linear((size_t)a.sizes[0], (size_t)columns, 2, bench->between,
                         serve_tensor_values(weight), NULL, bench->expected);
    kw_status status = call_conv2d(bench, c, &a, &between);
    if (status == KW_OK) {
        status =
            nn_linear_call_on(bench->host->network.ops[SERVE_OP_LINEAR], between, weight, NULL, &y);
    }
    compare(bench, "conv2d and linear", 2, out_sizes, status, y);
    kw_tensor_release(between);
    kw_tensor_release(weight);
    end_conv2d(&a);
}

static void check_linear(test_bench *bench, int64_t rows, int64_t columns, int64_t out_columns,
                         bool has_bias)
{
    const int64_t x_sizes[] = {rows, columns};
    const int64_t weight_sizes[] = {out_columns, columns};
    const int64_t sizes[] = {rows, out_columns};
    char what[96];
    kw_tensor *x = make(bench, 2, x_sizes);
    kw_tensor *weight = make(bench, 2, weight_sizes);
    kw_tensor *bias = has_bias ? make(bench, 1, weight_sizes) : NULL;
    kw_tensor *y = NULL;
    (void)snprintf(what, sizeof what, "linear of %lld by %lld by %lld", (long long)rows,
                   (long long)columns, (long long)out_columns);
    fashion_plain_linear((size_t)rows, (size_t)columns, (size_t)out_columns, serve_tensor_values(x),
                         serve_tensor_values(weight), serve_tensor_values(bias), bench->expected);
    const kw_status status =
        nn_linear_call_on(bench->host->network.ops[SERVE_OP_LINEAR], x, weight, bias, &y);
    compare(bench, what, 2, sizes, status, y);
    kw_tensor_release(x);
    kw_tensor_release(weight);
    kw_tensor_release(bias);
}

static void check_relu(test_bench *bench, uint32_t dim, const int64_t *sizes)
{
    kw_tensor *x = make(bench, dim, sizes);
    kw_tensor *y = NULL;
    fashion_plain_relu((size_t)kw_tensor_numel(x), serve_tensor_values(x), bench->expected);
    const kw_status status = nn_relu_call_on(bench->host->network.ops[SERVE_OP_RELU], x, &y);
    compare(bench, "relu", dim, sizes, status, y);
    kw_tensor_release(x);
}

static void check_max_pool2d(test_bench *bench, const int64_t x_sizes[4], int64_t size)
{
    fashion_pool2d_shape shape;
    int64_t sizes[4];
    kw_tensor *x = make(bench, 4, x_sizes);
    kw_tensor *y = NULL;
    if (serve_max_pool2d_describe(x, size, &shape) != KW_OK) {
        abort();
    }
    serve_max_pool2d_sizes(x, &shape, sizes);
    fashion_plain_max_pool2d(&shape, serve_tensor_values(x), bench->expected);
    const kw_status status =
        nn_max_pool2d_call_on(bench->host->network.ops[SERVE_OP_MAX_POOL2D], x, size, &y);
    bench->may_refuse = sizes[2] == 0;
    compare(bench, "max_pool2d", 4, sizes, status, y);
    kw_tensor_release(x);
}

static void check_softmax(test_bench *bench, int64_t rows, int64_t columns, float factor,
                          int64_t dim)
{
    const int64_t sizes[] = {rows, columns};
    kw_tensor *x = make(bench, 2, sizes);
    kw_tensor *y = NULL;
    kw_error err = KW_ERROR_INIT;
    void *values = NULL;
    if (kw_tensor_mutable_data(x, &values, &err) != KW_OK) {
        abort();
    }
    for (int64_t i = 0; i < rows * columns; i++) {
        ((float *)values)[i] *= factor;
    }
    fashion_plain_softmax((size_t)rows, (size_t)columns, values, bench->expected);
    const kw_status status =
        nn_softmax_call_on(bench->host->network.ops[SERVE_OP_SOFTMAX], x, dim, &y);
    compare(bench, "softmax", 2, sizes, status, y);
    kw_tensor_release(x);
}

static void refuse(test_bench *bench, const char *what, kw_status status, kw_tensor *take_result)
{
    if (status == KW_OK) {
        test_fail(bench->host, "%s: %s is answered", bench->loaded, what);
        kw_tensor_release(take_result);
    } else if (!is_refusal(status)) {
        test_fail(bench->host, "%s: %s: %s", bench->loaded, what, kw_call_error());
    }
}

// Arguments that no kernel can answer.
static void check_refusals(test_bench *bench)
{
    const serve_network *network = &bench->host->network;
    kw_tensor *x = make(bench, 4, (const int64_t[]){1, 2, 4, 4});
    kw_tensor *weight = make(bench, 4, (const int64_t[]){3, 5, 3, 3});
    kw_tensor *fits = make(bench, 4, (const int64_t[]){3, 2, 3, 3});
    kw_tensor *matrix = make(bench, 2, (const int64_t[]){3, 31});
    kw_tensor *bias = make(bench, 1, (const int64_t[]){4});
    kw_tensor *y = NULL;
    const kw_operator *conv2d = network->ops[SERVE_OP_CONV2D];
    const kw_operator *linear = network->ops[SERVE_OP_LINEAR];
    kw_status status = nn_conv2d_call_on(conv2d, x, weight, NULL, 1, &y);
    refuse(bench, "conv2d with other channels", status, y);
    status = nn_conv2d_call_on(conv2d, x, fits, bias, 1, &y);
    refuse(bench, "conv2d with a bias that is too long", status, y);
    status = nn_conv2d_call_on(conv2d, matrix, fits, NULL, 1, &y);
    refuse(bench, "conv2d of a matrix", status, y);
    status = nn_conv2d_call_on(conv2d, x, fits, NULL, -1, &y);
    refuse(bench, "conv2d with a negative padding", status, y);
    status = nn_linear_call_on(linear, x, matrix, NULL, &y);
    refuse(bench, "linear with other columns", status, y);
    status = nn_linear_call_on(linear, matrix, matrix, bias, &y);
    refuse(bench, "linear with a bias that is too long", status, y);
    status = nn_max_pool2d_call_on(network->ops[SERVE_OP_MAX_POOL2D], x, 0, &y);
    refuse(bench, "max_pool2d without a window", status, y);
    status = nn_softmax_call_on(network->ops[SERVE_OP_SOFTMAX], matrix, 0, &y);
    refuse(bench, "softmax along the first dimension", status, y);
    kw_tensor_release(x);
    kw_tensor_release(weight);
    kw_tensor_release(fits);
    kw_tensor_release(matrix);
    kw_tensor_release(bias);
}

static void check_all(test_bench *bench)
{
    for (size_t i = 0; i < sizeof conv2d_cases / sizeof conv2d_cases[0]; i++) {
        for (size_t turn = 0; turn < TURNS; turn++) {
            check_conv2d(bench, &conv2d_cases[i], turn);
        }
    }
    check_chain(bench, &conv2d_cases[1]);
    check_chain(bench, &conv2d_cases[3]);
    check_conv2d_linear(bench, &conv2d_cases[1]);
    check_conv2d_linear(bench, &conv2d_cases[4]);
    check_linear(bench, 1, 1, 1, true);
    check_linear(bench, 3, 5, 7, false);
    check_linear(bench, 4, 33, 10, true);
    for (size_t turn = 0; turn < TURNS; turn++) {
        check_linear(bench, 17, 64, 10, true);
    }
    check_relu(bench, 1, (const int64_t[]){7});
    check_relu(bench, 2, (const int64_t[]){3, 5});
    check_relu(bench, 4, (const int64_t[]){2, 3, 4, 5});
    check_max_pool2d(bench, (const int64_t[]){1, 1, 2, 2}, 2);
    check_max_pool2d(bench, (const int64_t[]){2, 3, 7, 5}, 2);
    check_max_pool2d(bench, (const int64_t[]){1, 2, 9, 9}, 3);
    check_max_pool2d(bench, (const int64_t[]){1, 2, 3, 4}, 1);
    check_max_pool2d(bench, (const int64_t[]){1, 2, 3, 4}, 5);
    check_softmax(bench, 1, 1, 1, 1);
    check_softmax(bench, 3, 10, 5, -1);
    check_softmax(bench, 2, 17, 500, 1); // exp of the largest would overflow
    check_refusals(bench);
}

void test_operators_check(test_host *host, const char *loaded, bool is_exact, bool with_canary)
{
    test_bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        abort();
    }
    bench->host = host;
    bench->loaded = loaded;
    bench->tolerance = is_exact ? 1e-5 : 0.08;
    bench->state = (unsigned)host->options.seed;
    check_all(bench);
    kw_local_guard guard;
    if (with_canary && kw_local_include(kw_keyset_from_key(KW_KEY_PrivateUse2), &guard) == KW_OK) {
        check_all(bench);
        kw_local_restore(&guard);
    }
    free(bench);
}
