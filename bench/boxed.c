// What those pay who use frames only, or no tensors: interpreters, plugins that link nothing,
// dispatch by thread-local keys.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
// All kernels of the operators here are boxed unless a name says otherwise, and nothing is
// generated for them.

#include <stdio.h>

#include <keyway/call.h>
#include <keyway/library.h>
#include <keyway/typed.h>

#include "common.h"
#include "harness.h"

static bench_tensor tensor;
static const kw_operator *plain_op;    // (int c) -> int
static const kw_operator *tensors_op;  // (Tensor a, Tensor b, int c) -> int
static const kw_operator *many_op;     // eight ints
static const kw_operator *list_op;     // (int[] x) -> int
static const kw_operator *layered_op;  // two kernels, the first redispatches
static const kw_operator *fallback_op; // no kernel: a fallback runs
static const kw_operator *typed_op;    // (int c) -> int, a typed kernel without a thunk
static volatile kw_boxed_function through_pointer;

// Kernels -----------------------------------------------------------------------------------------

// The last argument plus one.
static kw_status add_one(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                         kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(frame->args[frame->arg_count - 1].as.as_int + 1);
    return KW_OK;
}

static kw_status count_list(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(1);
    return KW_OK;
}

static kw_status go_on(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    return kw_redispatch_boxed(op, kw_keyset_intersection(keys, kw_keyset_after_autograd()), frame);
}

static kw_status add_typed(const kw_kernel *self, kw_keyset keys, int64_t c, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = c + 1;
    return KW_OK;
}

// Variants ----------------------------------------------------------------------------------------

static uint64_t run_function(uint64_t iterations)
{
    kw_value value = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_int(value.as.as_int)};
        kw_frame frame = {args, &value, 1, 1};
        failures |= through_pointer(NULL, NULL, kw_keyset_empty(), &frame);
    }
    return value.as.bits + (uint64_t)failures;
}

static uint64_t call_ints(const kw_operator *op, uint32_t arg_count, uint64_t iterations)
{
    kw_value value = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[8];
        for (uint32_t k = 0; k < arg_count; k++) {
            args[k] = kw_value_int(value.as.as_int);
        }
        kw_frame frame = {args, &value, arg_count, 1};
        failures |= kw_call_boxed(op, &frame);
    }
    return value.as.bits + (uint64_t)failures;
}

static uint64_t call_tensors(const kw_operator *op, uint64_t iterations)
{
    kw_value value = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&tensor), kw_value_tensor(&tensor),
                           kw_value_int(value.as.as_int)};
        kw_frame frame = {args, &value, 3, 1};
        failures |= kw_call_boxed(op, &frame);
    }
    return value.as.bits + (uint64_t)failures;
}

static uint64_t run_ints(uint64_t iterations)
{
    return call_ints(plain_op, 1, iterations);
}

static uint64_t run_eight(uint64_t iterations)
{
    return call_ints(many_op, 8, iterations);
}

static uint64_t run_typed_kernel(uint64_t iterations)
{
    return call_ints(typed_op, 1, iterations);
}

static uint64_t run_tensors(uint64_t iterations)
{
    return call_tensors(tensors_op, iterations);
}

static uint64_t run_layered(uint64_t iterations)
{
    return call_tensors(layered_op, iterations);
}

static uint64_t run_fallback(uint64_t iterations)
{
    return call_tensors(fallback_op, iterations);
}

static uint64_t run_list(uint64_t iterations)
{
    static const int64_t ints[] = {1, 2, 3, 4};
    const kw_int_list list = {ints, 4};
    kw_value value = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_ints(list)};
        kw_frame frame = {args, &value, 1, 1};
        failures |= kw_call_boxed(list_op, &frame);
    }
    return value.as.bits + (uint64_t)failures;
}

static uint64_t run_handle(uint64_t iterations)
{
    kw_kernel_handle handle;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_operator_computed_kernel(tensors_op, KW_KEY_CPU, &handle, &err), &err);
    kw_value value = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&tensor), kw_value_tensor(&tensor),
                           kw_value_int(value.as.as_int)};
        kw_frame frame = {args, &value, 3, 1};
        failures |= kw_kernel_call_boxed(&handle, tensor.keys, &frame);
    }
    return value.as.bits + (uint64_t)failures;
}

