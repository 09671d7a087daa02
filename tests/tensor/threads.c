// Tensors between threads: references of both sorts, free places, claims, storages and their
// sources.
//
// Layer:   test
// Threads: a crew, and one that gives it work.
// SPDX-License-Identifier: MIT
//
// What ends a thing writes to it with plain stores, as the destroy functions of its owner would. If
// a reference were given back too early, or an end did not acquire the ends of others, the checks
// of contents fail, ThreadSanitizer sees a race, AddressSanitizer a dead write.

#include <stdlib.h>
#include <string.h>

#include <keyway/lease.h>
#include <keyway/tensor.h>

#include "concurrency/fixture.h"
#include "tensor/counter.h"
#include "tensor/step.h"
#include "tensor/storage.h"

enum {
    THREADS = 4,
    ROUNDS = 4000,
    THINGS = 32
};

static const kw_device cpu = {KW_DEVICE_CPU, -1};
static const kw_device cuda = {KW_DEVICE_CUDA, 0};
static const kw_device xpu = {KW_DEVICE_XPU, 0};

static kw_tensor_statistics figures(void)
{
    kw_tensor_statistics seen = {.struct_size = sizeof seen};
    kw_tensor_statistics_get(&seen);
    return seen;
}

static kw_tensor *make(kw_storage *storage, kw_device device)
{
    const int64_t sizes[] = {2, 2};
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = 2,
        .dtype = KW_DTYPE_INT64,
        .device = device,
        .storage = storage,
    };
    kw_tensor *made = NULL;
    MUST(kw_tensor_create(&options, &made, &err));
    return made;
}

// Both sorts of references ----------------------------------------------------------------------

// Memory of a tensor: its numbers, and how often it ended.
typedef struct memory {
    int64_t numbers[4];
    unsigned ended;
} memory;

static void memory_end(void *context)
{
    memory *of = context;
    memset(of->numbers, 0xdd, sizeof of->numbers); // plain, after all that holders did
    of->ended++;
}

static kw_tensor *make_over(memory *of)
{
    of->numbers[0] = 42;
    const kw_external_memory external = {
        .struct_size = sizeof external,
        .data = of->numbers,
        .bytes = sizeof of->numbers,
        .device = cpu,
        .destroy = memory_end,
        .context = of,
    };
    kw_storage *storage = NULL;
    MUST(kw_storage_wrap(&external, &storage, &err));
    kw_tensor *made = make(storage, cpu);
    kw_storage_release(storage);
    return made;
}

// One tensor a round; each thread gets a strong or a weak reference.
typedef struct round_state {
    pthread_barrier_t barrier;
    kw_tensor *shared; // NULL: the end
    bool is_weak[THREADS];
} round_state;

static void look_at(const kw_tensor *strong)
{
    const int64_t *numbers = kw_tensor_data(strong);
    CHECK(numbers != NULL && numbers[0] == 42, "the contents are gone under a strong reference");
}

static void use_weak(kw_tensor *weak, uint32_t *random)
{
    for (unsigned i = random_next(random) % 4; i-- > 0;) {
        if (kw_tensor_lock(weak)) {
            look_at(weak);
            kw_tensor_release(weak);
        }
    }
    kw_tensor_weak_release(weak);
}

static void use_strong(kw_tensor *strong, uint32_t *random)
{
    look_at(strong);
    switch (random_next(random) % 4) {
    case 0:
        kw_tensor_retain(strong);
        kw_tensor_release(strong);
        break;
    case 1:
        kw_tensor_weak_retain(strong);
        kw_tensor_release(strong);
        use_weak(strong, random);
        return;
    default:
        break;
    }
    kw_tensor_release(strong);
}

static void use_references(crew *team, unsigned index)
{
    round_state *state = team->context;
    uint32_t random = index + 1;
    for (;;) {
        (void)pthread_barrier_wait(&state->barrier);
        if (state->shared == NULL) {
            return;
        }
        if (state->is_weak[index]) {
            use_weak(state->shared, &random);
        } else {
            use_strong(state->shared, &random);
        }
        (void)pthread_barrier_wait(&state->barrier);
    }
}

