// Interpreters: their life, what they keep, their kernels, and what a shut down one answers.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "interp/fault.h"
#include "interp/thread.h"
#include "scene.h"

TestSuite(interpreter, .init = scene_begin, .fini = scene_end);

// S132
Test(interpreter, table_is_copied_and_checked)
{
    kw_error err = KW_ERROR_INIT;
    kw_interpreter *made = NULL;
    char name[] = "short-lived";
    kw_interpreter_table table = {.struct_size = sizeof table, .name = name, .context = name};
    KWT_OK(kw_interpreter_create(&table, &made, NULL));
    name[0] = 'S';
    cr_expect_str_eq(kw_interpreter_name(made), "short-lived");
    cr_expect_eq(kw_interpreter_context(made), name);
    cr_expect(kw_interpreter_is_armed(made));
    table.struct_size = 8;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_create(&table, &made, &err));
    KWT_HAS(err.text, "sizeof(kw_interpreter_table)");
    struct {
        kw_interpreter_table table;
        uint64_t newer;
    } longer = {.table = {.struct_size = sizeof longer}, .newer = 0};
    KWT_OK(kw_interpreter_create(&longer.table, &made, NULL));
    cr_expect_str_eq(kw_interpreter_name(made), "interpreter");
    longer.newer = 1;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_create(&longer.table, &made, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_create(NULL, &made, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_create(&table, NULL, &err));
    KWT_OK(kw_interpreter_disarm(made, 0, NULL));
}

// S132
Test(interpreter, functions_that_are_missing_are_not_needed)
{
    kw_interpreter *made = NULL;
    const kw_interpreter_table table = {.struct_size = sizeof table};
    KWT_OK(kw_interpreter_create(&table, &made, NULL));
    int thing = 0;
    kw_interpreter_retain_object(made, &thing);
    kw_interpreter_release_object(made, &thing);
    const kw_error why = KW_ERROR_INIT;
    kw_interpreter_report(made, &why);
    KWT_OK(kw_mode_push(made, &thing, NULL));
    cr_expect_eq(scene_n_of(), 4, "a mode of a table without functions changes nothing");
    KWT_OK(kw_mode_pop(NULL, NULL));
    kw_kernel_descriptor kernel;
    KWT_OK(kw_interpreter_kernel(made, &thing, &kernel, NULL));
    (void)kwt_impl(scene_library, "t::f", KW_KEY_CUDA, kernel);
    fake_tensor x = scene_tensor(NULL, NULL, false);
    x.keys = kwt_keyset("CUDA");
    int64_t number;
    KWT_STATUS(KW_NOT_SUPPORTED, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "runs no kernels");
    fake_tensor y = scene_tensor(NULL, NULL, true);
    y.interpreter = made;
    void *out = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_interpreter_detach(&fake_tensors, &y, &out, NULL));
    kw_metadata metadata = {.code = KW_METADATA_NUMEL};
    KWT_OK(kw_interpreter_metadata(&fake_tensors, &y, &metadata, NULL));
    cr_expect_eq(metadata.answer.as_int, 5);
    KWT_OK(kw_interpreter_disarm(made, 0, NULL));
}

