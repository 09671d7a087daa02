// Test of the plugin xnnpack: xnnpack_test PLUGIN DATA_FOLDER.
//
// Layer:   example (uses test_host, the generated nn.h)
// Threads: one
// SPDX-License-Identifier: MIT
//
// Where tensors have the layout's tag and where they lose it, and that results are those of plain
// loops either way. A library of the test's own stands for the server's canary: it sees what the
// kernels of the tag hand on.

#include <nn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <keyway/inline/call.h>
#include <keyway/local.h>

#include "layers.h"
#include "tensors.h"
#include "test_host.h"

#define TAG KW_KEY_Functionalize
#define DISTANCE 1e-4 // elements are below 100

static bool is_tagged(const kw_tensor *tensor)
{
    return kw_keyset_has_all(kw_tensor_keyset(tensor), kw_keyset_from_key(TAG));
}

static bool is_image(const kw_tensor *tensor)
{
    return is_tagged(tensor) && kw_tensor_is_contiguous_as(tensor, KW_MEMORY_CHANNELS_LAST);
}

// Calls, by the plugin and by plain loops. The second take tensors of any layout.
// ----------------------------------------------------------------------------------------

static kw_tensor *conv2d(test_host *host, kw_tensor *x, kw_tensor *weight, kw_tensor *bias)
{
    kw_tensor *y = NULL;
    const kw_status status =
        nn_conv2d_call_on(host->network.ops[SERVE_OP_CONV2D], x, weight, bias, 1, &y);
    test_must(status == KW_OK, "%s", kw_call_error());
    return y;
}

static kw_tensor *relu(test_host *host, kw_tensor *x)
{
    kw_tensor *y = NULL;
    const kw_status status = nn_relu_call_on(host->network.ops[SERVE_OP_RELU], x, &y);
    test_must(status == KW_OK, "%s", kw_call_error());
    return y;
}

static kw_tensor *max_pool2d(test_host *host, kw_tensor *x, int64_t size)
{
    kw_tensor *y = NULL;
    const kw_status status =
        nn_max_pool2d_call_on(host->network.ops[SERVE_OP_MAX_POOL2D], x, size, &y);
    test_must(status == KW_OK, "%s", kw_call_error());
    return y;
}

static kw_tensor *result(uint32_t dim, const int64_t *sizes, float **out_values)
{
    kw_tensor *y = NULL;
    kw_error err = KW_ERROR_INIT;
    test_must(serve_tensor_create(dim, sizes, &y, out_values, &err) == KW_OK, "%s", err.text);
    return y;
}

static kw_tensor *plain_conv2d(kw_tensor *x, kw_tensor *weight, kw_tensor *bias)
{
    fashion_conv2d_shape shape;
    int64_t sizes[4];
    float *values = NULL;
    kw_tensor *plain = test_plain(x);
    test_must(serve_conv2d_describe(x, weight, bias, 1, &shape) == KW_OK, "%s", kw_call_error());
    serve_conv2d_sizes(&shape, sizes);
    kw_tensor *y = result(4, sizes, &values);
    fashion_plain_conv2d(&shape, serve_tensor_values(plain), serve_tensor_values(weight),
                         serve_tensor_values(bias), values);
    kw_tensor_release(plain);
    return y;
}

static kw_tensor *plain_relu(kw_tensor *x)
{
    float *values = NULL;
    kw_tensor *plain = test_plain(x);
    kw_tensor *y = result(kw_tensor_dim(x), kw_tensor_sizes(x), &values);
    fashion_plain_relu((size_t)kw_tensor_numel(x), serve_tensor_values(plain), values);
    kw_tensor_release(plain);
    return y;
}

static kw_tensor *plain_max_pool2d(kw_tensor *x, int64_t size)
{
    fashion_pool2d_shape shape;
    int64_t sizes[4];
    float *values = NULL;
    kw_tensor *plain = test_plain(x);
    test_must(serve_max_pool2d_describe(x, size, &shape) == KW_OK, "%s", kw_call_error());
    serve_max_pool2d_sizes(x, &shape, sizes);
    kw_tensor *y = result(4, sizes, &values);
    fashion_plain_max_pool2d(&shape, serve_tensor_values(plain), values);
    kw_tensor_release(plain);
    return y;
}

static kw_tensor *plain_linear(kw_tensor *x, kw_tensor *weight)
{
    const int64_t sizes[] = {kw_tensor_sizes(x)[0], kw_tensor_sizes(weight)[0]};
    float *values = NULL;
    kw_tensor *plain = test_plain(x);
    kw_tensor *y = result(2, sizes, &values);
    fashion_plain_linear((size_t)sizes[0], (size_t)kw_tensor_sizes(weight)[1], (size_t)sizes[1],
                         serve_tensor_values(plain), serve_tensor_values(weight), NULL, values);
    kw_tensor_release(plain);
    return y;
}

