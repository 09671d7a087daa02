// Places: which element lies where, written out one by one. What views are compared with.
//
// A view function is defined by which element each index names. Here that definition is carried out
// on lists of elements; nothing is known of strides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWT_PLACES_H
#define KWT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#define KWT_PLACES_DIM 10
#define KWT_PLACES_COUNT 8192

// The element of each index, the last dimension fastest.
typedef struct kwt_places {
    uint32_t dim;
    int64_t count;
    int64_t sizes[KWT_PLACES_DIM];
    int64_t at[KWT_PLACES_COUNT];
} kwt_places;

// A generator of numbers; the same seed gives the same numbers.
uint64_t kwt_random(uint64_t *state);
int64_t kwt_random_below(uint64_t *state, int64_t limit);

// Sizes whose product fits.
void kwt_places_set_sizes(kwt_places *places, const int64_t *sizes, uint32_t dim);

// The places that sizes, strides and offset name.
void kwt_places_of_strides(kwt_places *places, const int64_t *sizes, const int64_t *strides,
                           uint32_t dim, int64_t offset);

// Each takes valid arguments, dimensions from the front.
void kwt_places_slice(kwt_places *places, uint32_t dim, int64_t start, int64_t length,
                      int64_t step);
void kwt_places_select(kwt_places *places, uint32_t dim, int64_t index);
void kwt_places_permute(kwt_places *places, const uint32_t *dims);
void kwt_places_squeeze(kwt_places *places, uint32_t dim);
void kwt_places_unsqueeze(kwt_places *places, uint32_t dim);
void kwt_places_expand(kwt_places *places, const int64_t *sizes, uint32_t dim);

bool kwt_places_equal(const kwt_places *a, const kwt_places *b);

// Whether there are strides, none of them negative, that name just these places.
bool kwt_places_have_strides(const kwt_places *places);

// Whether the places are 0, 1, 2, ... from the lowest on, in this order of dimensions (the
// innermost first), or in any order.
bool kwt_places_lie_in_order(const kwt_places *places, const uint8_t *order);
bool kwt_places_are_dense(const kwt_places *places);

#endif // KWT_PLACES_H
