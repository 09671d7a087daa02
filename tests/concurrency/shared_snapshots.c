// Shared snapshots while everything changes: the threads of one request see one version, whoever
// made it, whoever gives it back first, and however a thread ends.
//
// Layer:   test
// Threads: workers that make requests and serve each other's, and two that commit.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <keyway/snapshot.h>

#include "concurrency/fixture.h"

enum {
    OPERATORS = 6,
    WORKERS = 6,
    COMMITS = SCALED(4000),
    PLACES = 8,
    LOOKS = 12,
    LEAVERS = 40
};

static const kw_operator *ops[OPERATORS];
static kw_library *base;
static kw_library *newest;

static const char *name_of(unsigned which)
{
    static const char *const names[OPERATORS] = {"t::f0", "t::f1", "t::f2",
                                                 "t::f3", "t::f4", "t::f5"};
    return names[which];
}

// Generations -------------------------------------------------------------------------------------

static kw_status fallback(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                          kw_frame *frame)
{
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(subject_value(self));
    return KW_OK;
}

// In one transaction: a library that gives every operator a kernel, the key CUDA a fallback, and in
// even generations the operator t::even a definition; and the close of the one before.
static void stage_generation(kw_transaction *tx, kw_library *library, int64_t generation)
{
    for (unsigned i = 0; i < OPERATORS; i++) {
        kw_kernel_descriptor kernel = kernel_describe(kernel_add, generation);
        MUST(kw_transaction_impl(tx, library, name_of(i), KW_KEY_CPU, &kernel, NULL, &err));
    }
    kw_kernel_descriptor boxed = KW_BOXED(fallback);
    boxed.user_data = subject_create(generation);
    boxed.destroy = subject_destroy;
    MUST(kw_transaction_fallback(tx, library, KW_KEY_CUDA, &boxed, NULL, &err));
    if (generation % 2 == 0) {
        const kw_definition even = KW_DEFINE("t::even(Tensor x, int n) -> int");
        MUST(kw_transaction_define(tx, library, &even, NULL, &err));
    }
}

static void commit_generation(int64_t generation)
{
    kw_library *before = newest;
    newest = library_open("generation");
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    if (before != NULL) {
        MUST(kw_transaction_close(tx, before, &err));
    }
    stage_generation(tx, newest, generation);
    const kw_commit_options options = {.struct_size = sizeof options,
                                       .defer_reclaim = generation % 5 == 0};
    MUST(kw_transaction_commit(tx, &options, NULL, &err));
    if (before != NULL) {
        library_end(before); // waits for the requests that see it
    }
}

static void begin(void)
{
    newest = NULL;
    base = library_open("base");
    for (unsigned i = 0; i < OPERATORS; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name_of(i));
        library_define(base, schema);
        ops[i] = operator_find(name_of(i));
    }
    commit_generation(1);
}

static void end(void)
{
    library_end(newest);
    library_end(base);
    MUST(kw_reclaim());
    kw_statistics figures = fixture_statistics();
    CHECK(figures.retired_count == 0, "%llu tables stay",
          (unsigned long long)figures.retired_count);
    CHECK(figures.shared_snapshot_count == 0 && figures.snapshot_count == 0,
          "%llu shared and %llu other snapshots stay",
          (unsigned long long)figures.shared_snapshot_count,
          (unsigned long long)figures.snapshot_count);
}

// What one thread can see -------------------------------------------------------------------------

static int64_t call_generation(unsigned which, kw_key key, bool is_boxed)
{
    tensor x = typed_tensor(keys_of(key));
    int64_t result = -1;
    kw_status status = is_boxed ? typed_call_boxed(ops[which], &x, 0, &result)
                                : typed_call(ops[which], &x, 0, &result);
    CHECK(status == KW_OK, "a call answers %s: %s", kw_status_name(status), kw_call_error());
    return result;
}

static void see_operator(const kw_operator *op, void *context)
{
    unsigned *count = context;
    (void)op;
    ++*count;
}

