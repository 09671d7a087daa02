// Test cycles: a plugin comes and goes while threads run the network.
//
// Layer:   example (uses test_host)
// Threads: one calls it, and it starts others
// SPDX-License-Identifier: MIT

#include "test_cycles.h"

#include <fashion/dataset.h>
#include <fashion/reference.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <keyway/call.h>
#include <keyway/snapshot.h>

#include "tensors.h"

enum {
    CALLERS = 2,
    RESIDENT_GROWTH_MAX = 4 << 20, // bytes: the caches of malloc
    RESERVED_GROWTH_MAX = 16 << 20
};

#ifdef TEST_KEEPS_FREED_MEMORY
static const bool is_memory_told = false;
#else
static const bool is_memory_told = true;
#endif

typedef struct callers {
    const serve_network *network;
    fashion_dataset images;
    fashion_reference reference;
    float distance;
    atomic_bool is_over;
    atomic_ulong calls;
    atomic_uint failures;
} callers;

static void fail(callers *all, const char *what)
{
    if (atomic_fetch_add(&all->failures, 1) == 0) {
        (void)printf("a call: %s\n", what);
    }
}

static void compare(callers *all, kw_tensor *logits)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *near = NULL;
    if (serve_tensor_move(logits, KW_DEVICE_CPU, &near, &err) != KW_OK) {
        fail(all, err.text);
        return;
    }
    for (size_t i = 0; i < (size_t)TEST_IMAGES * FASHION_CLASSES; i++) {
        if (!(fabsf(serve_tensor_values(near)[i] - all->reference.logits[i]) <= all->distance)) {
            fail(all, "a logit is too far from the recorded one");
        }
    }
    kw_tensor_release(near);
}

static kw_tensor *make_images(const callers *all)
{
    const int64_t sizes[] = {TEST_IMAGES, 1, FASHION_IMAGE_SIDE, FASHION_IMAGE_SIDE};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *x = NULL;
    float *values = NULL;
    test_must(serve_tensor_create(4, sizes, &x, &values, &err) == KW_OK, "%s", err.text);
    for (size_t i = 0; i < TEST_IMAGES; i++) {
        fashion_pixels_to_input(FASHION_IMAGE_PIXELS, fashion_dataset_image(&all->images, i),
                                values + i * FASHION_IMAGE_PIXELS);
    }
    return x;
}

// As the server does: all layers of an answer under one snapshot.
static void call_once(callers *all, kw_tensor *x)
{
    kw_tensor *logits = NULL;
    kw_tensor *probabilities = NULL;
    kw_snapshot snapshot;
    test_must(kw_snapshot_open(&snapshot) == KW_OK, "no snapshot");
    if (serve_network_run(all->network, x, &logits, &probabilities) != KW_OK) {
        fail(all, kw_call_error());
    } else {
        compare(all, logits);
    }
    kw_tensor_release(logits);
    kw_tensor_release(probabilities);
    test_must(kw_snapshot_close(&snapshot) == KW_OK, "no end of a snapshot");
    atomic_fetch_add(&all->calls, 1);
}

static void *call_on(void *context)
{
    callers *all = context;
    kw_tensor *x = make_images(all);
    while (!atomic_load(&all->is_over)) {
        call_once(all, x);
    }
    kw_tensor_release(x);
    return NULL;
}

// Bytes of the process: what has memory behind it, and what has addresses.
typedef struct footprint {
    size_t resident;
    size_t reserved;
} footprint;

static footprint look(void)
{
    footprint seen = {0, 0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "r");
    // NOLINTNEXTLINE(cert-err34-c): the system's numbers are numbers
    test_must(file != NULL && fscanf(file, "%zu %zu", &seen.reserved, &seen.resident) == 2,
              "no /proc/self/statm");
    (void)fclose(file);
    return (footprint){seen.resident * page, seen.reserved * page};
}

// Each state lasts until a call has been made in it from beginning to end: at most CALLERS calls
// have begun before.
static void wait_for_calls(callers *all)
{
    const unsigned long before = atomic_load(&all->calls);
    while (atomic_load(&all->calls) < before + CALLERS + 1) {
        (void)usleep(100);
    }
}

static void cycle(test_host *host, callers *all, const char *path)
{
    const kw_plugin_options options = {.struct_size = sizeof options, .keep_previous = true};
    kw_error err = KW_ERROR_INIT;
    test_host_load(host, path);
    wait_for_calls(all);
    test_must(kw_plugin_replace(host->plugin, path, &options, &err) == KW_OK, "%s", err.text);
    wait_for_calls(all);
    test_must(kw_plugin_rollback(host->plugin, &options, &err) == KW_OK, "%s", err.text);
    wait_for_calls(all);
    test_must(kw_plugin_reap(UINT64_C(20000000000), &err) == KW_OK, "%s", err.text);
    test_host_unload(host);
    wait_for_calls(all);
}

static void load_files(callers *all, const char *data_folder)
{
    fashion_error err = {""};
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/reference-10k.bin", data_folder);
    test_must(fashion_dataset_load_sample(data_folder, &all->images, &err), "%s", err.text);
    test_must(fashion_reference_load(path, TEST_IMAGES, &all->reference, &err), "%s", err.text);
}

void test_cycles(test_host *host, const char *path, const char *data_folder, unsigned count,
                 float distance)
{
    callers all = {.network = &host->network, .distance = distance};
    pthread_t threads[CALLERS];
    footprint half = {0, 0};
    load_files(&all, data_folder);
    for (size_t i = 0; i < CALLERS; i++) {
        test_must(pthread_create(&threads[i], NULL, call_on, &all) == 0, "no thread");
    }
    for (unsigned i = 0; i < count; i++) {
        cycle(host, &all, path);
        half = i + 1 == (count + 1) / 2 ? look() : half;
    }
    const footprint end = look();
    atomic_store(&all.is_over, true);
    for (size_t i = 0; i < CALLERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)printf("%u cycles, %lu calls; %zu KiB of %zu after half of them, %zu of %zu at the end\n",
                 count, atomic_load(&all.calls), half.resident >> 10, half.reserved >> 10,
                 end.resident >> 10, end.reserved >> 10);
    test_check(host, atomic_load(&all.failures) == 0, "%u calls failed",
               atomic_load(&all.failures));
    test_check(host,
               !is_memory_told || (end.resident < half.resident + RESIDENT_GROWTH_MAX &&
                                   end.reserved < half.reserved + RESERVED_GROWTH_MAX),
               "the memory grows");
    fashion_dataset_fini(&all.images);
    fashion_reference_fini(&all.reference);
}
