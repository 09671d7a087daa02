// What generated code costs: its calls against wrappers by hand, its thunks against libffi.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include <generated.h>

#include <keyway/call.h>
#include <keyway/library.h>

#include "common.h"
#include "harness.h"

static bench_tensor left;
static bench_tensor right;

// The dispatcher's own operators, with the thunks of generated.c; and, in another dispatcher, the
// same without them.
static const kw_operator *plain_op;
static const kw_operator *layered_op;
static const kw_operator *hand_layered_op;
static const kw_operator *boxed_op;
static const kw_operator *plain_by_ffi_op;
static const kw_operator *boxed_by_ffi_op;

// Kernels -----------------------------------------------------------------------------------------

__attribute__((noinline)) static kw_status add_cpu(const kw_kernel *self, kw_keyset keys,
                                                   bench_tensor *a, bench_tensor *b, int64_t c,
                                                   int64_t *out_0)
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

static kw_status add_autograd(const kw_kernel *self, kw_keyset keys, bench_tensor *a,
                              bench_tensor *b, int64_t c, int64_t *out_0)
{
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    return bench_layered_redispatch_on(self->op, below, a, b, c, out_0);
}

// By hand -----------------------------------------------------------------------------------------

static inline kw_keyset hand_keys(const bench_tensor *tensor)
{
    return tensor != NULL ? tensor->keys : kw_keyset_empty();
}

