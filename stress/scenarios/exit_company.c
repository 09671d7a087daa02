// The company of a process that ends: operators, and threads that use them.
//
// Layer:   stress
// Threads: see exit_company.h.
// SPDX-License-Identifier: MIT

#include "scenarios/exit_company.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <keyway/library.h>
#include <keyway/plugin.h>
#include <keyway/snapshot.h>

#include "driver/process.h"
#include "driver/worker.h"
#include "objects/family.h"
#include "objects/guest.h"

#define SEVERAL 2 // threads of a sort
#define GRAINS 65536
#define SPIN 300
#define DRAIN_NS (UINT64_C(60) * 1000000000)
#define ALIVE 0x600d
#define DEAD 0xdead

// The user data of kernels; never used again, so that a kernel that runs too long meets a dead one.
typedef struct grain {
    atomic_uint canary;
} grain;

static grain grains[GRAINS];
static atomic_uint grain_count;
static grain forever = {ALIVE};

static kw_dispatcher *dispatcher;
static kw_library *base;
static const kw_operator *op;
static const kw_operator *parking_op;
static const kw_operator *member_op;
static guest_host host;
static char plugin_path[PATH_MAX]; // found while there is a main thread
static char guest_path[PATH_MAX];

static atomic_bool is_over;
static sem_t parked; // by each parked call
static pthread_t threads[4 * SEVERAL];
static unsigned thread_count;

void exit_must(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "not so: %s\n", what);
        _exit(99);
    }
}

static void must(kw_status status, const kw_error *err)
{
    exit_must(status == KW_OK, err->text[0] != '\0' ? err->text : kw_status_name(status));
}

// Kernels ----------------------------------------------------------------------------------------

static kw_status kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    const grain *mine = self->user_data;
    (void)keys;
    (void)x;
    for (volatile int i = 0; i < SPIN; i++) {
    }
    exit_must(atomic_load_explicit(&mine->canary, memory_order_relaxed) == ALIVE,
              "a kernel runs with its data alive");
    *out_0 = n;
    return KW_OK;
}

static kw_status kernel_parking(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)sem_post(&parked);
    while (!atomic_load(&is_over)) {
        stress_pause_us(500);
    }
    return kernel(self, keys, x, n, out_0);
}

static void destroy(void *user_data)
{
    unsigned was = atomic_exchange(&((grain *)user_data)->canary, DEAD);
    exit_must(was == ALIVE, "user data is destroyed once");
}

static kw_status call(const kw_operator *which, int64_t *out_0)
{
    family_tensor x = {.keys = kw_keyset_from_key(KW_KEY_CPU)};
    return typed_call(which, (tensor *)&x, 0, out_0);
}

// Making and taking back -------------------------------------------------------------------------

static kw_library *open_library(kw_dispatcher *in)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = in, .name = "exit"};
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    must(kw_library_create(&options, &library, &err), &err);
    return library;
}

// With a time: the thread may be inside a call, which is not of this library.
static void end_library(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    must(kw_library_close(library, &err), &err);
    must(kw_library_drain(library, DRAIN_NS, &err), &err);
    must(kw_library_destroy(library, &err), &err);
}

static void define(kw_dispatcher *in, kw_library *library, const char *name,
                   const kw_operator **out_op)
{
    kw_error err = KW_ERROR_INIT;
    char schema[96];
    (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name);
    const kw_definition definition = KW_DEFINE(schema);
    must(kw_library_define(library, &definition, NULL, &err), &err);
    must(kw_operator_find_typed(in, name, TYPED_SIGNATURE, out_op, &err), &err);
}

static void impl(kw_library *library, const char *name, typed_function function, grain *data)
{
    kw_error err = KW_ERROR_INIT;
    kw_kernel_descriptor descriptor = KW_UNBOXED(TYPED_SIGNATURE, function);
    descriptor.user_data = data;
    descriptor.destroy = data != &forever ? destroy : NULL;
    must(kw_library_impl(library, name, KW_KEY_CPU, &descriptor, NULL, &err), &err);
}

void exit_company_call(void)
{
    int64_t unused = 0;
    kw_status status = call(op, &unused);
    exit_must(status == KW_OK, status == KW_OK ? "" : kw_call_error());
}

void exit_company_commit(void)
{
    unsigned index = atomic_fetch_add(&grain_count, 1);
    if (index >= GRAINS) {
        return;
    }
    kw_library *library = open_library(dispatcher);
    atomic_store(&grains[index].canary, ALIVE);
    impl(library, "exit::f", kernel, &grains[index]);
    end_library(library);
}

void exit_company_live_again(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *another = NULL;
    const kw_operator *its = NULL;
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_snapshot snapshot;
    bool has_pin = kw_snapshot_open(&snapshot) == KW_OK && snapshot.outer != 0;
    must(kw_snapshot_close(&snapshot), &err);
    if (has_pin) { // what it would define, it would not see
        return;
    }
    must(kw_dispatcher_create(&options, &another, &err), &err);
    kw_library *library = open_library(another);
    define(another, library, "again::f", &its);
    impl(library, "again::f", kernel, &forever);
    int64_t unused = 0;
    must(call(its, &unused), &err);
    end_library(library);
    must(kw_dispatcher_destroy(another, &err), &err);
}

