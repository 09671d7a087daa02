// Asking without memory: whoever visits is told everything or nothing.
// SPDX-License-Identifier: MIT

#include <keyway/inspect.h>

#include "base/memory.h"
#include "support/failing.h"

TestSuite(inspect, .init = kwt_begin, .fini = kwt_end);

static void register_some(kwt_scene *scene)
{
    (void)kwt_define(scene->library, "t::f(Tensor x) -> int");
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, KWT_T_I(2));
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CUDA, KWT_BOXED(3));
    (void)kwt_impl(scene->library, "t::dangling", KW_KEY_CPU, KWT_T_I(4));
}

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(int *)context;
}

static kw_status step_visit_dangling(kwt_scene *scene)
{
    int count = 0;
    kw_status status = kw_dispatcher_visit_dangling(scene->dispatcher, count_operator, &count);
    cr_assert_eq(count, status == KW_OK ? 1 : 0);
    return status;
}

Test(inspect, visit_dangling)
{
    const kwt_step_plan plan = {register_some, step_visit_dangling, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 0);
}

static kw_status step_visit_key(kwt_scene *scene)
{
    int count = 0;
    kw_status status =
        kw_dispatcher_visit_key(scene->dispatcher, KW_KEY_CPU, count_operator, &count);
    cr_assert_eq(count, status == KW_OK ? 2 : 0);
    return status;
}

Test(inspect, visit_key)
{
    const kwt_step_plan plan = {register_some, step_visit_key, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 0);
}

static void count_registration(const kw_registration_row *row, void *context)
{
    cr_assert_not_null(row->name);
    ++*(int *)context;
}

static kw_status step_visit_registrations(kwt_scene *scene)
{
    int count = 0;
    kw_status status = kw_operator_visit_registrations(kwt_find(scene->dispatcher, "t::f"),
                                                       count_registration, &count);
    cr_assert_eq(count, status == KW_OK ? 4 : 0);
    return status;
}

Test(inspect, visit_registrations)
{
    const kwt_step_plan plan = {register_some, step_visit_registrations, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 16);
}

static void count_row(const kw_table_row *row, void *context)
{
    (void)row;
    ++*(int *)context;
}

static kw_status step_ask_the_table(kwt_scene *scene)
{
    int count = 0;
    const kw_operator *op = kwt_find(scene->dispatcher, "t::f");
    kw_kernel_handle handle;
    int64_t number = 0;
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    kw_value out = kw_value_none();
    kw_frame frame = {.args = &arg, .returns = &out, .arg_count = 1, .return_count = 1};
    kw_status status = kw_operator_visit_table(op, count_row, &count);
    status = status == KW_OK ? kw_operator_computed_kernel(op, KW_KEY_CPU, &handle, NULL) : status;
    status = status == KW_OK ? kw_kernel_call_boxed(&handle, cpu.keys, &frame) : status;
    status = status == KW_OK ? kw_call_boxed_for_key(op, KW_KEY_CPU, &frame) : status;
    status = status == KW_OK ? kwt_call_frame(op, &arg, 1, &number) : status;
    cr_assert_gt(count, 100);
    cr_assert_eq(number, 2);
    return status;
}

Test(inspect, tables_and_exact_calls_need_none)
{
    const kwt_step_plan plan = {register_some, step_ask_the_table, NULL, 0, NULL};
    KWT_OK(kw_thread_attach());
    cr_expect_eq(kwt_fail_each(&plan), 0);
}

// Registering in the forms that need more memory than others
// ---------------------------------------

static kw_status step_kernel_with_schema(kwt_scene *scene)
{
    kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    kernel.schema = "(Tensor x) -> int";
    return kw_library_impl(scene->library, "t::f", KW_KEY_Meta, &kernel, NULL, NULL);
}

static void register_once(kwt_scene *scene)
{
    register_some(scene);
    // The list of the library has room for one more.
    kwt_remove(scene->library, kwt_impl(scene->library, "t::f", KW_KEY_Meta, KWT_T_I(0)));
}

Test(inspect, kernel_with_a_schema)
{
    const kwt_step_plan plan = {register_once, step_kernel_with_schema, NULL, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 10);
}

static kw_status step_library_of_a_kind(kwt_scene *scene)
{
    const kw_library_options options = {.struct_size = sizeof options,
                                        .dispatcher = scene->dispatcher,
                                        .ns = "claimed",
                                        .kind = KW_LIBRARY_KIND_DEF,
                                        .file = "file.c"};
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, NULL);
    cr_assert_eq(library == NULL, status != KW_OK, "outputs are untouched");
    if (status == KW_OK) {
        kwi_memory_fail_at(0, false);
        kwt_end_library(library);
    }
    return status;
}

Test(inspect, library_of_a_kind)
{
    const kwt_step_plan plan = {NULL, step_library_of_a_kind, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 4);
}
