// What stands around calls: finding operators, snapshots, observers.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include <keyway/observer.h>
#include <keyway/snapshot.h>

#include "harness.h"
#include "subject.h"

static uint64_t run_two(uint64_t iterations)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
    }
    return (uint64_t)out + (uint64_t)failures;
}

static uint64_t run_boxed(uint64_t iterations)
{
    kw_value out = kw_value_int(0);
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_value args[] = {kw_value_tensor(&bench_left), kw_value_tensor(&bench_right),
                           kw_value_int(out.as.as_int)};
        kw_frame frame = {args, &out, 3, 1};
        failures |= kw_call_boxed(bench_op.two, &frame);
    }
    return out.as.bits + (uint64_t)failures;
}

// Finding -----------------------------------------------------------------------------------------

static uint64_t run_find_typed(uint64_t iterations)
{
    const kw_operator *op = NULL;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        sum += (uint64_t)kw_operator_find_typed(kw_dispatcher_default(), "bench::two",
                                                BENCH_TWO_SIGNATURE, &op, NULL);
    }
    return sum + (uint64_t)(uintptr_t)op;
}

// Snapshots ---------------------------------------------------------------------------------------

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

// Observers: one that does nothing but be called. -------------------------------------------------

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
    kw_error err = KW_ERROR_INIT;
    uint64_t number = 0;
    bench_require(kw_observer_add(kw_dispatcher_default(), &observer, &number, &err), &err);
    return number;
}

static void detach_observer(uint64_t number)
{
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_observer_remove(kw_dispatcher_default(), number, &err), &err);
}

static uint64_t run_two_after_observer(uint64_t iterations)
{
    detach_observer(attach_observer());
    return run_two(iterations);
}

static uint64_t run_two_observed(uint64_t iterations)
{
    uint64_t number = attach_observer();
    uint64_t result = run_two(iterations);
    detach_observer(number);
    return result;
}

static uint64_t run_boxed_observed(uint64_t iterations)
{
    uint64_t number = attach_observer();
    uint64_t result = run_boxed(iterations);
    detach_observer(number);
    return result;
}

int main(int argc, char **argv)
{
    static const bench_variant variants[] = {
        {.name = "typed 2 tensors", .run = run_two},
        {.name = "boxed", .run = run_boxed},
        {.name = "find typed", .run = run_find_typed},
        {.name = "snapshot opened and closed", .run = run_snapshot},
        {.name = "shared snapshot entered and left", .run = run_enter_shared},
        {.name = "shared snapshot made and released", .run = run_share},
        {.name = "typed after an observer", .run = run_two_after_observer},
        {.name = "typed, observed", .run = run_two_observed},
        {.name = "boxed, observed", .run = run_boxed_observed},
    };
    static const bench_question question = {.group = "around",
                                            .variants = variants,
                                            .count = BENCH_COUNT(variants),
                                            .set_up = bench_subject_set_up};
    return bench_main(&question, argc, argv);
}
