// The slab: places that do not overlap, used again, and given back to the system.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include "make.h"

TestSuite(slab);

// More than three chunks of 8191 places.
#define COUNT 30000
#define CHUNK_BYTES (UINT64_C(1) << 20)

static kw_tensor *tensors[COUNT];

static void make_all(void)
{
    kw_tensor_options options = kwt_options(NULL, 0);
    options.device.type = KW_DEVICE_META;
    for (unsigned i = 0; i < COUNT; i++) {
        options.device.index = (int32_t)(i % 100);
        tensors[i] = kwt_create(&options);
    }
}

static int by_address(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t) * (kw_tensor *const *)a;
    uintptr_t right = (uintptr_t) * (kw_tensor *const *)b;
    return left < right ? -1 : left > right;
}

// Each is what was made, on lines of its own.
static void expect_apart(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(kw_tensor_device(tensors[i]).index, (int32_t)(i % 100));
        cr_assert_eq((uintptr_t)tensors[i] % 64, 0);
    }
    static kw_tensor *sorted[COUNT];
    memcpy(sorted, tensors, sizeof sorted);
    qsort(sorted, COUNT, sizeof *sorted, by_address);
    for (unsigned i = 1; i < COUNT; i++) {
        cr_assert_geq((uintptr_t)sorted[i] - (uintptr_t)sorted[i - 1], sizeof(kw_tensor));
    }
}

static void shuffle(uint32_t seed)
{
    for (unsigned i = COUNT; i-- > 1;) {
        seed = seed * 1664525 + 1013904223; // Numerical Recipes
        unsigned other = seed % (i + 1);
        kw_tensor *moved = tensors[i];
        tensors[i] = tensors[other];
        tensors[other] = moved;
    }
}

static void reverse(void)
{
    for (unsigned i = 0; i < COUNT / 2; i++) {
        kw_tensor *moved = tensors[i];
        tensors[i] = tensors[COUNT - 1 - i];
        tensors[COUNT - 1 - i] = moved;
    }
}

static void release(unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        kw_tensor_release(tensors[i]);
    }
}

Test(slab, places_do_not_overlap_in_any_order_of_release)
{
    for (uint32_t round = 0; round < 6; round++) {
        make_all();
        expect_apart();
        cr_expect_eq(kwt_figures().tensor_count, COUNT);
        if (round % 3 == 1) {
            reverse();
        } else if (round % 3 == 2) {
            shuffle(round);
        }
        release(0, COUNT);
        cr_expect_eq(kwt_figures().tensor_count, 0);
    }
}

Test(slab, places_are_used_again)
{
    make_all();
    uint64_t bytes = kwt_figures().tensor_bytes;
    for (uint32_t round = 0; round < 5; round++) {
        shuffle(round);
        release(0, COUNT / 2);
        kw_tensor_options options = kwt_options(NULL, 0);
        options.device.type = KW_DEVICE_META;
        for (unsigned i = 0; i < COUNT / 2; i++) {
            tensors[i] = kwt_create(&options);
        }
        cr_expect_leq(kwt_figures().tensor_bytes, bytes);
    }
    release(0, COUNT);
}

// One unused chunk is kept; a thread's free places may hold another one.
Test(slab, unused_chunks_go_back_to_the_system)
{
    make_all();
    cr_expect_geq(kwt_figures().tensor_bytes, COUNT * sizeof(kw_tensor));
    release(0, COUNT);
    cr_expect_leq(kwt_figures().tensor_bytes, 2 * CHUNK_BYTES);
}

// What is released in the middle makes room there, before anything new is touched.
Test(slab, chunks_in_the_middle_open_again)
{
    make_all();
    uint64_t bytes = kwt_figures().tensor_bytes;
    release(9000, 10000);
    kw_tensor_options options = kwt_options(NULL, 0);
    options.device.type = KW_DEVICE_META;
    for (unsigned i = 9000; i < 10000; i++) {
        tensors[i] = kwt_create(&options);
    }
    cr_expect_eq(kwt_figures().tensor_bytes, bytes);
    release(0, COUNT);
}
