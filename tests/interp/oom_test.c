// Interpreters without memory: what cannot be made leaves nothing behind.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "fake.h"
#include "interp/interpreter.h"
#include "interp/thread.h"
#include "support/failing.h"

static kw_interpreter *made;
static kw_library *fallbacks;
static kw_interpreter_state *state;
static kw_interpreter_guard guard;
static kw_kernel_descriptor kernel;
static fake of;
static fake_object object;
static kw_local_state words;
static char operators[64];

static void end(void)
{
    kwi_interp_thread_free();
    kwi_interp_end_all();
    kwt_end();
}

TestSuite(interp, .init = kwt_begin, .fini = end);

static void make_fake(kwt_scene *scene)
{
    (void)scene;
    kwi_interp_thread_free();
    kwi_interp_end_all();
    object = fake_object_of(1, NULL);
    fake_begin(&of, "of");
    KWT_OK(kw_thread_attach());
    words = kw_local_capture();
}

// A failed step has taken no reference and left the thread as it was.
static void check_untouched(kwt_scene *scene, kw_status status)
{
    (void)scene;
    if (status != KW_OK) {
        kw_local_state now = kw_local_capture();
        cr_assert_eq(object.references, 1);
        cr_assert(kw_keyset_equal(now.included, words.included));
        cr_assert_eq(kw_mode_count(), 0);
    }
}

static kw_status step_create(kwt_scene *scene)
{
    (void)scene;
    const kw_interpreter_table table = {.struct_size = sizeof table};
    return kw_interpreter_create(&table, &made, NULL);
}

static void clean_all(kwt_scene *scene)
{
    (void)scene;
    kwi_interp_thread_free();
    cr_assert_eq(kw_interpreter_disarm(of.interpreter != NULL ? of.interpreter : made, 0, NULL),
                 KW_OK);
    kwi_interp_end_all();
    of.interpreter = NULL;
}

Test(interp, create)
{
    const kwt_step_plan plan = {.step = step_create, .clean = clean_all};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static kw_status step_fallbacks(kwt_scene *scene)
{
    return kw_interpreter_fallbacks(scene->dispatcher, &fake_tensors, &fallbacks, NULL);
}

static void clean_fallbacks(kwt_scene *scene)
{
    (void)scene;
    KWT_OK(kw_library_close(fallbacks, NULL));
    KWT_OK(kw_library_drain(fallbacks, 0, NULL));
    KWT_OK(kw_library_destroy(fallbacks, NULL));
}

Test(interp, fallbacks)
{
    const kwt_step_plan plan = {.step = step_fallbacks, .clean = clean_fallbacks};
    cr_expect_geq(kwt_fail_each(&plan), 10);
}

static kw_status step_push(kwt_scene *scene)
{
    (void)scene;
    return kw_mode_push(of.interpreter, &object, NULL);
}

static void clean_push(kwt_scene *scene)
{
    cr_assert_eq(object.references, 2);
    KWT_OK(kw_mode_pop(NULL, NULL));
    cr_assert_eq(object.references, 1);
    clean_all(scene);
}

Test(interp, push)
{
    const kwt_step_plan plan = {make_fake, step_push, clean_push, 0, check_untouched};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static void make_mode(kwt_scene *scene)
{
    make_fake(scene);
    KWT_OK(kw_mode_push(of.interpreter, &object, NULL));
}

static kw_status step_capture(kwt_scene *scene)
{
    (void)scene;
    return kw_interpreter_state_capture(&state, NULL);
}

static void check_capture(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(object.references, status == KW_OK ? 3 : 2);
}

static void clean_capture(kwt_scene *scene)
{
    kw_interpreter_state_release(state);
    clean_push(scene);
}

Test(interp, capture)
{
    const kwt_step_plan plan = {make_mode, step_capture, clean_capture, 0, check_capture};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static void make_state(kwt_scene *scene)
{
    make_mode(scene);
    KWT_OK(kw_interpreter_state_capture(&state, NULL));
    KWT_OK(kw_mode_pop(NULL, NULL));
    kwi_interp_thread_free();
}

static kw_status step_enter(kwt_scene *scene)
{
    (void)scene;
    return kw_interpreter_state_enter(state, &guard, NULL);
}

static void check_enter(kwt_scene *scene, kw_status status)
{
    (void)scene;
    cr_assert_eq(object.references, status == KW_OK ? 3 : 2);
    cr_assert_eq(kw_mode_count(), status == KW_OK ? 1 : 0);
}

static void clean_enter(kwt_scene *scene)
{
    kw_interpreter_restore(&guard);
    kw_interpreter_state_release(state);
    cr_assert_eq(object.references, 1);
    clean_all(scene);
}

Test(interp, enter)
{
    const kwt_step_plan plan = {make_state, step_enter, clean_enter, 0, check_enter};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}

static const kw_operator *operator_at(size_t index)
{
    return (const kw_operator *)(const void *)&operators[index];
}

static void forget(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(kw_interpreter_cached(of.interpreter, operator_at(i)), &object);
        kw_interpreter_forget(of.interpreter, operator_at(i));
    }
    kwi_interp_cache_end(of.interpreter); // what is left of it are empty arrays
}

// The first object, and enough for the table to grow, which it can do without while it has room.
static kw_status step_cache(kwt_scene *scene)
{
    (void)scene;
    for (size_t i = 0; i < sizeof operators; i++) {
        void *kept = NULL;
        kw_status status =
            kw_interpreter_cache(of.interpreter, operator_at(i), &object, &kept, NULL);
        if (status != KW_OK) {
            cr_assert_null(kw_interpreter_cached(of.interpreter, operator_at(i)));
            forget(i);
            return status;
        }
    }
    return KW_OK;
}

static void clean_cache(kwt_scene *scene)
{
    clean_all(scene);
    cr_assert_eq(object.references, 1);
}

Test(interp, cache)
{
    const kwt_step_plan plan = {make_fake, step_cache, clean_cache, 0, check_untouched};
    cr_expect_geq(kwt_fail_each(&plan), 2, "the first array, alone and with all after it");
}

static kw_status step_kernel(kwt_scene *scene)
{
    (void)scene;
    return kw_interpreter_kernel(of.interpreter, &object, &kernel, NULL);
}

static void clean_kernel(kwt_scene *scene)
{
    cr_assert_eq(object.references, 2);
    kernel.destroy(kernel.user_data);
    cr_assert_eq(object.references, 1);
    clean_all(scene);
}

Test(interp, kernel)
{
    const kwt_step_plan plan = {make_fake, step_kernel, clean_kernel, 0, check_untouched};
    cr_expect_eq(kwt_fail_each(&plan), 2);
}
