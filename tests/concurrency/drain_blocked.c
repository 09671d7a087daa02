// Closing and draining a library while one of its kernels is blocked.
//
// Layer:   test
// Threads: callers that wait inside a kernel, and the one that closes and drains.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <keyway/snapshot.h>

#include "concurrency/fixture.h"

#define WAIT_NS UINT64_C(50000000)

static const kw_operator *op;
static sem_t entered;
static sem_t leave;

static kw_status kernel_blocked(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
    return kernel_add(self, keys, x, n, out_0);
}

static void call_once(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(op, &x, 1, &result);
    CHECK(status == KW_OK && result == 4, "the blocked call answers %s, %lld",
          kw_status_name(status), (long long)result);
}

static kw_library *open_blocked(void)
{
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    kw_library *library = library_open("blocked");
    library_define(library, "t::f(Tensor x, int n) -> int");
    (void)library_impl(library, "t::f", KW_KEY_CPU, kernel_blocked, 3);
    op = operator_find("t::f");
    return library;
}

static void check_busy(kw_library *library, uint64_t wait_ns, const char *text)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_drain(library, wait_ns, &err);
    CHECK(status == KW_BUSY, "the drain answers %s", kw_status_name(status));
    CHECK(strstr(err.text, text) != NULL, "the drain says: %s", err.text);
    status = kw_library_destroy(library, &err);
    CHECK(status == KW_BUSY, "destroying answers %s", kw_status_name(status));
}

// What is told of the calls that hold the library.
typedef struct told {
    unsigned count;
    uint32_t thread_ids[CREW_LIMIT];
    uint64_t least_age_ns;
} told;

static void note_call(const kw_holder *holder, void *context)
{
    told *so_far = context;
    CHECK(holder->kind == KW_HOLDER_CALL && strcmp(holder->op, "t::f") == 0,
          "the library is held by a holder of kind %u and operator %s", holder->kind, holder->op);
    for (unsigned i = 0; i < so_far->count; i++) {
        CHECK(holder->thread_id != so_far->thread_ids[i], "two calls of thread %u",
              holder->thread_id);
    }
    so_far->thread_ids[so_far->count++] = holder->thread_id;
    so_far->least_age_ns =
        holder->age_ns < so_far->least_age_ns ? holder->age_ns : so_far->least_age_ns;
}

static void check_told(kw_library *library, unsigned callers)
{
    told all = {.least_age_ns = KW_AGE_UNKNOWN};
    MUST(kw_library_holders(library, note_call, &all));
    CHECK(all.count == callers, "%u calls are told of %u", all.count, callers);
    CHECK(all.least_age_ns != KW_AGE_UNKNOWN && all.least_age_ns >= WAIT_NS,
          "after a drain of %llu ns a call is told to be %llu ns old", (unsigned long long)WAIT_NS,
          (unsigned long long)all.least_age_ns);
    char text[32];
    (void)snprintf(text, sizeof text, " thread %u for at least ", all.thread_ids[0]);
    if (callers == 1) {
        check_busy(library, 0, text);
    }
}

static void drain_says_who_is_inside(unsigned callers, const char *text)
{
    kw_library *library = open_blocked();
    crew team;
    crew_start(&team, callers, call_once, NULL);
    for (unsigned i = 0; i < callers; i++) {
        (void)sem_wait(&entered);
    }
    MUST(kw_library_close(library, &err)); // returns although the kernel is blocked
    check_busy(library, WAIT_NS, text);
    check_told(library, callers);
    CHECK(subject_alive_count() == 1, "user data is destroyed while its kernel runs");
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(op, &x, 1, &result);
    CHECK(status == KW_OPERATOR_REMOVED, "after the close a call answers %s",
          kw_status_name(status));
    for (unsigned i = 0; i < callers; i++) {
        (void)sem_post(&leave);
    }
    crew_join(&team);
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    CHECK(subject_alive_count() == 0, "user data outlives the drain");
    MUST(kw_library_destroy(library, &err));
}

static void drain_names_the_call_that_holds_the_library(void)
{
    drain_says_who_is_inside(1, "held by 1 call of `t::f`");
}

static void drain_counts_the_calls_that_hold_the_library(void)
{
    drain_says_who_is_inside(3, "held by 3 calls of `t::f`");
}

static void drain_waits_until_the_call_has_ended(void)
{
    kw_library *library = open_blocked();
    crew team;
    crew_start(&team, 1, call_once, NULL);
    (void)sem_wait(&entered);
    MUST(kw_library_close(library, &err));
    (void)sem_post(&leave); // the call may end before, in or after the first look
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    MUST(kw_library_destroy(library, &err));
    crew_join(&team);
}

// A snapshot on another thread.

static void hold_snapshot(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    (void)sem_post(&leave); // for the kernel
    kw_status status = typed_call(op, &x, 1, &result);
    CHECK(status == KW_OK && result == 4,
          "the closed library's kernel answers %s, %lld under a "
          "snapshot",
          kw_status_name(status), (long long)result);
    MUST(kw_snapshot_close(&snapshot));
}

static void drain_names_the_snapshot_that_holds_the_library(void)
{
    kw_library *library = open_blocked();
    crew team;
    crew_start(&team, 1, hold_snapshot, NULL);
    (void)sem_wait(&entered);
    MUST(kw_library_close(library, &err));
    check_busy(library, WAIT_NS, "held by an open snapshot of version");
    (void)sem_post(&leave);
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    MUST(kw_library_destroy(library, &err));
    crew_join(&team);
}

static void drain_under_an_own_snapshot_would_wait_for_itself(void)
{
    kw_library *library = open_blocked();
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    MUST(kw_library_close(library, &err));
    kw_status status = kw_library_drain(library, KW_FOREVER, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "the drain answers %s", kw_status_name(status));
    status = kw_library_drain(library, WAIT_NS, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "the timed drain answers %s", kw_status_name(status));
    MUST(kw_snapshot_close(&snapshot));
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    MUST(kw_library_destroy(library, &err));
}

int main(void)
{
    fixture_begin();
    RUN(drain_names_the_call_that_holds_the_library);
    RUN(drain_counts_the_calls_that_hold_the_library);
    RUN(drain_waits_until_the_call_has_ended);
    RUN(drain_names_the_snapshot_that_holds_the_library);
    RUN(drain_under_an_own_snapshot_would_wait_for_itself);
    return fixture_end();
}