static void contents_and_body_end_once_for_all_references(void)
{
    round_state state = {.shared = NULL};
    (void)pthread_barrier_init(&state.barrier, NULL, THREADS + 1);
    crew team;
    crew_start(&team, THREADS, use_references, &state);
    uint32_t random = 77;
    for (int round = 0; fixture_goes_on(round, SCALED(ROUNDS)); round++) {
        memory of = {.ended = 0};
        state.shared = make_over(&of);
        for (unsigned i = 0; i < THREADS; i++) {
            state.is_weak[i] = random_next(&random) % 2 == 0;
            if (state.is_weak[i]) {
                kw_tensor_weak_retain(state.shared);
            } else {
                kw_tensor_retain(state.shared);
            }
        }
        (void)pthread_barrier_wait(&state.barrier);
        kw_tensor_release(state.shared);
        (void)pthread_barrier_wait(&state.barrier);
        CHECK(of.ended == 1, "the contents ended %u times", of.ended);
    }
    state.shared = NULL;
    (void)pthread_barrier_wait(&state.barrier);
    crew_join(&team);
    (void)pthread_barrier_destroy(&state.barrier);
    CHECK(figures().tensor_count == 0, "%llu bodies are left",
          (unsigned long long)figures().tensor_count);
    CHECK(figures().storage_count == 0, "storages are left");
}

// Free places -----------------------------------------------------------------------------------

// Tensors on their way from any thread to any other.
static _Atomic(kw_tensor *) exchange[THINGS];

static void make_and_exchange(crew *team, unsigned index)
{
    kw_storage *storage = team->context;
    uint32_t random = index + 1;
    for (int i = 0; i < SCALED(ROUNDS); i++) {
        kw_tensor *mine = random_next(&random) % 3 == 0 ? NULL : make(storage, cpu);
        kw_tensor_release(atomic_exchange(&exchange[random_next(&random) % THINGS], mine));
    }
}

static void places_go_from_thread_to_thread(void)
{
    kw_storage *storage = NULL;
    MUST(kw_storage_create(32, cpu, &storage, &err));
    for (int round = 0; round < 3; round++) { // threads end, with places they kept
        crew team;
        crew_start(&team, THREADS, make_and_exchange, storage);
        crew_join(&team);
        for (unsigned i = 0; i < THINGS; i++) {
            kw_tensor_release(atomic_exchange(&exchange[i], NULL));
        }
        CHECK(figures().tensor_count == 0, "%llu bodies are left",
              (unsigned long long)figures().tensor_count);
    }
    CHECK(kw_storage_use_count(storage) == 1, "the storage has %u references",
          kw_storage_use_count(storage));
    // Few were alive at once, whatever the number of threads and rounds.
    CHECK(figures().tensor_bytes <= (THREADS * 2 * 64 + THINGS + 2) * 256,
          "%llu bytes for a few tensors", (unsigned long long)figures().tensor_bytes);
    kw_storage_release(storage);
}

// A destructor of another thread-local value may run after that of the free places.
static pthread_key_t late_key;

static void release_late(void *value)
{
    kw_tensor_release(value);
    kw_tensor_release(make(NULL, cpu));
}

static void keep_until_the_end(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    (void)pthread_setspecific(late_key, make(NULL, cpu));
}

static void tensors_may_end_with_their_thread(void)
{
    if (pthread_key_create(&late_key, release_late) != 0) {
        abort();
    }
    for (int round = 0; round < SCALED(200); round++) {
        crew team;
        crew_start(&team, THREADS, keep_until_the_end, NULL);
        crew_join(&team);
    }
    (void)pthread_key_delete(late_key);
    CHECK(figures().tensor_count == 0, "%llu bodies are left",
          (unsigned long long)figures().tensor_count);
}

// Claims and counters ---------------------------------------------------------------------------