// Takes both.
static void compare(test_host *host, const char *what, bool is_as_wanted, kw_tensor *take_y,
                    kw_tensor *take_expected)
{
    (void)test_check(host, is_as_wanted, "%s: the result has another layout or tag", what);
    (void)test_check(host, test_is_close(take_y, take_expected, DISTANCE), "%s: other values",
                     what);
    kw_tensor_release(take_y);
    kw_tensor_release(take_expected);
}

// Cases
// ----------------------------------------------------------------------------------------

typedef struct images {
    kw_tensor *x;      // plain, [3, 5, 6, 7]
    kw_tensor *weight; // [5, 5, 3, 2]
    kw_tensor *bias;
    kw_tensor *tagged; // conv2d of x, [3, 5, 6, 8]
} images;

static images make_images(test_host *host)
{
    images made = {
        .x = test_random(host, 4, (const int64_t[]){3, 5, 6, 7}),
        .weight = test_random(host, 4, (const int64_t[]){5, 5, 3, 2}),
        .bias = test_random(host, 1, (const int64_t[]){5}),
    };
    made.tagged = conv2d(host, made.x, made.weight, made.bias);
    return made;
}

static void end_images(images *take_images)
{
    kw_tensor_release(take_images->x);
    kw_tensor_release(take_images->weight);
    kw_tensor_release(take_images->bias);
    kw_tensor_release(take_images->tagged);
}

// Images of whatever strides come in; what goes on has the tag.
static void check_inside(test_host *host, const images *given)
{
    kw_tensor_retain(given->tagged);
    compare(host, "conv2d", is_image(given->tagged), given->tagged,
            plain_conv2d(given->x, given->weight, given->bias));
    kw_tensor *apart = test_random_apart(host, 4, (const int64_t[]){2, 5, 4, 3});
    kw_tensor *y = conv2d(host, apart, given->weight, NULL);
    compare(host, "conv2d of a view", is_image(y), y, plain_conv2d(apart, given->weight, NULL));
    kw_tensor_release(apart);

    y = conv2d(host, given->tagged, given->weight, given->bias);
    compare(host, "conv2d of a tagged image", is_image(y), y,
            plain_conv2d(given->tagged, given->weight, given->bias));
    y = relu(host, given->tagged);
    compare(host, "relu of a tagged image", is_image(y), y, plain_relu(given->tagged));
    y = max_pool2d(host, given->tagged, 3);
    compare(host, "max_pool2d of a tagged image", is_image(y), y,
            plain_max_pool2d(given->tagged, 3));
}