// S133
Test(interpreter, shut_down_one_is_told_of_by_every_way_to_it)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    KWT_OK(kw_mode_push(scene_one.interpreter, &object, NULL));
    kw_interpreter_guard dispatcher;
    kw_kernel_descriptor kernel;
    KWT_OK(kw_interpreter_kernel(scene_one.interpreter, &object, &kernel, NULL));
    (void)kwt_impl(scene_library, "t::f", KW_KEY_CUDA, kernel);
    cr_expect_eq(object.references, 3);
    fake_end(&scene_one);
    cr_expect(!kw_interpreter_is_armed(scene_one.interpreter));

    int64_t number;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INTERPRETER_GONE, scene_call_n(&number));
    KWT_HAS(kw_call_error(), "the interpreter one, which has the mode on top of the stack");
    KWT_OK(kw_mode_pop(NULL, NULL));
    KWT_STATUS(KW_INTERPRETER_GONE, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "has a tensor among the arguments");
    fake_tensor y = scene_tensor(NULL, NULL, false);
    y.keys = kwt_keyset("CUDA");
    KWT_STATUS(KW_INTERPRETER_GONE, scene_call_f(&y, NULL, &number));
    KWT_HAS(kw_call_error(), "has the kernel");
    KWT_STATUS(KW_INTERPRETER_GONE,
               kw_python_dispatcher_enable(scene_one.interpreter, &dispatcher));
    KWT_STATUS(KW_INTERPRETER_GONE, kw_mode_push(scene_one.interpreter, &object, &err));
    KWT_HAS(err.text, "the interpreter one is shut down");
    KWT_STATUS(KW_INTERPRETER_GONE,
               kw_interpreter_kernel(scene_one.interpreter, &object, &kernel, &err));
    void *kept;
    KWT_STATUS(KW_INTERPRETER_GONE,
               kw_interpreter_cache(scene_one.interpreter, scene_f, &object, &kept, &err));
    cr_expect_null(kw_interpreter_cached(scene_one.interpreter, scene_f));
    kw_interpreter_use use;
    KWT_STATUS(KW_INTERPRETER_GONE, kw_interpreter_enter(scene_one.interpreter, &use));
    void *out = NULL;
    KWT_STATUS(KW_INTERPRETER_GONE, kw_interpreter_detach(&fake_tensors, &x, &out, &err));
    kw_metadata metadata = {.code = KW_METADATA_DIM};
    KWT_STATUS(KW_INTERPRETER_GONE, kw_interpreter_metadata(&fake_tensors, &x, &metadata, &err));
    KWT_HAS(err.text, "has the tensor's metadata");
    cr_expect_eq(object.references, 3, "what it kept is dropped without a call");
    KWT_OK(kw_interpreter_disarm(scene_one.interpreter, KW_FOREVER, NULL));
    cr_expect_eq(scene_one.destroyed_count, 1);
    cr_expect_eq(atomic_load(&scene_one.late_count), 0);
}

// S133
Test(interpreter, thread_whose_dispatcher_is_shut_down_is_told)
{
    kw_interpreter_guard guard;
    KWT_OK(kw_python_dispatcher_enable(scene_one.interpreter, &guard));
    fake_end(&scene_one);
    int64_t number;
    KWT_STATUS(KW_INTERPRETER_GONE, scene_call_n(&number));
    KWT_HAS(kw_call_error(), "has every call of the thread");
    kw_interpreter_restore(&guard);
}

static kw_status shut_down_self(fake_object *self, const kw_interpreter_call *call)
{
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_interpreter_disarm(scene_one.interpreter, 0, &err), KW_WOULD_WAIT_FOR_SELF);
    KWT_HAS(err.text, "inside the interpreter one itself");
    cr_expect(kw_interpreter_is_armed(scene_one.interpreter));
    cr_expect_eq(kw_interpreter_disarm(scene_two.interpreter, KW_FOREVER, &err),
                 KW_WOULD_WAIT_FOR_SELF);
    KWT_HAS(err.text, "inside another interpreter");
    cr_expect(kw_interpreter_is_armed(scene_two.interpreter));
    cr_expect_eq(kw_interpreter_disarm(scene_two.interpreter, 1000, &err), KW_OK);
    return scene_answer(self, call);
}

// S134
Test(interpreter, shutting_down_from_inside_is_refused)
{
    fake_object object = fake_object_of(11, shut_down_self);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    cr_expect_eq(scene_f_of(&x, NULL), 11);
}

