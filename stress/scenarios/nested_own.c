// Nested's own operators: each thread changes one from inside its kernels and knows what it
// answers.
//
// Layer:   stress
// Threads: everything here belongs to the calling thread.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <keyway/observer.h>
#include <keyway/transaction.h>

#include "scenarios/nested.h"
#include "shared/subject.h"

#define OBSERVED_CALLS 3
#define SLOW_NS 300000
#define LIMIT_NS UINT64_C(500000)

static stress_cover *top(void)
{
    return &stress_nested_me.covers[stress_nested_me.cover_count - 1];
}

uint64_t stress_own_id(void)
{
    return stress_nested_me.snapshots > 0 ? stress_nested_me.pinned_id : top()->id;
}

// Calls ------------------------------------------------------------------------------------------

// The one that runs `id`, covering or closed.
static stress_cover *cover_of(uint64_t id)
{
    stress_nester *me = &stress_nested_me;
    for (unsigned i = 0; i < me->cover_count; i++) {
        if (me->covers[i].id == id) {
            return &me->covers[i];
        }
    }
    for (unsigned i = 0; i < me->closed_count; i++) {
        if (me->closed[i].id == id) {
            return &me->closed[i];
        }
    }
    return NULL;
}

static void count_inside(uint64_t id, int step)
{
    stress_cover *cover = cover_of(id);
    if (cover == NULL) {
        stress_violation("answer", "a kernel runs whose library is drained");
    } else {
        cover->inside = (unsigned)((int)cover->inside + step);
    }
}

static kw_status own_kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                            int64_t *out_0)
{
    (void)keys;
    (void)x;
    uint64_t id = stress_subject_id(self);
    count_inside(id, 1);
    if (n > 0) {
        stress_nested_act(n - 1);
    }
    count_inside(id, -1);
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a kernel changes while it runs");
    }
    *out_0 = (int64_t)id;
    return KW_OK;
}

static kw_status own_layer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                           int64_t *out_0)
{
    stress_count_add(STRESS_REDISPATCH);
    return typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
}

void stress_own_call(int64_t n)
{
    stress_nester *me = &stress_nested_me;
    kw_keyset keys = kw_keyset_from_key(KW_KEY_CPU);
    tensor x =
        typed_tensor(stress_chance(me->worker, 2) ? kw_keyset_add(keys, KW_KEY_AutogradCPU) : keys);
    uint64_t wanted = stress_own_id();
    int64_t id = 0;
    kw_status status = stress_chance(me->worker, 4) ? typed_call_boxed(me->op, &x, n, &id)
                                                    : typed_call(me->op, &x, n, &id);
    stress_count_add(STRESS_CALL);
    if (status != KW_OK || (uint64_t)id != wanted) {
        stress_violation("answer", "`%s` answers %s, %llu; its thread knows %llu%s", me->name,
                         kw_status_name(status), (unsigned long long)id, (unsigned long long)wanted,
                         me->snapshots > 0 ? " under a snapshot" : "");
    }
}

// Changes ----------------------------------------------------------------------------------------

// Now and then a drain in another thread has the time to believe that it is done.
static void destroy_slowly(void *user_data)
{
    const struct timespec pause = {.tv_nsec = SLOW_NS};
    if (stress_chance(stress_worker_self(), 16)) {
        (void)nanosleep(&pause, NULL);
    }
    stress_subject_destroy(user_data);
}

static kw_kernel_descriptor describe(stress_cover *made)
{
    made->id = stress_subject_fresh_id();
    stress_subject *subject = stress_subject_create(made->id);
    made->subject = subject;
    kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, own_kernel);
    kernel.user_data = subject;
    kernel.destroy = destroy_slowly;
    return kernel;
}

static stress_cover open_cover(void)
{
    kw_error err = KW_ERROR_INIT;
    stress_cover made = {.library = stress_library_open(stress_nested_group.dispatcher, "cover")};
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = "nested.Thing", .library = made.library};
    if (stress_chance(stress_nested_me.worker, 4)) {
        (void)stress_expect(kw_object_create(&options, &made.object, &err), "making an object",
                            &err);
    }
    return made;
}

void stress_own_cover(void)
{
    stress_nester *me = &stress_nested_me;
    if (me->cover_count == STRESS_NESTED_COVERS) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    stress_cover made = open_cover();
    kw_kernel_descriptor kernel = describe(&made);
    (void)stress_expect(kw_library_impl(made.library, me->name, KW_KEY_CPU, &kernel, NULL, &err),
                        "registering inside a call", &err);
    me->covers[me->cover_count++] = made;
    stress_count_add(STRESS_COMMIT);
    stress_count_add(STRESS_IMPL);
}

