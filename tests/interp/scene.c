// The scene of the tests with one thread: a dispatcher with the fallbacks, operators with kernels
// that leave a trace, and two interpreters.
// SPDX-License-Identifier: MIT

#include "scene.h"

#include <stdio.h>

#include <keyway/local.h>

kw_dispatcher *scene_dispatcher;
kw_library *scene_library;
kw_library *scene_fallbacks;
fake scene_one;
fake scene_two;
const kw_operator *scene_f;
const kw_operator *scene_l;
const kw_operator *scene_o;
const kw_operator *scene_n;

kw_status scene_kernel(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)op;
    int64_t number = (int64_t)(intptr_t)self->user_data;
    fake_note(number, keys);
    frame->returns[0] = kw_value_int(number);
    return KW_OK;
}

static const kw_operator *make(const char *schema, const char *name, kw_key key, int64_t number)
{
    (void)kwt_define(scene_library, schema);
    (void)kwt_impl(scene_library, name, key, kwt_numbered(KW_BOXED(scene_kernel), number));
    return kwt_find(scene_dispatcher, name);
}

void scene_begin_bare(void)
{
    kwt_begin();
    fake_step_count = 0;
    scene_dispatcher = kwt_dispatcher();
    scene_library = kwt_library(scene_dispatcher, "scene");
    scene_f = make("t::f(Tensor x, Tensor? y) -> int", "t::f", KW_KEY_CPU, 1);
    scene_l = make("t::l(Tensor[] x) -> int", "t::l", KW_KEY_CPU, 2);
    scene_o = make("t::o(Tensor?[] x) -> int", "t::o", KW_KEY_CPU, 3);
    scene_n = make("t::n(int a) -> int", "t::n", KW_KEY_CompositeExplicitAutograd, 4);
    fake_begin(&scene_one, "one");
    fake_begin(&scene_two, "two");
}

void scene_begin(void)
{
    scene_begin_bare();
    KWT_OK(kw_interpreter_fallbacks(scene_dispatcher, &fake_tensors, &scene_fallbacks, NULL));
}

void scene_end(void)
{
    if (scene_fallbacks != NULL) {
        KWT_OK(kw_library_close(scene_fallbacks, NULL));
        KWT_OK(kw_library_drain(scene_fallbacks, 0, NULL));
        KWT_OK(kw_library_destroy(scene_fallbacks, NULL));
        scene_fallbacks = NULL;
    }
    kwt_end_library(scene_library); // its kernels may be functions of the interpreters
    cr_expect(scene_same_state(kw_local_capture(), kw_local_default()));
    kwi_interp_thread_free();
    if (!atomic_load(&scene_one.is_destroyed)) {
        fake_end(&scene_one);
    }
    if (!atomic_load(&scene_two.is_destroyed)) {
        fake_end(&scene_two);
    }
    kwi_interp_end_all();
    kwt_end();
}

fake_tensor scene_tensor(fake *of, fake_object *object, bool has_keys)
{
    return (fake_tensor){
        .keys = kwt_keyset(has_keys ? "CPU, Python, PythonTLSSnapshot" : "CPU"),
        .interpreter = of != NULL ? of->interpreter : NULL,
        .object = object,
    };
}

static kw_status call(const kw_operator *op, kw_value *args, uint32_t count, int64_t *out_number)
{
    return kwt_call_frame(op, args, count, out_number);
}

kw_status scene_call_f(fake_tensor *x, fake_tensor *y, int64_t *out_number)
{
    kw_value args[] = {kw_value_tensor(x), kw_value_tensor(y)};
    return call(scene_f, args, 2, out_number);
}

kw_status scene_call_list(const kw_operator *op, void *const *tensors, size_t count,
                          int64_t *out_number)
{
    kw_value args[] = {kw_value_tensors((kw_tensor_list){tensors, count})};
    return call(op, args, 1, out_number);
}

kw_status scene_call_n(int64_t *out_number)
{
    kw_value args[] = {kw_value_int(0)};
    return call(scene_n, args, 1, out_number);
}

int64_t scene_f_of(fake_tensor *x, fake_tensor *y)
{
    int64_t number = -1;
    cr_assert_eq(scene_call_f(x, y, &number), KW_OK, "%s", kw_call_error());
    return number;
}

int64_t scene_n_of(void)
{
    int64_t number = -1;
    cr_assert_eq(scene_call_n(&number), KW_OK, "%s", kw_call_error());
    return number;
}

kw_status scene_answer(fake_object *self, const kw_interpreter_call *call_)
{
    fake_note(self->number, call_->keys);
    call_->frame->returns[0] = kw_value_int(self->number);
    return KW_OK;
}

kw_status scene_fail(fake_object *self, const kw_interpreter_call *call_)
{
    fake_note(self->number, call_->keys);
    return kw_fail(KW_KERNEL_FAILED, "object %d fails", (int)self->number);
}

kw_status scene_call_on(fake_object *self, const kw_interpreter_call *call_)
{
    fake_note(self->number, call_->keys);
    int64_t number = -1;
    kw_status status = scene_call_n(&number);
    call_->frame->returns[0] = kw_value_int(number + 100 * self->number);
    return status;
}

const char *scene_trace(void)
{
    static char text[512];
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < fake_step_count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", i == 0 ? "" : " ",
                               (long long)fake_trace[i].number);
    }
    return text;
}

bool scene_same_state(kw_local_state a, kw_local_state b)
{
    return kw_keyset_equal(a.included, b.included) && kw_keyset_equal(a.excluded, b.excluded);
}