static inline kw_status hand_call(const kw_operator *op, bench_tensor *a, bench_tensor *b,
                                  int64_t c, int64_t *out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry =
        kw_call_select(call, kw_keyset_union(hand_keys(a), hand_keys(b)), &keys);
    kw_status status = ((bench_plain_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static kw_status hand_autograd(const kw_kernel *self, kw_keyset keys, bench_tensor *a,
                               bench_tensor *b, int64_t c, int64_t *out_0)
{
    keys = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    const kw_table *table = kw_redispatch_table(self->op);
    if (KW_UNLIKELY(table == NULL)) {
        return hand_call(self->op, a, b, c, out_0); // never: the kernel runs inside a call
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((bench_plain_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(self->op, status);
}

// Variants ----------------------------------------------------------------------------------------

#define VARIANT(name, statement)                                                                   \
    static uint64_t name(uint64_t iterations)                                                      \
    {                                                                                              \
        int64_t out = 0;                                                                           \
        kw_status failures = 0;                                                                    \
        for (uint64_t i = 0; i < iterations; i++) {                                                \
            failures |= (statement);                                                               \
        }                                                                                          \
        return (uint64_t)out + (uint64_t)failures;                                                 \
    }

VARIANT(run_hand, hand_call(plain_op, &left, &right, out, &out))
VARIANT(run_call_on, bench_plain_call_on(plain_op, &left, &right, out, &out))
VARIANT(run_call, bench_plain_call(&left, &right, out, &out))
VARIANT(run_hand_layered, hand_call(hand_layered_op, &left, &right, out, &out))
VARIANT(run_layered, bench_layered_call_on(layered_op, &left, &right, out, &out))
VARIANT(run_boxing_ffi, bench_boxed_call_on(boxed_by_ffi_op, &left, &right, out, &out))
VARIANT(run_boxing, bench_boxed_call_on(boxed_op, &left, &right, out, &out))

static uint64_t run_boxed(const kw_operator *op, uint64_t iterations)
{
    kw_value out = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&left), kw_value_tensor(&right),
                           kw_value_int(out.as.as_int)};
        kw_frame frame = {args, &out, 3, 1};
        failures |= kw_call_boxed(op, &frame);
    }
    return out.as.bits + (uint64_t)failures;
}

static uint64_t run_unboxing_ffi(uint64_t iterations)
{
    return run_boxed(plain_by_ffi_op, iterations);
}

static uint64_t run_unboxing(uint64_t iterations)
{
    return run_boxed(plain_op, iterations);
}

// Set-up ------------------------------------------------------------------------------------------

static kw_status make_library(kw_dispatcher *dispatcher, kw_library **out_library, kw_error *err)
{
    const kw_library_options options = {.struct_size = sizeof options,
                                        .dispatcher = dispatcher,
                                        .ns = "bench",
                                        .tensor_type = &bench_tensor_type};
    return kw_library_create(&options, out_library, err);
}

// The default dispatcher, with generated code.
static kw_status set_up_generated(kw_error *err)
{
    kw_library *library = NULL;
    kw_transaction *tx = NULL;
    const kw_kernel_descriptor boxed = KW_BOXED(add_boxed);
    kw_status status = make_library(kw_dispatcher_default(), &library, err);
    status = status == KW_OK ? kw_transaction_begin(kw_dispatcher_default(), &tx, err) : status;
    status = status == KW_OK ? generated_define(tx, library, err) : status;
    status = status == KW_OK ? bench_plain_impl(tx, library, KW_KEY_CPU, add_cpu) : status;
    status = status == KW_OK ? bench_layered_impl(tx, library, KW_KEY_CPU, add_cpu) : status;
    status = status == KW_OK ? bench_layered_impl(tx, library, KW_KEY_AutogradCPU, add_autograd)
                             : status;
    status = status == KW_OK
                 ? kw_transaction_impl(tx, library, BENCH_BOXED_NAME, KW_KEY_CPU, &boxed, NULL, err)
                 : status;
    status = status == KW_OK ? kw_transaction_commit(tx, NULL, NULL, err) : status;
    plain_op = bench_plain_handle();
    layered_op = bench_layered_handle();
    boxed_op = bench_boxed_handle();
    return status;
}

static kw_status add_by_hand(kw_library *library, const char *schema, const char *name, kw_key key,
                             const kw_kernel_descriptor *kernel, kw_error *err)
{
    const kw_definition definition = KW_DEFINE(schema);
    kw_status status = kw_library_define(library, &definition, NULL, err);
    return status == KW_OK ? kw_library_impl(library, name, key, kernel, NULL, err) : status;
}

// A dispatcher of its own, without thunks.
static kw_status set_up_by_hand(kw_error *err)
{
    kw_dispatcher *dispatcher = NULL;
    kw_library *library = NULL;
    const kw_kernel_descriptor boxed = KW_BOXED(add_boxed);
    const kw_kernel_descriptor unboxed = KW_UNBOXED(BENCH_PLAIN_SIGNATURE, add_cpu);
    const kw_kernel_descriptor autograd = KW_UNBOXED(BENCH_PLAIN_SIGNATURE, hand_autograd);
    kw_status status = kw_dispatcher_create(NULL, &dispatcher, err);
    status = status == KW_OK ? make_library(dispatcher, &library, err) : status;
    status = status == KW_OK ? add_by_hand(library, BENCH_PLAIN_SCHEMA, BENCH_PLAIN_NAME,
                                           KW_KEY_CPU, &unboxed, err)
                             : status;
    status = status == KW_OK ? add_by_hand(library, BENCH_LAYERED_SCHEMA, BENCH_LAYERED_NAME,
                                           KW_KEY_CPU, &unboxed, err)
                             : status;
    status = status == KW_OK ? kw_library_impl(library, BENCH_LAYERED_NAME, KW_KEY_AutogradCPU,
                                               &autograd, NULL, err)
                             : status;
    status = status == KW_OK ? add_by_hand(library, BENCH_BOXED_SCHEMA, BENCH_BOXED_NAME,
                                           KW_KEY_CPU, &boxed, err)
                             : status;
    status = status == KW_OK ? bench_plain_find(dispatcher, &plain_by_ffi_op, err) : status;
    status = status == KW_OK ? bench_layered_find(dispatcher, &hand_layered_op, err) : status;
    return status == KW_OK ? bench_boxed_find(dispatcher, &boxed_by_ffi_op, err) : status;
}

static bool set_up(void)
{
    left.keys = bench_dense_keys();
    right.keys = left.keys;
    kw_error err = KW_ERROR_INIT;
    bench_require(set_up_generated(&err), &err);
    bench_require(set_up_by_hand(&err), &err);
    return true;
}

int main(int argc, char **argv)
{
    static const bench_variant variants[] = {
        {.name = "typed by hand", .run = run_hand},
        {.name = "typed generated, operator given", .run = run_call_on},
        {.name = "typed generated", .run = run_call},
        {.name = "typed then redispatch by hand", .run = run_hand_layered},
        {.name = "typed then redispatch generated", .run = run_layered},
        {.name = "typed to a boxed kernel by libffi", .run = run_boxing_ffi},
        {.name = "typed to a boxed kernel generated", .run = run_boxing},
        {.name = "boxed to a typed kernel by libffi", .run = run_unboxing_ffi},
        {.name = "boxed to a typed kernel generated", .run = run_unboxing},
    };
    static const bench_question question = {.group = "generated",
                                            .variants = variants,
                                            .count = BENCH_COUNT(variants),
                                            .set_up = set_up};
    return bench_main(&question, argc, argv);
}
