// Views, versions and DLPack by several threads at once: counters that all of them make at the same
// time count every write, a structure is ended once, by whichever thread is last, and references
// are counted while one thread changes the tensor.
//
// Layer:   test
// Threads: its own, which meet at a barrier before each round.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/allocator.h>
#include <keyway/dlpack.h>
#include <keyway/tensor_view.h>

#include "tensor/dlpack_abi.h"

#define THREADS 4
#define ROUNDS 2000
#define BUMPS 25

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static pthread_barrier_t barrier;

// What one round is about; made and looked at by the first thread, between the barriers.
static kw_tensor *tensor;
static kw_tensor *imported;
static kw_tensor *changed; // by the first thread
static struct DLManagedTensor *structure;
static kwi_u32_cell ended;

static int64_t sizes[] = {THREADS, 8};

// Small pieces come late: between the look whether there is a counter and the one that is made, the
// other threads get their turn.
static void *allocate_slowly(size_t bytes, void *context)
{
    (void)context;
    for (int i = 0; i < 3 && bytes <= 32; i++) {
        (void)sched_yield();
    }
    return malloc(bytes);
}

static void give_back(void *piece, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    free(piece);
}

static kw_tensor *make(uint8_t layout)
{
    const kw_tensor_options options = {.struct_size = sizeof options,
                                       .sizes = sizes,
                                       .dim = 2,
                                       .dtype = KW_DTYPE_FLOAT32,
                                       .layout = layout,
                                       .device = {KW_DEVICE_CPU, -1}};
    kw_tensor *made = NULL;
    CHECK(kw_tensor_create(&options, &made, NULL) == KW_OK);
    return made;
}

static void end_structure(struct DLManagedTensor *self)
{
    CHECK(self == structure);
    (void)kwi_u32_add_relaxed(&ended, 1); // relaxed: read after the barrier
}

static void begin_round(int round)
{
    static float memory[THREADS * 8];
    static struct DLManagedTensor produced;
    produced = (struct DLManagedTensor){.dl_tensor = {.data = memory,
                                                      .device = {KWI_DL_CPU, 0},
                                                      .ndim = 2,
                                                      .dtype = {KWI_DL_FLOAT, 32, 1},
                                                      .shape = sizes},
                                        .deleter = end_structure};
    structure = &produced;
    kwi_u32_store_relaxed(&ended, 0); // relaxed: the barrier orders it
    tensor = make(round % 2 == 0 ? KW_LAYOUT_STRIDED : KW_LAYOUT_SPARSE);
    CHECK(kw_tensor_from_dlpack(structure, NULL, &imported, NULL) == KW_OK);
    changed = make(KW_LAYOUT_STRIDED);
    for (int i = 1; i < THREADS; i++) {
        kw_tensor_retain(imported); // each thread gives one back
    }
}

static void end_round(void)
{
    uint32_t version = 0;
    CHECK(kw_tensor_version(tensor, &version, NULL) == KW_OK);
    CHECK(version == THREADS * BUMPS);
    kw_tensor_release(tensor);
    CHECK(kw_tensor_use_count(changed) == 1 && kw_tensor_numel(changed) == 2 * THREADS * 8);
    kw_tensor_release(changed);
    CHECK(kwi_u32_load_relaxed(&ended) == 1); // relaxed: the barrier orders it
}

// Each thread writes its own row of the imported memory, by a view, and gives its reference back.
static void use_import(int64_t index)
{
    kw_tensor *row = NULL;
    struct DLManagedTensor *managed = NULL;
    void *data = NULL;
    CHECK(kw_tensor_select(imported, 0, index, &row, NULL) == KW_OK);
    CHECK(kw_tensor_to_dlpack(row, &managed, NULL) == KW_OK);
    kw_tensor_release(imported);
    CHECK(kw_tensor_mutable_data(row, &data, NULL) == KW_OK);
    *(float *)data = (float)index;
    kw_tensor_release(row);
    CHECK(*(float *)managed->dl_tensor.data == (float)index);
    kw_dlpack_delete(managed);
}

// References to a tensor may be taken and given back at any time.
static void change(int64_t index)
{
    const int64_t larger[] = {2, THREADS, 8};
    if (index == 0) {
        CHECK(kw_tensor_set_data(changed, tensor, NULL) == KW_OK);
        kw_tensor *other = make(KW_LAYOUT_STRIDED);
        CHECK(kw_tensor_set_data(changed, other, NULL) == KW_OK);
        CHECK(kw_tensor_resize(changed, (kw_int_list){larger, 3}, NULL) == KW_OK);
        kw_tensor_release(other);
        return;
    }
    for (int i = 0; i < BUMPS; i++) {
        kw_tensor_retain(changed);
        kw_tensor_release(changed);
    }
}

static void count(void)
{
    kw_tensor *other = NULL;
    CHECK(kw_tensor_detach(tensor, &other, NULL) == KW_OK);
    for (int i = 0; i < BUMPS; i++) {
        CHECK(kw_tensor_bump_version(i % 2 == 0 ? tensor : other, NULL) == KW_OK);
    }
    uint32_t version = 0;
    uint32_t later = 0;
    CHECK(kw_tensor_version(tensor, &version, NULL) == KW_OK);
    CHECK(kw_tensor_version(other, &later, NULL) == KW_OK);
    CHECK(version >= BUMPS && later >= version);
    kw_tensor_release(other);
}

static void *run(void *argument)
{
    int64_t index = *(const int64_t *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        if (index == 0) {
            begin_round(round);
        }
        (void)pthread_barrier_wait(&barrier);
        count();
        change(index);
        use_import(index);
        (void)pthread_barrier_wait(&barrier);
        if (index == 0) {
            end_round();
        }
    }
    return NULL;
}

int main(void)
{
    const kw_allocator allocator = {
        .struct_size = sizeof allocator, .allocate = allocate_slowly, .free = give_back};
    CHECK(kw_allocator_set(&allocator, NULL) == KW_OK);
    pthread_t threads[THREADS];
    int64_t indices[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++) {
        indices[i] = i;
        CHECK(pthread_create(&threads[i], NULL, run, &indices[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_tensor_statistics_get(&figures);
    CHECK(figures.tensor_count == 0 && figures.storage_count == 0 && figures.extra_count == 0);
    (void)pthread_barrier_destroy(&barrier);
    printf("%d rounds of %d threads\n", ROUNDS, THREADS);
    return 0;
}
