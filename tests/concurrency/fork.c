// Forks of a process whose other threads call, commit, begin and end: the child is whole.
//
// Layer:   test
// Threads: callers, committers and short threads around the one that forks.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include <keyway/fork.h>
#include <keyway/snapshot.h>
#include <keyway/startup.h>

#include "concurrency/children.h"
#include "concurrency/fixture.h"

enum {
    CALLERS = 3,
    COMMITTERS = 2,
    FORKS = SCALED(400),
    WORKERS = 4,
    LEVELS = 3
};

static const kw_operator *f;
static const kw_operator *g;
static kw_library *base;

// Two operators whose kernels are always of one commit.
static void begin(void)
{
    base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    library_define(base, "t::g(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    (void)library_impl(base, "t::g", KW_KEY_CPU, kernel_add, 1);
    f = operator_find("t::f");
    g = operator_find("t::g");
}

static int64_t result_of(const kw_operator *op)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = -1;
    kw_status status = typed_call(op, &x, 0, &result);
    CHECK(status == KW_OK, "a call answers %s", kw_status_name(status));
    return result;
}

// Covers both kernels in one commit.
static kw_library *cover(int64_t value)
{
    kw_library *over = library_open("over");
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    kw_kernel_descriptor of_f = kernel_describe(kernel_add, value);
    kw_kernel_descriptor of_g = kernel_describe(kernel_add, value);
    MUST(kw_transaction_impl(tx, over, "t::f", KW_KEY_CPU, &of_f, NULL, &err));
    MUST(kw_transaction_impl(tx, over, "t::g", KW_KEY_CPU, &of_g, NULL, &err));
    MUST(kw_transaction_commit(tx, NULL, NULL, &err));
    return over;
}

// The same as library_end(), inside a call or destructor.
static void end_inside(kw_library *library)
{
    MUST(kw_library_close(library, &err));
    MUST(kw_library_drain(library, UINT64_C(10000000000), &err));
    MUST(kw_library_destroy(library, &err));
}

static void call_both(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        kw_snapshot snapshot;
        MUST(kw_snapshot_open(&snapshot));
        int64_t one = result_of(f);
        int64_t other = result_of(g);
        CHECK(one == other, "a snapshot sees %lld and %lld", (long long)one, (long long)other);
        MUST(kw_snapshot_close(&snapshot));
        (void)result_of(f);
    }
}

static void commit_often(crew *team, unsigned index)
{
    while (crew_goes_on(team)) {
        library_end(cover(10 + index));
    }
}

// What a child does: everything.
static void use_all(void *unused)
{
    (void)unused;
    uint64_t version = kw_version();
    uint64_t operators = fixture_statistics().operator_count;
    CHECK(operators == 2, "the child has %llu operators", (unsigned long long)operators);
    int64_t one = result_of(f);
    int64_t other = result_of(g);
    CHECK(one == other, "the child has half a commit: %lld and %lld", (long long)one,
          (long long)other);
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    kw_library *over = cover(77);
    CHECK(result_of(f) == one, "the child's snapshot changes");
    MUST(kw_snapshot_close(&snapshot));
    CHECK(result_of(f) == 77 && result_of(g) == 77, "the child's own kernels do not serve");
    library_end(over);
    CHECK(result_of(f) == one, "what was covered does not serve again: %lld, then %lld",
          (long long)one, (long long)result_of(f));
    CHECK(kw_version() == version + 2, "the child's commits do not count");
    MUST(kw_reclaim());
    // What the parent's threads had on the way is retired at most for a pass of the child.
    CHECK(fixture_statistics().retired_count == 0, "the child keeps %llu replaced tables",
          (unsigned long long)fixture_statistics().retired_count);
}

static void a_child_of_a_busy_process_is_whole(void)
{
    begin();
    crew callers;
    crew committers;
    crew_start(&callers, CALLERS, call_both, NULL);
    crew_start(&committers, COMMITTERS, commit_often, NULL);
    for (int i = 0; fixture_goes_on(i, FORKS); i++) {
        child_run(use_all, NULL);
    }
    crew_stop(&committers);
    crew_stop(&callers);
    library_end(base);
}

// Threads that begin and end
// -----------------------------------------------------------------------

static void *call_once(void *unused)
{
    (void)unused;
    (void)result_of(f);
    return NULL;
}

static void begin_and_end_threads(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_once, NULL) == 0) {
            (void)pthread_join(thread, NULL);
        }
    }
}

