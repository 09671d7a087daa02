// What a call costs: typed, redispatched and boxed, against calling the kernel directly.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
// The operator is (Tensor a, Tensor b, int c) -> int with a kernel that does next to nothing; both
// tensors carry what a dense CPU tensor carries, and the standard fallbacks are in place.

#include <stdio.h>

#include <keyway/call.h>
#include <keyway/inline/box.h>
#include <keyway/inline/call.h>
#include <keyway/library.h>
#include <keyway/local.h>
#include <keyway/observer.h>
#include <keyway/snapshot.h>

#include "harness.h"

typedef struct tensor {
    kw_keyset keys;
    int64_t value;
} tensor;

typedef kw_status (*function)(const kw_kernel *self, kw_keyset keys, void *a, void *b, int64_t c,
                              int64_t *out_0);

static tensor left;
static tensor right;
static const kw_operator *plain_op;       // a CPU kernel
static const kw_operator *layered_op;     // an autograd kernel that redispatches to CPU
static const kw_operator *boxed_op;       // a boxed CPU kernel
static const kw_operator *thunked_op;     // an unboxed CPU kernel with thunks for both ways
static volatile function through_pointer; // read anew for each call, so that it is not inlined

static kw_keyset tensor_keys(const void *any)
{
    return ((const tensor *)any)->keys;
}

// Kernels -----------------------------------------------------------------------------------------

__attribute__((noinline)) static kw_status add_cpu(const kw_kernel *self, kw_keyset keys, void *a,
                                                   void *b, int64_t c, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)a;
    (void)b;
    *out_0 = c + 1;
    return KW_OK;
}

static kw_status add_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(frame->args[2].as.as_int + 1);
    return KW_OK;
}

// What generated code does to reach an unboxed kernel from a frame.
static kw_status add_thunk(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    int64_t out = 0;
    kw_status status = add_cpu(self, keys, frame->args[0].as.as_tensor, frame->args[1].as.as_tensor,
                               frame->args[2].as.as_int, &out);
    frame->returns[0] = kw_value_int(out);
    return status;
}

// What generated code does to call a boxed kernel, or one that is observed.
static kw_status add_box(const kw_kernel *self, kw_keyset keys, void *a, void *b, int64_t c,
                         int64_t *out_0)
{
    kw_value args[3];
    kw_value returns[1];
    kw_frame frame = kw_box_frame(args, 3, returns, 1);
    args[0] = kw_value_tensor(a);
    args[1] = kw_value_tensor(b);
    args[2] = kw_value_int(c);
    KW_THUNK_TRY(kw_box_run(self, keys, &frame));
    KW_THUNK_TRY(kw_box_expect_int(self, &frame, 0));
    *out_0 = kw_box_take_int(&returns[0]);
    return KW_OK;
}

// The wrappers ------------------------------------------------------------------------------------