typedef struct claim_state {
    pthread_barrier_t barrier;
    kw_tensor *shared;
    atomic_uint won;
    kwi_counter *counters[THREADS];
} claim_state;

static char interpreters[THREADS];

static void claim_and_count(crew *team, unsigned index)
{
    claim_state *state = team->context;
    kw_interpreter *mine = (kw_interpreter *)(void *)&interpreters[index];
    for (;;) {
        (void)pthread_barrier_wait(&state->barrier);
        if (state->shared == NULL) {
            return;
        }
        kw_status status = kw_tensor_claim(state->shared, mine, NULL);
        CHECK(status == KW_OK || status == KW_BUSY, "a claim answers %s", kw_status_name(status));
        bool has_it = kw_tensor_interpreter(state->shared) == mine;
        CHECK(has_it == (status == KW_OK), "the winner is another one");
        (void)atomic_fetch_add(&state->won, has_it ? 1 : 0);
        state->counters[index] = kwi_storage_counter(kw_tensor_storage(state->shared));
        (void)kwi_u32_add_relaxed(&state->counters[index]->version, 1); // relaxed: read after joins
        (void)pthread_barrier_wait(&state->barrier);
    }
}

static void one_interpreter_and_one_counter_win(void)
{
    claim_state state = {.shared = NULL};
    (void)pthread_barrier_init(&state.barrier, NULL, THREADS + 1);
    crew team;
    crew_start(&team, THREADS, claim_and_count, &state);
    for (int round = 0; fixture_goes_on(round, SCALED(ROUNDS)); round++) {
        state.shared = make(NULL, cpu);
        atomic_store(&state.won, 0);
        (void)pthread_barrier_wait(&state.barrier);
        (void)pthread_barrier_wait(&state.barrier);
        CHECK(atomic_load(&state.won) == 1, "%u interpreters have the tensor",
              atomic_load(&state.won));
        for (unsigned i = 1; i < THREADS; i++) {
            CHECK(state.counters[i] == state.counters[0], "a storage has two counters");
        }
        CHECK(kwi_u32_load_relaxed(&state.counters[0]->version) == THREADS, "a write was lost");
        kw_tensor_release(state.shared);
    }
    state.shared = NULL;
    (void)pthread_barrier_wait(&state.barrier);
    crew_join(&team);
    (void)pthread_barrier_destroy(&state.barrier);
    CHECK(figures().extra_count == 0, "side blocks are left");
}

// Sources of libraries that come and go ---------------------------------------------------------

// What a loader would have mapped: the library of an allocator, and its state.
typedef struct image {
    kw_library *library;
    int32_t device_type;
    uint64_t canary;
    atomic_uint alive;
    unsigned ended;
} image;

#define CANARY UINT64_C(0x6b657977617921)

// A block says whose it is.
typedef struct block {
    image *owner;
    unsigned char bytes[];
} block;

static void *image_allocate(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    (void)alignment;
    (void)device_index;
    image *of = context;
    CHECK(of->canary == CANARY, "code that is gone allocates");
    block *made = malloc(sizeof *made + bytes);
    if (made == NULL) {
        abort();
    }
    made->owner = of;
    (void)atomic_fetch_add(&of->alive, 1);
    return made->bytes;
}

static void image_free(void *data, size_t bytes, int32_t device_index, void *context)
{
    (void)bytes;
    (void)device_index;
    image *of = context;
    block *dead = (block *)(void *)((unsigned char *)data - offsetof(block, bytes));
    CHECK(of->canary == CANARY, "code that is gone frees");
    CHECK(dead->owner == of, "memory goes back to another allocator");
    (void)atomic_fetch_sub(&of->alive, 1);
    free(dead);
}

static void image_end(void *context)
{
    image *of = context;
    CHECK(of->canary == CANARY && atomic_load(&of->alive) == 0, "an allocator ends too early");
    of->ended++; // plain, after all that its storages did
}

