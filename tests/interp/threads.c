// Interpreters that are shut down while threads call, modes on many threads, threads that end.
//
// Layer:   test
// Threads: a crew that uses interpreters in every way, one that shuts them down.
// SPDX-License-Identifier: MIT
//
// With `--seconds N` it goes on for as long. With the name of a seeded fault it is the other way
// round: the program succeeds if some check of the storm has failed.

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "concurrency/fixture.h"
#include "interp/fake.h"
#include "interp/fault.h"
#include "interp/interpreter.h"
#include "interp/thread.h"

enum {
    ROUNDS = SCALED(600),
    CALLERS = 4,
    PUSHES = 11,
    THREADS = 6
};

static kw_library *base;
static kw_library *fallbacks;
static const kw_operator *f; // (Tensor x) -> int, with a kernel for CPU
static const kw_operator *k; // (Tensor x) -> int, with a function of the interpreter for CUDA

static kw_status plain(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(1);
    return KW_OK;
}

static kw_status answer(fake_object *self, const kw_interpreter_call *call)
{
    call->frame->returns[0] = kw_value_int(self->number);
    return KW_OK;
}

static void begin(void)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = &fake_tensor_type};
    MUST(kw_dispatcher_create(&options, &fixture_dispatcher, &err));
    base = library_open("base");
    library_define(base, "t::f(Tensor x) -> int");
    library_define(base, "t::k(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KW_BOXED(plain);
    MUST(kw_library_impl(base, "t::f", KW_KEY_CPU, &kernel, NULL, &err));
    MUST(kw_operator_find(fixture_dispatcher, "t::f", &f, &err));
    MUST(kw_operator_find(fixture_dispatcher, "t::k", &k, &err));
    MUST(kw_interpreter_fallbacks(fixture_dispatcher, &fake_tensors, &fallbacks, &err));
}

static kw_status call(const kw_operator *op, fake_tensor *x, int64_t *out_number)
{
    KW_FRAME(frame, 1, 1);
    frame.args[0] = kw_value_tensor(x);
    kw_status status = kw_call_boxed(op, &frame);
    *out_number = status == KW_OK ? frame.returns[0].as.as_int : -1;
    return status;
}

static fake_tensor make_tensor(kw_keyset keys, kw_interpreter *interpreter, void *object)
{
    return (fake_tensor){.keys = keys, .interpreter = interpreter, .object = object};
}

static kw_keyset cpu_and_python(void)
{
    return kw_keyset_union(keys_of(KW_KEY_CPU), kw_keyset_from_bits(KW_KEYSET_PYTHON));
}

// A storm -----------------------------------------------------------------------------------------

typedef struct storm {
    fake of;
    fake_object mode;
    fake_object tensor;
    fake_object kernel;
    fake_object kept;
    atomic_bool is_gone; // kw_interpreter_disarm() has returned
} storm;

// What a call may answer: `wanted`, or that the interpreter is gone.
static void check_answer(storm *in, kw_status status, int64_t number, int64_t wanted, bool was_gone)
{
    CHECK(status == KW_INTERPRETER_GONE || (status == KW_OK && number == wanted),
          "a call answers %s and %lld: %s", kw_status_name(status), (long long)number,
          kw_call_error());
    CHECK(!was_gone || status == KW_INTERPRETER_GONE, "a call of a gone interpreter answers %s",
          kw_status_name(status));
    CHECK(atomic_load(&in->of.late_count) == 0, "a function runs after the end");
}

static void use_mode(storm *in)
{
    bool was_gone = atomic_load(&in->is_gone);
    fake_tensor x = make_tensor(keys_of(KW_KEY_CPU), NULL, NULL);
    if (kw_mode_push(in->of.interpreter, &in->mode, NULL) != KW_OK) {
        return;
    }
    int64_t number;
    kw_status status = call(f, &x, &number);
    check_answer(in, status, number, in->mode.number, was_gone);
    CHECK(kw_mode_count() == 1, "%u modes are on the stack", kw_mode_count());
    MUST(kw_mode_pop(NULL, &err));
}

static void use_tensor(storm *in)
{
    bool was_gone = atomic_load(&in->is_gone);
    fake_tensor x = make_tensor(cpu_and_python(), in->of.interpreter, &in->tensor);
    int64_t number;
    kw_status status = call(f, &x, &number);
    check_answer(in, status, number, in->tensor.number, was_gone);
}

