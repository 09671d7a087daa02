// Modes: the stack of a thread, what handlers see of it, and states for other threads.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "interp/fault.h"
#include "interp/thread.h"
#include "scene.h"

TestSuite(mode, .init = scene_begin, .fini = scene_end);

static void push(fake *of, fake_object *object)
{
    KWT_OK(kw_mode_push(of->interpreter, object, NULL));
}

static void pop(void)
{
    KWT_OK(kw_mode_pop(NULL, NULL));
}

// S128
Test(mode, stack_is_last_in_first_out_and_counts_references)
{
    fake_object a = fake_object_of(11, scene_answer);
    fake_object b = fake_object_of(12, scene_answer);
    kw_mode mode;
    cr_expect(!kw_mode_top(&mode));
    push(&scene_one, &a);
    push(&scene_two, &b);
    cr_expect_eq(kw_mode_count(), 2);
    cr_expect(kw_mode_top(&mode) && mode.object == &b && mode.interpreter == scene_two.interpreter);
    cr_expect(kw_mode_at(0, &mode) && mode.object == &a);
    cr_expect(!kw_mode_at(2, &mode));
    cr_expect_eq(b.references, 2);
    KWT_OK(kw_mode_pop(&mode, NULL));
    cr_expect_eq(mode.object, &b);
    cr_expect_eq(b.references, 2, "the caller has it");
    kw_interpreter_release_object(mode.interpreter, mode.object);
    cr_expect_eq(b.references, 1);
    pop();
    cr_expect_eq(a.references, 1);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_mode_pop(&mode, &err));
    KWT_HAS(err.text, "no mode");
}

// S128
Test(mode, keys_are_included_while_there_is_one)
{
    fake_object object = fake_object_of(11, scene_answer);
    push(&scene_one, &object);
    push(&scene_one, &object);
    cr_expect(kw_local_is_included(KW_KEY_Python));
    cr_expect(kw_local_is_included(KW_KEY_PythonTLSSnapshot));
    pop();
    cr_expect(kw_local_is_included(KW_KEY_Python));
    pop();
    cr_expect(!kw_local_is_included(KW_KEY_Python));
    cr_expect(!kw_local_is_included(KW_KEY_PythonTLSSnapshot));
}

// S128
Test(mode, calls_without_tensors_are_run_by_the_top_mode)
{
    fake_object a = fake_object_of(11, scene_answer);
    fake_object b = fake_object_of(12, scene_answer);
    push(&scene_one, &a);
    cr_expect_eq(scene_n_of(), 11);
    push(&scene_two, &b);
    cr_expect_eq(scene_n_of(), 12);
    pop();
    cr_expect_eq(scene_n_of(), 11);
    pop();
    cr_expect_eq(scene_n_of(), 4);
}

// S128
Test(mode, mode_comes_before_tensors)
{
    fake_object of_tensor = fake_object_of(11, scene_answer);
    fake_object of_mode = fake_object_of(12, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &of_tensor, true);
    push(&scene_two, &of_mode);
    cr_expect_eq(scene_f_of(&x, NULL), 12);
    pop();
    cr_expect_eq(scene_f_of(&x, NULL), 11);
}

// S129
Test(mode, handler_runs_without_its_own_mode)
{
    fake_object a = fake_object_of(11, scene_call_on);
    fake_object b = fake_object_of(12, scene_call_on);
    push(&scene_one, &a);
    push(&scene_one, &b);
    kw_local_state outside = kw_local_capture();
    cr_expect_eq(scene_n_of(), 4 + 1100 + 1200);
    cr_expect_str_eq(scene_trace(), "12 11 4", "each handler's call goes to the next mode");
    cr_expect_eq(kw_mode_count(), 2);
    cr_expect(scene_same_state(kw_local_capture(), outside));
    pop();
    pop();
}

