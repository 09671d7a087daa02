// What a call costs: typed, redispatched, boxed, against calls of the kernel without a dispatcher.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
// The operators take tensors and an int and return an int, through generated code, to kernels that
// do next to nothing; tensors carry what a dense CPU tensor carries, and the standard fallbacks are
// in place. The program is built twice: as bench-call-static with the static library, which
// bench-call asks round by round.

#include <stdio.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "harness.h"
#include "small.h"
#include "subject.h"
#ifdef BENCH_WITH_LIBTORCH
#include "original.h"
#endif

// Read anew for each call, so that it is not inlined.
static volatile bench_two_kernel through_pointer = bench_add_two;

#define LOOP(statement)                                                                            \
    int64_t out = 0;                                                                               \
    kw_status failures = 0;                                                                        \
    for (uint64_t i = 0; i < iterations; i++) {                                                    \
        failures |= (statement);                                                                   \
    }                                                                                              \
    return (uint64_t)out + (uint64_t)failures

#define VARIANT(name, statement)                                                                   \
    static uint64_t name(uint64_t iterations)                                                      \
    {                                                                                              \
        LOOP(statement);                                                                           \
    }

VARIANT(run_direct, bench_add_two(NULL, bench_left.keys, &bench_left, &bench_right, out, &out))
VARIANT(run_indirect, through_pointer(NULL, bench_left.keys, &bench_left, &bench_right, out, &out))
VARIANT(run_none, bench_none_call_on(bench_op.none, out, &out))
VARIANT(run_one, bench_one_call_on(bench_op.one, &bench_left, out, &out))
VARIANT(run_two, bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out))
VARIANT(run_three,
        bench_three_call_on(bench_op.three, &bench_left, &bench_right, &bench_left, out, &out))
VARIANT(run_fallen, bench_fallen_call_on(bench_op.fallen, &bench_left, &bench_right, out, &out))
VARIANT(run_levels_2,
        bench_levels_2_call_on(bench_op.levels_2, &bench_left, &bench_right, out, &out))
VARIANT(run_levels_4,
        bench_levels_4_call_on(bench_op.levels_4, &bench_left, &bench_right, out, &out))
VARIANT(run_typed_to_boxed,
        bench_boxed_call_on(bench_op.boxed, &bench_left, &bench_right, out, &out))

// The same look-up without protection: the table that is found once is taken to stay, and nothing
// says that it is in use.

static const kw_table *unprotected_root;

static inline kw_status call_unprotected(bench_tensor *a, bench_tensor *b, int64_t c,
                                         int64_t *out_0)
{
    // Relaxed: it never changes; read anew for each call, as a root that may change has to be.
    kw_call call = {__atomic_load_n(&unprotected_root, __ATOMIC_RELAXED), kwi_thread_self, 0};
    kw_keyset keys;
    const kw_entry *entry =
        kw_call_select(call, kw_keyset_union(call_tensor_keys(a), call_tensor_keys(b)), &keys);
    return ((bench_two_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
}

VARIANT(run_unprotected, call_unprotected(&bench_left, &bench_right, out, &out))

static uint64_t run_redispatch(uint64_t iterations)
{
    int64_t out = 0;
    bench_loop_count = iterations;
    kw_status status = bench_looped_call_on(bench_op.looped, &bench_left, &bench_right, out, &out);
    return (uint64_t)out + (uint64_t)status;
}

static uint64_t run_small_redispatch(uint64_t iterations)
{
    int64_t out = 0;
    bench_loop_count = iterations;
    kw_status status =
        bench_looped_small_call_on(bench_op.looped_small, &bench_left, &bench_right, out, &out);
    return (uint64_t)out + (uint64_t)status;
}

static uint64_t run_snapshot(uint64_t iterations)
{
    kw_snapshot snapshot;
    bench_require(kw_snapshot_open(&snapshot), NULL);
    uint64_t result = run_two(iterations);
    bench_require(kw_snapshot_close(&snapshot), NULL);
    return result;
}

static uint64_t run_local_set(uint64_t iterations)
{
    kw_local_guard guard;
    bench_require(kw_local_exclude(kw_keyset_autograd_with_view(), &guard), NULL);
    uint64_t result = run_two(iterations);
    kw_local_restore(&guard);
    return result;
}

// See Note [Typed calls of handles].
static inline kw_status call_handle(const kw_kernel_handle *handle, kw_keyset keys, bench_tensor *a,
                                    bench_tensor *b, int64_t c, int64_t *out_0)
{
    kw_call call = kw_call_begin(handle->op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(handle->op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_kernel_select(call, handle);
    kw_status status =
        KW_LIKELY(entry != NULL)
            ? ((bench_two_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0)
            : kw_kernel_refused(handle);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(handle->op, status);
}

static uint64_t run_handle_moved(uint64_t iterations, uint32_t by)
{
    kw_kernel_handle handle;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_operator_computed_kernel(bench_op.two, KW_KEY_CPU, &handle, &err), &err);
    handle.entry += by;
    LOOP(call_handle(&handle, bench_left.keys, &bench_left, &bench_right, out, &out));
}

static uint64_t run_handle(uint64_t iterations)
{
    return run_handle_moved(iterations, 0);
}

// As if the table had changed since the handle was taken: the kernel is searched for.
static uint64_t run_handle_elsewhere(uint64_t iterations)
{
    return run_handle_moved(iterations, 1);
}

static uint64_t run_frames(const kw_operator *op, uint64_t iterations)
{
    kw_value out = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&bench_left), kw_value_tensor(&bench_right),
                           kw_value_int(out.as.as_int)};
        kw_frame frame = {args, &out, 3, 1};
        failures |= kw_call_boxed(op, &frame);
    }
    return out.as.bits + (uint64_t)failures;
}

static uint64_t run_boxed(uint64_t iterations)
{
    return run_frames(bench_op.two, iterations);
}

static uint64_t run_boxed_to_boxed(uint64_t iterations)
{
    return run_frames(bench_op.boxed, iterations);
}

static uint64_t run_find(uint64_t iterations)
{
    const kw_operator *op = NULL;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        sum += (uint64_t)kw_operator_find(kw_dispatcher_default(), BENCH_TWO_NAME, &op, NULL);
    }
    return sum + (uint64_t)(uintptr_t)op;
}

