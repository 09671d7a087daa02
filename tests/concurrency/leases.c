// Objects whose destroy functions lie in a library that another thread drains and destroys.
//
// Layer:   test
// Threads: a crew that releases last references, or calls, and one that ends libraries.
// SPDX-License-Identifier: MIT
//
// The library's code is stood for by memory: destroy functions write to it with plain stores, and
// whoever has drained the library overwrites and frees it. If a lease ended too early, or the drain
// did not acquire its end, ThreadSanitizer would see a race and AddressSanitizer a dead write.

#include <stdlib.h>
#include <string.h>

#include <keyway/lease.h>
#include <keyway/object.h>

#include "concurrency/fixture.h"

enum {
    THREADS = 3,
    OBJECTS = 6,
    CHAIN = 4,
    ROUNDS = 3000,
    RELOADS = 1000
};

// What a loader would have mapped.
typedef struct image {
    kw_library *library;
    uint64_t marks[OBJECTS][CHAIN];
    int is_mapped;
} image;

// One object of an image, and how many more its destroy function makes, one after the other.
typedef struct thing {
    image *code;
    unsigned index;
    unsigned rest;
} thing;

static void destroy_thing(void *data);

static kw_object *make_thing(image *code, unsigned index, unsigned rest)
{
    thing *made = malloc(sizeof *made);
    if (made == NULL) {
        abort();
    }
    *made = (thing){code, index, rest};
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = rest % 2 == 0 ? "even" : "odd",
        .data = made,
        .destroy = destroy_thing,
        .library = code->library,
    };
    kw_object *object = NULL;
    MUST(kw_object_create(&options, &object, &err));
    return object;
}

static void destroy_thing(void *data)
{
    thing *dead = data;
    image *code = dead->code;
    if (dead->rest > 0) {
        kw_object_release(make_thing(code, dead->index, dead->rest - 1));
    }
    code->marks[dead->index][dead->rest] += (uint64_t)code->is_mapped;
    free(dead);
}

static image *map_image(void)
{
    image *code = calloc(1, sizeof *code);
    if (code == NULL) {
        abort();
    }
    code->is_mapped = 1;
    code->library = library_open("leases");
    return code;
}

// Only after a drain.
static void unmap_image(image *code)
{
    MUST(kw_library_destroy(code->library, &err));
    memset(code, 0, sizeof *code);
    free(code);
}

// Each round: an image, objects of it, threads with one reference each to every object ------------

typedef struct round_state {
    kw_object *objects[OBJECTS];
    pthread_barrier_t barrier;
} round_state;

static void release_all(crew *team, unsigned index)
{
    round_state *state = team->context;
    while (crew_goes_on(team)) {
        (void)pthread_barrier_wait(&state->barrier); // a round begins
        if (state->objects[0] == NULL) {
            return;
        }
        for (unsigned i = 0; i < OBJECTS; i++) {
            kw_object_release(state->objects[(i + index) % OBJECTS]);
        }
        (void)pthread_barrier_wait(&state->barrier); // it ends
    }
}

static void give_out(round_state *state, image *code, unsigned chain)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        state->objects[i] = make_thing(code, i, chain - 1);
        for (unsigned j = 1; j < THREADS; j++) {
            kw_object_retain(state->objects[i]);
        }
    }
}

static void check_marks(const image *code, unsigned chain)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        for (unsigned j = 0; j < chain; j++) {
            CHECK(code->marks[i][j] == 1, "object %u, %u more: destroyed %llu times at the drain",
                  i, j, (unsigned long long)code->marks[i][j]);
        }
    }
}

static void drain_races_with_releases(unsigned chain, uint64_t timeout_ns)
{
    round_state state = {0};
    (void)pthread_barrier_init(&state.barrier, NULL, THREADS + 1);
    crew team;
    crew_start(&team, THREADS, release_all, &state);
    for (int round = 0; fixture_goes_on(round, SCALED(ROUNDS)); round++) {
        image *code = map_image();
        give_out(&state, code, chain);
        (void)pthread_barrier_wait(&state.barrier);
        MUST(kw_library_close(code->library, &err));
        kw_status status;
        do {
            status = kw_library_drain(code->library, timeout_ns, NULL);
        } while (status == KW_BUSY);
        CHECK(status == KW_OK, "the drain answers %s", kw_status_name(status));
        check_marks(code, chain);
        unmap_image(code); // while the releasing threads may still be on their way out
        (void)pthread_barrier_wait(&state.barrier);
    }
    state.objects[0] = NULL;
    (void)pthread_barrier_wait(&state.barrier);
    crew_join(&team);
    (void)pthread_barrier_destroy(&state.barrier);
}

static void drain_waits_for_the_last_releases_of_other_threads(void)
{
    drain_races_with_releases(1, KW_FOREVER);
}

static void drain_that_only_looks_never_sees_too_little(void)
{
    drain_races_with_releases(1, 0);
}

static void drain_waits_for_objects_that_destructors_make(void)
{
    drain_races_with_releases(CHAIN, 0);
}

// Kernels that return objects, in a library that comes and goes
// ------------------------------------

static kw_status kernel_make(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0)
{
    (void)keys;
    (void)x;
    *out_0 = (int64_t)(uintptr_t)make_thing(self->user_data, (unsigned)n, 0);
    return KW_OK;
}

static const kw_operator *op;

static void call_and_release(crew *team, unsigned index)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    uint64_t *made = team->context;
    while (crew_goes_on(team)) {
        int64_t result = 0;
        kw_status status = typed_call(op, &x, index, &result);
        CHECK(status == KW_OK || status == KW_NO_KERNEL, "a call answers %s",
              kw_status_name(status));
        if (status == KW_OK) {
            __atomic_fetch_add(made, 1, __ATOMIC_RELAXED);
            kw_object_release((kw_object *)(uintptr_t)result);
        }
    }
}

static void reload(uint64_t *made)
{
    image *code = map_image();
    kw_kernel_descriptor kernel = KW_UNBOXED("ti>i", kernel_make);
    kernel.user_data = code;
    MUST(kw_library_impl(code->library, "t::make", KW_KEY_CPU, &kernel, NULL, &err));
    uint64_t before = __atomic_load_n(made, __ATOMIC_RELAXED);
    for (int i = 0; i < 1000 && __atomic_load_n(made, __ATOMIC_RELAXED) == before; i++) {
        (void)sched_yield();
    }
    MUST(kw_library_close(code->library, &err));
    MUST(kw_library_drain(code->library, KW_FOREVER, &err));
    unmap_image(code);
}

static void plugin_reloads_while_its_objects_are_about(void)
{
    kw_library *defines = library_open("defines");
    library_define(defines, "t::make(Tensor x, int n) -> int");
    op = operator_find("t::make");
    uint64_t made = 0;
    crew team;
    crew_start(&team, THREADS, call_and_release, &made);
    for (int i = 0; fixture_goes_on(i, SCALED(RELOADS)); i++) {
        reload(&made);
    }
    crew_stop(&team);
    CHECK(made > 0, "no object was made");
    library_end(defines);
}

int main(void)
{
    fixture_begin();
    RUN(drain_waits_for_the_last_releases_of_other_threads);
    RUN(drain_that_only_looks_never_sees_too_little);
    RUN(drain_waits_for_objects_that_destructors_make);
    RUN(plugin_reloads_while_its_objects_are_about);
    kw_statistics figures = {.struct_size = sizeof figures};
    kw_statistics_get(&figures);
    CHECK(figures.lease_count == 0, "%llu leases are left",
          (unsigned long long)figures.lease_count);
    return fixture_end();
}
