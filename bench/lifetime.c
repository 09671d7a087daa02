// What making and releasing tensors costs, against memory of their size from malloc.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>

#include <keyway/tensor.h>

#include "harness.h"
#ifdef BENCH_WITH_LIBTORCH
#include "original_tensor.h"
#endif

static const int64_t sizes[] = {2, 2};

static kw_tensor_options options = {
    .struct_size = sizeof options,
    .sizes = sizes,
    .dim = 2,
    .dtype = KW_DTYPE_FLOAT32,
    .device = {KW_DEVICE_CPU, -1},
};

static kw_storage *storage;
static kw_tensor *shared;

// Reads what it gets, so that it is not optimised away.
static uint64_t run_malloc(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        void *volatile memory = malloc(sizeof(kw_tensor));
        sum += memory != NULL ? 1 : 0;
        free(memory);
    }
    return sum;
}

static uint64_t make(uint64_t iterations)
{
    kw_status failures = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        kw_tensor *made = NULL;
        failures |= kw_tensor_create(&options, &made, NULL);
        kw_tensor_release(made);
    }
    return (uint64_t)failures;
}

static uint64_t run_over_storage(uint64_t iterations)
{
    options.storage = storage;
    return make(iterations);
}

static uint64_t run_with_storage(uint64_t iterations)
{
    options.storage = NULL;
    return make(iterations);
}

static uint64_t run_retain(uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        kw_tensor_retain(shared);
        kw_tensor_release(shared);
    }
    return kw_tensor_use_count(shared);
}

static uint64_t run_lock(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        if (kw_tensor_lock(shared)) {
            kw_tensor_release(shared);
            sum++;
        }
    }
    return sum;
}

static bool set_up(void)
{
    kw_error err = KW_ERROR_INIT;
    if (kw_storage_create(16, options.device, &storage, &err) != KW_OK ||
        kw_tensor_create(&options, &shared, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return false;
    }
#ifdef BENCH_WITH_LIBTORCH
    return bench_original_tensor_set_up();
#else
    return true;
#endif
}

int main(int argc, char **argv)
{
    static const bench_variant variants[] = {
        {.name = "malloc and free", .run = run_malloc},
        {.name = "tensor over a storage", .run = run_over_storage},
        {.name = "tensor with a storage", .run = run_with_storage},
        {.name = "one more reference", .run = run_retain},
        {.name = "a strong reference of a weak one", .run = run_lock},
#ifdef BENCH_WITH_LIBTORCH
        {.name = "libtorch tensor over a storage", .run = bench_original_over_storage},
        {.name = "libtorch at::empty", .run = bench_original_empty},
        {.name = "libtorch one more reference", .run = bench_original_retain},
#endif
    };
    static const bench_question question = {
        .group = "tensor", .variants = variants, .count = BENCH_COUNT(variants), .set_up = set_up};
    return bench_main(&question, argc, argv);
}