static void move_to_closed(unsigned at)
{
    stress_nester *me = &stress_nested_me;
    me->closed[me->closed_count++] = me->covers[at];
    for (unsigned i = at + 1; i < me->cover_count; i++) {
        me->covers[i - 1] = me->covers[i];
    }
    me->cover_count--;
}

static bool may_close(void)
{
    return stress_nested_me.cover_count > 1 && stress_nested_me.closed_count < STRESS_NESTED_CLOSED;
}

// One that the thread is inside of holds itself: waiting for it is refused, however long.
static void check_own_drain(const stress_cover *closed)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t limit = stress_chance(stress_nested_me.worker, 2) ? KW_FOREVER : 1000000;
    kw_status status = kw_library_drain(closed->library, limit, &err);
    if (closed->inside > 0 && status != KW_WOULD_WAIT_FOR_SELF) {
        stress_violation("status", "draining the library of a kernel from inside it answers %s",
                         kw_status_name(status));
    }
    stress_count_add(STRESS_SELF_DRAIN);
}

// A closed library takes no more registrations.
static void check_closed(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    const kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, own_layer);
    kw_status status =
        kw_library_impl(library, stress_nested_me.name, KW_KEY_CPU, &kernel, NULL, &err);
    if (status != KW_LIBRARY_CLOSED) {
        stress_violation("status", "registering for a closed library answers %s",
                         kw_status_name(status));
    }
    stress_count_add(STRESS_REFUSED);
}

void stress_own_uncover(void)
{
    stress_nester *me = &stress_nested_me;
    if (!may_close()) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    unsigned at = 1 + stress_random(me->worker, me->cover_count - 1);
    (void)stress_expect(kw_library_close(me->covers[at].library, &err), "closing inside a call",
                        &err);
    move_to_closed(at);
    stress_count_add(STRESS_COMMIT);
    const stress_cover *closed = &me->closed[me->closed_count - 1];
    if (stress_chance(me->worker, 4)) {
        check_closed(closed->library);
    }
    if (closed->inside > 0) {
        check_own_drain(closed);
    }
}

// The uppermost is closed, and another takes its place, in one commit.
void stress_own_replace(void)
{
    stress_nester *me = &stress_nested_me;
    if (!may_close()) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    stress_cover made = open_cover();
    kw_kernel_descriptor kernel = describe(&made);
    kw_transaction *tx = NULL;
    if (!stress_expect(kw_transaction_begin(stress_nested_group.dispatcher, &tx, &err),
                       "beginning a transaction inside a call", &err)) {
        stress_give_up("no transaction can be begun");
    }
    (void)stress_expect(kw_transaction_close(tx, top()->library, &err), "staging a close", &err);
    (void)stress_expect(
        kw_transaction_impl(tx, made.library, me->name, KW_KEY_CPU, &kernel, NULL, &err),
        "staging a kernel", &err);
    (void)stress_expect(kw_transaction_commit(tx, NULL, NULL, &err), "committing inside a call",
                        &err);
    move_to_closed(me->cover_count - 1);
    me->covers[me->cover_count++] = made;
    stress_count_add(STRESS_COMMIT);
    stress_count_add(STRESS_IMPL);
}

static void check_drained(const stress_cover *drained)
{
    if (drained->inside > 0) {
        stress_violation("status", "a library is drained while a call runs its kernel");
    }
    if (drained->object != NULL) {
        stress_violation("status", "a library is drained while an object holds it");
    }
    if (stress_subject_is_alive(drained->subject)) {
        stress_violation("status", "a library is drained before a destructor has returned");
    }
}

static bool drain_one(stress_cover *closed, bool is_outside)
{
    if (closed->object != NULL && (is_outside || stress_chance(stress_nested_me.worker, 2))) {
        kw_object_release(closed->object);
        closed->object = NULL;
    }
    kw_error err = KW_ERROR_INIT;
    uint64_t limit = is_outside || stress_chance(stress_nested_me.worker, 4)
                         ? KW_FOREVER
                         : stress_random(stress_nested_me.worker, 2) * LIMIT_NS;
    kw_status status = kw_library_drain(closed->library, limit, &err);
    if (!is_outside && limit == KW_FOREVER && status != KW_WOULD_WAIT_FOR_SELF) {
        stress_violation("status", "a drain for ever inside a call answers %s",
                         kw_status_name(status));
    }
    bool is_held = status == KW_BUSY || status == KW_WOULD_WAIT_FOR_SELF;
    if (status == KW_OK) {
        check_drained(closed);
        (void)stress_expect(kw_library_destroy(closed->library, &err),
                            "destroying a drained library", &err);
        stress_count_add(STRESS_CLOSE);
    } else if (is_outside || !is_held) {
        stress_violation("status", "a drain %s a call answers %s: %s",
                         is_outside ? "outside" : "inside", kw_status_name(status), err.text);
    }
    return status == KW_OK;
}

