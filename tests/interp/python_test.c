// The keys of interpreters: who runs an operator, with which local sets, and what is left behind.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "interp/fault.h"
#include "interp/thread.h"
#include "scene.h"

TestSuite(python, .init = scene_begin, .fini = scene_end);

// S121
Test(python, tensor_with_the_keys_is_run_by_its_interpreter)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    cr_expect_eq(scene_f_of(&x, NULL), 11);
    cr_expect_str_eq(scene_trace(), "11");
    cr_expect(kw_keyset_has(fake_trace[0].keys, KW_KEY_Python));
    cr_expect(!kw_keyset_has(fake_trace[0].keys, KW_KEY_PythonTLSSnapshot));
}

// S121
Test(python, first_tensor_with_an_interpreter_chooses)
{
    fake_object first = fake_object_of(11, scene_answer);
    fake_object second = fake_object_of(12, scene_answer);
    fake_tensor plain = scene_tensor(NULL, NULL, true);
    fake_tensor of_one = scene_tensor(&scene_one, &first, true);
    fake_tensor of_two = scene_tensor(&scene_two, &second, true);
    cr_expect_eq(scene_f_of(&of_two, &of_one), 12);
    cr_expect_eq(scene_f_of(&of_one, &of_two), 11);
    cr_expect_eq(scene_f_of(&plain, &of_two), 12, "the first that has one, not the first");
    cr_expect_eq(atomic_load(&scene_one.run_count), 1);
    cr_expect_eq(atomic_load(&scene_two.run_count), 2);
}

// S121
Test(python, any_tensor_with_the_key_lets_the_chosen_interpreter_run)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor claimed = scene_tensor(&scene_one, &object, false);
    fake_tensor keyed = scene_tensor(NULL, NULL, true);
    cr_expect_eq(scene_f_of(&claimed, &keyed), 11);
}

// S121
Test(python, lists_are_looked_through)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor plain = scene_tensor(NULL, NULL, false);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    void *const list[] = {&plain, &x};
    void *const optional[] = {NULL, &x};
    int64_t number = -1;
    KWT_OK(scene_call_list(scene_l, list, 2, &number));
    cr_expect_eq(number, 11);
    KWT_OK(scene_call_list(scene_o, optional, 2, &number));
    cr_expect_eq(number, 11);
    KWT_OK(scene_call_list(scene_l, list, 1, &number));
    cr_expect_eq(number, 2, "a list without such a tensor is as any other");
}

static kw_status check_call(fake_object *self, const kw_interpreter_call *call)
{
    const fake_tensor *x = self->extra;
    cr_expect_eq(call->object, self);
    cr_expect_eq(call->tensor, x);
    cr_expect_eq(call->op, scene_f);
    cr_expect_eq(call->frame->arg_count, 2);
    cr_expect_eq(kw_mode_count(), 0);
    return scene_answer(self, call);
}

// S121
Test(python, interpreter_gets_operator_frame_object_and_tensor)
{
    fake_object object = fake_object_of(11, check_call);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    object.extra = &x;
    cr_expect_eq(scene_f_of(&x, NULL), 11);
}

// Keys above Python that a handler may see excluded: all but PythonDispatcher.
static kw_status check_sets(fake_object *self, const kw_interpreter_call *call)
{
    const kw_local_state *outside = self->extra;
    kw_local_state inside = kw_local_capture();
    cr_expect(kw_local_is_excluded(KW_KEY_AutogradOther));
    cr_expect(kw_local_is_excluded(KW_KEY_ADInplaceOrView));
    cr_expect(kw_local_is_excluded(KW_KEY_PythonTLSSnapshot));
    cr_expect(kw_local_is_excluded(KW_KEY_Fake));
    cr_expect(kw_local_is_excluded(KW_KEY_PreDispatch));
    cr_expect(!kw_local_is_excluded(KW_KEY_Python));
    cr_expect(!kw_local_is_excluded(KW_KEY_BackendSelect));
    cr_expect(!kw_local_is_excluded(KW_KEY_PythonDispatcher));
    cr_expect_eq(inside.excluded.bits & KW_KEYSET_BACKEND_MASK, 0, "backends have no say there");
    cr_expect(kw_keyset_equal(inside.included, outside->included));
    return self->number == 13 ? scene_fail(self, call) : scene_answer(self, call);
}

