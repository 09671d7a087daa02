// Counted values that several threads share: who gives the last reference back frees them.
//
// Layer:   test
// Threads: a crew that owns and releases the same values.
// SPDX-License-Identifier: MIT
//
// Each thread writes to memory of its own through the shared object before it lets go of it, with
// plain stores; the destructor reads them all. If the last release did not come after every other
// one, ThreadSanitizer would see a race there, and the sum would be wrong now and then.

#include <string.h>

#include <keyway/value.h>

#include "concurrency/fixture.h"

enum {
    THREADS = 4,
    ROUNDS = 20000
};

// What an object stands for: a mark of each thread, and where their sum goes.
typedef struct shared {
    uint64_t marks[THREADS];
    uint64_t *sum; // of the last round
} shared;

// One round: the threads begin together, each with one reference.
typedef struct round_state {
    kw_value value;
    shared data;
    uint64_t sum;
    int destroyed;
    pthread_barrier_t barrier;
    uint64_t rounds;
    uint64_t wrong;
} round_state;

static round_state state;

static void add_marks(void *data)
{
    shared *object = data;
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += object->marks[i];
        object->marks[i] = 0;
    }
    *object->sum = sum;
    state.destroyed++;
}

// A list of a text and a tuple with the object, with a reference for each thread.
static void make_value(void)
{
    const kw_object_options options = {.struct_size = sizeof options,
                                       .type_name = "shared",
                                       .data = &state.data,
                                       .destroy = add_marks};
    kw_object *object = NULL;
    kw_value list;
    state.data.sum = &state.sum;
    MUST(kw_object_create(&options, &object, &err));
    const kw_value member = kw_value_object(object);
    const kw_value members[] = {kw_value_string("text"),
                                kw_value_tuple((kw_value_list){&member, 1})};
    const kw_value view = kw_value_values((kw_value_list){members, 2});
    MUST(kw_value_own(&view, NULL, &list, &err));
    kw_object_release(object);
    for (int i = 1; i < THREADS; i++) {
        MUST(kw_value_own(&list, NULL, &state.value, &err)); // one more, of the same block
    }
    state.value = list;
}

static const kw_value *object_of(const kw_value *list)
{
    return &list->as.as_values[1].as.as_values[0];
}

// Takes a few references and gives them back in another order, the thread's own one last.
static void use_value(kw_value mine, unsigned index, uint64_t round)
{
    kw_value whole;
    kw_value part;
    kw_value object;
    MUST(kw_value_own(&mine, NULL, &whole, &err));
    MUST(kw_value_own(&whole.as.as_values[1], NULL, &part, &err));
    MUST(kw_value_own(object_of(&mine), NULL, &object, &err));
    shared *data = kw_object_data(object.as.as_object);
    kw_value_release(&mine, NULL);
    kw_value_release(&object, NULL);
    data->marks[index] = round + index; // `part` still keeps it
    kw_value_release(&whole, NULL);
    kw_value_release(&part, NULL);
}

static void run_rounds(crew *team, unsigned index)
{
    (void)team;
    for (uint64_t round = 0; round < state.rounds; round++) {
        if (index == 0) {
            make_value();
        }
        (void)pthread_barrier_wait(&state.barrier);
        use_value(state.value, index, round);
        (void)pthread_barrier_wait(&state.barrier);
        if (index == 0) {
            uint64_t wanted = THREADS * round + THREADS * (THREADS - 1) / 2;
            state.wrong += state.sum != wanted ? 1 : 0;
        }
    }
}

static void last_release_comes_after_all_others(void)
{
    memset(&state, 0, sizeof state);
    state.rounds = SCALED(ROUNDS);
    (void)pthread_barrier_init(&state.barrier, NULL, THREADS);
    crew team;
    crew_start(&team, THREADS, run_rounds, NULL);
    crew_join(&team);
    (void)pthread_barrier_destroy(&state.barrier);
    CHECK(state.wrong == 0, "%llu of %llu rounds have a wrong sum", (unsigned long long)state.wrong,
          (unsigned long long)state.rounds);
    CHECK((uint64_t)state.destroyed == state.rounds, "%d objects were destroyed in %llu rounds",
          state.destroyed, (unsigned long long)state.rounds);
}

// Tensors of a shared list are released once, by whichever thread is the last.

typedef struct counted_tensor {
    _Atomic int references;
} counted_tensor;

static void retain_tensor(void *any)
{
    (void)atomic_fetch_add(&((counted_tensor *)any)->references, 1);
}

static void release_tensor(void *any)
{
    (void)atomic_fetch_sub(&((counted_tensor *)any)->references, 1);
}

static const kw_tensor_type counted_type = {.struct_size = sizeof counted_type,
                                            .name = "counted",
                                            .retain = retain_tensor,
                                            .release = release_tensor};
static counted_tensor tensors[3];
static kw_value tensor_list;

static void share_list(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    for (int i = 0; i < SCALED(ROUNDS); i++) {
        kw_value mine;
        MUST(kw_value_own(&tensor_list, NULL, &mine, &err));
        CHECK(mine.count == 3, "a list of %u tensors", mine.count);
        kw_value_release(&mine, NULL);
    }
}

static void shared_list_keeps_its_tensors(void)
{
    void *views[] = {&tensors[0], &tensors[1], &tensors[2]};
    const kw_value view = kw_value_tensors((kw_tensor_list){views, 3});
    MUST(kw_value_own(&view, &counted_type, &tensor_list, &err));
    crew team;
    crew_start(&team, THREADS, share_list, NULL);
    crew_join(&team);
    for (int i = 0; i < 3; i++) {
        CHECK(tensors[i].references == 1, "%d references", tensors[i].references);
    }
    kw_value_release(&tensor_list, NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(tensors[i].references == 0, "%d references", tensors[i].references);
    }
}

int main(void)
{
    fixture_begin();
    RUN(last_release_comes_after_all_others);
    RUN(shared_list_keeps_its_tensors);
    return fixture_end();
}