// As a plugin calls that links nothing: see keyway/typed.h.
static uint64_t run_typed_functions(uint64_t iterations)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_typed_call call;
        kw_status status = kw_typed_call_begin(typed_op, kw_keyset_empty(), &call);
        if (status == KW_OK) {
            status = ((kw_status(*)(const kw_kernel *, kw_keyset, int64_t,
                                    int64_t *))call.function)(call.kernel, call.keys, out, &out);
            status = kw_typed_call_end(&call, status);
        }
        failures |= status;
    }
    return (uint64_t)out + (uint64_t)failures;
}

// Set-up ------------------------------------------------------------------------------------------

static const kw_operator *add(kw_library *library, const char *name, const char *parameters,
                              kw_key key, const kw_kernel_descriptor *kernel)
{
    char text[128];
    kw_error err = KW_ERROR_INIT;
    const kw_operator *op = NULL;
    (void)snprintf(text, sizeof text, "%s(%s) -> int", name, parameters);
    const kw_definition definition = KW_DEFINE(text);
    bench_require(kw_library_define(library, &definition, NULL, &err), &err);
    if (kernel != NULL) {
        bench_require(kw_library_impl(library, name, key, kernel, NULL, &err), &err);
    }
    bench_require(kw_library_find(library, name, &op, &err), &err);
    return op;
}

static bool set_up(void)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .ns = "boxed", .tensor_type = &bench_tensor_type};
    const kw_kernel_descriptor boxed = KW_BOXED(add_one);
    const kw_kernel_descriptor counts = KW_BOXED(count_list);
    const kw_kernel_descriptor layer = KW_BOXED(go_on);
    const kw_kernel_descriptor typed = KW_UNBOXED("i>i", add_typed);
    const kw_key any = KW_KEY_CompositeImplicitAutograd;
    const char *tensors = "Tensor a, Tensor b, int c";
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_library_create(&options, &library, &err), &err);
    plain_op = add(library, "plain", "int c", any, &boxed);
    many_op =
        add(library, "many", "int a, int b, int c, int d, int e, int f, int g, int h", any, &boxed);
    list_op = add(library, "list", "int[] x", any, &counts);
    typed_op = add(library, "typed", "int c", any, &typed);
    tensors_op = add(library, "tensors", tensors, KW_KEY_CPU, &boxed);
    layered_op = add(library, "layered", tensors, KW_KEY_CPU, &boxed);
    bench_require(kw_library_impl(library, "layered", KW_KEY_AutogradCPU, &layer, NULL, &err),
                  &err);
    fallback_op = add(library, "fallen", tensors, any, NULL);
    bench_require(kw_library_fallback(library, KW_KEY_CPU, &boxed, NULL, &err), &err);
    through_pointer = add_one;
    tensor.keys = bench_dense_keys();
    return true;
}

int main(int argc, char **argv)
{
    static const bench_variant variants[] = {
        {.name = "boxed function, indirect", .run = run_function},
        {.name = "boxed, an int", .run = run_ints},
        {.name = "boxed, eight ints", .run = run_eight},
        {.name = "boxed, a list of ints", .run = run_list},
        {.name = "boxed, 2 tensors", .run = run_tensors},
        {.name = "boxed, 2 tensors, 2 levels", .run = run_layered},
        {.name = "boxed fallback, 2 tensors", .run = run_fallback},
        {.name = "boxed resolve-once, 2 tensors", .run = run_handle},
        {.name = "typed through functions, an int", .run = run_typed_functions},
        {.name = "boxed to a typed kernel by libffi, an int", .run = run_typed_kernel},
    };
    static const bench_question question = {
        .group = "boxed", .variants = variants, .count = BENCH_COUNT(variants), .set_up = set_up};
    return bench_main(&question, argc, argv);
}
