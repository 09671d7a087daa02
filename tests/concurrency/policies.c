// What waits on other threads: for a definition, and for the backlog to shrink.
//
// Layer:   test
// Threads: waiters, and one that brings what they wait for.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <keyway/backlog.h>
#include <keyway/snapshot.h>

#include "concurrency/fixture.h"

enum {
    WAITERS = 4,
    ROUNDS = 300
};

#define LONG_NS UINT64_C(60000000000)

static uint64_t thread_time_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// Waiting for a definition -----------------------------------------------------------------------

static void wait_for_w(crew *team, unsigned index)
{
    (void)team;
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    // Half of them for ever, half with a time that is not reached.
    uint64_t timeout_ns = index % 2 == 0 ? KW_FOREVER : LONG_NS;
    kw_status status = kw_operator_wait(fixture_dispatcher, "t::w", timeout_ns, &op, &err);
    CHECK(status == KW_OK, "the wait answers %s: %s", kw_status_name(status), err.text);
    if (status == KW_OK) {
        tensor x = typed_tensor(keys_of(KW_KEY_CPU));
        int64_t result = 0;
        status = typed_call(op, &x, 1, &result);
        CHECK(status == KW_OK && result == 3, "the call answers %s, %lld", kw_status_name(status),
              (long long)result);
    }
}

static void waiters_wake_when_the_definition_comes(void)
{
    for (int round = 0; fixture_goes_on(round, SCALED(ROUNDS)); round++) {
        kw_library *library = library_open("late");
        (void)library_impl(library, "t::w", KW_KEY_CPU, kernel_add, 2);
        crew team;
        crew_start(&team, WAITERS, wait_for_w, NULL);
        for (int i = 0; i < round % 7; i++) {
            (void)sched_yield(); // they may begin to wait before or after
        }
        library_define(library, "t::other(Tensor x, int n) -> int"); // wakes them for nothing
        library_define(library, "t::w(Tensor x, int n) -> int");
        crew_join(&team);
        library_end(library);
    }
}

static void wait_in_vain(crew *team, unsigned index)
{
    (void)index;
    const kw_operator *op = NULL;
    uint64_t *used_ns = team->context;
    uint64_t before = thread_time_ns();
    kw_status status =
        kw_operator_wait(fixture_dispatcher, "t::never", UINT64_C(200000000), &op, NULL);
    *used_ns = thread_time_ns() - before;
    CHECK(status == KW_NOT_FOUND, "the wait answers %s", kw_status_name(status));
}

static void waiter_sleeps(void)
{
    uint64_t used_ns = 0;
    crew team;
    crew_start(&team, 1, wait_in_vain, &used_ns);
    kw_library *library = library_open("busy");
    for (int i = 0; i < 20; i++) { // commits that define nothing
        (void)library_impl(library, "t::busy", KW_KEY_CPU, kernel_add, i);
    }
    crew_join(&team);
    CHECK(used_ns < UINT64_C(50000000), "a wait of 200 ms used %llu us of processor time",
          (unsigned long long)(used_ns / 1000));
    library_end(library);
}

static kw_dispatcher *waited_in;

static void wait_there(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    const kw_operator *op = NULL;
    kw_status status = kw_operator_wait(waited_in, "t::w", LONG_NS, &op, NULL);
    CHECK(status == KW_OK, "the wait answers %s", kw_status_name(status));
}

static void dispatcher_is_busy_while_a_thread_waits(void)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options};
    MUST(kw_dispatcher_create(&options, &waited_in, &err));
    crew team;
    crew_start(&team, 1, wait_there, NULL);
    const struct timespec pause = {.tv_nsec = 20000000};
    const kw_library_options mine = {.struct_size = sizeof mine, .dispatcher = waited_in};
    kw_library *library = NULL;
    MUST(kw_library_create(&mine, &library, &err)); // while it is there nothing is destroyed
    kw_error busy = KW_ERROR_INIT;
    do {
        (void)nanosleep(&pause, NULL);
        kw_status status = kw_dispatcher_destroy(waited_in, &busy);
        CHECK(status == KW_BUSY, "destroying answers %s", kw_status_name(status));
    } while (strstr(busy.text, "1 thread waits") == NULL);
    const kw_definition definition = KW_DEFINE("t::w(Tensor x) -> int");
    MUST(kw_library_define(library, &definition, NULL, &err));
    crew_join(&team);
    library_end(library);
    MUST(kw_dispatcher_destroy(waited_in, &err));
}