static kw_status check_off(fake_object *self, const kw_interpreter_call *call)
{
    cr_expect_eq(kw_mode_count(), 0);
    cr_expect(!kw_local_is_included(KW_KEY_Python));
    cr_expect(!kw_local_is_included(KW_KEY_PythonTLSSnapshot));
    cr_expect_null(call->tensor);
    return scene_fail(self, call);
}

// S129
Test(mode, mode_is_put_back_after_a_failure_too)
{
    fake_object object = fake_object_of(11, check_off);
    push(&scene_one, &object);
    kw_local_state outside = kw_local_capture();
    int64_t number;
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_n(&number));
    cr_expect_eq(kw_mode_count(), 1);
    cr_expect_eq(object.references, 2);
    cr_expect(scene_same_state(kw_local_capture(), outside));
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_n(&number));
    kwi_interp_fault_now = KWI_INTERP_FAULT_MODE_STAYS_OFF;
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_n(&number));
    cr_expect_eq(kw_mode_count(), 0, "the seeded fault is seen");
    kwi_interp_fault_now = KWI_INTERP_FAULT_NONE;
    kw_interpreter_release_object(scene_one.interpreter, &object);
    kw_local_guard guard;
    KWT_OK(kw_local_force(kw_local_default(), &guard));
}

static kw_status push_and_leave(fake_object *self, const kw_interpreter_call *call)
{
    for (int i = 0; i < 20; i++) {
        KWT_OK(kw_mode_push(scene_two.interpreter, self->extra, NULL));
    }
    return scene_answer(self, call);
}

static kw_status pop_others(fake_object *self, const kw_interpreter_call *call)
{
    while (kw_mode_count() > 0) {
        KWT_OK(kw_mode_pop(NULL, NULL));
    }
    return scene_answer(self, call);
}

// S129
Test(mode, handler_that_leaves_modes_behind_fails_and_they_are_released)
{
    fake_object left = fake_object_of(12, scene_answer);
    fake_object object = fake_object_of(11, push_and_leave);
    object.extra = &left;
    push(&scene_one, &object);
    int64_t number;
    KWT_STATUS(KW_WRONG_ORDER, scene_call_n(&number));
    KWT_HAS(kw_call_error(), "has left 20 modes on the thread's stack, on which it found 0");
    cr_expect_eq(left.references, 1);
    cr_expect_eq(kw_mode_count(), 1);
    pop();
}

// S129
Test(mode, handler_that_pops_other_modes_fails_and_its_own_stays)
{
    fake_object below = fake_object_of(12, scene_answer);
    fake_object object = fake_object_of(11, pop_others);
    push(&scene_one, &below);
    push(&scene_one, &object);
    int64_t number;
    KWT_STATUS(KW_WRONG_ORDER, scene_call_n(&number));
    cr_expect_eq(below.references, 1);
    kw_mode mode;
    cr_expect(kw_mode_count() == 1 && kw_mode_top(&mode) && mode.object == &object);
    pop();
}

static kw_status leave_guard(fake_object *self, const kw_interpreter_call *call)
{
    kw_interpreter_guard guard;
    KWT_OK(kw_python_dispatcher_enable(scene_two.interpreter, &guard));
    return scene_answer(self, call);
}

// S129
Test(mode, handler_that_leaves_a_guard_fails_and_it_is_restored)
{
    fake_object object = fake_object_of(11, leave_guard);
    push(&scene_one, &object);
    int64_t number;
    KWT_STATUS(KW_WRONG_ORDER, scene_call_n(&number));
    cr_expect_null(kw_python_dispatcher());
    cr_expect(!kw_local_is_included(KW_KEY_PythonDispatcher));
    pop();
}