static inline kw_status add_call(const kw_operator *op, tensor *a, tensor *b, int64_t c,
                                 int64_t *out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, kw_keyset_union(a->keys, b->keys), &keys);
    kw_status status = ((function)entry->function)(entry->kernel, keys, a, b, c, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status add_by_handle(const kw_kernel_handle *handle, kw_keyset keys, tensor *a,
                                      tensor *b, int64_t c, int64_t *out_0)
{
    kw_call call = kw_call_begin(handle->op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(handle->op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_kernel_select(call, handle);
    kw_status status = KW_LIKELY(entry != NULL)
                           ? ((function)entry->function)(entry->kernel, keys, a, b, c, out_0)
                           : kw_kernel_refused(handle);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(handle->op, status);
}

KW_COLD static kw_status add_redispatch_anew(const kw_operator *op, kw_keyset keys, tensor *a,
                                             tensor *b, int64_t c, int64_t *out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((function)entry->function)(entry->kernel, keys, a, b, c, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status add_redispatch(const kw_operator *op, kw_keyset keys, tensor *a, tensor *b,
                                       int64_t c, int64_t *out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return add_redispatch_anew(op, keys, a, b, c, out_0);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((function)entry->function)(entry->kernel, keys, a, b, c, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static kw_status add_autograd(const kw_kernel *self, kw_keyset keys, void *a, void *b, int64_t c,
                              int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    return add_redispatch(self->op, below, a, b, c, out_0);
}

// Variants ----------------------------------------------------------------------------------------

#define LOOP(statement)                                                                            \
    int64_t out = 0;                                                                               \
    kw_status failures = 0;                                                                        \
    for (uint64_t i = 0; i < iterations; i++) {                                                    \
        failures |= (statement);                                                                   \
    }                                                                                              \
    return (uint64_t)out + (uint64_t)failures

static uint64_t run_direct(uint64_t iterations)
{
    LOOP(add_cpu(NULL, left.keys, &left, &right, out, &out));
}

static uint64_t run_indirect(uint64_t iterations)
{
    LOOP(through_pointer(NULL, left.keys, &left, &right, out, &out));
}

static uint64_t run_typed(uint64_t iterations)
{
    LOOP(add_call(plain_op, &left, &right, out, &out));
}

static uint64_t run_typed_in_snapshot(uint64_t iterations)
{
    kw_snapshot snapshot;
    if (kw_snapshot_open(&snapshot) != KW_OK) {
        return 0;
    }
    int64_t out = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        (void)add_call(plain_op, &left, &right, out, &out);
    }
    return (uint64_t)out + (uint64_t)kw_snapshot_close(&snapshot);
}

static uint64_t run_typed_with_guard(uint64_t iterations)
{
    kw_local_guard guard;
    if (kw_local_exclude(kw_keyset_autograd_with_view(), &guard) != KW_OK) {
        return 0;
    }
    int64_t out = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        (void)add_call(plain_op, &left, &right, out, &out);
    }
    kw_local_restore(&guard);
    return (uint64_t)out;
}

static uint64_t run_handle(uint64_t iterations)
{
    kw_kernel_handle handle;
    if (kw_operator_computed_kernel(plain_op, KW_KEY_CPU, &handle, NULL) != KW_OK) {
        return 0;
    }
    LOOP(add_by_handle(&handle, left.keys, &left, &right, out, &out));
}

static uint64_t run_handle_elsewhere(uint64_t iterations)
{
    kw_kernel_handle handle;
    if (kw_operator_computed_kernel(plain_op, KW_KEY_CPU, &handle, NULL) != KW_OK) {
        return 0;
    }
    handle.entry++; // as if the table had changed since
    LOOP(add_by_handle(&handle, left.keys, &left, &right, out, &out));
}

static uint64_t run_layered(uint64_t iterations)
{
    LOOP(add_call(layered_op, &left, &right, out, &out));
}

static uint64_t run_typed_to_boxed(uint64_t iterations)
{
    LOOP(add_call(boxed_op, &left, &right, out, &out));
}

// An observer that does nothing but be called.

static void *observe_start(const kw_observation *observation, void *context)
{
    (void)observation;
    return context;
}

static void observe_end(const kw_observation *observation, void *word, void *context)
{
    (void)observation;
    (void)word;
    (void)context;
}

static uint64_t attach_observer(void)
{
    const kw_observer observer = {
        .struct_size = sizeof observer, .start = observe_start, .end = observe_end};
    uint64_t number = 0;
    kw_status status = kw_observer_add(kw_dispatcher_default(), &observer, &number, NULL);
    return status == KW_OK ? number : 0;
}

static void detach_observer(uint64_t number)
{
    if (kw_observer_remove(kw_dispatcher_default(), number, NULL) != KW_OK) {
        fprintf(stderr, "the observer is not removed\n");
    }
}

static uint64_t run_typed_after_observer(uint64_t iterations)
{
    detach_observer(attach_observer());
    return run_typed(iterations);
}

static uint64_t run_typed_observed(uint64_t iterations)
{
    uint64_t number = attach_observer();
    uint64_t result = run_typed(iterations);
    detach_observer(number);
    return result;
}

static uint64_t run_thunked(uint64_t iterations)
{
    LOOP(add_call(thunked_op, &left, &right, out, &out));
}

static uint64_t run_thunked_observed(uint64_t iterations)
{
    uint64_t number = attach_observer();
    uint64_t result = run_thunked(iterations);
    detach_observer(number);
    return result;
}

static uint64_t run_boxed(const kw_operator *op, uint64_t iterations)
{
    kw_value out = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&left), kw_value_tensor(&right), out};
        kw_frame frame = {args, &out, 3, 1};
        failures |= kw_call_boxed(op, &frame);
    }
    return out.as.bits + (uint64_t)failures;
}

static uint64_t run_boxed_to_boxed(uint64_t iterations)
{
    return run_boxed(boxed_op, iterations);
}

static uint64_t run_boxed_to_thunk(uint64_t iterations)
{
    return run_boxed(thunked_op, iterations);
}

static uint64_t run_boxed_observed(uint64_t iterations)
{
    uint64_t number = attach_observer();
    uint64_t result = run_boxed_to_thunk(iterations);
    detach_observer(number);
    return result;
}

static uint64_t run_boxed_to_ffi(uint64_t iterations)
{
    return run_boxed(plain_op, iterations);
}

static uint64_t run_snapshot(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_snapshot snapshot;
        sum += (uint64_t)kw_snapshot_open(&snapshot);
        sum += (uint64_t)kw_snapshot_close(&snapshot);
    }
    return sum;
}

static uint64_t run_enter_shared(uint64_t iterations)
{
    kw_shared_snapshot *shared = NULL;
    uint64_t sum = (uint64_t)kw_shared_snapshot_create(&shared, NULL);
    for (uint64_t i = 0; i < iterations; i++) {
        kw_snapshot snapshot;
        sum += (uint64_t)kw_shared_snapshot_enter(shared, &snapshot);
        sum += (uint64_t)kw_snapshot_close(&snapshot);
    }
    kw_shared_snapshot_release(shared);
    return sum;
}

static uint64_t run_share(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_shared_snapshot *shared = NULL;
        sum += (uint64_t)kw_shared_snapshot_create(&shared, NULL);
        kw_shared_snapshot_release(shared);
    }
    return sum;
}

