// Snapshots without memory: sharing says so and shares nothing; what needs none goes on.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/snapshot.h>

#include "base/memory.h"
#include "registry/world.h"
#include "support/failing.h"

TestSuite(snapshot, .init = kwt_begin, .fini = kwt_end);

static kw_snapshot opened;
static kw_shared_snapshot *shared;

static void prepare_open(kwt_scene *scene)
{
    (void)kwt_define(scene->library, "t::f(Tensor x) -> int");
    KWT_OK(kw_thread_attach());
    KWT_OK(kw_snapshot_open(&opened));
    shared = NULL;
}

static kw_status step_share(kwt_scene *scene)
{
    (void)scene;
    return kw_snapshot_share(&opened, &shared, NULL);
}

static void check_share(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(shared != NULL, status == KW_OK);
    cr_assert_eq(kwt_statistics().shared_snapshot_count, status == KW_OK ? 1 : 0);
}

static void clean_share(kwt_scene *scene)
{
    (void)scene;
    KWT_OK(kw_snapshot_close(&opened));
    kw_shared_snapshot_release(shared);
}

Test(snapshot, share)
{
    const kwt_step_plan plan = {prepare_open, step_share, clean_share, 0, check_share};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static void prepare_attached(kwt_scene *scene)
{
    (void)scene;
    KWT_OK(kw_thread_attach());
    shared = NULL;
}

static kw_status step_create(kwt_scene *scene)
{
    (void)scene;
    return kw_shared_snapshot_create(&shared, NULL);
}

static void check_create(kwt_scene *scene, kw_status status)
{
    check_share(scene, status);
    cr_assert_eq(kwt_statistics().snapshot_count, 0, "the thread is not left inside");
}

static void clean_create(kwt_scene *scene)
{
    (void)scene;
    kw_shared_snapshot_release(shared);
}

Test(snapshot, create)
{
    const kwt_step_plan plan = {prepare_attached, step_create, clean_create, 0, check_create};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

// Many operators, so that the list of holders has to grow.
#define OPERATORS 40

static void prepare_holders(kwt_scene *scene)
{
    for (unsigned i = 0; i < OPERATORS; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "t::f%u(Tensor x) -> int", i);
        (void)kwt_define(scene->library, schema);
    }
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    kwt_close(scene->library);
}

static unsigned told_count;

static void count_holder(const kw_holder *holder, void *context)
{
    (void)context;
    told_count += holder->kind == KW_HOLDER_SHARED_SNAPSHOT ? 1 : 0;
}

static kw_status step_holders(kwt_scene *scene)
{
    told_count = 0;
    return kw_library_holders(scene->library, count_holder, NULL);
}

static void check_holders(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(told_count, status == KW_OK ? OPERATORS : 0, "all or none");
}

Test(snapshot, holders)
{
    const kwt_step_plan plan = {prepare_holders, step_holders, clean_create, 0, check_holders};
    cr_expect_geq(kwt_fail_each(&plan), 4);
}

// The scratch of the pass is given back, so that the next scan needs memory.
static void forget_scratch(void)
{
    kwi_world_lock();
    kwi_words_fini(&kwi_the_world.reclaimer.pins);
    kwi_words_fini(&kwi_the_world.reclaimer.announced);
    kwi_world_unlock();
}

Test(snapshot, scan_without_memory_frees_nothing_and_forgets_nothing)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    KWT_OK(kw_shared_snapshot_create(&shared, NULL));
    kwt_close(library);
    uint64_t retired = kwt_statistics().retired_count;
    forget_scratch();
    kwi_memory_fail_at(1, true);
    kw_status reclaimed = kw_reclaim();
    kw_statistics figures = kwt_statistics();
    kw_error err = KW_ERROR_INIT;
    kw_status drained = kw_library_drain(library, 0, &err);
    kw_snapshot entered;
    kw_status entering = kw_shared_snapshot_enter(shared, &entered);
    kwi_memory_fail_at(0, false);
    KWT_OK(reclaimed);
    KWT_STATUS(KW_BUSY, drained);
    KWT_HAS(err.text, "held by a shared snapshot of version");
    KWT_OK(entering);
    cr_expect_eq(figures.retired_count, retired);
    cr_expect_eq(figures.shared_snapshot_count, 1);
    cr_expect_eq(figures.held_table_count, 0, "there was no memory to look");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1);
    KWT_OK(kw_snapshot_close(&entered));
    cr_expect_gt(kwt_statistics().held_table_count, 0);
    kw_shared_snapshot_release(shared);
    KWT_OK(kw_library_drain(library, 0, NULL));
}