// S134
Test(interpreter, shutting_down_waits_no_longer_than_it_is_told)
{
    kw_interpreter_use use;
    kw_error err = KW_ERROR_INIT;
    kw_interpreter_use other;
    KWT_OK(kw_interpreter_enter(scene_two.interpreter, &other));
    kw_interpreter_leave(&other);
    // Another thread's stay, as far as the library can tell.
    KWT_OK(kw_interpreter_enter(scene_one.interpreter, &use));
    kwi_interp_self.uses = NULL;
    KWT_STATUS(KW_BUSY, kw_interpreter_disarm(scene_one.interpreter, 0, &err));
    KWT_HAS(err.text, "still inside the interpreter one");
    KWT_STATUS(KW_BUSY, kw_interpreter_disarm(scene_one.interpreter, 100000, &err));
    cr_expect(!kw_interpreter_is_armed(scene_one.interpreter));
    cr_expect_eq(scene_one.destroyed_count, 0);
    kw_interpreter_leave(&use);
    KWT_OK(kw_interpreter_disarm(scene_one.interpreter, KW_FOREVER, &err));
    cr_expect_eq(scene_one.destroyed_count, 1);
}

static kw_interpreter *finishing;
static kw_status status_in_destroy;

static void disarm_in_destroy(void *context)
{
    (void)context;
    status_in_destroy = kw_interpreter_disarm(finishing, 0, NULL);
}

// S134
Test(interpreter, shutting_down_from_its_last_function_is_refused)
{
    const kw_interpreter_table table = {.struct_size = sizeof table, .destroy = disarm_in_destroy};
    KWT_OK(kw_interpreter_create(&table, &finishing, NULL));
    KWT_OK(kw_interpreter_disarm(finishing, KW_FOREVER, NULL));
    cr_expect_eq(status_in_destroy, KW_WOULD_WAIT_FOR_SELF);
}

// S135
Test(interpreter, first_object_kept_for_an_operator_stays)
{
    fake_object a = fake_object_of(11, NULL);
    fake_object b = fake_object_of(12, NULL);
    void *kept = NULL;
    cr_expect_null(kw_interpreter_cached(scene_one.interpreter, scene_f));
    KWT_OK(kw_interpreter_cache(scene_one.interpreter, scene_f, &a, &kept, NULL));
    cr_expect_eq(kept, &a);
    KWT_OK(kw_interpreter_cache(scene_one.interpreter, scene_f, &b, &kept, NULL));
    cr_expect_eq(kept, &a);
    KWT_OK(kw_interpreter_cache(scene_one.interpreter, scene_f, &a, &kept, NULL));
    cr_expect_eq(b.references, 1);
    cr_expect_eq(a.references, 2);
    cr_expect_eq(kw_interpreter_cached(scene_one.interpreter, scene_f), &a);
    cr_expect_null(kw_interpreter_cached(scene_two.interpreter, scene_f), "each has its own");
    cr_expect_null(kw_interpreter_cached(scene_one.interpreter, scene_n));
    kw_interpreter_forget(scene_one.interpreter, scene_f);
    cr_expect_eq(a.references, 1);
    cr_expect_null(kw_interpreter_cached(scene_one.interpreter, scene_f));
    KWT_OK(kw_interpreter_cache(scene_one.interpreter, scene_f, &b, &kept, NULL));
    cr_expect_eq(kept, &b);
    fake_end(&scene_one);
    cr_expect_eq(b.references, 1, "it is released at the end");
}

// S135
Test(interpreter, many_operators_have_their_objects)
{
    enum {
        MANY = 1000
    };
    static char operators[MANY];
    static fake_object objects[MANY];
    for (int i = 0; i < MANY; i++) {
        objects[i] = fake_object_of(i, NULL);
        void *kept = NULL;
        const kw_operator *op = (const kw_operator *)(const void *)&operators[i];
        KWT_OK(kw_interpreter_cache(scene_one.interpreter, op, &objects[i], &kept, NULL));
    }
    for (int i = 0; i < MANY; i++) {
        const kw_operator *op = (const kw_operator *)(const void *)&operators[i];
        cr_assert_eq(kw_interpreter_cached(scene_one.interpreter, op), &objects[i]);
    }
    fake_end(&scene_one);
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(objects[i].references, 1);
    }
}