// Any of the answers that tell the generation, or its last bit.
static int64_t look(uint32_t dice, int64_t generation)
{
    unsigned which = dice % OPERATORS;
    const kw_operator *even = NULL;
    unsigned visible = 0;
    switch (dice / 64 % 6) {
    case 0:
        return call_generation(which, KW_KEY_CUDA, false);
    case 1:
        return call_generation(which, KW_KEY_CUDA, true);
    case 2:
        return call_generation(which, KW_KEY_CPU, true);
    case 3:
        if (kw_operator_find(fixture_dispatcher, "t::even", &even, NULL) == KW_OK) {
            return generation % 2 == 0 ? generation : -2;
        }
        return generation % 2 != 0 ? generation : -2;
    case 4:
        MUST(kw_dispatcher_visit(fixture_dispatcher, see_operator, &visible));
        return visible == OPERATORS + (generation % 2 == 0 ? 1 : 0) ? generation : -3;
    default:
        return call_generation(which, KW_KEY_CPU, false);
    }
}

// Requests ----------------------------------------------------------------------------------------

typedef struct request {
    kw_shared_snapshot *shared;
    _Atomic int64_t generation; // as the first thread saw it; 0: not yet
    atomic_uint references;
} request;

// A place holds one reference to a request, and one of the request's snapshot.
static _Atomic(request *) places[PLACES];

static request *retain(request *kept)
{
    (void)kw_shared_snapshot_retain(kept->shared);
    atomic_fetch_add(&kept->references, 1);
    return kept;
}

static void forget(request *done)
{
    if (atomic_fetch_sub(&done->references, 1) == 1) {
        free(done);
    }
}

static void drop(request *dropped)
{
    if (dropped != NULL) {
        kw_shared_snapshot_release(dropped->shared);
        forget(dropped);
    }
}

static void check_generation(request *served, int64_t seen)
{
    int64_t wanted = 0;
    if (!atomic_compare_exchange_strong(&served->generation, &wanted, seen)) {
        CHECK(seen == wanted, "one request sees generations %lld and %lld", (long long)wanted,
              (long long)seen);
    }
}

static void look_around(request *served, uint32_t *random)
{
    int64_t generation = call_generation(0, KW_KEY_CPU, false);
    check_generation(served, generation);
    for (int i = 0; i < LOOKS; i++) {
        int64_t seen = look(random_next(random), generation);
        CHECK(seen == generation, "under a shared snapshot of generation %lld a look gives %lld",
              (long long)generation, (long long)seen);
    }
}

// Inside a request: hands its version on through an object that is made here.
static void hand_on(const request *served, const kw_snapshot *inside, uint32_t place)
{
    request *made = calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    MUST(kw_snapshot_share(inside, &made->shared, &err));
    atomic_init(&made->generation, atomic_load(&served->generation));
    atomic_init(&made->references, 1);
    drop(atomic_exchange(&places[place], made));
}

// Takes the reference over.
static void serve(request *taken, uint32_t *random)
{
    uint32_t dice = random_next(random);
    uint64_t version = kw_shared_snapshot_version(taken->shared);
    kw_snapshot inside;
    MUST(kw_shared_snapshot_enter(taken->shared, &inside));
    if (dice % 2 == 0) {
        kw_shared_snapshot_release(taken->shared); // the thread's own pin is enough
    }
    CHECK(inside.version == version, "version %llu of a snapshot of version %llu",
          (unsigned long long)inside.version, (unsigned long long)version);
    look_around(taken, random);
    if (dice % 8 == 1) {
        kw_snapshot nested;
        MUST(kw_snapshot_open(&nested));
        look_around(taken, random);
        MUST(kw_snapshot_close(&nested));
    }
    if (dice % 4 == 2) {
        hand_on(taken, &inside, dice / 16 % PLACES);
    }
    look_around(taken, random);
    MUST(kw_snapshot_close(&inside));
    if (dice % 2 != 0) {
        kw_shared_snapshot_release(taken->shared);
    }
    forget(taken);
}

// Of an own snapshot that is closed at once, or of the newest version.
static request *make_request(uint32_t dice)
{
    request *made = calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    atomic_init(&made->generation, 0);
    atomic_init(&made->references, 1);
    if (dice % 2 == 0) {
        MUST(kw_shared_snapshot_create(&made->shared, &err));
        return made;
    }
    kw_snapshot own;
    MUST(kw_snapshot_open(&own));
    atomic_store(&made->generation, call_generation(0, KW_KEY_CPU, false));
    MUST(kw_snapshot_share(&own, &made->shared, &err));
    MUST(kw_snapshot_close(&own));
    return made;
}

