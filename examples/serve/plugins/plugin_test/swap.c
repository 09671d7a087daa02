// Swap: plugins come, go and are exchanged while threads answer, round after round.
//
// Layer:   example (uses host, answers)
// Threads: as swap.h says
// SPDX-License-Identifier: MIT
//
// Note [Memory between rounds]
//
// Between rounds the tensors, kernels and leases that are alive, and what the library has
// allocated, are exactly what they were after the first round. The first one is for what is made
// once: thread blocks, contexts of libraries that stay. Names of files are kept for good, and some
// lists keep their greatest length, so all plugins are loaded at once before. What plugins get from
// malloc is measured too, and may grow by what the C library and others keep for themselves: by
// less than HEAP_BYTES_MAX over all rounds, which one image of scratch lost a round would be.

#include "swap.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <keyway/tensor.h>

#include "answers.h"

enum {
    THREADS = 2,
    BATCH_MAX = 2,
    HEAP_BYTES_MAX = 128 * 1024
};

typedef struct swap_round {
    test_host *host;
    unsigned index;
    atomic_bool is_over;
} swap_round;

static unsigned random_next(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void *answer(void *argument)
{
    swap_round *round = argument;
    unsigned state = round->index;
    test_answers answers;
    test_answers_begin(&answers, round->host);
    while (!atomic_load(&round->is_over)) {
        const serve_lane lane = random_next(&state) % SERVE_LANE_COUNT;
        const size_t count = 1 + random_next(&state) % BATCH_MAX;
        test_answers_run(&answers, lane, random_next(&state) % round->host->dataset.count, count,
                         count, "while plugins change");
    }
    test_answers_end(&answers);
    return NULL;
}

typedef struct swap_changer {
    test_host *host;
    unsigned state; // of the random numbers
    size_t change_count;
    bool is_loaded[HOST_PLUGINS_MAX];
    bool can_roll_back[HOST_PLUGINS_MAX];
    size_t counts[4]; // by serve_change
} swap_changer;

// Each thread may have begun one batch before a change: of one more than threads that end after it,
// one has begun after it.
static void wait_for_answers(test_host *host)
{
    const unsigned long long enough = atomic_load(&host->batch_count) + THREADS + 1;
    while (atomic_load(&host->batch_count) < enough) {
        (void)usleep(100);
    }
}

static void must_change(swap_changer *changer, serve_change change, size_t index)
{
    char why[HOST_WHY_BYTES];
    const char *name = changer->host->names[index];
    static const char *const verbs[] = {"loaded", "replaced", "rolled back", "unloaded"};
    if (!test_host_change(changer->host, change, name, why)) {
        test_fail(changer->host, "%s cannot be %s: %s", name, verbs[change], why);
    }
    changer->counts[change]++;
}

// Every second change is of a plugin that is loaded, if there is one: with many plugins most would
// be loads otherwise.
static size_t pick(swap_changer *changer)
{
    const size_t count = changer->host->name_count;
    const bool wants_loaded = changer->change_count++ % 2 == 1;
    const size_t start = random_next(&changer->state) % count;
    for (size_t i = 0; i < count; i++) {
        const size_t index = (start + i) % count;
        if (!wants_loaded || changer->is_loaded[index]) {
            return index;
        }
    }
    return start;
}

static void change_one(swap_changer *changer)
{
    const size_t index = pick(changer);
    const unsigned draw = random_next(&changer->state) % 3;
    if (!changer->is_loaded[index]) {
        must_change(changer, SERVE_CHANGE_LOAD, index);
        changer->is_loaded[index] = true;
        changer->can_roll_back[index] = false;
    } else if (draw == 0 && changer->can_roll_back[index]) {
        must_change(changer, SERVE_CHANGE_ROLLBACK, index);
    } else if (draw <= 1) {
        must_change(changer, SERVE_CHANGE_REPLACE, index);
        changer->can_roll_back[index] = true;
    } else {
        must_change(changer, SERVE_CHANGE_UNLOAD, index);
        changer->is_loaded[index] = false;
    }
}

static void make_round(swap_changer *changer)
{
    test_host *host = changer->host;
    pthread_t threads[THREADS];
    swap_round rounds[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        rounds[i].host = host;
        rounds[i].index = random_next(&changer->state);
        atomic_init(&rounds[i].is_over, false);
        if (pthread_create(&threads[i], NULL, answer, &rounds[i]) != 0) {
            abort();
        }
    }
    for (size_t i = 0; i < host->options.change_count; i++) {
        change_one(changer);
        wait_for_answers(host);
    }
    for (size_t i = 0; i < host->name_count; i++) {
        if (changer->is_loaded[i]) {
            test_host_unload(host, host->names[i]);
            changer->is_loaded[i] = false;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        atomic_store(&rounds[i].is_over, true);
        (void)pthread_join(threads[i], NULL);
    }
}

// Note [Memory between rounds]
typedef struct swap_memory {
    uint64_t library_bytes;
    uint64_t kernels;
    uint64_t leases;
    uint64_t tensors;
    uint64_t storages;
    uint64_t storage_bytes;
    size_t heap_bytes;
    size_t resident_kib;
} swap_memory;

static size_t resident_kib(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        line[0] = '\0';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    char *second = line; // in pages of 4 KiB
    (void)strtoull(line, &second, 10);
    return (size_t)strtoull(second, NULL, 10) * 4;
}

static swap_memory measure(test_host *host)
{
    (void)!kw_reclaim();
    kw_statistics library = {.struct_size = sizeof library};
    kw_tensor_statistics tensors = {.struct_size = sizeof tensors};
    kw_plugin_statistics plugins = {.struct_size = sizeof plugins};
    kw_statistics_get(&library);
    kw_tensor_statistics_get(&tensors);
    kw_plugin_statistics_get(&plugins);
    if (plugins.serving_count != 0 || plugins.leaving_count != 0) {
        test_fail(host, "%llu plugins serve and %llu are leaving after all were unloaded",
                  (unsigned long long)plugins.serving_count,
                  (unsigned long long)plugins.leaving_count);
    }
    const struct mallinfo2 heap = mallinfo2();
    return (swap_memory){
        .library_bytes = library.memory_bytes,
        .kernels = library.kernel_count,
        .leases = library.lease_count,
        .tensors = tensors.tensor_count,
        .storages = tensors.storage_count,
        .storage_bytes = tensors.storage_bytes,
        .heap_bytes = heap.uordblks + heap.hblkhd,
        .resident_kib = resident_kib(),
    };
}

static void need_equal(test_host *host, const char *what, uint64_t before, uint64_t after)
{
    if (before != after) {
        test_fail(host, "%s: %llu after the first round, %llu after the last", what,
                  (unsigned long long)before, (unsigned long long)after);
    }
}

static void compare(test_host *host, const swap_memory *first, const swap_memory *last)
{
    need_equal(host, "bytes of the library", first->library_bytes, last->library_bytes);
    need_equal(host, "kernels", first->kernels, last->kernels);
    need_equal(host, "leases", first->leases, last->leases);
    need_equal(host, "tensors", first->tensors, last->tensors);
    need_equal(host, "storages", first->storages, last->storages);
    need_equal(host, "bytes of tensors", first->storage_bytes, last->storage_bytes);
    if (last->heap_bytes > first->heap_bytes + HEAP_BYTES_MAX) {
        test_fail(host, "the heap has grown from %zu bytes to %zu", first->heap_bytes,
                  last->heap_bytes);
    }
    (void)printf("memory: library %llu, tensors %llu; heap %zu to %zu bytes; resident %zu to %zu "
                 "KiB\n",
                 (unsigned long long)last->library_bytes, (unsigned long long)last->tensors,
                 first->heap_bytes, last->heap_bytes, first->resident_kib, last->resident_kib);
}

// See Note [Memory between rounds].
static void load_all_once(test_host *host)
{
    bool is_loaded[HOST_PLUGINS_MAX];
    for (size_t i = 0; i < host->name_count; i++) {
        is_loaded[i] = test_host_load(host, host->names[i]);
    }
    for (size_t i = 0; i < host->name_count; i++) {
        if (is_loaded[i]) {
            test_host_unload(host, host->names[i]);
        }
    }
}

void test_swap_rounds(test_host *host)
{
    swap_changer changer = {.host = host, .state = (unsigned)host->options.seed};
    load_all_once(host);
    swap_memory first = {.kernels = 0};
    for (size_t i = 0; i < host->options.round_count; i++) {
        make_round(&changer);
        const swap_memory now = measure(host);
        if (i == 0) {
            first = now;
        } else if (i + 1 == host->options.round_count) {
            compare(host, &first, &now);
        }
    }
    kw_plugin_statistics plugins = {.struct_size = sizeof plugins};
    kw_plugin_statistics_get(&plugins);
    (void)printf("changes: %zu loads, %zu replacements, %zu rolled back, %zu unloads; versions: "
                 "%llu loaded, %llu unmapped, %llu retained\n",
                 changer.counts[SERVE_CHANGE_LOAD], changer.counts[SERVE_CHANGE_REPLACE],
                 changer.counts[SERVE_CHANGE_ROLLBACK], changer.counts[SERVE_CHANGE_UNLOAD],
                 (unsigned long long)plugins.loaded_count,
                 (unsigned long long)plugins.unmapped_count,
                 (unsigned long long)plugins.retained_count);
}