// S122
Test(python, keys_above_are_excluded_meanwhile_and_put_back)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_Tracer), &guard));
    kw_local_state outside = kw_local_capture();
    fake_object object = fake_object_of(11, check_sets);
    object.extra = &outside;
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    kwt_fallback(scene_library, KW_KEY_Tracer, KW_FALLTHROUGH());
    cr_expect_eq(scene_f_of(&x, NULL), 11);
    cr_expect(scene_same_state(kw_local_capture(), outside));
    object.number = 13;
    int64_t number;
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_f(&x, NULL, &number));
    cr_expect(scene_same_state(kw_local_capture(), outside), "also after a failure");
    kw_local_restore(&guard);
}

// Calls t::f again with what `extra` points to.
static kw_status call_inner(fake_object *self, const kw_interpreter_call *call)
{
    fake_note(self->number, call->keys);
    int64_t number = -1;
    kw_status status = scene_call_f(self->extra, NULL, &number);
    call->frame->returns[0] = kw_value_int(number + 100 * self->number);
    return status;
}

// S122
Test(python, handler_calls_on_with_tensors_of_its_own)
{
    fake_object inner = fake_object_of(11, scene_answer);
    fake_tensor inside = scene_tensor(&scene_one, &inner, true);
    fake_object outer = fake_object_of(12, call_inner);
    outer.extra = &inside;
    fake_tensor outside = scene_tensor(&scene_one, &outer, true);
    cr_expect_eq(scene_f_of(&outside, NULL), 1211);
    cr_expect_str_eq(scene_trace(), "12 11");
}

// A layer above: notes the record, excludes its own key and goes on below.
static kw_status layer(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kw_keyset_from_key(KW_KEY_Tracer), &guard));
    fake_note(kwi_interp_self.has_record ? 51 : 50, kwi_interp_self.record.excluded);
    kw_status status = kw_redispatch_boxed(
        op, kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Tracer)), frame);
    kw_local_restore(&guard);
    return status;
}

static kw_status note_reentry(fake_object *self, const kw_interpreter_call *call)
{
    kw_interpreter_guard guard;
    kw_status status = kw_python_reenter(&guard);
    kw_local_state state = kw_local_capture();
    cr_expect(scene_same_state(state, *(kw_local_state *)self->extra));
    cr_expect(!kwi_interp_self.has_record);
    kw_interpreter_guard again;
    cr_expect_eq(kw_python_reenter(&again), KW_WRONG_ORDER);
    kw_interpreter_restore(&guard);
    cr_expect(kw_local_is_excluded(KW_KEY_AutogradOther));
    cr_expect(kwi_interp_self.has_record);
    return status == KW_OK ? scene_answer(self, call) : status;
}

// S120
Test(python, record_is_of_the_outermost_call_and_ends_with_it)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_Tracer), &guard));
    kw_local_state outside = kw_local_capture();
    kwt_fallback(scene_library, KW_KEY_Tracer, KW_BOXED(layer));
    fake_object inner = fake_object_of(11, note_reentry);
    inner.extra = &outside;
    fake_tensor inside = scene_tensor(&scene_one, &inner, true);
    fake_object outer = fake_object_of(12, call_inner);
    outer.extra = &inside;
    fake_tensor x = scene_tensor(&scene_one, &outer, true);
    cr_expect_eq(scene_f_of(&x, NULL), 1211);
    cr_expect_str_eq(scene_trace(), "51 12 11", "Tracer is excluded for the inner call");
    cr_expect(kw_keyset_equal(fake_trace[0].keys, outside.excluded));
    cr_expect(!kwi_interp_self.has_record);
    kw_local_restore(&guard);
}

// S120
Test(python, record_ends_with_a_call_that_fails)
{
    fake_object object = fake_object_of(11, scene_fail);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    int64_t number;
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "object 11 fails");
    KWT_HAS(kw_call_error(), "t::f");
    cr_expect(!kwi_interp_self.has_record);
    kwi_interp_fault_now = KWI_INTERP_FAULT_RECORD_STAYS;
    KWT_STATUS(KW_KERNEL_FAILED, scene_call_f(&x, NULL, &number));
    cr_expect(kwi_interp_self.has_record, "the seeded fault is seen");
    kwi_interp_fault_now = KWI_INTERP_FAULT_NONE;
    kwi_interp_self.has_record = false;
}

