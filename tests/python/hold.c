// A plugin for tests of the Python module: keeps tensors where Python does not see them, and calls
// operators on threads that Python does not know.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <keyway/inline/call.h>
#include <keyway/interpreter.h>
#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

#define PLACES 64
#define CHURN_THREADS 3
#define STORM_THREADS 3
#define REFUSALS 100 // of each thread, before the process may end

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_tensor *places[PLACES];

static kw_tensor *exchange(int64_t place, kw_tensor *tensor)
{
    (void)pthread_mutex_lock(&lock);
    kw_tensor *before = places[place];
    places[place] = tensor;
    (void)pthread_mutex_unlock(&lock);
    return before;
}

// A reference to what is kept there; NULL: nothing.
static kw_tensor *take(int64_t place)
{
    (void)pthread_mutex_lock(&lock);
    kw_tensor *tensor = places[place];
    kw_tensor_retain(tensor);
    (void)pthread_mutex_unlock(&lock);
    return tensor;
}

// keep(int place, Tensor x) -> ()
static kw_status keep(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kw_tensor *tensor = frame->args[1].as.as_tensor;
    (void)self;
    (void)op;
    (void)keys;
    kw_tensor_retain(tensor);
    kw_tensor_release(exchange(frame->args[0].as.as_int, tensor));
    return KW_OK;
}

// give(int place) -> Tensor?
static kw_status give(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_tensor(take(frame->args[0].as.as_int));
    return KW_OK;
}

// drop(int place) -> ()
static kw_status drop(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    kw_tensor_release(exchange(frame->args[0].as.as_int, NULL));
    return KW_OK;
}

static void *release(void *tensor)
{
    kw_tensor_release(tensor);
    return NULL;
}

// drop_on_thread(int place) -> ()
static kw_status drop_on_thread(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame)
{
    pthread_t thread;
    (void)self;
    (void)op;
    (void)keys;
    if (pthread_create(&thread, NULL, release, exchange(frame->args[0].as.as_int, NULL)) != 0 ||
        pthread_join(thread, NULL) != 0) {
        return kw_fail(KW_KERNEL_FAILED, "no thread");
    }
    return KW_OK;
}

// The churn: threads that take references to what is kept and give them back, at all times.
// ----------------------------------------------------------------------------------------

static pthread_t churning[CHURN_THREADS];
static _Atomic bool churn_ends;

static void *churn_run(void *seed)
{
    uint64_t number = (uint64_t)(uintptr_t)seed;
    while (!atomic_load(&churn_ends)) {
        number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int64_t place = (int64_t)(number >> 33) % PLACES;
        kw_tensor *tensor = take(place);
        if ((number >> 60) == 0) {
            kw_tensor_release(exchange(place, NULL));
        }
        kw_tensor_release(tensor);
    }
    return NULL;
}

// churn(bool goes) -> (): begins, or ends
static kw_status churn(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    int failures = 0;
    (void)self;
    (void)op;
    (void)keys;
    atomic_store(&churn_ends, !frame->args[0].as.as_bool);
    for (uintptr_t i = 0; i < CHURN_THREADS; i++) {
        failures += frame->args[0].as.as_bool
                        ? pthread_create(&churning[i], NULL, churn_run, (void *)(i + 1))
                        : pthread_join(churning[i], NULL);
    }
    return failures == 0 ? KW_OK : kw_fail(KW_KERNEL_FAILED, "no thread");
}

// The storm: threads that call to the end of the process, and beyond the end of Python.
// ----------------------------------------------------------------------------------------

typedef struct storm {
    const kw_operator *op;
    kw_interpreter_state *state; // of the thread that began it: its modes
    kw_tensor *tensor;
    _Atomic uint64_t served, refused, wrong;
} storm;

static storm storms[STORM_THREADS];

static void storm_call(storm *self)
{
    kw_value arg = kw_value_tensor(self->tensor), result = kw_value_none();
    kw_frame frame = {&arg, &result, 1, 1};
    switch (kw_call_boxed(self->op, &frame)) {
    case KW_OK:
        (void)atomic_fetch_add(&self->served, 1);
        kw_value_release(&result, kw_operator_tensor_type(self->op));
        break;
    case KW_INTERPRETER_GONE:
        (void)atomic_fetch_add(&self->refused, 1);
        break;
    default:
        if (atomic_fetch_add(&self->wrong, 1) == 0) {
            (void)fprintf(stderr, "wrong: %s\n", kw_call_error());
        }
    }
}

static void *storm_run(void *context)
{
    storm *self = context;
    kw_interpreter_guard guard;
    if (kw_interpreter_state_enter(self->state, &guard, NULL) != KW_OK) {
        (void)atomic_fetch_add(&self->wrong, 1);
        return NULL;
    }
    for (;;) {
        storm_call(self);
    }
}