static void make_and_serve(crew *team, unsigned index)
{
    uint32_t random = index + 1;
    while (crew_goes_on(team)) {
        uint32_t dice = random_next(&random);
        request *taken = atomic_exchange(&places[dice % PLACES], NULL);
        if (taken == NULL) {
            taken = make_request(dice / 8);
            for (uint32_t i = 1; i < 4; i++) {
                drop(atomic_exchange(&places[(dice + i) % PLACES], retain(taken)));
            }
        }
        serve(taken, &random);
    }
}

static void empty_places(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        drop(atomic_exchange(&places[i], NULL));
    }
}

// Requests that nobody serves hold libraries: who drains empties the places from time to time.
static void empty_now_and_then(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        const struct timespec pause = {.tv_nsec = 300000};
        (void)nanosleep(&pause, NULL);
        empty_places();
    }
}

static void a_request_of_many_threads_sees_one_version(void)
{
    begin();
    crew workers;
    crew emptier;
    crew_start(&workers, WORKERS, make_and_serve, NULL);
    crew_start(&emptier, 1, empty_now_and_then, NULL);
    for (int i = 2; fixture_goes_on(i, COMMITS); i++) {
        commit_generation(i);
    }
    crew_stop(&workers);
    crew_stop(&emptier);
    empty_places();
    end();
}

// Threads that end inside ------------------------------------------------------------------------

static void enter_and_end(crew *team, unsigned index)
{
    request *served = team->context;
    uint32_t random = index + 1;
    kw_snapshot inside;
    MUST(kw_shared_snapshot_enter(served->shared, &inside));
    kw_shared_snapshot_release(served->shared);
    look_around(served, &random);
    if (index % 2 == 0) {
        pthread_exit(NULL); // without closing
    }
    MUST(kw_snapshot_close(&inside));
}

static void threads_that_end_inside_leave_nothing_behind(void)
{
    begin();
    uint64_t cleanups = fixture_statistics().forced_cleanups;
    for (int round = 0; round < LEAVERS / 8; round++) {
        request *served = make_request(0);
        for (int i = 1; i < 8; i++) {
            (void)kw_shared_snapshot_retain(served->shared);
        }
        crew leavers;
        crew_start(&leavers, 8, enter_and_end, served);
        commit_generation(2 * round + 2); // its drain ends when all have left
        commit_generation(2 * round + 3);
        crew_join(&leavers);
        forget(served);
    }
    cleanups = fixture_statistics().forced_cleanups - cleanups;
    CHECK(cleanups == LEAVERS / 2, "%llu threads ended inside", (unsigned long long)cleanups);
    end();
}

// A drain ----------------------------------------------------------------------------------------

static void release_later(crew *team, unsigned index)
{
    (void)index;
    kw_snapshot inside;
    MUST(kw_shared_snapshot_enter(team->context, &inside));
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    kw_shared_snapshot_release(team->context);
    (void)nanosleep(&pause, NULL);
    CHECK(call_generation(0, KW_KEY_CPU, false) == 1, "the closed library serves no more");
    MUST(kw_snapshot_close(&inside));
}

static void drain_waits_for_the_object_and_then_for_the_thread(void)
{
    begin();
    kw_shared_snapshot *shared = NULL;
    MUST(kw_shared_snapshot_create(&shared, &err));
    MUST(kw_library_close(newest, &err));
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_drain(newest, 0, &err);
    CHECK(status == KW_BUSY, "under a shared snapshot a drain answers %s", kw_status_name(status));
    crew team;
    crew_start(&team, 1, release_later, shared);
    end();
    crew_join(&team);
}

int main(void)
{
    fixture_begin();
    RUN(a_request_of_many_threads_sees_one_version);
    RUN(threads_that_end_inside_leave_nothing_behind);
    RUN(drain_waits_for_the_object_and_then_for_the_thread);
    return fixture_end();
}
