// A call that stays inside its kernel while thousands of commits replace kernels of its own and of
// other operators.
//
// Layer:   test
// Threads: one that is parked in a call, and one that commits.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>

#include "concurrency/fixture.h"

enum {
    OPERATORS = 4,
    COMMITS = SCALED(100000),
    WARM_UP = 100,   // commits until buffers of the library have their size
    SCAN_BYTES = 512 // what a scan that finds an announcement keeps for the next one
};

static const char *const names[OPERATORS] = {"t::f0", "t::f1", "t::f2", "t::f3"};
static const kw_operator *ops[OPERATORS];
static sem_t entered;
static sem_t leave;

static kw_status kernel_parked(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                               int64_t *out_0)
{
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
    return kernel_add(self, keys, x, n, out_0);
}

static void park(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(ops[0], &x, 1, &result);
    CHECK(status == KW_OK && result == 8, "the parked call answers %s, %lld",
          kw_status_name(status), (long long)result);
}

// Replaces the newest kernel of one operator.
static void replace(kw_library *library, kw_registration *registration, unsigned which,
                    int64_t value)
{
    kw_kernel_descriptor kernel = kernel_describe(kernel_add, value);
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    if (*registration != 0) {
        MUST(kw_transaction_remove(tx, library, *registration, &err));
    }
    MUST(kw_transaction_impl(tx, library, names[which], KW_KEY_CPU, &kernel, registration, &err));
    MUST(kw_transaction_commit(tx, NULL, NULL, &err));
}

typedef struct peaks {
    uint64_t retired_count;
    uint64_t memory_bytes;
    uint64_t kernel_count;
} peaks;

static void raise_peaks(peaks *peak)
{
    kw_statistics now = fixture_statistics();
    peak->retired_count =
        now.retired_count > peak->retired_count ? now.retired_count : peak->retired_count;
    peak->memory_bytes =
        now.memory_bytes > peak->memory_bytes ? now.memory_bytes : peak->memory_bytes;
    peak->kernel_count =
        now.kernel_count > peak->kernel_count ? now.kernel_count : peak->kernel_count;
}

static void commit_often(kw_library *library, kw_registration *registrations, int commits,
                         peaks *peak)
{
    for (int i = 0; i < commits; i++) {
        unsigned which = (unsigned)i % OPERATORS;
        replace(library, &registrations[which], which, i);
        raise_peaks(peak);
        tensor x = typed_tensor(keys_of(KW_KEY_CPU));
        int64_t result = -1;
        CHECK(typed_call(ops[which], &x, 0, &result) == KW_OK && result == i,
              "after its commit a call answers %lld, not %d", (long long)result, i);
    }
}

static void a_parked_call_holds_one_table_through_many_commits(void)
{
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    kw_library *library = library_open("replaced");
    kw_registration registrations[OPERATORS] = {0};
    for (unsigned i = 0; i < OPERATORS; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", names[i]);
        library_define(library, schema);
        ops[i] = operator_find(names[i]);
    }
    peaks quiet = {0};
    commit_often(library, registrations, WARM_UP, &quiet);
    CHECK(quiet.retired_count == 0, "%llu tables stay retired with no call",
          (unsigned long long)quiet.retired_count);
    kw_statistics start = fixture_statistics();

    MUST(kw_library_remove(library, registrations[0], &err));
    registrations[0] = library_impl(library, names[0], KW_KEY_CPU, kernel_parked, 7);
    crew team;
    crew_start(&team, 1, park, NULL);
    (void)sem_wait(&entered);
    peaks busy = {0};
    commit_often(library, registrations, COMMITS, &busy); // none waits for the parked call
    CHECK(busy.retired_count == 1, "%llu tables are retired at the peak; one call is parked",
          (unsigned long long)busy.retired_count);
    CHECK(busy.kernel_count <= quiet.kernel_count + 1, "%llu kernels live at the peak, %llu before",
          (unsigned long long)busy.kernel_count, (unsigned long long)quiet.kernel_count);
    CHECK(busy.memory_bytes <= quiet.memory_bytes + 2048, "%llu bytes at the peak, %llu before",
          (unsigned long long)busy.memory_bytes, (unsigned long long)quiet.memory_bytes);
    CHECK(subject_alive_count() == OPERATORS + 1, "%llu user data live beside the parked one",
          (unsigned long long)subject_alive_count() - 1);

    (void)sem_post(&leave);
    crew_join(&team);
    MUST(kw_reclaim());
    kw_statistics end = fixture_statistics();
    CHECK(end.retired_count == 0, "%llu tables stay retired",
          (unsigned long long)end.retired_count);
    CHECK(end.memory_bytes <= start.memory_bytes + SCAN_BYTES,
          "%llu bytes at the end, %llu at the start", (unsigned long long)end.memory_bytes,
          (unsigned long long)start.memory_bytes);
    CHECK(end.kernel_count == start.kernel_count, "%llu kernels at the end, %llu at the start",
          (unsigned long long)end.kernel_count, (unsigned long long)start.kernel_count);
    library_end(library);
}

int main(void)
{
    fixture_begin();
    RUN(a_parked_call_holds_one_table_through_many_commits);
    return fixture_end();
}