// A tagged image that ends where a page ends behind which nothing may be read.
static kw_tensor *make_at_end(test_host *host, const int64_t sizes[4], unsigned char *end)
{
    kw_tensor *values = test_random(host, 4, sizes);
    const size_t bytes = (size_t)kw_tensor_numel(values) * sizeof(float);
    const int64_t strides[] = {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
    const kw_external_memory memory = {
        .struct_size = sizeof memory,
        .data = memcpy(end - bytes, serve_tensor_values(values), bytes),
        .bytes = bytes,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = 4,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = KW_INFERENCE_ALWAYS,
        .device = memory.device,
        .strides = strides,
    };
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    test_must(kw_storage_wrap(&memory, &options.storage, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_create(&options, &tensor, &err) == KW_OK, "%s", err.text);
    test_must(kw_tensor_change_keys(tensor, kw_keyset_from_key(TAG), kw_keyset_empty(), &err) ==
                  KW_OK,
              "%s", err.text);
    kw_storage_release(options.storage);
    kw_tensor_release(values);
    return tensor;
}

// XNNPACK reads some bytes behind its inputs. Of images that it did not make itself they are not
// there to be read.
static void check_ends(test_host *host)
{
    const size_t page_bytes = 1 << 16; // as large as pages are anywhere
    unsigned char *pages =
        mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    test_must(pages != MAP_FAILED && mprotect(pages + page_bytes, page_bytes, PROT_NONE) == 0,
              "no pages");
    for (int64_t channels = 1; channels < 10; channels++) {
        const int64_t sizes[] = {1, channels, 4, 4};
        kw_tensor *x = make_at_end(host, sizes, pages + page_bytes);
        kw_tensor *weight = test_random(host, 4, (const int64_t[]){3, channels, 2, 2});
        kw_tensor *y = conv2d(host, x, weight, NULL);
        compare(host, "conv2d at the end of memory", is_image(y), y, plain_conv2d(x, weight, NULL));
        y = relu(host, x);
        compare(host, "relu at the end of memory", is_image(y), y, plain_relu(x));
        y = max_pool2d(host, x, 2);
        compare(host, "max_pool2d at the end of memory", is_image(y), y, plain_max_pool2d(x, 2));
        kw_tensor_release(weight);
        kw_tensor_release(x);
    }
    (void)munmap(pages, 2 * page_bytes);
}

// Views of a tagged image have the tag, and are laid out in another way.
static void check_views(test_host *host, const images *given)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *view = NULL;
    test_must(kw_tensor_transpose(given->tagged, 2, 3, &view, &err) == KW_OK, "%s", err.text);
    kw_tensor *y = relu(host, view);
    compare(host, "relu of a turned image", is_image(y), y, plain_relu(view));
    y = max_pool2d(host, view, 2);
    compare(host, "max_pool2d of a turned image", is_image(y), y, plain_max_pool2d(view, 2));
    kw_tensor_release(view);

    test_must(kw_tensor_slice(given->tagged, 3, 1, 6, 2, &view, &err) == KW_OK, "%s", err.text);
    y = conv2d(host, view, given->weight, given->bias);
    compare(host, "conv2d of every second column", is_image(y), y,
            plain_conv2d(view, given->weight, given->bias));
    kw_tensor_release(view);

    // The last image, behind which its storage has the bytes that XNNPACK reads.
    test_must(kw_tensor_slice(given->tagged, 0, 2, 3, 1, &view, &err) == KW_OK, "%s", err.text);
    y = relu(host, view);
    compare(host, "relu of the last image", is_image(y), y, plain_relu(view));
    kw_tensor_release(view);

    test_must(kw_tensor_select(given->tagged, 1, 2, &view, &err) == KW_OK, "%s", err.text);
    (void)test_check(host, is_tagged(view), "a view has lost the tag");
    y = relu(host, view);
    compare(host, "relu of one channel", !is_tagged(y) && kw_tensor_is_contiguous(y), y,
            plain_relu(view));
    kw_tensor_release(view);
}

// What the layout has no kernel for, and what its kernels do not take.
static void check_outside(test_host *host, const images *given)
{
    kw_tensor *weight = test_random(host, 2, (const int64_t[]){4, 5 * 6 * 8});
    kw_tensor *y = NULL;
    test_must(nn_linear_call_on(host->network.ops[SERVE_OP_LINEAR], given->tagged, weight, NULL,
                                &y) == KW_OK,
              "%s", kw_call_error());
    compare(host, "linear of a tagged image", !is_tagged(y), y,
            plain_linear(given->tagged, weight));
    kw_tensor_release(weight);
    y = max_pool2d(host, given->tagged, 1);
    compare(host, "max_pool2d of single pixels", !is_tagged(y), y,
            plain_max_pool2d(given->tagged, 1));
    y = max_pool2d(host, given->tagged, 7);
    (void)test_check(host, kw_tensor_numel(y) == 0, "a window that does not fit has a result");
    kw_tensor_release(y);

    // A filter that comes out of a convolution itself.
    kw_tensor *filter = conv2d(host, given->weight, given->weight, NULL);
    kw_tensor *plain = test_plain(filter);
    y = conv2d(host, given->x, filter, given->bias);
    compare(host, "conv2d with a tagged filter", is_image(filter), y,
            plain_conv2d(given->x, plain, given->bias));
    kw_tensor_release(plain);
    kw_tensor_release(filter);
}

// An operator with a list, and the canary's place
// ----------------------------------------------------------------------------------------

// What the canary has seen.
static struct {
    unsigned conv2d_count;
    unsigned fallback_count;
    bool has_seen_tag;
} seen;

static kw_status canary_conv2d(const kw_kernel *self, kw_keyset keys, kw_tensor *x,
                               kw_tensor *weight, kw_tensor *bias, int64_t padding,
                               kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)padding;
    seen.conv2d_count++;
    seen.has_seen_tag = seen.has_seen_tag || is_tagged(x) || !kw_tensor_is_contiguous(x) ||
                        kw_keyset_has_all(keys, kw_keyset_from_key(TAG));
    *out_0 = plain_conv2d(x, weight, bias);
    return KW_OK;
}

static kw_status canary_goes_on(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame)
{
    (void)self;
    seen.fallback_count++;
    return kw_redispatch_boxed(op, kw_keyset_remove_backend(keys, KW_BACKEND_PrivateUse2), frame);
}

static kw_status count_list(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int((int64_t)frame->args[0].count);
    return KW_OK;
}