static void use_threads(void *context)
{
    use_all(context);
    if (FIXTURE_SANITIZED) { // see Note [Children under sanitizers]
        return;
    }
    uint64_t blocks = fixture_statistics().thread_blocks;
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, call_once, NULL) == 0, "the child makes no thread");
        (void)pthread_join(thread, NULL);
    }
    CHECK(fixture_statistics().thread_blocks == blocks,
          "blocks of threads that the child does not have are not used again");
}

static void threads_may_begin_and_end_around_a_fork(void)
{
    begin();
    crew team;
    crew_start(&team, CALLERS, begin_and_end_threads, NULL);
    for (int i = 0; fixture_goes_on(i, FORKS / 4); i++) {
        child_run(use_threads, NULL);
    }
    crew_stop(&team);
    library_end(base);
}

// Calls and snapshots of other threads
// -------------------------------------------------------------

static sem_t entered;
static sem_t leave;

static kw_status kernel_parked(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                               int64_t *out_0)
{
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
    return kernel_add(self, keys, x, n, out_0);
}

static void call_parked_under_a_snapshot(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    CHECK(result_of(f) == 5, "the parked call answers another kernel");
    MUST(kw_snapshot_close(&snapshot));
}

static void drain_in_the_child(void *library)
{
    uint64_t forced = fixture_statistics().forced_cleanups;
    kw_status status = kw_library_drain(library, 0, NULL);
    CHECK(status == KW_OK, "a call that the child does not have holds the library: %s",
          kw_status_name(status));
    MUST(kw_library_destroy(library, &err));
    CHECK(fixture_statistics().forced_cleanups == forced, "the parent's threads are counted");
    use_all(NULL);
}

static void the_child_has_no_call_of_another_thread(void)
{
    begin();
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    kw_library *over = library_open("parked");
    (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_parked, 5);
    crew team;
    crew_start(&team, 1, call_parked_under_a_snapshot, NULL);
    (void)sem_wait(&entered);
    MUST(kw_library_close(over, &err));
    CHECK(kw_library_drain(over, 0, NULL) == KW_BUSY, "the parked call holds nothing");
    child_run(drain_in_the_child, over);
    CHECK(kw_library_drain(over, 0, NULL) == KW_BUSY, "the child's drain reaches the parent");
    (void)sem_post(&leave);
    crew_join(&team);
    library_end(over);
    library_end(base);
}

// The forking thread's own calls and snapshots
// -----------------------------------------------------

static pid_t forked;

static kw_status kernel_forking(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    forked = fork();
    if (forked == 0) {
        child_begin();
    }
    // Announced on both sides.
    kw_library *over = library_open("inside");
    (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, 6);
    CHECK(result_of(f) == 6, "a call inside the forking kernel gets the old kernel");
    end_inside(over);
    return kernel_add(self, keys, x, n, out_0);
}

static void a_kernel_may_fork(void)
{
    begin();
    kw_library *over = library_open("forking");
    (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_forking, 5);
    CHECK(result_of(f) == 5, "the forking kernel does not return its value");
    library_end(over); // the call has ended on both sides
    CHECK(result_of(f) == 1, "what was covered does not serve again");
    if (forked == 0) {
        use_all(NULL);
        child_end();
    }
    child_join(forked);
    library_end(base);
}

static void a_snapshot_stays_open_in_both(void)
{
    begin();
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    kw_library *over = cover(9);
    forked = fork();
    if (forked == 0) {
        child_begin();
    }
    CHECK(result_of(f) == 1 && result_of(g) == 1, "the snapshot is lost");
    MUST(kw_snapshot_close(&snapshot));
    CHECK(result_of(f) == 9 && result_of(g) == 9, "the snapshot stays");
    library_end(over);
    if (forked == 0) {
        use_all(NULL);
        child_end();
    }
    child_join(forked);
    library_end(base);
}

// Destructors
// --------------------------------------------------------------------------------------

static atomic_int destroyed_count;

static void destroy_counting(void *unused)
{
    (void)unused;
    (void)atomic_fetch_add(&destroyed_count, 1);
}

static void destroy_parked(void *unused)
{
    (void)unused;
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
    (void)atomic_fetch_add(&destroyed_count, 1);
}

static void impl_with(kw_library *library, const char *name, void (*destroy)(void *user_data))
{
    kw_kernel_descriptor descriptor = KW_UNBOXED(TYPED_SIGNATURE, kernel_add);
    descriptor.destroy = destroy;
    MUST(kw_library_impl(library, name, KW_KEY_CPU, &descriptor, NULL, &err));
}