static void use_kernel(storm *in)
{
    bool was_gone = atomic_load(&in->is_gone);
    fake_tensor x = make_tensor(keys_of(KW_KEY_CUDA), NULL, NULL);
    int64_t number;
    kw_status status = call(k, &x, &number);
    check_answer(in, status, number, in->kernel.number, was_gone);
}

static kw_status go_on_below(const kw_interpreter_call *asked, void *context)
{
    fake *self = context;
    fake_lock(self);
    if (atomic_load(&self->is_destroyed)) {
        (void)atomic_fetch_add(&self->late_count, 1);
    }
    fake_unlock(self);
    return kw_redispatch_boxed(asked->op, asked->keys, asked->frame);
}

static void use_dispatcher(storm *in)
{
    bool was_gone = atomic_load(&in->is_gone);
    kw_interpreter_guard guard;
    if (kw_python_dispatcher_enable(in->of.interpreter, &guard) != KW_OK) {
        return;
    }
    fake_tensor x = make_tensor(keys_of(KW_KEY_CPU), NULL, NULL);
    int64_t number;
    kw_status status = call(f, &x, &number);
    check_answer(in, status, number, 1, was_gone);
    kw_interpreter_restore(&guard);
}

static void use_cache(storm *in)
{
    kw_interpreter_use use;
    if (kw_interpreter_enter(in->of.interpreter, &use) != KW_OK) {
        return;
    }
    void *kept = NULL;
    if (kw_interpreter_cache(in->of.interpreter, f, &in->kept, &kept, NULL) == KW_OK) {
        fake_object *found = kw_interpreter_cached(in->of.interpreter, f);
        CHECK(found == &in->kept && kept == found, "another object is kept");
        CHECK(found == NULL || found->number == 14, "the object is not whole");
    }
    kw_interpreter_leave(&use);
}

static void use_snapshot(storm *in)
{
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    use_tensor(in);
    use_mode(in);
    MUST(kw_snapshot_close(&snapshot));
}

static void commit(storm *in)
{
    (void)in;
    kw_library *other = library_open("other");
    const kw_kernel_descriptor kernel = KW_BOXED(plain);
    MUST(kw_library_impl(other, "t::f", KW_KEY_CPU, &kernel, NULL, &err));
    library_end(other);
}

static void use_all(crew *team, unsigned index)
{
    static void (*const uses[])(storm *) = {use_mode,  use_tensor,   use_kernel, use_dispatcher,
                                            use_cache, use_snapshot, commit};
    storm *in = team->context;
    uint32_t seed = index + 1;
    while (crew_goes_on(team)) {
        uses[random_next(&seed) % (index == 0 ? 7 : 6)](in);
    }
}

static kw_library *register_kernel(storm *in)
{
    kw_library *library = library_open("kernel");
    kw_kernel_descriptor kernel;
    MUST(kw_interpreter_kernel(in->of.interpreter, &in->kernel, &kernel, &err));
    MUST(kw_library_impl(library, "t::k", KW_KEY_CUDA, &kernel, NULL, &err));
    return library;
}

static void run_round(unsigned round)
{
    static storm in;
    in = (storm){
        .mode = fake_object_of(11, answer),
        .tensor = fake_object_of(12, answer),
        .kernel = fake_object_of(13, answer),
        .kept = fake_object_of(14, NULL),
    };
    kw_interpreter_table table = fake_table(&in.of, "storm");
    table.python_dispatcher = go_on_below;
    fake_begin_with(&in.of, &table);
    kw_library *library = register_kernel(&in);
    kwi_interp_waits = round % 2 == 1;
    crew team;
    crew_start(&team, CALLERS, use_all, &in);
    for (unsigned i = 0; i < round % 32; i++) {
        (void)sched_yield();
    }
    // As a thread does that has run under the interpreter's lock, for which others queue up.
    fake_lock(&in.of);
    for (unsigned i = 0; i < round % 8; i++) {
        (void)sched_yield();
    }
    fake_unlock(&in.of);
    MUST(kw_interpreter_disarm(in.of.interpreter, KW_FOREVER, &err));
    atomic_store(&in.is_gone, true);
    unsigned ran = atomic_load(&in.of.run_count);
    for (unsigned i = 0; i < 8; i++) {
        (void)sched_yield();
    }
    CHECK(atomic_load(&in.of.run_count) == ran, "functions run on");
    crew_stop(&team);
    CHECK(atomic_load(&in.of.late_count) == 0, "%u functions ran too late",
          atomic_load(&in.of.late_count));
    CHECK(in.of.destroyed_count == 1, "it is destroyed %lld times",
          (long long)in.of.destroyed_count);
    CHECK(in.kept.references == 1, "what was kept has %lld references",
          (long long)in.kept.references);
    CHECK(!kwi_interp_is_used(in.of.interpreter), "a count has not come back to zero");
    library_end(library);
    kwi_interp_end_all();
}