static image *map_image(kw_device device)
{
    image *of = calloc(1, sizeof *of);
    if (of == NULL) {
        abort();
    }
    of->canary = CANARY;
    of->device_type = device.type;
    of->library = library_open("device");
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "image",
        .allocate = image_allocate,
        .free = image_free,
        .context = of,
        .destroy = image_end,
        .library = of->library,
    };
    MUST(kw_storage_allocator_set(device.type, &allocator, &err));
    return of;
}

// Closes and drains, as an unload would, then poisons and unmaps.
static void unmap_image(image *of)
{
    MUST(kw_library_close(of->library, &err));
    MUST(kw_library_drain(of->library, KW_FOREVER, &err));
    CHECK(of->ended == 1, "the allocator ended %u times at the drain", of->ended);
    MUST(kw_library_destroy(of->library, &err));
    memset(of, 0xdd, sizeof *of);
    free(of);
}

// Whose memory a storage is.
static const image *owner_of(const kw_storage *storage)
{
    const unsigned char *data = kw_storage_data(storage);
    return ((const block *)(const void *)(data - offsetof(block, bytes)))->owner;
}

static void make_on_devices(crew *team, unsigned index)
{
    kw_storage *kept[2] = {NULL}; // one of each device, so that old sources end soon
    uint32_t random = index + 1;
    while (crew_goes_on(team)) {
        unsigned at = random_next(&random) % 2;
        kw_storage_release(kept[at]);
        kept[at] = NULL;
        kw_device device = at == 0 ? cuda : xpu;
        kw_status status = kw_storage_create(16, device, &kept[at], NULL);
        CHECK(status == KW_OK || status == KW_NOT_FOUND, "a storage answers %s",
              kw_status_name(status));
        CHECK(status != KW_OK || owner_of(kept[at])->device_type == device.type,
              "memory of another device");
    }
    kw_storage_release(kept[0]);
    kw_storage_release(kept[1]);
}

// Between finding a source and counting it, now and then.
static void stand_still(const kw_tensor *of)
{
    static _Thread_local uint32_t random = 1;
    for (unsigned i = of == NULL && random_next(&random) % 16 == 0 ? 100 : 0; i > 0; i--) {
        (void)sched_yield();
    }
}

// Records of sources go from one device to the other all the time.
static void allocators_of_libraries_are_replaced_while_storages_are_made(void)
{
    kwi_tensor_step = stand_still;
    crew team;
    crew_start(&team, THREADS - 1, make_on_devices, NULL);
    image *mapped[2] = {map_image(cuda), map_image(xpu)};
    for (int round = 0; fixture_goes_on(round, SCALED(2000)); round++) {
        unsigned which = round % 2 == 0 ? 0 : 1;
        image *next = map_image(which == 0 ? cuda : xpu); // takes the place of the one before
        unmap_image(mapped[which]);                       // when its last storage has gone
        mapped[which] = next;
        if (round % 16 == 0) {
            MUST(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, &err));
        }
    }
    crew_stop(&team);
    kwi_tensor_step = NULL;
    MUST(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, &err));
    MUST(kw_storage_allocator_set(KW_DEVICE_XPU, NULL, &err));
    unmap_image(mapped[0]);
    unmap_image(mapped[1]);
    CHECK(figures().storage_count == 0, "storages are left");
}

int main(int argc, char **argv)
{
    kwi_tensor_seeded = argc > 1 ? (kwi_tensor_fault)atoi(argv[1]) : KWI_TENSOR_FAULT_NONE;
    fixture_begin();
    RUN(contents_and_body_end_once_for_all_references);
    // An order that lacks shows in some of the rounds, with a sanitizer that ends the program.
    for (int i = 0; i < 20 && kwi_tensor_seeded == KWI_TENSOR_FAULT_RELAXED_RELEASE; i++) {
        RUN(contents_and_body_end_once_for_all_references);
    }
    RUN(places_go_from_thread_to_thread);
    RUN(tensors_may_end_with_their_thread);
    RUN(one_interpreter_and_one_counter_win);
    RUN(allocators_of_libraries_are_replaced_while_storages_are_made);
    return fixture_end();
}