static void close_parked(crew *team, unsigned index)
{
    (void)index;
    MUST(kw_library_close(team->context, &err));
}

// Of two destructors the other thread is inside one; the second has not begun, in whichever order.
static void bury_the_rest(void *library)
{
    CHECK(kw_library_destroy(library, NULL) == KW_BUSY, "destructors are not waited for");
    kw_status status = kw_library_drain(library, 0, NULL);
    CHECK(status == KW_OK, "a destructor that no thread runs holds the library: %s",
          kw_status_name(status));
    CHECK(atomic_load(&destroyed_count) == 3, "%d of 3 destructors that had not begun have run",
          atomic_load(&destroyed_count));
    MUST(kw_library_destroy(library, &err));
}

static void destructors_that_were_begun_count_as_returned(void)
{
    begin();
    atomic_store(&destroyed_count, 0);
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    kw_library *over = library_open("over");
    impl_with(over, "t::f", destroy_parked);
    impl_with(over, "t::f", destroy_counting);
    impl_with(over, "t::g", destroy_counting);
    impl_with(over, "t::g", destroy_counting);
    crew team;
    crew_start(&team, 1, close_parked, over);
    (void)sem_wait(&entered);
    int begun = atomic_load(&destroyed_count);
    CHECK(kw_library_drain(over, 0, NULL) == KW_BUSY, "a running destructor holds nothing");
    child_run(bury_the_rest, over);
    CHECK(atomic_load(&destroyed_count) == begun, "the child's destructors run in the parent");
    (void)sem_post(&leave);
    crew_join(&team);
    CHECK(atomic_load(&destroyed_count) == 4, "a destructor is lost");
    library_end(over);
    library_end(base);
}

static void destroy_forking(void *unused)
{
    (void)unused;
    forked = fork();
    if (forked == 0) {
        child_begin();
    }
    end_inside(cover(8)); // a burial inside a burial
    (void)atomic_fetch_add(&destroyed_count, 1);
}

static void a_destructor_may_fork(void)
{
    begin();
    atomic_store(&destroyed_count, 0);
    kw_library *over = library_open("over");
    impl_with(over, "t::f", destroy_counting);
    impl_with(over, "t::f", destroy_forking);
    impl_with(over, "t::f", destroy_counting);
    library_end(over);
    CHECK(atomic_load(&destroyed_count) == 3, "%d of 3 destructors run",
          atomic_load(&destroyed_count));
    if (forked == 0) {
        use_all(NULL);
        child_end();
    }
    child_join(forked);
    library_end(base);
}

static void hear_and_fork(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
    if (forked < 0) {
        forked = fork();
        if (forked == 0) {
            child_begin();
        }
    }
}

static void a_listener_may_fork(void)
{
    begin();
    forked = 0;
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear_and_fork};
    uint64_t id = 0;
    MUST(kw_dispatcher_listen(fixture_dispatcher, &listener, &id, &err));
    forked = -1;
    library_end(cover(8));
    MUST(kw_dispatcher_unlisten(fixture_dispatcher, id));
    if (forked == 0) {
        use_all(NULL);
        child_end();
    }
    child_join(forked);
    library_end(base);
}

KW_LIBRARY_FRAGMENT(s, block)
{
    forked = fork();
    if (forked == 0) {
        child_begin();
    }
    kw_block_define(block, KW_DEFINE("h(Tensor x, int n) -> int"));
}

static void a_block_of_the_start_may_fork(void)
{
    begin();
    kw_dispatcher *dispatcher = NULL; // the start's libraries stay
    MUST(kw_dispatcher_create(NULL, &dispatcher, &err));
    MUST(kw_startup(dispatcher, &err));
    const kw_operator *op = NULL;
    MUST(kw_operator_find(dispatcher, "s::h", &op, &err));
    MUST(kw_startup(dispatcher, &err));
    if (forked == 0) {
        library_end(cover(7));
        child_end();
    }
    child_join(forked);
    library_end(base);
}

// Generations
// --------------------------------------------------------------------------------------

// The first generation forks with threads; under sanitizers, see Note [Children under sanitizers],
// only that one.
static void go_down(void *context)
{
    int level = *(int *)context;
    use_all(NULL);
    crew committers;
    unsigned count = FIXTURE_SANITIZED && level > 1 ? 0 : COMMITTERS;
    crew_start(&committers, count, commit_often, NULL);
    if (level < LEVELS) {
        int next = level + 1;
        for (int i = 0; i < 3; i++) {
            child_run(go_down, &next);
        }
    }
    crew_stop(&committers);
    use_all(NULL);
}