static uint64_t run_find(uint64_t iterations)
{
    const kw_operator *op = NULL;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        sum += (uint64_t)kw_operator_find(kw_dispatcher_default(), "bench::plain", &op, NULL);
    }
    return sum + (uint64_t)(uintptr_t)op;
}

// Set-up ------------------------------------------------------------------------------------------

static kw_status define(kw_library *library, const char *name, const kw_kernel_descriptor *kernel,
                        const kw_operator **out_op, kw_error *err)
{
    char schema[128];
    char full[64];
    (void)snprintf(schema, sizeof schema, "%s(Tensor a, Tensor b, int c) -> int", name);
    (void)snprintf(full, sizeof full, "bench::%s", name);
    kw_definition definition = KW_DEFINE(schema);
    definition.box = kernel->boxed == add_thunk ? (kw_function)add_box : NULL;
    kw_status status = kw_library_define(library, &definition, NULL, err);
    if (status == KW_OK) {
        status = kw_library_impl(library, name, KW_KEY_CPU, kernel, NULL, err);
    }
    if (status == KW_OK) {
        status = kw_operator_find_typed(kw_dispatcher_default(), full, "tti>i", out_op, err);
    }
    return status;
}

static kw_status set_up(kw_error *err)
{
    static const kw_tensor_type type = {
        .struct_size = sizeof type, .name = "bench tensor", .keys = tensor_keys};
    const kw_library_options options = {
        .struct_size = sizeof options, .ns = "bench", .tensor_type = &type};
    const kw_kernel_descriptor unboxed = KW_UNBOXED("tti>i", add_cpu);
    const kw_kernel_descriptor boxed = KW_BOXED(add_boxed);
    const kw_kernel_descriptor autograd = KW_UNBOXED("tti>i", add_autograd);
    kw_kernel_descriptor thunked = unboxed;
    thunked.boxed = add_thunk;
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, err);
    status = status == KW_OK ? define(library, "plain", &unboxed, &plain_op, err) : status;
    status = status == KW_OK ? define(library, "layered", &unboxed, &layered_op, err) : status;
    status = status == KW_OK ? define(library, "boxed", &boxed, &boxed_op, err) : status;
    status = status == KW_OK ? define(library, "thunked", &thunked, &thunked_op, err) : status;
    if (status == KW_OK) {
        status = kw_library_impl(library, "layered", KW_KEY_AutogradCPU, &autograd, NULL, err);
    }
    left.keys.bits = KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                     KW_KEYSET_BITS(KW_KEY_AutogradCPU) | KW_KEYSET_BITS(KW_KEY_AutocastCPU);
    right.keys = left.keys;
    through_pointer = add_cpu;
    return status;
}

int main(int argc, char **argv)
{
    static const bench_variant variants[] = {
        {"indirect", run_indirect},
        {"direct", run_direct},
        {"typed", run_typed},
        {"typed-in-snapshot", run_typed_in_snapshot},
        {"typed-with-guard", run_typed_with_guard},
        {"typed-by-handle", run_handle},
        {"typed-by-handle-from-before", run_handle_elsewhere},
        {"typed-then-redispatch", run_layered},
        {"typed-to-boxed-kernel-by-ffi", run_typed_to_boxed},
        {"boxed-to-boxed-kernel", run_boxed_to_boxed},
        {"boxed-to-unboxed-kernel-by-thunk", run_boxed_to_thunk},
        {"boxed-to-unboxed-kernel-by-ffi", run_boxed_to_ffi},
        {"typed-after-observer", run_typed_after_observer},
        {"typed-observed-by-ffi", run_typed_observed},
        {"typed-observed-by-thunk", run_thunked_observed},
        {"boxed-observed-by-thunk", run_boxed_observed},
        {"find-by-name", run_find},
        {"snapshot", run_snapshot},
        {"shared-snapshot-entered", run_enter_shared},
        {"shared-snapshot-made", run_share},
    };
    bench_options options = {.iterations = 200000, .rounds = 51};
    if (!bench_options_read(&options, argc, argv)) {
        return 2;
    }
    kw_error err = KW_ERROR_INIT;
    if (set_up(&err) != KW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return bench_run("call", variants, sizeof variants / sizeof variants[0], 0, &options);
}
