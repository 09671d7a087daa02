// Leases without memory: what cannot be counted does not come to be.
// SPDX-License-Identifier: MIT

#include <keyway/lease.h>
#include <keyway/object.h>

#include "support/failing.h"

TestSuite(lease, .init = kwt_begin, .fini = kwt_end);

static kw_object *object;
static kw_lease *lease;
static uint64_t listener_id;

static kw_status step_object(kwt_scene *scene)
{
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = "t::Thing",
        .data = &scene->destroyed,
        .destroy = kwt_count_destroy,
        .library = scene->library,
    };
    return kw_object_create(&options, &object, NULL);
}

static void check_none_out(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(kwt_statistics().lease_count, status == KW_OK ? 1 : 0);
}

static void clean_object(kwt_scene *scene)
{
    (void)scene;
    kw_object_release(object);
}

Test(lease, object)
{
    const kwt_step_plan plan = {NULL, step_object, clean_object, 1, check_none_out};
    cr_expect_eq(kwt_fail_each(&plan), 4, "the object and its sort, alone and with all after it");
}

static kw_status step_begin(kwt_scene *scene)
{
    return kw_lease_begin(scene->library, "thread", &lease, NULL);
}

static void clean_begin(kwt_scene *scene)
{
    (void)scene;
    kw_lease_end(lease);
}

Test(lease, begin)
{
    const kwt_step_plan plan = {NULL, step_begin, clean_begin, 0, check_none_out};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static void hear(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

static kw_status step_listen(kwt_scene *scene)
{
    const kw_listener listener = {
        .struct_size = sizeof listener,
        .event = hear,
        .context = &scene->destroyed,
        .destroy = kwt_count_destroy,
        .library = scene->library,
    };
    return kw_dispatcher_listen(scene->dispatcher, &listener, &listener_id, NULL);
}

static void clean_listen(kwt_scene *scene)
{
    KWT_OK(kw_dispatcher_unlisten(scene->dispatcher, listener_id));
}

static void know_sort(kwt_scene *scene)
{
    KWT_OK(step_listen(scene)); // the list and the sort are there, so that bytes can be compared
    clean_listen(scene);
    scene->destroyed = 0;
}

Test(lease, listen)
{
    const kwt_step_plan plan = {know_sort, step_listen, clean_listen, 1, check_none_out};
    cr_expect_geq(kwt_fail_each(&plan), 2);
}