static kw_library *make_library(test_host *host)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = host->dispatcher,
        .name = "test",
        .tensor_type = kw_tensor_reference_type(),
    };
    const kw_definition definition = KW_DEFINE("test::count(Tensor[] all) -> int");
    const kw_kernel_descriptor fallback = KW_BOXED(canary_goes_on);
    const kw_kernel_descriptor count = KW_BOXED(count_list);
    const kw_kernel_descriptor kernel = nn_conv2d_unboxed(canary_conv2d);
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    test_must(kw_library_create(&options, &library, &err) == KW_OK, "%s", err.text);
    test_must(kw_library_define(library, &definition, NULL, &err) == KW_OK, "%s", err.text);
    test_must(kw_library_impl(library, "test::count", KW_KEY_CPU, &count, NULL, &err) == KW_OK,
              "%s", err.text);
    test_must(kw_library_impl(library, NN_CONV2D_NAME, KW_KEY_PrivateUse2, &kernel, NULL, &err) ==
                  KW_OK,
              "%s", err.text);
    test_must(kw_library_fallback(library, KW_KEY_PrivateUse2, &fallback, NULL, &err) == KW_OK,
              "%s", err.text);
    return library;
}

static void end_library(kw_library *take_library)
{
    kw_error err = KW_ERROR_INIT;
    test_must(kw_library_close(take_library, &err) == KW_OK, "%s", err.text);
    test_must(kw_library_destroy(take_library, &err) == KW_OK, "%s", err.text);
}

// With another backend in the thread's include set, it has the first word of tagged images too.
static void check_canary(test_host *host, const images *given)
{
    kw_local_guard guard;
    test_must(kw_local_include(kw_keyset_from_key(KW_KEY_PrivateUse2), &guard) == KW_OK, "include");
    kw_tensor *y = conv2d(host, given->tagged, given->weight, given->bias);
    compare(host, "conv2d by the canary", !is_tagged(y), y,
            plain_conv2d(given->tagged, given->weight, given->bias));
    (void)test_check(host, seen.conv2d_count == 1 && !seen.has_seen_tag,
                     "the canary was called %u times, and has %sseen the tag", seen.conv2d_count,
                     seen.has_seen_tag ? "" : "not ");
    y = relu(host, given->tagged);
    compare(host, "relu past the canary", !is_tagged(y), y, plain_relu(given->tagged));
    (void)test_check(host, seen.fallback_count == 1, "the canary's fallback was called %u times",
                     seen.fallback_count);
    kw_local_restore(&guard);
}

static void check_list(test_host *host, const images *given)
{
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    test_must(kw_operator_find(host->dispatcher, "test::count", &op, &err) == KW_OK, "%s",
              err.text);
    void *tensors[] = {given->x, given->tagged};
    kw_value args[] = {kw_value_tensors((kw_tensor_list){tensors, 1})};
    kw_value result_value = kw_value_none();
    kw_frame frame = {args, &result_value, 1, 1};
    (void)test_check(host, kw_call_boxed(op, &frame) == KW_OK, "a plain list: %s", kw_call_error());
    args[0] = kw_value_tensors((kw_tensor_list){tensors, 2});
    (void)test_check(host,
                     kw_call_boxed(op, &frame) == KW_NOT_SUPPORTED &&
                         strstr(kw_call_error(), "layout of xnnpack") != NULL,
                     "a list with a tagged image is answered");
}

// A tagged image that outlives the plugin is refused until the plugin is there again.
static void check_without_plugin(test_host *host, const char *path, const images *given)
{
    kw_tensor *y = NULL;
    test_host_unload(host);
    const kw_status status = nn_relu_call_on(host->network.ops[SERVE_OP_RELU], given->tagged, &y);
    if (!test_check(host, status == KW_NO_KERNEL_FOR_KEY, "a tagged image without the plugin: %s",
                    status == KW_OK ? "is answered" : kw_call_error())) {
        kw_tensor_release(y);
    }
    test_host_load(host, path);
    y = relu(host, given->tagged);
    compare(host, "relu after a reload", is_image(y), y, plain_relu(given->tagged));
}

int main(int argc, char **argv)
{
    static test_host host;
    if (argc != 3) {
        (void)fputs("xnnpack_test PLUGIN DATA_FOLDER\n", stderr);
        return 2;
    }
    test_host_start(&host, argv[2]);
    test_host_load(&host, argv[1]);
    images given = make_images(&host);
    check_inside(&host, &given);
    check_ends(&host);
    check_views(&host, &given);
    check_outside(&host, &given);
    kw_library *library = make_library(&host);
    check_canary(&host, &given);
    check_list(&host, &given);
    check_without_plugin(&host, argv[1], &given);
    end_library(library);
    end_images(&given);
    test_host_unload(&host);
    return test_host_stop(&host);
}
