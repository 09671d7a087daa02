// Making and asking without memory: dispatchers, libraries, visits, dumps; and what needs none.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "base/memory.h"
#include "support/failing.h"

TestSuite(dispatcher, .init = kwt_begin, .fini = kwt_end);

// Without kwt_end: the default dispatcher stays.
TestSuite(dispatcher_default, .init = kwt_begin);

static kw_status step_create(kwt_scene *scene)
{
    (void)scene;
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = &kwt_tensor_type};
    kw_dispatcher *dispatcher = NULL;
    kw_status status = kw_dispatcher_create(&options, &dispatcher, NULL);
    cr_assert_eq(dispatcher == NULL, status != KW_OK, "outputs are untouched");
    if (status == KW_OK) {
        kwi_memory_fail_at(0, false);
        KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
    }
    return status;
}

Test(dispatcher, create)
{
    const kwt_step_plan plan = {NULL, step_create, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 6);
}

static kw_status step_create_library(kwt_scene *scene)
{
    const kw_library_options options = {.struct_size = sizeof options,
                                        .dispatcher = scene->dispatcher,
                                        .name = "name",
                                        .ns = "ns",
                                        .ns_as = "meant",
                                        .tensor_type = &kwt_tensor_type};
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, NULL);
    cr_assert_eq(library == NULL, status != KW_OK, "outputs are untouched");
    if (status == KW_OK) {
        kwi_memory_fail_at(0, false);
        kwt_end_library(library);
    }
    return status;
}

Test(dispatcher, create_library)
{
    const kwt_step_plan plan = {NULL, step_create_library, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

Test(dispatcher, library_that_brings_the_tensor_type)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .tensor_type = &kwt_tensor_type};
    uint64_t bytes = kwt_live_bytes();
    kw_library *library = NULL;
    uint64_t nth = 0;
    kw_status status;
    do {
        cr_assert_eq(kwt_live_bytes(), bytes);
        kwi_memory_fail_at(++nth, false);
        status = kw_library_create(&options, &library, NULL);
        kwi_memory_fail_at(0, false);
    } while (status == KW_NO_MEMORY);
    KWT_OK(status);
    cr_expect_gt(nth, 3);
    kwt_end_library(library);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

static void define_some(kwt_scene *scene)
{
    (void)kwt_define(scene->library, "t::f(Tensor x) -> int");
    (void)kwt_define(scene->library, "t::g(Tensor x) -> int");
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, KWT_T_I(1));
}

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(int *)context;
}

static kw_status step_visit(kwt_scene *scene)
{
    int count = 0;
    kw_status status = kw_dispatcher_visit(scene->dispatcher, count_operator, &count);
    cr_assert_eq(count, status == KW_OK ? 2 : 0);
    return status;
}

Test(dispatcher, visit)
{
    const kwt_step_plan plan = {define_some, step_visit, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 0);
}

static void count_bytes(const char *text, size_t length, void *context)
{
    (void)text;
    *(size_t *)context += length;
}

static kw_status step_dump(kwt_scene *scene)
{
    size_t length = 0;
    kw_status status = kw_operator_dump(kwt_find(scene->dispatcher, "t::f"), count_bytes, &length);
    cr_assert_eq(length == 0, status != KW_OK, "all or nothing is written");
    return status;
}

Test(dispatcher, dump)
{
    const kwt_step_plan plan = {define_some, step_dump, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 0);
}

static kw_status step_reclaim(kwt_scene *scene)
{
    (void)scene;
    return kw_reclaim();
}

static void retire_some(kwt_scene *scene)
{
    define_some(scene);
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    for (int i = 0; i < 3; i++) {
        const kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
        kw_transaction *tx = kwt_transaction(scene->dispatcher);
        KWT_OK(kw_transaction_impl(tx, scene->library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
        KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
    }
}

// A pass without memory for its scan frees nothing; reclaiming has nothing to fail with.
Test(dispatcher, reclaim_does_without)
{
    const kwt_step_plan plan = {retire_some, step_reclaim, NULL, 3, NULL};
    cr_expect_eq(kwt_fail_each(&plan), 0);
}

// Calls, redispatches, look-ups and snapshots allocate nothing once the thread is attached.
Test(dispatcher, calls_and_look_ups_need_no_memory)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    static kwt_layer layer = {1, KW_KEY_Tracer};
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    KWT_OK(kw_thread_attach());
    kwt_tensor cpu = kwt_make_tensor("CPU, AutogradCPU, Tracer");
    kw_value arg = kw_value_tensor(&cpu);
    const kw_operator *op = NULL;
    int64_t number = 0;
    char schema[64];
    uint64_t count = kwi_memory_count();
    kwi_memory_fail_at(1, true);
    for (int i = 0; i < 20; i++) {
        kw_snapshot snapshot;
        kw_local_guard guard;
        KWT_OK(kw_snapshot_open(&snapshot));
        KWT_OK(kw_operator_find(dispatcher, "t::f", &op, NULL));
        KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &op, NULL));
        KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::g", &op, NULL));
        KWT_OK(kwt_call_t_i(op, &cpu, &number));
        KWT_OK(kwt_call_frame(op, &arg, 1, &number));
        KWT_OK(kwt_redispatch_t_i(op, kwt_keyset("CPU"), &cpu, &number));
        KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_redispatch_t_i(op, kwt_keyset("CUDA"), &cpu, &number));
        cr_assert(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
        cr_assert_gt(kw_operator_schema(op, schema, sizeof schema), 0);
        size_t length = 0;
        KWT_OK(kw_operator_dump_table(op, count_bytes, &length));
        KWT_OK(kw_local_include(kwt_keyset("Tracer"), &guard));
        kw_local_restore(&guard);
        KWT_OK(kw_snapshot_close(&snapshot));
    }
    cr_expect_eq(kwi_memory_count(), count);
    kwi_memory_fail_at(0, false);
}

Test(dispatcher_default, first_use_without_memory_tries_again_later)
{
    uint64_t nth = 0;
    kw_dispatcher *dispatcher;
    do {
        kwi_memory_fail_at(++nth, true);
        dispatcher = kw_dispatcher_default();
        kw_library *library = NULL;
        if (dispatcher == NULL) {
            KWT_STATUS(KW_NO_MEMORY, kw_library_create(NULL, &library, NULL));
            cr_assert_eq(kwt_live_bytes(), 0);
        }
        kwi_memory_fail_at(0, false);
    } while (dispatcher == NULL);
    cr_expect_gt(nth, 3);
    cr_expect_eq(kw_dispatcher_default(), dispatcher);
}
