// Reference tensors: made, passed to an operator, laid over memory of one's own, told apart by
// keys.
//
// Layer:   example
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>

#include <keyway/call.h>
#include <keyway/library.h>
#include <keyway/tensor.h>

static void must(kw_status status, const char *text)
{
    if (status != KW_OK) {
        exit(puts(text)); // NOLINT(concurrency-mt-unsafe): no other thread exits
    }
}

// snippet: kernel
// my::add(Tensor a, Tensor b) -> Tensor, for float32 tensors of one size without gaps.
static kw_status add_cpu(const kw_kernel *self, kw_keyset keys, void *a, void *b, void **out_0)
{
    (void)self;
    (void)keys;
    const kw_tensor *left = a;
    const kw_tensor *right = b;
    kw_tensor_options like = {
        .struct_size = sizeof like,
        .sizes = kw_tensor_sizes(left),
        .dim = kw_tensor_dim(left),
        .dtype = kw_tensor_dtype(left),
        .device = kw_tensor_device(left),
    };
    kw_tensor *sum = NULL;
    kw_error err = KW_ERROR_INIT;
    if (kw_tensor_create(&like, &sum, &err) != KW_OK) {
        return kw_fail(err.status, "%s", err.text);
    }
    void *to = NULL;
    (void)!kw_tensor_mutable_data(sum, &to, NULL); // memory of its own can be written
    const float *x = kw_tensor_data(left);
    const float *y = kw_tensor_data(right);
    for (int64_t i = 0; i < kw_tensor_numel(sum); i++) {
        ((float *)to)[i] = x[i] + y[i];
    }
    *out_0 = sum; // its one reference is the caller's
    return KW_OK;
}
// end of snippet

// snippet: wrap
// A tensor over memory that somebody else has: no copy, and a word when it is not needed any more.
static void not_needed(void *context)
{
    printf("memory that begins with %g is free again\n", *(const float *)context);
}

static kw_tensor *over(float *numbers, int64_t count)
{
    const kw_external_memory memory = {
        .struct_size = sizeof memory,
        .data = numbers,
        .bytes = (size_t)count * sizeof *numbers,
        .device = {KW_DEVICE_CPU, -1},
        .destroy = not_needed,
        .context = numbers,
    };
    kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = &count,
        .dim = 1,
        .dtype = KW_DTYPE_FLOAT32,
        .device = memory.device,
    };
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    must(kw_storage_wrap(&memory, &options.storage, &err), err.text);
    must(kw_tensor_create(&options, &tensor, &err), err.text);
    kw_storage_release(options.storage); // the tensor has a reference of its own
    return tensor;
}
// end of snippet

static kw_library *make_library(kw_dispatcher *dispatcher)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .ns = "my"};
    const kw_definition schema = KW_DEFINE("add(Tensor a, Tensor b) -> Tensor");
    const kw_kernel_descriptor kernel = KW_UNBOXED("tt>t", add_cpu);
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    must(kw_library_create(&options, &library, &err), err.text);
    must(kw_library_define(library, &schema, NULL, &err), err.text);
    must(kw_library_impl(library, "add", KW_KEY_CPU, &kernel, NULL, &err), err.text);
    return library;
}

static void end(kw_library *library, kw_dispatcher *dispatcher)
{
    kw_error err = KW_ERROR_INIT;
    must(kw_library_close(library, &err), err.text);
    must(kw_library_drain(library, KW_FOREVER, &err), err.text);
    must(kw_library_destroy(library, &err), err.text);
    must(kw_dispatcher_destroy(dispatcher, &err), err.text);
}

static void call(const kw_operator *op)
{
    // snippet: call
    float halves[] = {0.5f, 0.5f, 0.5f};
    float steps[] = {1, 2, 3};
    kw_tensor *a = over(halves, 3);
    kw_tensor *b = over(steps, 3);
    kw_value args[] = {kw_value_tensor(a), kw_value_tensor(b)};
    kw_value result;
    kw_frame frame = {args, &result, 2, 1};
    must(kw_call_boxed(op, &frame), kw_call_error());
    kw_tensor *sum = result.as.as_tensor;
    const float *numbers = kw_tensor_data(sum);
    printf("%g %g %g\n", numbers[0], numbers[1], numbers[2]); // 1.5 2.5 3.5

    kw_tensor_weak_retain(a);
    kw_tensor_release(a);              // "memory that begins with 0.5 is free again"
    bool is_alive = kw_tensor_lock(a); // false
    kw_tensor_weak_release(a);
    kw_tensor_release(b);
    kw_tensor_release(sum);
    // end of snippet
    must(is_alive ? KW_INTERNAL : KW_OK, "a weak reference kept the tensor");
}

int main(void)
{
    // snippet: dispatcher
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    kw_dispatcher *dispatcher = NULL;
    kw_error err = KW_ERROR_INIT;
    must(kw_dispatcher_create(&options, &dispatcher, &err), err.text);
    // end of snippet
    kw_library *library = make_library(dispatcher);
    const kw_operator *op = NULL;
    must(kw_operator_find(dispatcher, "my::add", &op, &err), err.text);
    call(op);
    end(library, dispatcher);
    return 0;
}
