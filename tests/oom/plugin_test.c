// Plugins without memory: a load, replacement or rollback happens wholly or not at all, and what
// fails leaves neither bytes nor a mapping.
// SPDX-License-Identifier: MIT

#include <keyway/plugin.h>

#include "support/failing.h"

TestSuite(plugin, .init = kwt_begin, .fini = kwt_end);

#define FIRST PLUGIN_FOLDER "/many_1.so"
#define SECOND PLUGIN_FOLDER "/many_2.so"

static kw_plugin *plugin;

static kw_plugin_options options_of(const kwt_scene *scene)
{
    return (kw_plugin_options){
        .struct_size = sizeof(kw_plugin_options),
        .dispatcher = scene->dispatcher,
        .drain_ns = KW_FOREVER,
        .keep_previous = true,
    };
}

static void unload(kwt_scene *scene)
{
    (void)scene;
    KWT_OK(kw_plugin_unload(plugin, KW_FOREVER, NULL));
}

static kw_status step_load(kwt_scene *scene)
{
    const kw_plugin_options options = options_of(scene);
    return kw_plugin_load(FIRST, &options, &plugin, NULL);
}

// So that names and lists are there already, and bytes can be compared.
static void know_names(kwt_scene *scene)
{
    KWT_OK(step_load(scene));
    unload(scene);
}

static void nothing_serves(kwt_scene *scene, kw_status status)
{
    (void)scene;
    kw_plugin_statistics figures = {.struct_size = sizeof figures};
    kw_plugin_statistics_get(&figures);
    cr_assert_eq(figures.serving_count, status == KW_OK ? 1 : 0);
    cr_assert_eq(figures.leaving_count, 0);
    cr_assert_eq(figures.retained_count, 0);
}

Test(plugin, load)
{
    const kwt_step_plan plan = {know_names, step_load, unload, 0, nothing_serves};
    cr_expect_gt(kwt_fail_each(&plan), 100);
}

static void load_first(kwt_scene *scene)
{
    know_names(scene);
    KWT_OK(step_load(scene));
}

static kw_status step_lease(kwt_scene *scene)
{
    kw_plugin *same = NULL;
    const kw_plugin_options options = options_of(scene);
    kw_status status = kw_plugin_load(FIRST, &options, &same, NULL);
    if (status == KW_OK) {
        cr_assert_eq(same, plugin);
        KWT_OK(kw_plugin_unload(same, 0, NULL));
    }
    return status;
}

static void one_serves(kwt_scene *scene, kw_status status)
{
    (void)status;
    nothing_serves(scene, KW_OK);
}

Test(plugin, lease)
{
    const kwt_step_plan plan = {load_first, step_lease, unload, 0, one_serves};
    cr_expect_gt(kwt_fail_each(&plan), 3);
}

static kw_status step_replace(kwt_scene *scene)
{
    const kw_plugin_options options = options_of(scene);
    return kw_plugin_replace(plugin, SECOND, &options, NULL);
}

Test(plugin, replace)
{
    const kwt_step_plan plan = {load_first, step_replace, unload, 0, one_serves};
    cr_expect_gt(kwt_fail_each(&plan), 100);
}

static void replace_first(kwt_scene *scene)
{
    load_first(scene);
    KWT_OK(step_replace(scene));
}

static kw_status step_roll_back(kwt_scene *scene)
{
    const kw_plugin_options options = options_of(scene);
    return kw_plugin_rollback(plugin, &options, NULL);
}

Test(plugin, roll_back)
{
    const kwt_step_plan plan = {replace_first, step_roll_back, unload, 0, one_serves};
    cr_expect_gt(kwt_fail_each(&plan), 100);
}

static void visit(const kw_plugin_info *info, void *context)
{
    (void)info;
    (*(int *)context)++;
}

static kw_status step_list(kwt_scene *scene)
{
    int count = 0;
    (void)scene;
    kw_status status = kw_plugin_list(visit, &count, NULL);
    cr_assert_eq(count, status == KW_OK ? 1 : 0);
    return status;
}

Test(plugin, list)
{
    const kwt_step_plan plan = {load_first, step_list, unload, 0, one_serves};
    cr_expect_gt(kwt_fail_each(&plan), 1);
}

static void visit_item(const kw_plugin_info *info, const kw_plugin_item *item, void *context)
{
    (void)info;
    (void)item;
    (*(int *)context)++;
}

static kw_status step_inspect(kwt_scene *scene)
{
    int count = 0;
    (void)scene;
    kw_status status = kw_plugin_inspect(FIRST, NULL, visit_item, &count, NULL);
    cr_assert(status != KW_OK || count == 82);
    return status;
}

static void nothing(kwt_scene *scene)
{
    (void)scene;
}

static void still_nothing_serves(kwt_scene *scene, kw_status status)
{
    (void)status;
    nothing_serves(scene, KW_NO_MEMORY);
}

Test(plugin, inspect)
{
    const kwt_step_plan plan = {know_names, step_inspect, nothing, 0, still_nothing_serves};
    cr_expect_gt(kwt_fail_each(&plan), 100);
}