static void shut_down_under_calls(void)
{
    for (int round = 0; fixture_goes_on(round, ROUNDS); round++) {
        run_round((unsigned)round);
        if (fixture_failure_count() > 0) {
            return;
        }
    }
}

// The interpreter's own lock ----------------------------------------------------------------------

static void use_one_tensor(crew *team, unsigned index)
{
    (void)index;
    use_tensor(team->context);
}

static void wait_until_used(const kw_interpreter *interpreter)
{
    while (!kwi_interp_is_used(interpreter)) {
        (void)sched_yield();
    }
}

static void begin_storm(storm *in)
{
    *in = (storm){
        .mode = fake_object_of(11, answer),
        .tensor = fake_object_of(12, answer),
        .kept = fake_object_of(14, NULL),
    };
    fake_begin(&in->of, "locked");
}

static void shut_down_by_the_owner_of_the_lock(void)
{
    static storm in;
    begin_storm(&in);
    crew team;
    fake_lock(&in.of);
    crew_start(&team, 1, use_one_tensor, &in);
    wait_until_used(in.of.interpreter); // it waits for the lock
    kw_status status = kw_interpreter_disarm(in.of.interpreter, 2000000, NULL);
    CHECK(status == KW_BUSY, "under the lock it answers %s", kw_status_name(status));
    CHECK(in.of.destroyed_count == 0, "it is destroyed while it is used");
    fake_unlock(&in.of);
    MUST(kw_interpreter_disarm(in.of.interpreter, KW_FOREVER, &err));
    crew_join(&team);
    CHECK(in.of.destroyed_count == 1 && atomic_load(&in.of.late_count) == 0, "it ends wrongly");
    kwi_interp_end_all();
}

static void use_some(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        use_tensor(team->context);
        use_mode(team->context);
        use_cache(team->context);
    }
}

static void disarm_too(crew *team, unsigned index)
{
    (void)index;
    storm *in = team->context;
    MUST(kw_interpreter_disarm(in->of.interpreter, KW_FOREVER, &err));
    CHECK(atomic_load(&in->of.is_destroyed), "it returns before the end");
}

static void several_shut_it_down(void)
{
    static storm in;
    for (int round = 0; round < 50; round++) {
        begin_storm(&in);
        crew users;
        crew team;
        crew_start(&users, 2, use_some, &in);
        crew_start(&team, 3, disarm_too, &in);
        crew_join(&team);
        crew_stop(&users);
        CHECK(in.of.destroyed_count == 1, "it is destroyed %lld times",
              (long long)in.of.destroyed_count);
        kwi_interp_end_all();
    }
}

// Threads -----------------------------------------------------------------------------------------

static void push_and_end(crew *team, unsigned index)
{
    storm *in = team->context;
    for (unsigned i = 0; i < PUSHES + index; i++) {
        MUST(kw_mode_push(in->of.interpreter, &in->mode, &err));
    }
    fake_tensor x = make_tensor(keys_of(KW_KEY_CPU), NULL, NULL);
    int64_t number;
    MUST(call(f, &x, &number));
    CHECK(number == 11, "another mode answers");
}

static void modes_end_with_their_thread(void)
{
    static storm in;
    begin_storm(&in);
    crew team;
    crew_start(&team, THREADS, push_and_end, &in);
    crew_join(&team);
    CHECK(in.mode.references == 1, "%lld references are left", (long long)in.mode.references);
    CHECK(kw_mode_count() == 0, "another thread's modes are seen");
    fake_end(&in.of);
    kwi_interp_end_all();
}