// S120
Test(python, re_entry_outside_of_a_recorded_call_is_out_of_order)
{
    kw_interpreter_guard guard;
    KWT_STATUS(KW_WRONG_ORDER, kw_python_reenter(&guard));
}

static kw_status call_re_entered(fake_object *self, const kw_interpreter_call *call)
{
    kw_interpreter_guard guard;
    KWT_OK(kw_python_reenter(&guard));
    kw_status status = call_inner(self, call);
    kw_interpreter_restore(&guard);
    return status;
}

// S120
Test(python, keys_above_take_part_again_after_re_entry)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_Tracer), &guard));
    kwt_fallback(scene_library, KW_KEY_Tracer, KW_BOXED(layer));
    fake_object inner = fake_object_of(11, scene_answer);
    fake_tensor inside = scene_tensor(&scene_one, &inner, true);
    fake_object outer = fake_object_of(12, call_re_entered);
    outer.extra = &inside;
    fake_tensor x = scene_tensor(&scene_one, &outer, true);
    cr_expect_eq(scene_f_of(&x, NULL), 1211);
    cr_expect_str_eq(scene_trace(), "51 12 51 11");
    kw_local_restore(&guard);
}

// S123
Test(python, included_key_without_a_tensor_that_has_it_is_left_out)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &object, false);
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_bits(KW_KEYSET_PYTHON), &guard));
    kw_local_state outside = kw_local_capture();
    cr_expect_eq(scene_f_of(&x, NULL), 1, "the CPU kernel");
    cr_expect(!kw_keyset_has(fake_trace[0].keys, KW_KEY_Python));
    cr_expect(scene_same_state(kw_local_capture(), outside));
    kw_local_restore(&guard);
}

// S124
Test(python, nobody_to_run_it_is_an_internal_error_with_a_sentence)
{
    fake_tensor x = scene_tensor(NULL, NULL, true);
    int64_t number;
    KWT_STATUS(KW_INTERNAL, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "no mode and no argument is a tensor of an interpreter");
}

// S124
Test(python, unrecorded_sets_are_an_internal_error_with_a_sentence)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kw_keyset_from_key(KW_KEY_PythonTLSSnapshot), &guard));
    int64_t number;
    KWT_STATUS(KW_INTERNAL, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "PythonTLSSnapshot is excluded");
    kw_local_restore(&guard);
}

// S121
Test(python, table_without_dispatch_goes_on_below)
{
    fake bare = {.destroyed_count = 0};
    kw_interpreter_table table = fake_table(&bare, "bare");
    table.dispatch = NULL;
    fake_begin_with(&bare, &table);
    fake_tensor x = scene_tensor(&bare, NULL, true);
    cr_expect_eq(scene_f_of(&x, NULL), 1);
    cr_expect(!kw_keyset_has(fake_trace[0].keys, KW_KEY_Python));
    fake_end(&bare);
}

// S125
Test(python, pre_dispatch_goes_on_below)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_PreDispatch), &guard));
    fake_tensor x = scene_tensor(NULL, NULL, false);
    cr_expect_eq(scene_f_of(&x, NULL), 1);
    cr_expect(!kw_keyset_has(fake_trace[0].keys, KW_KEY_PreDispatch));
    kw_local_restore(&guard);
}

// S126
Test(python, python_dispatcher_has_every_call_until_it_is_restored)
{
    fake_tensor x = scene_tensor(NULL, NULL, false);
    kw_interpreter_guard guard;
    KWT_OK(kw_python_dispatcher_enable(scene_one.interpreter, &guard));
    cr_expect_eq(kw_python_dispatcher(), scene_one.interpreter);
    cr_expect_eq(scene_f_of(&x, NULL), 1);
    cr_expect_str_eq(scene_trace(), "900 1");
    cr_expect(!kw_keyset_has(fake_trace[0].keys, KW_KEY_PythonDispatcher));
    kw_interpreter_guard off;
    KWT_OK(kw_python_dispatcher_enable(NULL, &off));
    cr_expect_eq(scene_n_of(), 4);
    cr_expect_str_eq(scene_trace(), "900 1 4");
    kw_interpreter_restore(&off);
    cr_expect_eq(scene_n_of(), 4);
    cr_expect_str_eq(scene_trace(), "900 1 4 900 4");
    kw_interpreter_restore(&guard);
    kw_interpreter_restore(&guard); // twice does nothing
    cr_expect_null(kw_python_dispatcher());
    cr_expect_eq(scene_n_of(), 4);
    cr_expect_str_eq(scene_trace(), "900 1 4 900 4 4");
}

