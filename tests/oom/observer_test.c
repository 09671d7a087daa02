// Observers and traces without memory: attached and removed whole, or not at all.
// SPDX-License-Identifier: MIT

#include <keyway/observer.h>
#include <keyway/trace.h>

#include "base/memory.h"
#include "support/failing.h"

TestSuite(observer, .init = kwt_begin, .fini = kwt_end);

static int call_count;
static int ended;
static uint64_t number;
static kw_trace *trace;

static void end_call(const kw_observation *observation, void *word, void *context)
{
    (void)observation;
    (void)word;
    (void)context;
    call_count++;
}

static void end_observer(void *context)
{
    (void)context;
    ended++;
}

static const char *const only[] = {"t::*", "u::f"};

static const kw_observer counting = {.struct_size = sizeof counting,
                                     .end = end_call,
                                     .destroy = end_observer,
                                     .only = only,
                                     .only_count = 2,
                                     .except = only + 1,
                                     .except_count = 1};

static void prepare(kwt_scene *scene)
{
    (void)kwt_define(scene->other, "t::f(Tensor x) -> int");
    (void)kwt_impl(scene->other, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_define(scene->other, "t::g(Tensor x) -> int");
    // The dispatcher's list has room already.
    KWT_OK(kw_observer_add(scene->dispatcher, &counting, &number, NULL));
    KWT_OK(kw_observer_remove(scene->dispatcher, number, NULL));
    call_count = 0;
    ended = 0;
    number = 77;
}

static void call(kwt_scene *scene)
{
    kwt_tensor x = kwt_make_tensor("CPU");
    cr_assert_eq(kwt_result_t_i(kwt_find(scene->dispatcher, "t::f"), &x), 1);
}

static kw_status step_add(kwt_scene *scene)
{
    kw_status status = kw_observer_add(scene->dispatcher, &counting, &number, NULL);
    cr_assert_eq(number == 77, status != KW_OK, "outputs are untouched");
    return status;
}

static void check_add(kwt_scene *scene, kw_status status)
{
    call_count = 0;
    call(scene);
    cr_assert_eq(call_count, status == KW_OK ? 1 : 0);
    cr_assert_eq(ended, 0);
}

static void clean_add(kwt_scene *scene)
{
    KWT_OK(kw_observer_remove(scene->dispatcher, number, NULL));
}

Test(observer, add)
{
    const kwt_step_plan plan = {prepare, step_add, clean_add, 0, check_add};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

static void prepare_remove(kwt_scene *scene)
{
    prepare(scene);
    KWT_OK(kw_observer_add(scene->dispatcher, &counting, &number, NULL));
}

static kw_status step_remove(kwt_scene *scene)
{
    return kw_observer_remove(scene->dispatcher, number, NULL);
}

static void check_remove(kwt_scene *scene, kw_status status)
{
    call_count = 0;
    call(scene);
    cr_assert_eq(call_count, status == KW_OK ? 0 : 1);
    KWT_OK(status == KW_OK ? kw_reclaim() : KW_OK);
    cr_assert_eq(ended, status == KW_OK ? 1 : 0);
}

Test(observer, remove)
{
    const kwt_step_plan plan = {prepare_remove, step_remove, NULL, 0, check_remove};
    cr_expect_gt(kwt_fail_each(&plan), 2);
}

static kw_status step_trace(kwt_scene *scene)
{
    const kw_trace_options options = {
        .struct_size = sizeof options, .ring_count = 3, .ring_size = 8};
    return kw_trace_start(scene->dispatcher, &options, &trace, NULL);
}

static void clean_trace(kwt_scene *scene)
{
    (void)scene;
    KWT_OK(kw_trace_destroy(trace, NULL));
}

Test(observer, trace)
{
    const kwt_step_plan plan = {prepare, step_trace, clean_trace, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 6);
}