static kw_status exit_inside(fake_object *self, const kw_interpreter_call *asked)
{
    (void)asked;
    fake *of = self->extra;
    fake_unlock(of); // the fake took it
    pthread_exit(NULL);
}

static void call_and_end(crew *team, unsigned index)
{
    storm *in = team->context;
    in->mode.run = exit_inside;
    in->mode.extra = &in->of;
    MUST(kw_mode_push(in->of.interpreter, &in->mode, &err));
    fake_tensor x = make_tensor(keys_of(KW_KEY_CPU), NULL, NULL);
    int64_t number;
    kw_status status = call(f, &x, &number);
    CHECK(false, "thread %u goes on after its end with %s", index, kw_status_name(status));
}

static void thread_that_ends_inside_is_not_waited_for(void)
{
    static storm in;
    begin_storm(&in);
    crew team;
    crew_start(&team, 1, call_and_end, &in);
    crew_join(&team);
    CHECK(in.mode.references == 1, "%lld references are left", (long long)in.mode.references);
    fake_end(&in.of);
    kwi_interp_end_all();
}

typedef struct pool {
    storm *of;
    kw_interpreter_state *state;
    kw_local_state words;
} pool;

static void work(crew *team, unsigned index)
{
    (void)index;
    const pool *in = team->context;
    fake_tensor x = make_tensor(keys_of(KW_KEY_CPU), NULL, NULL);
    for (int i = 0; i < SCALED(2000); i++) {
        kw_local_guard words;
        kw_interpreter_guard guard;
        int64_t number;
        MUST(kw_local_force(in->words, &words));
        MUST(kw_interpreter_state_enter(in->state, &guard, &err));
        CHECK(kw_local_is_included(KW_KEY_Python), "the mode's keys are not included");
        MUST(call(f, &x, &number));
        CHECK(number == 11, "the pool thread has another mode: %lld", (long long)number);
        kw_interpreter_restore(&guard);
        kw_local_restore(&words);
        MUST(call(f, &x, &number));
        CHECK(number == 1 && kw_mode_count() == 0, "the mode stays");
    }
}

static void pool_threads_go_on_as_another_would(void)
{
    static storm of;
    begin_storm(&of);
    pool in = {.of = &of};
    MUST(kw_mode_push(of.of.interpreter, &of.mode, &err));
    in.words = kw_local_capture();
    MUST(kw_interpreter_state_capture(&in.state, &err));
    crew team;
    crew_start(&team, CALLERS, work, &in);
    crew_join(&team);
    kw_interpreter_state_release(in.state);
    MUST(kw_mode_pop(NULL, &err));
    CHECK(of.mode.references == 1, "%lld references are left", (long long)of.mode.references);
    fake_end(&of.of);
    kwi_interp_end_all();
}

// In a process of its own, which may end badly.
static int run_seeded(const char *fault)
{
    kwi_interp_fault_now = strcmp(fault, "disarm-does-not-wait") == 0
                               ? KWI_INTERP_FAULT_DISARM_DOES_NOT_WAIT
                               : KWI_INTERP_FAULT_LOOK_BEFORE_COUNTING;
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        RUN(shut_down_under_calls);
        _exit(fixture_failure_count() > 0);
    }
    int ended = 0;
    bool is_found = child > 0 && waitpid(child, &ended, 0) == child && ended != 0;
    (void)printf("%s: %s\n", fault, is_found ? "found" : "not found");
    return is_found ? 0 : 1;
}

static void run_all(void)
{
    RUN(shut_down_under_calls);
    RUN(shut_down_by_the_owner_of_the_lock);
    RUN(several_shut_it_down);
    RUN(modes_end_with_their_thread);
    RUN(thread_that_ends_inside_is_not_waited_for);
    RUN(pool_threads_go_on_as_another_would);
}

int main(int argc, char **argv)
{
    bool is_long = argc > 2 && strcmp(argv[1], "--seconds") == 0;
    time_t end = time(NULL) + (is_long ? strtol(argv[2], NULL, 10) : 0);
    begin();
    if (argc > 1 && !is_long) {
        return run_seeded(argv[1]);
    }
    do {
        run_all();
    } while (time(NULL) < end);
    library_end(fallbacks);
    library_end(base);
    return fixture_end();
}