// Finds the kernel itself and calls it as a call would.
static kw_status resolve(const kw_interpreter_call *call, void *context)
{
    (void)context;
    fake_note(901, call->keys);
    return kw_call_boxed_for_key(call->op, kw_keyset_highest_key(call->keys), call->frame);
}

// S126
Test(python, redispatches_of_handlers_come_back_to_the_python_dispatcher)
{
    fake resolver = {.destroyed_count = 0};
    kw_interpreter_table table = fake_table(&resolver, "resolver");
    table.python_dispatcher = resolve;
    fake_begin_with(&resolver, &table);
    kwt_fallback(scene_library, KW_KEY_Tracer, KW_BOXED(layer));
    fake_tensor x = scene_tensor(NULL, NULL, false);
    x.keys = kwt_keyset("CPU, Tracer");
    kw_interpreter_guard guard;
    KWT_OK(kw_python_dispatcher_enable(resolver.interpreter, &guard));
    cr_expect_eq(scene_f_of(&x, NULL), 1);
    kw_interpreter_restore(&guard);
    cr_expect_str_eq(scene_trace(), "901 50 901 1");
    cr_expect_eq(kw_keyset_highest_key(fake_trace[0].keys), KW_KEY_Tracer);
    cr_expect_eq(kw_keyset_highest_key(fake_trace[2].keys), KW_KEY_CPU);
    fake_end(&resolver);
}

// S126
Test(python, table_without_python_dispatcher_goes_on_below)
{
    fake bare = {.destroyed_count = 0};
    kw_interpreter_table table = fake_table(&bare, "bare");
    table.python_dispatcher = NULL;
    fake_begin_with(&bare, &table);
    kw_interpreter_guard guard;
    KWT_OK(kw_python_dispatcher_enable(bare.interpreter, &guard));
    cr_expect_eq(scene_n_of(), 4);
    kw_interpreter_restore(&guard);
    fake_end(&bare);
}

// S126
Test(python, included_python_dispatcher_without_an_interpreter_is_an_internal_error)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_PythonDispatcher), &guard));
    int64_t number;
    KWT_STATUS(KW_INTERNAL, scene_call_n(&number));
    KWT_HAS(kw_call_error(), "no interpreter has every call of the thread");
    kw_local_restore(&guard);
}

// S127
Test(python, fallbacks_cover_the_standard_ones_until_they_are_closed)
{
    fake_object object = fake_object_of(11, scene_answer);
    fake_tensor x = scene_tensor(&scene_one, &object, true);
    KWT_HAS(kwt_dump_table(scene_f), "PythonTLSSnapshot");
    KWT_OK(kw_library_close(scene_fallbacks, NULL));
    KWT_OK(kw_library_drain(scene_fallbacks, 0, NULL));
    KWT_OK(kw_library_destroy(scene_fallbacks, NULL));
    scene_fallbacks = NULL;
    kw_local_guard guard;
    KWT_OK(kw_local_include(kw_keyset_from_key(KW_KEY_PreDispatch), &guard));
    cr_expect_eq(scene_n_of(), 4, "PreDispatch falls through again");
    kw_local_restore(&guard);
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, scene_call_f(&x, NULL, &number));
    KWT_HAS(kw_call_error(), "Python");
}

// S127
Test(python, another_library_of_the_fallbacks_is_refused)
{
    kw_library *library = (kw_library *)(uintptr_t)7;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_DUPLICATE_FALLBACK,
               kw_interpreter_fallbacks(scene_dispatcher, &fake_tensors, &library, &err));
    cr_expect_eq((uintptr_t)library, 7);
}