void stress_own_drain(bool is_outside)
{
    stress_nester *me = &stress_nested_me;
    unsigned kept = 0;
    for (unsigned i = 0; i < me->closed_count; i++) {
        if (!drain_one(&me->closed[i], is_outside)) {
            me->closed[kept++] = me->closed[i];
        }
    }
    me->closed_count = kept;
}

// Observers --------------------------------------------------------------------------------------

typedef struct watched {
    unsigned starts;
    unsigned ends;
} watched;

static void *start_call(const kw_observation *observation, void *context)
{
    (void)observation;
    ((watched *)context)->starts++;
    return context;
}

static void end_call(const kw_observation *observation, void *word, void *context)
{
    (void)observation;
    ((watched *)context)->ends += word == context ? 1 : 0;
}

// Only this thread calls the operator, so what its observer is told is known.
void stress_own_observe(void)
{
    stress_nester *me = &stress_nested_me;
    if (me->is_observing || me->closed_count == STRESS_NESTED_CLOSED) {
        return;
    }
    const char *only = me->name;
    static _Thread_local watched seen; // calls under an older snapshot may tell it until they end
    seen = (watched){0};
    const kw_observer observer = {.struct_size = sizeof observer,
                                  .start = start_call,
                                  .end = end_call,
                                  .context = &seen,
                                  .scopes = 1U << KW_SCOPE_CALL,
                                  .only = &only,
                                  .only_count = 1};
    kw_error err = KW_ERROR_INIT;
    uint64_t number = 0;
    kw_dispatcher *dispatcher = stress_nested_group.dispatcher;
    kw_status status = kw_observer_add(dispatcher, &observer, &number, &err);
    if (status == KW_BUSY) {
        return; // other threads have all that there may be
    }
    (void)stress_expect(status, "observing from inside a call", &err);
    me->is_observing = true;
    for (unsigned i = 0; i < OBSERVED_CALLS; i++) {
        stress_own_call(0);
    }
    (void)stress_expect(kw_observer_remove(dispatcher, number, &err), "removing an observer", &err);
    me->is_observing = false;
    unsigned wanted = me->snapshots > 0 ? 0 : OBSERVED_CALLS;
    if (seen.starts != wanted || seen.ends != wanted) {
        stress_violation("event", "an observer is told of %u calls and %u ends, of %u", seen.starts,
                         seen.ends, wanted);
    }
    stress_count_add(STRESS_OBSERVER);
}

// Begin and end ----------------------------------------------------------------------------------

void stress_own_open(unsigned index)
{
    stress_nester *me = &stress_nested_me;
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = stress_nested_group.dispatcher;
    (void)snprintf(me->name, sizeof me->name, "own%u::f", index);
    char schema[64];
    (void)snprintf(schema, sizeof schema, "%.31s(Tensor x, int n) -> int", me->name);
    const kw_definition definition = KW_DEFINE(schema);
    me->base = stress_library_open(dispatcher, "own");
    (void)stress_expect(kw_library_define(me->base, &definition, NULL, &err),
                        "defining an operator", &err);
    me->covers[0] = (stress_cover){.library = me->base};
    me->cover_count = 1;
    kw_kernel_descriptor lowest = describe(&me->covers[0]);
    kw_kernel_descriptor layer = KW_UNBOXED(TYPED_SIGNATURE, own_layer);
    (void)stress_expect(kw_library_impl(me->base, me->name, KW_KEY_CPU, &lowest, NULL, &err),
                        "registering a kernel", &err);
    (void)stress_expect(kw_library_impl(me->base, me->name, KW_KEY_AutogradCPU, &layer, NULL, &err),
                        "registering a layer", &err);
    (void)stress_expect(
        kw_operator_find_typed(dispatcher, me->name, TYPED_SIGNATURE, &me->op, &err),
        "finding an operator", &err);
}

void stress_own_close(void)
{
    stress_nester *me = &stress_nested_me;
    stress_own_drain(true);
    for (unsigned i = me->cover_count; i > 0; i--) {
        kw_object_release(me->covers[i - 1].object);
        stress_library_end(me->covers[i - 1].library);
    }
}
