// Listening without memory: changes happen or not as if nobody listened, and are told whole.
// SPDX-License-Identifier: MIT

#include "base/memory.h"
#include "support/failing.h"

TestSuite(listener, .init = kwt_begin, .fini = kwt_end);

static int event_count;
static int listener_ended;

static void count_event(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
    event_count++;
}

static void end_listener(void *context)
{
    (void)context;
    listener_ended++;
}

static const kw_listener counting = {
    .struct_size = sizeof counting, .event = count_event, .destroy = end_listener};

static void define_two(kwt_scene *scene)
{
    (void)kwt_define(scene->other, "t::f(Tensor x) -> int");
    (void)kwt_define(scene->other, "t::g(Tensor x) -> int");
    // The dispatcher's list has room already.
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(scene->dispatcher, &counting, &id, NULL));
    KWT_OK(kw_dispatcher_unlisten(scene->dispatcher, id));
    event_count = 0;
    listener_ended = 0;
}

static kw_status step_listen(kwt_scene *scene)
{
    uint64_t id = 77;
    kw_status status = kw_dispatcher_listen(scene->dispatcher, &counting, &id, NULL);
    cr_assert_eq(id == 77, status != KW_OK, "outputs are untouched");
    return status;
}

static void check_listen(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(event_count, status == KW_OK ? 2 : 0);
    cr_assert_eq(listener_ended, 0);
}

Test(listener, listen)
{
    const kwt_step_plan plan = {define_two, step_listen, NULL, 0, check_listen};
    cr_expect_gt(kwt_fail_each(&plan), 3);
}

static void listen_first(kwt_scene *scene)
{
    define_two(scene);
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, kwt_counted(KWT_T_I(0), scene));
    (void)kwt_impl(scene->library, "t::g", KW_KEY_CPU, kwt_counted(KWT_T_I(0), scene));
    (void)kwt_fallback(scene->library, KW_KEY_Tracer, kwt_counted(KWT_BOXED(0), scene));
    uint64_t id;
    KWT_OK(kw_dispatcher_listen(scene->dispatcher, &counting, &id, NULL));
    event_count = 0;
}

static kw_status step_close(kwt_scene *scene)
{
    return kw_library_close(scene->library, NULL);
}

static void check_close(kwt_scene *scene, kw_status status)
{
    (void)scene;
    if (status != KW_OK) {
        cr_assert_eq(event_count, 0, "a change that did not happen is not told");
    } else {
        cr_assert(event_count == 3 || event_count == 0, "%d of 3 events", event_count);
    }
    event_count = 0;
}

Test(listener, close_with_listeners)
{
    const kwt_step_plan plan = {listen_first, step_close, NULL, 3, check_close};
    cr_expect_gt(kwt_fail_each(&plan), 10);
}

static kw_status step_impl(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    return kw_library_impl(scene->library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL);
}

Test(listener, impl_with_listeners)
{
    const kwt_step_plan plan = {listen_first, step_impl, NULL, 4, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 10);
}

static void lint_first(kwt_scene *scene)
{
    define_two(scene);
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CompositeImplicitAutograd,
                   kwt_counted(KWT_T_I(0), scene));
    kw_listener linting = counting;
    linting.wants_lint = true;
    uint64_t id;
    KWT_OK(kw_dispatcher_listen(scene->dispatcher, &linting, &id, NULL));
    event_count = 0;
}

static kw_status step_impl_sparse(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    return kw_library_impl(scene->library, "t::f", KW_KEY_SparseCPU, &kernel, NULL, NULL);
}

static void check_lint(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert(event_count == (status == KW_OK ? 3 : 0) || event_count == 0, "%d events",
              event_count);
    event_count = 0;
}

Test(listener, impl_with_lint)
{
    const kwt_step_plan plan = {lint_first, step_impl_sparse, NULL, 2, check_lint};
    cr_expect_gt(kwt_fail_each(&plan), 10);
}