// The threads ------------------------------------------------------------------------------------

static void *call_on(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        exit_company_call();
    }
    return unused;
}

static void *commit_on(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        exit_company_commit();
    }
    return unused;
}

static void *call_once(void *unused)
{
    exit_company_call();
    return unused;
}

static void *make_threads(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_once, NULL) == 0) {
            (void)pthread_join(thread, NULL);
        }
    }
    return unused;
}

static void *park_in_call(void *unused)
{
    int64_t answer = 0;
    exit_must(call(parking_op, &answer) == KW_OK, "a parked call answers");
    return unused;
}

static void *park_under_snapshot(void *unused)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    must(kw_snapshot_open(&snapshot), &err);
    (void)park_in_call(NULL);
    must(kw_snapshot_close(&snapshot), &err);
    return unused;
}

static void *call_member(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        int64_t answer = 0;
        kw_status status = call(member_op, &answer);
        exit_must(status == KW_OK || status == KW_NO_KERNEL || status == KW_NO_KERNEL_FOR_KEY,
                  "a plugin answers or is away");
    }
    return unused;
}

static void *load_and_unload(void *unused)
{
    const kw_plugin_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    kw_error err = KW_ERROR_INIT;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        kw_plugin *plugin = NULL;
        must(kw_plugin_load(plugin_path, &options, &plugin, &err), &err);
        must(kw_plugin_unload(plugin, KW_FOREVER, &err), &err);
    }
    return unused;
}

static void *open_and_close(void *unused)
{
    kw_error err = KW_ERROR_INIT;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        void *handle = dlopen(guest_path, RTLD_NOW | RTLD_LOCAL);
        void *symbol = handle != NULL ? dlsym(handle, "guest_begin") : NULL;
        exit_must(symbol != NULL, "the guest is opened");
        guest_begin_function *begin;
        memcpy(&begin, &symbol, sizeof symbol);
        kw_status status = begin(&host);
        if (status == KW_LIBRARY_CLOSED) {
            break;
        }
        must(status, &err);
        exit_must(dlclose(handle) == 0, "the guest is closed");
    }
    return unused;
}

static void start(void *(*run)(void *), unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        exit_must(pthread_create(&threads[thread_count++], NULL, run, NULL) == 0,
                  "there is a thread");
    }
}

static void wait_for_parked(unsigned count)
{
    while (count > 0) {
        count -= sem_wait(&parked) == 0 ? 1 : 0;
    }
}

void exit_company_start(stress_exit_company company)
{
    bool calls = company == STRESS_EXIT_CALLERS || company == STRESS_EXIT_BOTH ||
                 company == STRESS_EXIT_GUEST;
    bool commits = company == STRESS_EXIT_COMMITTERS || company == STRESS_EXIT_BOTH;
    start(call_on, calls ? SEVERAL : 0);
    start(commit_on, commits ? SEVERAL : 0);
    start(make_threads, company == STRESS_EXIT_SHORT_THREADS ? SEVERAL : 0);
    start(park_in_call, company == STRESS_EXIT_PARKED ? 1 : 0);
    start(park_under_snapshot, company == STRESS_EXIT_PARKED ? 1 : 0);
    if (company == STRESS_EXIT_PARKED) { // what is committed later is not held by them
        wait_for_parked(2);
        start(commit_on, 1);
    }
    start(call_member, company == STRESS_EXIT_PLUGIN ? SEVERAL : 0);
    start(load_and_unload, company == STRESS_EXIT_PLUGIN ? 1 : 0);
    start(open_and_close, company == STRESS_EXIT_GUEST ? 1 : 0);
}

void exit_company_end(void)
{
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

const kw_operator *exit_company_begin(typed_function leave)
{
    static const kw_operator *leave_op;
    static const kw_operator *unused;
    kw_error err = KW_ERROR_INIT;
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    exit_must(sem_init(&parked, 0, 0) == 0, "there is a semaphore");
    stress_object_path("alpha_1", plugin_path, sizeof plugin_path);
    stress_object_path("guest", guest_path, sizeof guest_path);
    must(kw_dispatcher_create(&options, &dispatcher, &err), &err);
    base = open_library(dispatcher);
    define(dispatcher, base, "exit::f", &op);
    define(dispatcher, base, "exit::park", &parking_op);
    define(dispatcher, base, "exit::leave", &leave_op);
    define(dispatcher, base, "host::loading", &unused); // what the plugin wants of its host
    define(dispatcher, base, "host::rest", &unused);
    define(dispatcher, base, "family::alpha_f", &member_op);
    define(dispatcher, base, "family::alpha_g", &unused);
    define(dispatcher, base, "family::beta_f", &unused);
    impl(base, "exit::f", kernel, &forever);
    impl(base, "exit::park", kernel_parking, &forever);
    impl(base, "exit::leave", leave, &forever);
    impl(base, "host::loading", kernel, &forever);
    impl(base, "host::rest", kernel, &forever);
    host = (guest_host){dispatcher,       "exit::f",        kw_library_create, kw_library_impl,
                        kw_library_close, kw_library_drain, kw_library_destroy};
    return leave_op;
}