// S136
Test(interpreter, function_serves_as_a_kernel)
{
    fake_object object = fake_object_of(21, scene_answer);
    kw_kernel_descriptor kernel;
    KWT_OK(kw_interpreter_kernel(scene_one.interpreter, &object, &kernel, NULL));
    cr_expect_eq(object.references, 2);
    kw_registration made = kwt_impl(scene_library, "t::f", KW_KEY_CPU, kernel);
    fake_tensor x = scene_tensor(NULL, NULL, false);
    cr_expect_eq(scene_f_of(&x, NULL), 21);
    kwt_remove(scene_library, made);
    KWT_OK(kw_library_drain(scene_library, 0, NULL) == KW_INVALID_ARGUMENT ? KW_OK : KW_INTERNAL);
    cr_expect_eq(scene_f_of(&x, NULL), 1);
    cr_expect_eq(object.references, 1);
}

// S136
Test(interpreter, kernel_that_is_not_registered_is_given_back)
{
    fake_object object = fake_object_of(21, scene_answer);
    kw_kernel_descriptor kernel;
    KWT_OK(kw_interpreter_kernel(scene_one.interpreter, &object, &kernel, NULL));
    kernel.destroy(kernel.user_data);
    cr_expect_eq(object.references, 1);
}

// S137
Test(interpreter, metadata_are_asked_of_the_interpreter_first)
{
    fake_object object = fake_object_of(11, NULL);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    fake_tensor plain = scene_tensor(&scene_one, &object, false);
    kw_metadata metadata = {.code = KW_METADATA_DIM};
    KWT_OK(kw_interpreter_metadata(&fake_tensors, &x, &metadata, NULL));
    cr_expect_eq(metadata.answer.as_int, 77);
    metadata.code = KW_METADATA_NUMEL;
    KWT_OK(kw_interpreter_metadata(&fake_tensors, &x, &metadata, NULL));
    cr_expect_eq(metadata.answer.as_int, 5, "the tensor itself");
    metadata.code = KW_METADATA_DIM;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_SUPPORTED, kw_interpreter_metadata(&fake_tensors, &plain, &metadata, &err));
    cr_expect_eq(metadata.answer.as_int, 5, "the answer is untouched");
    KWT_HAS(err.text, "question 5");
}

// S132
Test(interpreter, incomplete_arguments_are_refused)
{
    fake_object object = fake_object_of(11, NULL);
    kw_interpreter_use use;
    kw_interpreter_guard guard;
    kw_interpreter_state *state = NULL;
    kw_kernel_descriptor kernel;
    void *out = NULL;
    const kw_interpreter_tensors without_find = {.struct_size = sizeof without_find,
                                                 .type = &fake_tensor_type};
    kw_library *library = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_enter(NULL, &use));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_disarm(NULL, 0, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_state_capture(NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_state_enter(state, &guard, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_kernel(NULL, &object, &kernel, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_mode_push(NULL, &object, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_interpreter_cache(scene_one.interpreter, NULL, &object, &out, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_set_object(NULL, NULL, &object, true, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_metadata(&fake_tensors, NULL, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_detach(&fake_tensors, NULL, &out, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_python_dispatcher_enable(scene_one.interpreter, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_python_reenter(NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_interpreter_fallbacks(scene_dispatcher, &fake_tensors, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_interpreter_fallbacks(scene_dispatcher, &without_find, &library, NULL));
    cr_expect_null(kw_interpreter_cached(NULL, scene_f));
    cr_expect_str_eq(kw_interpreter_name(NULL), "");
    cr_expect(!kw_interpreter_is_armed(NULL));
    kw_interpreter_state_release(NULL);
    kw_interpreter_restore(NULL);
    kw_interpreter_leave(NULL);
}

// S132
Test(interpreter, failures_without_a_caller_are_reported)
{
    kw_error why = KW_ERROR_INIT;
    why.status = KW_KERNEL_FAILED;
    kw_interpreter_report(scene_one.interpreter, &why);
    cr_expect_eq(scene_one.reported, KW_KERNEL_FAILED);
}
