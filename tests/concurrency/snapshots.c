// Snapshots while commits go on: one version for all operators, whole transactions only, bounded
// memory.
//
// Layer:   test
// Threads: readers with and without snapshots, and one that commits.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>

#include <keyway/snapshot.h>

#include "concurrency/fixture.h"

enum {
    OPERATORS = 8,
    READERS = 4,
    COMMITS = SCALED(6000),
    CALLS_UNDER_SNAPSHOT = 40
};

static const kw_operator *ops[OPERATORS];
static kw_library *library;
static kw_registration registrations[OPERATORS];

static const char *name_of(unsigned which)
{
    static const char *const names[OPERATORS] = {"t::f0", "t::f1", "t::f2", "t::f3",
                                                 "t::f4", "t::f5", "t::f6", "t::f7"};
    return names[which];
}

// One transaction gives every operator a kernel of the same generation.
static uint64_t commit_generation(int64_t generation)
{
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    for (unsigned i = 0; i < OPERATORS; i++) {
        kw_kernel_descriptor kernel = kernel_describe(kernel_add, generation);
        if (registrations[i] != 0) {
            MUST(kw_transaction_remove(tx, library, registrations[i], &err));
        }
        MUST(kw_transaction_impl(tx, library, name_of(i), KW_KEY_CPU, &kernel, &registrations[i],
                                 &err));
    }
    uint64_t version = 0;
    MUST(kw_transaction_commit(tx, NULL, &version, &err));
    return version;
}

static void begin(void)
{
    library = library_open("generations");
    for (unsigned i = 0; i < OPERATORS; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name_of(i));
        library_define(library, schema);
        ops[i] = operator_find(name_of(i));
        registrations[i] = 0;
    }
    (void)commit_generation(0);
}

static int64_t generation_of(unsigned which)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = -1;
    kw_status status = typed_call(ops[which], &x, 0, &result);
    CHECK(status == KW_OK, "a call answers %s: %s", kw_status_name(status), kw_call_error());
    return result;
}

// What one thread has seen: no operator may go back, with or without a snapshot.
typedef struct witness {
    int64_t seen[OPERATORS];
    uint32_t random;
} witness;

static int64_t see(witness *by, unsigned which)
{
    int64_t generation = generation_of(which);
    CHECK(generation >= by->seen[which], "operator %u goes from generation %lld back to %lld",
          which, (long long)by->seen[which], (long long)generation);
    by->seen[which] = generation;
    return generation;
}

static void see_one_version(witness *by)
{
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    int64_t first = see(by, random_next(&by->random) % OPERATORS);
    for (int i = 0; i < CALLS_UNDER_SNAPSHOT; i++) {
        int64_t next = see(by, random_next(&by->random) % OPERATORS);
        CHECK(next == first, "one snapshot shows generations %lld and %lld", (long long)first,
              (long long)next);
    }
    kw_snapshot inner; // keeps the outer version
    MUST(kw_snapshot_open(&inner));
    CHECK(inner.version == snapshot.version, "the inner snapshot is of version %llu, not %llu",
          (unsigned long long)inner.version, (unsigned long long)snapshot.version);
    CHECK(see(by, 0) == first, "the inner snapshot shows another generation");
    CHECK(kw_snapshot_close(&snapshot) == KW_WRONG_ORDER, "the outer one is closed first");
    MUST(kw_snapshot_close(&inner));
    CHECK(see(by, 1) == first, "closing the inner snapshot moves the outer one");
    MUST(kw_snapshot_close(&snapshot));
}

static void read_generations(crew *team, unsigned index)
{
    witness me = {.random = index + 1};
    while (crew_goes_on(team)) {
        for (int i = 0; i < CALLS_UNDER_SNAPSHOT; i++) {
            (void)see(&me, random_next(&me.random) % OPERATORS);
        }
        see_one_version(&me);
    }
}

static void a_snapshot_shows_whole_transactions_while_commits_go_on(void)
{
    begin();
    crew readers;
    crew_start(&readers, READERS, read_generations, NULL);
    for (int i = 1; fixture_goes_on(i, COMMITS); i++) {
        (void)commit_generation(i);
        CHECK(fixture_statistics().retired_count <= (READERS + 1) * OPERATORS * 2 + READERS,
              "%llu tables are retired", (unsigned long long)fixture_statistics().retired_count);
    }
    crew_stop(&readers);
    library_end(library);
}

static void an_open_snapshot_holds_one_table_an_operator(void)
{
    begin();
    (void)commit_generation(1);
    (void)commit_generation(2);
    kw_statistics start = fixture_statistics();
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    uint64_t kernels = 0;
    int newest = 2;
    for (int i = 3; fixture_goes_on(i - 3, COMMITS / 4); i++) {
        newest = i;
        uint64_t version = commit_generation(i);
        CHECK(version > snapshot.version, "a commit makes version %llu under a snapshot of %llu",
              (unsigned long long)version, (unsigned long long)snapshot.version);
        kw_statistics now = fixture_statistics();
        // The kept one, and the one that the last commit unlinked between it and the newest.
        CHECK(now.retired_count <= 2 * OPERATORS, "%llu tables are retired for one snapshot",
              (unsigned long long)now.retired_count);
        kernels = now.kernel_count;
        CHECK(generation_of((unsigned)i % OPERATORS) == 2, "the snapshot moves");
    }
    CHECK(kernels <= start.kernel_count + 2 * OPERATORS, "%llu kernels live, %llu at the start",
          (unsigned long long)kernels, (unsigned long long)start.kernel_count);
    MUST(kw_reclaim());
    CHECK(fixture_statistics().retired_count == OPERATORS, "%llu tables are kept for one snapshot",
          (unsigned long long)fixture_statistics().retired_count);
    MUST(kw_snapshot_close(&snapshot));
    CHECK(generation_of(0) == newest, "the snapshot stays after its end");
    MUST(kw_reclaim());
    kw_statistics end = fixture_statistics();
    CHECK(end.retired_count == 0, "%llu tables stay retired",
          (unsigned long long)end.retired_count);
    CHECK(end.kernel_count == start.kernel_count, "%llu kernels at the end, %llu at the start",
          (unsigned long long)end.kernel_count, (unsigned long long)start.kernel_count);
    library_end(library);
}

static void a_snapshot_does_not_know_operators_that_are_younger(void)
{
    begin();
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    kw_library *young = library_open("young");
    library_define(young, "t::young(Tensor x, int n) -> int");
    (void)library_impl(young, "t::young", KW_KEY_CPU, kernel_add, 1);
    const kw_operator *op = NULL;
    kw_status status = kw_operator_find(fixture_dispatcher, "t::young", &op, NULL);
    CHECK(status == KW_NOT_FOUND, "the snapshot's look-up answers %s", kw_status_name(status));
    MUST(kw_snapshot_close(&snapshot));
    op = operator_find("t::young");
    MUST(kw_snapshot_open(&snapshot));
    MUST(kw_library_close(library, &err));
    CHECK(generation_of(0) == 0, "the snapshot loses an operator that was closed");
    MUST(kw_snapshot_close(&snapshot));
    library_end(library);
    library_end(young);
}

int main(void)
{
    fixture_begin();
    RUN(a_snapshot_shows_whole_transactions_while_commits_go_on);
    RUN(an_open_snapshot_holds_one_table_an_operator);
    RUN(a_snapshot_does_not_know_operators_that_are_younger);
    return fixture_end();
}
