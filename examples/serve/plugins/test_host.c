// Test host: a dispatcher with the server's operators and built-in kernels, for the tests of single
// plugins.
//
// Layer:   example (uses the server's builtin.h, network.h)
// Threads: one
// SPDX-License-Identifier: MIT

#include "test_host.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <keyway/call.h>

#include "builtin.h"
#include "tensors.h"

static const uint64_t drain_ns = UINT64_C(20000000000);

bool test_check(test_host *host, bool is_true, const char *format, ...)
{
    if (is_true) {
        return true;
    }
    va_list arguments;
    va_start(arguments, format);
    test_failure_print(format, arguments);
    va_end(arguments);
    host->failures++;
    return false;
}

void test_host_start(test_host *host, const char *data_folder)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    kw_error err = KW_ERROR_INIT;
    fashion_error file_err = {""};
    fashion_weights weights;
    char path[4096];
    *host = (test_host){.seed = 1};
    test_must(kw_dispatcher_create(&options, &host->dispatcher, &err) == KW_OK, "%s", err.text);
    test_must(serve_builtin_create(host->dispatcher, &host->builtin, &err) == KW_OK, "%s",
              err.text);
    (void)snprintf(path, sizeof path, "%s/weights.bin", data_folder);
    test_must(fashion_weights_load(path, &weights, &file_err), "%s", file_err.text);
    test_must(serve_network_init(&host->network, host->dispatcher, &weights, &err) == KW_OK, "%s",
              err.text);
    fashion_weights_fini(&weights);
}

int test_host_stop(test_host *host)
{
    kw_error err = KW_ERROR_INIT;
    serve_network_fini(&host->network);
    kw_tensor_statistics left = {.struct_size = sizeof left};
    kw_tensor_statistics_get(&left);
    test_check(host, left.tensor_count == 0 && left.storage_count == 0,
               "%llu tensors and %llu storages are left", (unsigned long long)left.tensor_count,
               (unsigned long long)left.storage_count);
    test_check(host, serve_builtin_destroy(host->builtin, &err) == KW_OK, "%s", err.text);
    test_check(host, kw_dispatcher_destroy(host->dispatcher, &err) == KW_OK, "%s", err.text);
    (void)printf("%u failures\n", host->failures);
    return host->failures == 0 ? 0 : 1;
}

void test_host_load(test_host *host, const char *path)
{
    const kw_plugin_options options = {.struct_size = sizeof options,
                                       .dispatcher = host->dispatcher};
    kw_error err = KW_ERROR_INIT;
    test_must(kw_plugin_load(path, &options, &host->plugin, &err) == KW_OK, "%s", err.text);
}

static void count(const kw_plugin_info *info, void *context)
{
    (void)printf("%s is %s: %s%s\n", info->name, kw_plugin_state_name(info->state), info->held_by,
                 info->retained);
    *(unsigned *)context += 1;
}

void test_host_unload(test_host *host)
{
    kw_error err = KW_ERROR_INIT;
    unsigned left = 0;
    test_must(kw_plugin_unload(host->plugin, drain_ns, &err) == KW_OK, "%s", err.text);
    host->plugin = NULL;
    test_must(kw_plugin_list(count, &left, &err) == KW_OK, "%s", err.text);
    test_check(host, left == 0, "the plugin was unloaded and is in memory");
}

// Tensors -----------------------------------------------------------------------------------------

static float next_number(test_host *host)
{
    host->seed = host->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)((double)(host->seed >> 11) / 4503599627370496.0 - 1);
}

kw_tensor *test_random(test_host *host, uint32_t dim, const int64_t *sizes)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(dim, sizes, &tensor, &values, &err) == KW_OK, "%s", err.text);
    for (int64_t i = 0; i < kw_tensor_numel(tensor); i++) {
        values[i] = next_number(host);
    }
    return tensor;
}

kw_tensor *test_random_apart(test_host *host, uint32_t dim, const int64_t *sizes)
{
    kw_error err = KW_ERROR_INIT;
    int64_t wide[4] = {0};
    int64_t order[4] = {0};
    for (uint32_t i = 0; i < dim; i++) {
        wide[dim - 1 - i] = 2 * sizes[i] + 1;
        order[i] = dim - 1 - i;
    }
    kw_tensor *tensor = test_random(host, dim, wide);
    kw_tensor *next = NULL;
    for (uint32_t i = 0; i < dim; i++) {
        const int64_t end = 2 * sizes[dim - 1 - i] + 1;
        test_must(kw_tensor_slice(tensor, i, 1, end, 2, &next, &err) == KW_OK, "%s", err.text);
        kw_tensor_release(tensor);
        tensor = next;
    }
    test_must(kw_tensor_permute(tensor, (kw_int_list){order, dim}, &next, &err) == KW_OK, "%s",
              err.text);
    kw_tensor_release(tensor);
    return next;
}

kw_tensor *test_plain(kw_tensor *tensor)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *plain = NULL;
    test_must(serve_tensor_move(tensor, KW_DEVICE_CPU, &plain, &err) == KW_OK, "%s", err.text);
    return plain;
}

static bool has_same_sizes(const kw_tensor *a, const kw_tensor *b)
{
    return kw_tensor_dim(a) == kw_tensor_dim(b) &&
           memcmp(kw_tensor_sizes(a), kw_tensor_sizes(b), kw_tensor_dim(a) * sizeof(int64_t)) == 0;
}

bool test_is_close(kw_tensor *a, kw_tensor *b, double distance)
{
    if (!has_same_sizes(a, b)) {
        return false;
    }
    kw_tensor *plain_a = test_plain(a);
    kw_tensor *plain_b = test_plain(b);
    const float *x = serve_tensor_values(plain_a);
    const float *y = serve_tensor_values(plain_b);
    bool is_close = true;
    for (int64_t i = 0; i < kw_tensor_numel(a) && is_close; i++) {
        is_close = fabs((double)x[i] - y[i]) <= distance; // false for a NaN
        if (!is_close) {
            (void)printf("element %lld is %g and %g\n", (long long)i, (double)x[i], (double)y[i]);
        }
    }
    kw_tensor_release(plain_a);
    kw_tensor_release(plain_b);
    return is_close;
}
