// Places: view functions carried out on lists of elements.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "places.h"

#include <stdlib.h>
#include <string.h>

uint64_t kwt_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

int64_t kwt_random_below(uint64_t *state, int64_t limit)
{
    return (int64_t)(kwt_random(state) % (uint64_t)limit);
}

void kwt_places_set_sizes(kwt_places *places, const int64_t *sizes, uint32_t dim)
{
    places->dim = dim;
    places->count = 1;
    for (uint32_t i = 0; i < dim; i++) {
        places->sizes[i] = sizes[i];
        places->count *= sizes[i];
    }
    if (dim > KWT_PLACES_DIM || places->count > KWT_PLACES_COUNT) {
        abort();
    }
}

// Splits a number of an element into its indices.
static void split(const kwt_places *places, int64_t number, int64_t *out_index)
{
    for (uint32_t i = places->dim; i-- > 0;) {
        out_index[i] = number % places->sizes[i];
        number /= places->sizes[i];
    }
}

static int64_t join(const kwt_places *places, const int64_t *index)
{
    int64_t number = 0;
    for (uint32_t i = 0; i < places->dim; i++) {
        number = number * places->sizes[i] + index[i];
    }
    return number;
}

void kwt_places_of_strides(kwt_places *places, const int64_t *sizes, const int64_t *strides,
                           uint32_t dim, int64_t offset)
{
    int64_t index[KWT_PLACES_DIM] = {0};
    kwt_places_set_sizes(places, sizes, dim);
    for (int64_t number = 0; number < places->count; number++) {
        split(places, number, index);
        places->at[number] = offset;
        for (uint32_t i = 0; i < dim; i++) {
            places->at[number] += index[i] * strides[i];
        }
    }
}

// Gives the places other sizes; `find` says from which index before each one comes.
static void refill(kwt_places *places, const int64_t *sizes, uint32_t dim,
                   void (*find)(const int64_t *index, const int64_t *how, int64_t *out_from),
                   const int64_t *how)
{
    static kwt_places before;
    int64_t index[KWT_PLACES_DIM] = {0};
    int64_t from[KWT_PLACES_DIM] = {0};
    before = *places;
    kwt_places_set_sizes(places, sizes, dim);
    for (int64_t number = 0; number < places->count; number++) {
        split(places, number, index);
        find(index, how, from);
        places->at[number] = before.at[join(&before, from)];
    }
}

// how: dimension, start, step, number of dimensions
static void find_slice(const int64_t *index, const int64_t *how, int64_t *out_from)
{
    memcpy(out_from, index, (size_t)how[3] * sizeof *index);
    out_from[how[0]] = how[1] + index[how[0]] * how[2];
}

void kwt_places_slice(kwt_places *places, uint32_t dim, int64_t start, int64_t length, int64_t step)
{
    int64_t sizes[KWT_PLACES_DIM] = {0};
    memcpy(sizes, places->sizes, sizeof sizes);
    sizes[dim] = length > 0 ? (length - 1) / step + 1 : 0;
    const int64_t how[] = {dim, start, step, places->dim};
    refill(places, sizes, places->dim, find_slice, how);
}

// how: dimension, index, number of dimensions
static void find_select(const int64_t *index, const int64_t *how, int64_t *out_from)
{
    for (int64_t i = 0; i < how[2]; i++) {
        out_from[i] = i < how[0] ? index[i] : i == how[0] ? how[1] : index[i - 1];
    }
}

void kwt_places_select(kwt_places *places, uint32_t dim, int64_t index)
{
    int64_t sizes[KWT_PLACES_DIM] = {0};
    for (uint32_t i = 0; i + 1 < places->dim; i++) {
        sizes[i] = places->sizes[i < dim ? i : i + 1];
    }
    const int64_t how[] = {dim, index, places->dim};
    refill(places, sizes, places->dim - 1, find_select, how);
}

// how: number of dimensions, and where each of them goes
static void find_permute(const int64_t *index, const int64_t *how, int64_t *out_from)
{
    for (int64_t i = 0; i < how[0]; i++) {
        out_from[how[1 + i]] = index[i];
    }
}