static void children_have_children(void)
{
    begin();
    int level = 1;
    for (int i = 0; fixture_goes_on(i, SCALED(20)); i++) {
        child_run(go_down, &level);
    }
    library_end(base);
}

static void serve(crew *team, unsigned index)
{
    if (index == 0) {
        for (int i = 0; i < SCALED(50); i++) {
            library_end(cover(20));
        }
        return;
    }
    for (int i = 0; i < SCALED(2000); i++) {
        (void)result_of(f);
    }
    (void)team;
}

// A server that prepares everything, forks its workers, and changes kernels in each of them.
static void workers_of_a_server_live_their_own_lives(void)
{
    begin();
    kw_library *over = cover(30);
    pid_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            child_begin();
            crew team;
            crew_start(&team, 3, serve, NULL);
            crew_join(&team);
            library_end(over);
            use_all(NULL);
            child_end();
        }
    }
    CHECK(result_of(f) == 30, "a worker's change reaches the server");
    for (int i = 0; i < WORKERS; i++) {
        child_join(workers[i]);
    }
    CHECK(result_of(f) == 30, "a worker's change reaches the server");
    library_end(over);
    library_end(base);
}

// In the host's own hands
// --------------------------------------------------------------------------

static void fork_by_hand(void)
{
    kw_fork_prepare();
    (void)result_of(f); // calls are allowed in between
    pid_t child = fork();
    if (child == 0) {
        kw_fork_child();
        child_begin();
        use_all(NULL);
        child_end();
    }
    kw_fork_parent();
    child_join(child);
}

static void a_host_may_run_the_handlers(void)
{
    begin();
    CHECK(kw_fork_configure(4) == KW_INVALID_ARGUMENT, "an unknown flag is taken");
    crew callers;
    crew committers;
    crew_start(&callers, CALLERS, call_both, NULL);
    crew_start(&committers, COMMITTERS, commit_often, NULL);
    MUST(kw_fork_configure(KW_FORK_URCU));
    for (int i = 0; fixture_goes_on(i, FORKS / 8); i++) {
        fork_by_hand();
    }
    MUST(kw_fork_configure(KW_FORK_AUTOMATIC | KW_FORK_URCU));
    for (int i = 0; fixture_goes_on(i, FORKS / 8); i++) {
        fork_by_hand(); // inside it the automatic pair
    }
    kw_fork_prepare(); // a fork that failed
    kw_fork_parent();
    kw_fork_parent(); // one too many does nothing
    kw_fork_child();
    crew_stop(&committers);
    crew_stop(&callers);
    library_end(base);
}

// Signals
// ------------------------------------------------------------------------------------------

static void handle(int number)
{
    (void)number;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    (void)typed_call(f, &x, 0, &result);
}

static void interrupt_often(crew *team, unsigned index)
{
    (void)index;
    const pthread_t *victim = team->context;
    while (crew_goes_on(team)) {
        (void)pthread_kill(*victim, SIGUSR1);
    }
}

static void handlers_may_call_around_a_fork(void)
{
    begin();
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    (void)sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self();
    crew sender;
    crew committers;
    crew_start(&committers, 1, commit_often, NULL);
    crew_start(&sender, 1, interrupt_often, &self);
    for (int i = 0; fixture_goes_on(i, FORKS / 8); i++) {
        child_run(use_all, NULL);
    }
    crew_stop(&sender);
    crew_stop(&committers);
    (void)signal(SIGUSR1, SIG_IGN);
    library_end(base);
}

int main(void)
{
    fixture_begin();
    RUN(a_child_of_a_busy_process_is_whole);
    RUN(threads_may_begin_and_end_around_a_fork);
    RUN(the_child_has_no_call_of_another_thread);
    RUN(a_kernel_may_fork);
    RUN(a_snapshot_stays_open_in_both);
    RUN(destructors_that_were_begun_count_as_returned);
    RUN(a_destructor_may_fork);
    RUN(a_listener_may_fork);
    RUN(children_have_children);
    RUN(workers_of_a_server_live_their_own_lives);
    RUN(a_host_may_run_the_handlers);
    RUN(handlers_may_call_around_a_fork);
    RUN(a_block_of_the_start_may_fork); // leaves an operator behind
    return fixture_end();
}