// S130
Test(mode, detach_asks_the_mode_then_the_tensor)
{
    fake_object of_tensor = fake_object_of(11, NULL);
    fake_object of_mode = fake_object_of(12, NULL);
    fake_tensor detached = scene_tensor(NULL, NULL, false);
    of_mode.extra = &detached;
    fake_tensor x = scene_tensor(&scene_one, &of_tensor, true);
    fake_tensor plain = scene_tensor(&scene_one, &of_tensor, false);
    void *out = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_interpreter_detach(&fake_tensors, &plain, &out, NULL));
    KWT_OK(kw_interpreter_detach(&fake_tensors, &x, &out, NULL));
    cr_expect_eq(out, &x);
    push(&scene_two, &of_mode);
    KWT_OK(kw_interpreter_detach(&fake_tensors, &plain, &out, NULL));
    cr_expect_eq(out, &detached);
    cr_expect(!kw_keyset_has(fake_trace[1].keys, KW_KEY_Python), "the mode is off meanwhile");
    cr_expect_eq(kw_mode_count(), 1);
    cr_expect(!kwi_interp_self.has_record);
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kw_keyset_from_key(KW_KEY_Python), &guard));
    KWT_STATUS(KW_NOT_FOUND, kw_interpreter_detach(&fake_tensors, &x, &out, NULL));
    kw_local_restore(&guard);
    pop();
    cr_expect_str_eq(scene_trace(), "11 12");
}

// S131
Test(mode, state_gives_a_thread_the_modes_of_another)
{
    fake_object a = fake_object_of(11, scene_call_on);
    fake_object b = fake_object_of(12, scene_answer);
    push(&scene_one, &a);
    kw_interpreter_state *state = NULL;
    KWT_OK(kw_interpreter_state_capture(&state, NULL));
    cr_expect_eq(a.references, 3);
    pop();
    push(&scene_two, &b);
    kw_interpreter_guard guard;
    KWT_OK(kw_interpreter_state_enter(state, &guard, NULL));
    kw_interpreter_state_retain(state);
    kw_interpreter_state_release(state);
    kw_interpreter_state_release(state);
    cr_expect_eq(kw_mode_count(), 1);
    cr_expect_eq(scene_n_of(), 1104);
    cr_expect_str_eq(scene_trace(), "11 4", "modes further out take no part");
    push(&scene_two, &b); // left for the guard
    kw_interpreter_restore(&guard);
    cr_expect_eq(a.references, 1);
    cr_expect_eq(b.references, 2);
    cr_expect_eq(scene_n_of(), 12);
    pop();
}

// S131
Test(mode, empty_state_switches_everything_off)
{
    kw_interpreter_state *state = NULL;
    KWT_OK(kw_interpreter_state_capture(&state, NULL));
    fake_object object = fake_object_of(11, scene_answer);
    push(&scene_one, &object);
    kw_interpreter_guard dispatcher;
    KWT_OK(kw_python_dispatcher_enable(scene_two.interpreter, &dispatcher));
    kw_interpreter_guard guard;
    KWT_OK(kw_interpreter_state_enter(state, &guard, NULL));
    cr_expect_eq(kw_mode_count(), 0);
    cr_expect_null(kw_python_dispatcher());
    cr_expect_eq(scene_n_of(), 4);
    cr_expect_str_eq(scene_trace(), "4");
    kw_interpreter_restore(&guard);
    kw_interpreter_restore(&dispatcher);
    kw_interpreter_state_release(state);
    cr_expect_eq(scene_n_of(), 11);
    pop();
}

// S131
Test(mode, captured_python_dispatcher_goes_along)
{
    kw_interpreter_guard dispatcher;
    KWT_OK(kw_python_dispatcher_enable(scene_two.interpreter, &dispatcher));
    kw_interpreter_state *state = NULL;
    KWT_OK(kw_interpreter_state_capture(&state, NULL));
    kw_interpreter_restore(&dispatcher);
    kw_interpreter_guard guard;
    KWT_OK(kw_interpreter_state_enter(state, &guard, NULL));
    cr_expect_eq(scene_n_of(), 4);
    cr_expect_str_eq(scene_trace(), "900 4");
    kw_interpreter_restore(&guard);
    kw_interpreter_state_release(state);
}