// The backlog ------------------------------------------------------------------------------------

static sem_t is_open;
static sem_t may_close;

static void hold_snapshot(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    (void)sem_post(&is_open);
    (void)sem_wait(&may_close);
    MUST(kw_snapshot_close(&snapshot));
}

static kw_status override(kw_library *library, const char *name, kw_error *err)
{
    kw_kernel_descriptor kernel = kernel_describe(kernel_add, 1);
    kw_status status = kw_library_impl(library, name, KW_KEY_CPU, &kernel, NULL, err);
    if (status != KW_OK) {
        subject_destroy(kernel.user_data);
    }
    return status;
}

static void close_soon(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    const struct timespec pause = {.tv_nsec = 5000000};
    (void)nanosleep(&pause, NULL);
    (void)sem_post(&may_close);
}

static void set_limit(uint64_t table_count, uint64_t wait_ns)
{
    const kw_backlog_limits limits = {
        .struct_size = sizeof limits,
        .table_count = table_count,
        .wait_ns = wait_ns,
        .deferred_count = 1024,
    };
    MUST(kw_backlog_limits_set(&limits, &err));
}

static void commit_waits_for_a_snapshot_to_close(void)
{
    (void)sem_init(&is_open, 0, 0);
    (void)sem_init(&may_close, 0, 0);
    kw_library *library = library_open("backlog");
    library_define(library, "t::a(Tensor x, int n) -> int");
    library_define(library, "t::b(Tensor x, int n) -> int");
    set_limit(1, UINT64_C(10000000));
    crew holder;
    crew closer;
    crew_start(&holder, 1, hold_snapshot, NULL);
    (void)sem_wait(&is_open);
    MUST(override(library, "t::a", &err));
    kw_error full = KW_ERROR_INIT;
    kw_status status = override(library, "t::b", &full);
    CHECK(status == KW_BACKLOG_FULL, "beyond the limit a commit answers %s",
          kw_status_name(status));
    CHECK(strstr(full.text, "1 held by open snapshots, of 1 thread") != NULL, "it says: %s",
          full.text);
    set_limit(1, LONG_NS);
    crew_start(&closer, 1, close_soon, NULL);
    status = override(library, "t::b", &full);
    CHECK(status == KW_OK, "with time to wait it answers %s", kw_status_name(status));
    crew_join(&closer);
    crew_join(&holder);
    set_limit(0, 0);
    library_end(library);
}

typedef struct flood {
    kw_library *library;
    uint64_t limit;
} flood;

static void override_often(crew *team, unsigned index)
{
    flood *all = team->context;
    char name[16];
    (void)snprintf(name, sizeof name, "t::flood%u", index);
    for (int i = 0; i < SCALED(ROUNDS); i++) {
        kw_status status = override(all->library, name, NULL);
        CHECK(status == KW_OK || status == KW_BACKLOG_FULL, "a commit answers %s",
              kw_status_name(status));
        uint64_t count = fixture_statistics().retired_count;
        CHECK(count <= all->limit + WAITERS, "%llu tables wait", (unsigned long long)count);
    }
}

// Each of the threads can be one commit above the limit.
static void backlog_never_grows_beyond_the_limit(void)
{
    flood all = {.library = library_open("flood"), .limit = 3};
    for (unsigned i = 0; i < WAITERS; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "t::flood%u(Tensor x, int n) -> int", i);
        library_define(all.library, schema);
    }
    set_limit(all.limit, 1000000);
    crew team;
    crew_start(&team, WAITERS, override_often, &all);
    crew_join(&team);
    set_limit(0, 0);
    library_end(all.library);
}

int main(void)
{
    fixture_begin();
    RUN(waiters_wake_when_the_definition_comes);
    RUN(waiter_sleeps);
    RUN(dispatcher_is_busy_while_a_thread_waits);
    RUN(commit_waits_for_a_snapshot_to_close);
    RUN(backlog_never_grows_beyond_the_limit);
    return fixture_end();
}
