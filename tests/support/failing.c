// Steps whose every allocation fails in turn.
// SPDX-License-Identifier: MIT

#include "support/failing.h"

#include "base/memory.h"

#define MOST_ALLOCATIONS 2000

kw_kernel_descriptor kwt_counted(kw_kernel_descriptor kernel, kwt_scene *scene)
{
    return kwt_with(kernel, &scene->destroyed, kwt_count_destroy);
}

static void make_scene(const kwt_step_plan *plan, kwt_scene *scene)
{
    *scene = (kwt_scene){.dispatcher = kwt_dispatcher()};
    scene->library = kwt_library(scene->dispatcher, "library");
    scene->other = kwt_library(scene->dispatcher, "other");
    if (plan->prepare != NULL) {
        plan->prepare(scene);
    }
    KWT_OK(kw_reclaim());
}

static kw_status attempt(const kwt_step_plan *plan, kwt_scene *scene, uint64_t nth, bool and_after)
{
    kwi_memory_fail_at(nth, and_after);
    kw_status status = plan->step(scene);
    kwi_memory_fail_at(0, false);
    if (plan->check != NULL) {
        plan->check(scene, status);
    }
    return status;
}

// Whether the n-th allocation of the step was reached.
static bool fail_once(const kwt_step_plan *plan, uint64_t nth, bool and_after, bool *out_failed)
{
    kwt_scene scene;
    make_scene(plan, &scene);
    const char *picture = kwt_picture(scene.dispatcher);
    uint64_t bytes = kwt_live_bytes();
    uint64_t count = kwi_memory_count();
    kw_status status = attempt(plan, &scene, nth, and_after);
    bool reached = kwi_memory_count() - count >= nth;
    *out_failed = status != KW_OK;
    if (status != KW_OK) {
        cr_assert(reached);
        cr_assert_eq(status, KW_NO_MEMORY, "allocation %llu: %s", (unsigned long long)nth,
                     kw_status_name(status));
        cr_assert_str_eq(kwt_picture(scene.dispatcher), picture, "allocation %llu",
                         (unsigned long long)nth);
        cr_assert_eq(kwt_live_bytes(), bytes, "allocation %llu: %lld bytes more",
                     (unsigned long long)nth, (long long)(kwt_live_bytes() - bytes));
        cr_assert_eq(scene.destroyed, 0, "allocation %llu", (unsigned long long)nth);
        KWT_OK(attempt(plan, &scene, 0, false));
    }
    if (plan->clean != NULL) {
        plan->clean(&scene);
    }
    kwt_end(); // also that nothing is left
    cr_assert_eq(scene.destroyed, plan->destroyed);
    return reached;
}

unsigned kwt_fail_each(const kwt_step_plan *plan)
{
    unsigned failed_count = 0;
    for (int and_after = 0; and_after < 2; and_after++) {
        uint64_t nth = 1;
        bool failed;
        while (fail_once(plan, nth, and_after != 0, &failed)) {
            failed_count += failed ? 1 : 0;
            nth++;
            cr_assert_lt(nth, MOST_ALLOCATIONS);
        }
    }
    return failed_count;
}
