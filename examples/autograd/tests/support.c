// Tensors for the tests, and memory that fails on demand.
//
// Layer:     example test
// Threads:   tensors are kept by the thread that made them
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/allocator.h>

#include "test.h"

#define KEPT_MAX 4096

static _Thread_local kw_tensor *kept[KEPT_MAX];
static _Thread_local size_t kept_count;
static _Thread_local kw_tensor *slot;

bool test_has(const char *text, const char *piece)
{
    return strstr(text, piece) != NULL;
}

kw_tensor *test_keep(kw_tensor *take_tensor)
{
    CHECK(kept_count < KEPT_MAX);
    kept[kept_count++] = take_tensor;
    return take_tensor;
}

size_t test_kept_count(void)
{
    return kept_count;
}

void test_release_to(size_t count)
{
    while (kept_count > count) {
        kw_tensor_release(kept[--kept_count]);
    }
}

void test_release_all(void)
{
    test_release_to(0);
}

kw_tensor **test_slot(void)
{
    return &slot;
}

kw_tensor *test_result(kw_status status, const char *op, const char *file, int line)
{
    if (status != KW_OK) {
        test_fail(file, line, op, kw_call_error());
    }
    return test_keep(slot);
}

// Numbers ----------------------------------------------------------------------------------------

// The generator of Steele, Lea and Flood (splitmix64).
static uint64_t next(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double test_number(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)(next(seed) >> 11) * 0x1p-53;
}

double test_at(const kw_tensor *tensor, int64_t index)
{
    CHECK(tensor != NULL && kw_tensor_is_contiguous(tensor));
    const void *data = kw_tensor_data(tensor);
    return kw_tensor_dtype(tensor) == KW_DTYPE_FLOAT32 ? (double)((const float *)data)[index]
                                                       : ((const double *)data)[index];
}

void test_set(kw_tensor *tensor, int64_t index, double value)
{
    kw_error err = KW_ERROR_INIT;
    void *data = NULL;
    CHECK(kw_tensor_is_contiguous(tensor));
    CHECK_OK(kw_tensor_mutable_data(tensor, &data, &err));
    if (kw_tensor_dtype(tensor) == KW_DTYPE_FLOAT32) {
        ((float *)data)[index] = (float)value;
    } else {
        ((double *)data)[index] = value;
    }
}

double test_item(const kw_tensor *tensor)
{
    CHECK(kw_tensor_numel(tensor) == 1);
    return test_at(tensor, 0);
}

kw_tensor *test_random(uint64_t *seed, uint8_t dtype, kw_int_list sizes, double low, double high)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes.data,
        .dim = (uint32_t)sizes.count,
        .dtype = dtype,
    };
    if (kw_tensor_create(&options, &tensor, &err) != KW_OK) {
        test_fail(__FILE__, __LINE__, "a tensor is created", err.text);
    }
    for (int64_t i = 0; i < kw_tensor_numel(tensor); i++) {
        test_set(tensor, i, test_number(seed, low, high));
    }
    return test_keep(tensor);
}

kw_tensor *test_leaf(uint64_t *seed, kw_int_list sizes, double low, double high)
{
    kw_tensor *leaf = test_random(seed, KW_DTYPE_FLOAT64, sizes, low, high);
    CHECK_OK(grad_require(leaf));
    return leaf;
}

bool test_same(kw_tensor *a, kw_tensor *b)
{
    kw_tensor *left = OP(clone, a);
    kw_tensor *right = OP(clone, b);
    bool same = kw_tensor_numel(a) == kw_tensor_numel(b);
    for (int64_t i = 0; same && i < kw_tensor_numel(left); i++) {
        same = test_at(left, i) == test_at(right, i);
    }
    return same;
}

// Memory -----------------------------------------------------------------------------------------

static atomic_ullong asked;
static atomic_ullong failing_from;
static atomic_bool failing_all;

static bool fails(void)
{
    const uint64_t number = atomic_fetch_add(&asked, 1) + 1;
    const uint64_t from = atomic_load(&failing_from);
    return from != 0 && (number == from || (number > from && atomic_load(&failing_all)));
}

static void *allocate(size_t bytes, void *context)
{
    (void)context;
    return fails() ? NULL : malloc(bytes);
}

static void *reallocate(void *memory, size_t old_bytes, size_t new_bytes, void *context)
{
    (void)context;
    (void)old_bytes;
    return fails() ? NULL : realloc(memory, new_bytes);
}

static void give_back(void *memory, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    free(memory);
}

kw_status test_memory_take_over(void)
{
    const kw_allocator allocator = {sizeof allocator, allocate, reallocate, give_back, NULL};
    return kw_allocator_set(&allocator, NULL);
}

void test_memory_fail(uint64_t nth, bool and_after)
{
    atomic_store(&asked, 0);
    atomic_store(&failing_all, and_after);
    atomic_store(&failing_from, nth);
}

uint64_t test_memory_asked(void)
{
    return atomic_load(&asked);
}