static bool set_up(void)
{
    if (!bench_subject_set_up()) {
        return false;
    }
    kw_call call = kw_call_begin(bench_op.two);
    unprotected_root = call.table;
    kw_call_end(call, kw_call_depth(call));
#ifdef BENCH_WITH_LIBTORCH
    return bench_original_set_up();
#else
    return true;
#endif
}

int main(int argc, char **argv)
{
#ifndef BENCH_STATIC
    static const bench_remote static_two = {"bench-call-static", "typed 2 tensors"};
    static const bench_remote static_redispatch = {"bench-call-static", "redispatch"};
    static const bench_remote static_boxed = {"bench-call-static", "boxed"};
#endif
    static const bench_variant variants[] = {
        {.name = "unprotected", .run = run_unprotected},
        {.name = "direct", .run = run_direct},
        {.name = "indirect", .run = run_indirect},
        {.name = "typed 0 tensors", .run = run_none},
        {.name = "typed 1 tensor", .run = run_one},
        {.name = "typed 2 tensors", .run = run_two},
        {.name = "typed 3 tensors", .run = run_three},
        {.name = "snapshot", .run = run_snapshot},
        {.name = "local set", .run = run_local_set},
        {.name = "fallthrough", .run = run_fallen},
        {.name = "redispatch", .run = run_redispatch},
        {.name = "typed, 2 levels", .run = run_levels_2},
        {.name = "typed, 4 levels", .run = run_levels_4},
        {.name = "typed 2 tensors, small code", .run = bench_small_two},
        {.name = "redispatch, small code", .run = run_small_redispatch},
        {.name = "resolve-once", .run = run_handle},
        {.name = "resolve-once, table changed", .run = run_handle_elsewhere},
        {.name = "boxed", .run = run_boxed},
        {.name = "boxed to a boxed kernel", .run = run_boxed_to_boxed},
        {.name = "typed to a boxed kernel", .run = run_typed_to_boxed},
        {.name = "find", .run = run_find},
#ifndef BENCH_STATIC
        {.name = "typed 2 tensors static",
         .measure = bench_remote_measure,
         .argument = &static_two},
        {.name = "redispatch static",
         .measure = bench_remote_measure,
         .argument = &static_redispatch},
        {.name = "boxed static", .measure = bench_remote_measure, .argument = &static_boxed},
#endif
#ifdef BENCH_WITH_LIBTORCH
        {.name = "libtorch typed 2 tensors", .run = bench_original_two},
        {.name = "libtorch redispatch", .run = bench_original_redispatch},
        {.name = "libtorch typed, 2 levels", .run = bench_original_levels_2},
        {.name = "libtorch typed, 4 levels", .run = bench_original_levels_4},
        {.name = "libtorch boxed", .run = bench_original_boxed},
        {.name = "libtorch find", .run = bench_original_find},
#endif
    };
    static const bench_question question = {
        .group = "call", .variants = variants, .count = BENCH_COUNT(variants), .set_up = set_up};
    return bench_main(&question, argc, argv);
}