void kwt_places_permute(kwt_places *places, const uint32_t *dims)
{
    int64_t sizes[KWT_PLACES_DIM] = {0};
    int64_t how[1 + KWT_PLACES_DIM] = {places->dim};
    for (uint32_t i = 0; i < places->dim; i++) {
        sizes[i] = places->sizes[dims[i]];
        how[1 + i] = dims[i];
    }
    refill(places, sizes, places->dim, find_permute, how);
}

void kwt_places_squeeze(kwt_places *places, uint32_t dim)
{
    if (places->sizes[dim] == 1) {
        kwt_places_select(places, dim, 0);
    }
}

// how: dimension, number of dimensions afterwards
static void find_unsqueeze(const int64_t *index, const int64_t *how, int64_t *out_from)
{
    for (int64_t i = 0; i + 1 < how[1]; i++) {
        out_from[i] = index[i < how[0] ? i : i + 1];
    }
}

void kwt_places_unsqueeze(kwt_places *places, uint32_t dim)
{
    int64_t sizes[KWT_PLACES_DIM] = {0};
    for (uint32_t i = 0; i <= places->dim; i++) {
        sizes[i] = i == dim ? 1 : places->sizes[i < dim ? i : i - 1];
    }
    const int64_t how[] = {dim, (int64_t)places->dim + 1};
    refill(places, sizes, places->dim + 1, find_unsqueeze, how);
}

// how: dimensions before, dimensions in front, and whether each has one index
static void find_expand(const int64_t *index, const int64_t *how, int64_t *out_from)
{
    for (int64_t i = 0; i < how[0]; i++) {
        out_from[i] = how[2 + i] == 1 ? 0 : index[how[1] + i];
    }
}

void kwt_places_expand(kwt_places *places, const int64_t *sizes, uint32_t dim)
{
    int64_t how[2 + KWT_PLACES_DIM] = {places->dim, (int64_t)dim - places->dim};
    for (uint32_t i = 0; i < places->dim; i++) {
        how[2 + i] = places->sizes[i] == 1;
    }
    refill(places, sizes, dim, find_expand, how);
}

bool kwt_places_equal(const kwt_places *a, const kwt_places *b)
{
    return a->dim == b->dim && memcmp(a->sizes, b->sizes, a->dim * sizeof a->sizes[0]) == 0 &&
           memcmp(a->at, b->at, (size_t)a->count * sizeof a->at[0]) == 0;
}

// A stride is what one more in its dimension adds, where there is one more.
bool kwt_places_have_strides(const kwt_places *places)
{
    static kwt_places again;
    int64_t strides[KWT_PLACES_DIM] = {0};
    int64_t distance = 1;
    if (places->count == 0) {
        return true;
    }
    for (uint32_t i = places->dim; i-- > 0;) {
        strides[i] = places->sizes[i] > 1 ? places->at[distance] - places->at[0] : 0;
        distance *= places->sizes[i];
        if (strides[i] < 0) {
            return false;
        }
    }
    kwt_places_of_strides(&again, places->sizes, strides, places->dim, places->at[0]);
    return kwt_places_equal(places, &again);
}

bool kwt_places_lie_in_order(const kwt_places *places, const uint8_t *order)
{
    static kwt_places sorted;
    uint32_t dims[KWT_PLACES_DIM];
    for (uint32_t i = 0; i < places->dim; i++) {
        dims[places->dim - 1 - i] = order[i];
    }
    sorted = *places;
    kwt_places_permute(&sorted, dims);
    for (int64_t i = 0; i < sorted.count; i++) {
        if (sorted.at[i] != sorted.at[0] + i) {
            return false;
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool kwt_places_are_dense(const kwt_places *places)
{
    static kwt_places sorted;
    sorted = *places;
    qsort(sorted.at, (size_t)sorted.count, sizeof sorted.at[0], compare);
    for (int64_t i = 0; i < sorted.count; i++) {
        if (sorted.at[i] != sorted.at[0] + i) {
            return false;
        }
    }
    return true;
}
