// A made-up interpreter: objects that count their references and run a function, under one big
// lock; and tensors that it can claim.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

fake_step fake_trace[FAKE_STEPS];
unsigned fake_step_count;

void fake_note(int64_t number, kw_keyset keys)
{
    if (fake_step_count < FAKE_STEPS) {
        fake_trace[fake_step_count++] = (fake_step){number, keys};
    }
}

static void must(bool holds, const char *text)
{
    if (!holds) {
        (void)fprintf(stderr, "fake interpreter: %s\n", text);
        abort();
    }
}

void fake_lock(fake *self)
{
    (void)pthread_mutex_lock(&self->lock);
}

void fake_unlock(fake *self)
{
    (void)pthread_mutex_unlock(&self->lock);
}

// Begins a function of the table.
static fake *enter(void *context)
{
    fake *self = context;
    fake_lock(self);
    (void)atomic_fetch_add(&self->run_count, 1);
    if (atomic_load(&self->is_destroyed)) {
        (void)atomic_fetch_add(&self->late_count, 1);
    }
    return self;
}

static void retain(void *object, void *context)
{
    fake *self = enter(context);
    ((fake_object *)object)->references++;
    fake_unlock(self);
}

static void release(void *object, bool is_tensors, void *context)
{
    fake *self = enter(context);
    fake_object *released = object;
    released->references--;
    released->tensors += is_tensors ? 1 : 0;
    fake_unlock(self);
}

static kw_status run_object(const kw_interpreter_call *call, void *context)
{
    fake *self = enter(context);
    fake_object *object = call->object;
    kw_status status = object != NULL && object->run != NULL
                           ? object->run(object, call)
                           : kw_fail(KW_KERNEL_FAILED, "the object runs nothing");
    fake_unlock(self);
    return status;
}

// What the interpreter does with calls that it has all of: it counts and goes on below.
static kw_status run_dispatcher(const kw_interpreter_call *call, void *context)
{
    fake *self = enter(context);
    fake_note(900, call->keys);
    fake_unlock(self);
    return kw_redispatch_boxed(call->op, call->keys, call->frame);
}

static kw_status detach(void *tensor, void *object, void **out_tensor, void *context)
{
    fake *self = enter(context);
    fake_object *of = object;
    fake_note(of->number, kw_local_capture().included);
    *out_tensor = of->extra != NULL ? of->extra : tensor;
    fake_unlock(self);
    return KW_OK;
}

static kw_status answer(const void *tensor, void *object, kw_metadata *metadata, void *context)
{
    fake *self = enter(context);
    (void)tensor;
    (void)object;
    bool is_known = metadata->code == KW_METADATA_DIM;
    metadata->answer.as_int = 77;
    fake_unlock(self);
    return is_known ? KW_OK : KW_NOT_FOUND;
}

static void hear(const kw_error *why, void *context)
{
    fake *self = enter(context);
    self->reported = why->status;
    fake_unlock(self);
}

static void destroy(void *context)
{
    fake *self = context;
    fake_lock(self);
    self->destroyed_count++;
    atomic_store(&self->is_destroyed, true);
    fake_unlock(self);
}

kw_interpreter_table fake_table(fake *self, const char *name)
{
    return (kw_interpreter_table){
        .struct_size = sizeof(kw_interpreter_table),
        .name = name,
        .retain = retain,
        .release = release,
        .dispatch = run_object,
        .python_dispatcher = run_dispatcher,
        .kernel = run_object,
        .detach = detach,
        .metadata = answer,
        .report_error = hear,
        .context = self,
        .destroy = destroy,
    };
}

void fake_begin_with(fake *self, const kw_interpreter_table *table)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&self->lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    must(kw_interpreter_create(table, &self->interpreter, NULL) == KW_OK, "it cannot be made");
}

void fake_begin(fake *self, const char *name)
{
    *self = (fake){.destroyed_count = 0};
    const kw_interpreter_table table = fake_table(self, name);
    fake_begin_with(self, &table);
}

void fake_end(fake *self)
{
    must(kw_interpreter_disarm(self->interpreter, 0, NULL) == KW_OK, "somebody is inside");
    must(self->destroyed_count == 1, "it is not destroyed once");
    must(atomic_load(&self->late_count) == 0, "something ran afterwards");
    (void)pthread_mutex_destroy(&self->lock);
}

fake_object fake_object_of(int64_t number, fake_function run)
{
    return (fake_object){.references = 1, .run = run, .number = number};
}

static kw_interpreter *find(const void *tensor, void **out_object, void *context)
{
    (void)context;
    const fake_tensor *asked = tensor;
    *out_object = asked->object;
    return asked->interpreter;
}

static kw_status answer_itself(const void *tensor, kw_metadata *metadata, void *context)
{
    (void)tensor;
    (void)context;
    metadata->answer.as_int = 5;
    return metadata->code == KW_METADATA_NUMEL ? KW_OK : KW_NOT_SUPPORTED;
}

static kw_keyset keys_of_tensor(const void *tensor)
{
    return ((const fake_tensor *)tensor)->keys;
}

// The same type as that of the other tests, by name and version.
const kw_tensor_type fake_tensor_type = {
    .struct_size = sizeof fake_tensor_type,
    .name = "test tensor",
    .version = 1,
    .keys = keys_of_tensor,
};

const kw_interpreter_tensors fake_tensors = {
    .struct_size = sizeof fake_tensors,
    .type = &fake_tensor_type,
    .find = find,
    .metadata = answer_itself,
};