static uint64_t least(size_t member)
{
    uint64_t smallest = UINT64_MAX;
    for (int i = 0; i < STORM_THREADS; i++) {
        const uint64_t found =
            atomic_load((_Atomic uint64_t *)(void *)((char *)&storms[i] + member));
        smallest = found < smallest ? found : smallest;
    }
    return smallest;
}

// Runs when Python has ended and the threads go on. No limit of its own: the test has one.
static void storm_end(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (storms[0].op != NULL && least(offsetof(storm, refused)) < REFUSALS) {
        (void)nanosleep(&pause, NULL);
    }
    uint64_t wrong = 0;
    for (int i = 0; i < STORM_THREADS; i++) {
        wrong += atomic_load(&storms[i].wrong);
    }
    kw_interpreter *python = kw_tensor_interpreter(storms[0].tensor);
    wrong += python == NULL || kw_interpreter_is_armed(python);
    (void)printf("refused after Python's end; wrong: %llu\n", (unsigned long long)wrong);
    (void)fflush(stdout);
}

// storm(str op, Tensor x) -> (): begins, with the modes of this thread
static kw_status storm_begin(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    kw_error err = KW_ERROR_INIT;
    kw_interpreter_state *state = NULL;
    const kw_operator *target = NULL;
    (void)keys;
    (void)op;
    kw_status status =
        kw_operator_find(self->user_data, frame->args[0].as.as_string, &target, &err);
    if (status == KW_OK) {
        status = kw_interpreter_state_capture(&state, &err);
    }
    if (status != KW_OK || atexit(storm_end) != 0) {
        return kw_fail(status, "%s", err.text);
    }
    for (int i = 0; i < STORM_THREADS; i++) {
        pthread_t thread;
        kw_tensor_retain(frame->args[1].as.as_tensor);
        kw_interpreter_state_retain(state);
        storms[i].op = target;
        storms[i].state = state;
        storms[i].tensor = frame->args[1].as.as_tensor;
        if (pthread_create(&thread, NULL, storm_run, &storms[i]) != 0) {
            return kw_fail(KW_KERNEL_FAILED, "no thread");
        }
        (void)pthread_detach(thread);
    }
    return KW_OK;
}

// same(Tensor x) -> Tensor
static kw_status same(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    return kw_value_own(&frame->args[0], kw_operator_tensor_type(op), &frame->returns[0], NULL);
}

static kw_keyset no_keys(const void *tensor)
{
    (void)tensor;
    return kw_keyset_empty();
}

// claim_default() -> int: the status of a library of other tensors in the default dispatcher
static kw_status claim_default(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    const kw_tensor_type type = {.struct_size = sizeof type, .name = "others", .keys = no_keys};
    const kw_library_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_library *library = NULL; // stays for the rest of the process
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(kw_library_create(&options, &library, NULL));
    return KW_OK;
}

// served() -> int: calls that each thread of the storm has made
static kw_status served(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                        kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int((int64_t)least(offsetof(storm, served)));
    return KW_OK;
}

static const struct {
    const char *schema, *name;
    kw_boxed_function function;
} entries[] = {
    {"hold::keep(int place, Tensor x) -> ()", "hold::keep", keep},
    {"hold::give(int place) -> Tensor?", "hold::give", give},
    {"hold::drop(int place) -> ()", "hold::drop", drop},
    {"hold::drop_on_thread(int place) -> ()", "hold::drop_on_thread", drop_on_thread},
    {"hold::churn(bool goes) -> ()", "hold::churn", churn},
    {"hold::storm(str op, Tensor x) -> ()", "hold::storm", storm_begin},
    {"hold::served() -> int", "hold::served", served},
    {"hold::claim_default() -> int", "hold::claim_default", claim_default},
    {"hold::same(Tensor x) -> Tensor", "hold::same", same},
};

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    kw_status status = KW_OK;
    for (size_t i = 0; status == KW_OK && i < sizeof entries / sizeof entries[0]; i++) {
        kw_definition definition = KW_DEFINE(entries[i].schema);
        kw_kernel_descriptor kernel = KW_BOXED(entries[i].function);
        kernel.user_data = api->library_dispatcher(library);
        status = api->transaction_define(tx, library, &definition, NULL, err);
        if (status == KW_OK) {
            // Python's handlers are not asked: they are what is tested.
            status = api->transaction_impl(tx, library, entries[i].name,
                                           KW_KEY_CompositeExplicitAutograd, &kernel, NULL, err);
        }
    }
    return status;
}

KW_PLUGIN = {
    KW_PLUGIN_LINKED,
    .name = "hold",
    .version = "1.0",
    .start = start,
};
