// Shapes: counts, strides of formats, flags and reach, against elements counted one by one.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <keyway/dtype.h>

#include "places.h"
#include "tensor/shape.h"

TestSuite(shape);

#define CASES 15000
#define HUGE_SIZE (INT64_C(1) << 62)

// A shape of few elements, such as views make; `sizes` of 0 and 1 and strides of 0 are frequent.
static uint32_t draw(uint64_t *state, int64_t *sizes, int64_t *strides)
{
    uint32_t dim = (uint32_t)kwt_random_below(state, 6);
    int64_t dense = 1;
    uint32_t order[6] = {0, 1, 2, 3, 4, 5};
    for (uint32_t i = 0; i < dim; i++) {
        uint32_t other = (uint32_t)kwt_random_below(state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    bool is_plain = kwt_random_below(state, 3) == 0;
    for (uint32_t i = dim; i-- > 0;) {
        uint32_t at = is_plain ? i : order[i];
        sizes[at] = kwt_random_below(state, 12) == 0 ? 0 : 1 + kwt_random_below(state, 3);
        strides[at] = dense;
        int64_t dice = kwt_random_below(state, 24);
        if (dice < 3) {
            strides[at] = kwt_random_below(state, 8);
        }
        dense *= dice == 3 ? 2 : sizes[at] > 0 ? sizes[at] : 1;
    }
    return dim;
}

static void print_case(uint64_t seed, const int64_t *sizes, const int64_t *strides, uint32_t dim)
{
    fprintf(stderr, "seed %" PRIu64 ":", seed);
    for (uint32_t i = 0; i < dim; i++) {
        fprintf(stderr, " %" PRId64 "@%" PRId64, sizes[i], strides[i]);
    }
    fprintf(stderr, "\n");
}

static bool has(uint16_t flags, unsigned flag)
{
    return (flags & flag) != 0;
}

Test(shape, flags_say_how_elements_lie, .timeout = 60)
{
    static kwt_places places;
    static const uint8_t last_2d[] = {1, 3, 2, 0};
    static const uint8_t last_3d[] = {1, 4, 3, 2, 0};
    static const uint8_t plain[][6] = {{0}, {0}, {1, 0}, {2, 1, 0}, {3, 2, 1, 0}, {4, 3, 2, 1, 0}};
    unsigned seen[6] = {0};
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        uint64_t state = seed;
        int64_t sizes[6];
        int64_t strides[6];
        uint32_t dim = draw(&state, sizes, strides);
        uint16_t flags = kwi_shape_flags(sizes, strides, dim);
        kwt_places_of_strides(&places, sizes, strides, dim, 7);
        bool is_contiguous = kwt_places_lie_in_order(&places, plain[dim]);
        bool is_last = dim == 4 && kwt_places_lie_in_order(&places, last_2d);
        bool is_last_3d = dim == 5 && kwt_places_lie_in_order(&places, last_3d);
        bool is_right = has(flags, KWI_TENSOR_CONTIGUOUS) == is_contiguous &&
                        has(flags, KWI_TENSOR_DENSE) == kwt_places_are_dense(&places);
        if (places.count > 0) { // without elements these say what strides were meant for
            is_right = is_right && has(flags, KWI_TENSOR_CHANNELS_LAST) == is_last &&
                       has(flags, KWI_TENSOR_CHANNELS_LAST_3D) == is_last_3d;
        }
        if (!is_right) {
            print_case(seed, sizes, strides, dim);
        }
        cr_assert(is_right, "flags %x", flags);
        cr_assert_eq(flags & ~KWI_SHAPE_FLAGS, 0);
        seen[0] += has(flags, KWI_TENSOR_CONTIGUOUS);
        seen[1] += has(flags, KWI_TENSOR_DENSE) && !is_contiguous;
        seen[2] += is_last && !is_contiguous && places.count > 0;
        seen[3] += is_last_3d && !is_contiguous && places.count > 0;
        seen[4] += !has(flags, KWI_TENSOR_DENSE);
        seen[5] += places.count == 0;
    }
    for (int i = 0; i < 6; i++) {
        cr_expect_gt(seen[i], 10, "case %d was met %u times", i, seen[i]);
    }
}

typedef struct like_row {
    uint32_t dim;
    int64_t sizes[5];
    int64_t strides[5];
    unsigned flags;
} like_row;

#define C KWI_TENSOR_CONTIGUOUS
#define D KWI_TENSOR_DENSE
#define L KWI_TENSOR_CHANNELS_LAST
#define L3 KWI_TENSOR_CHANNELS_LAST_3D
#define K KWI_TENSOR_LIKE_CHANNELS_LAST
#define K3 KWI_TENSOR_LIKE_CHANNELS_LAST_3D

// What PyTorch 1.13.1 says of the same shapes (TensorImpl, in libtorch).
static const like_row like_rows[] = {
    {4, {2, 3, 4, 5}, {60, 20, 5, 1}, C | D},
    {4, {2, 3, 4, 5}, {60, 1, 15, 3}, D | L | K},
    {4, {2, 3, 4, 5}, {120, 1, 30, 6}, K}, // a channel of two, left out
    {4, {2, 3, 2, 5}, {120, 1, 30, 3}, K}, // rows left out
    {4, {2, 3, 4, 5}, {60, 0, 15, 3}, 0},  // the channel repeated
    {4, {7, 1, 1, 1}, {1, 1, 1, 1}, C | D | L},
    {4, {7, 1, 1, 1}, {4, 4, 4, 4}, 0}, // cut out of rows
    {4, {1, 3, 1, 1}, {3, 1, 1, 1}, C | D | L},
    {4, {1, 3, 1, 1}, {3, 1, 3, 3}, C | D | L | K},
    {4, {1, 1, 4, 5}, {20, 20, 5, 1}, C | D | L},
    {4, {1, 1, 4, 5}, {20, 1, 5, 1}, C | D | L | K},
    {4, {2, 1, 4, 5}, {20, 1, 5, 1}, C | D | L | K},
    {4, {2, 0, 4, 5}, {0, 1, 0, 0}, C | D | L},
    {4, {0, 3, 4, 5}, {60, 1, 15, 3}, C | D | L},
    {4, {0, 3, 4, 5}, {60, 20, 5, 1}, C | D},
    {4, {1, 1, 1, 1}, {1, 1, 1, 1}, C | D | L},
    {5, {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}, C | D},
    {5, {2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, D | L3 | K3},
    {5, {2, 3, 2, 5, 6}, {360, 1, 90, 18, 3}, K3},
    {5, {2, 1, 4, 5, 6}, {120, 1, 30, 6, 1}, C | D | L3 | K3},
    {3, {3, 4, 5}, {1, 15, 3}, D},
    {2, {3, 4}, {1, 3}, D},
    {2, {3, 4}, {5, 1}, 0},
    {1, {3}, {2}, 0},
    {1, {1}, {2}, C | D},
    {1, {0}, {2}, C | D},
    {0, {0}, {0}, C | D},
};

Test(shape, formats_without_an_order_of_their_own_are_decided_as_in_the_original)
{
    for (size_t i = 0; i < sizeof like_rows / sizeof like_rows[0]; i++) {
        const like_row *row = &like_rows[i];
        unsigned flags = kwi_shape_flags(row->sizes, row->strides, row->dim);
        cr_expect_eq(flags, row->flags, "row %zu: %x, not %x", i, flags, row->flags);
    }
}

Test(shape, strides_too_large_to_multiply_are_like_no_format)
{
    const int64_t sizes[] = {1, 2, 2, 2};
    const int64_t strides[] = {INT64_MAX, HUGE_SIZE, HUGE_SIZE, INT64_MAX};
    cr_expect_eq(kwi_shape_flags(sizes, strides, 4), 0);
}

Test(shape, sixty_four_dimensions_are_counted)
{
    int64_t sizes[KW_TENSOR_DIM_MAX + 1];
    int64_t strides[KW_TENSOR_DIM_MAX];
    int64_t count = 0;
    for (int i = 0; i <= KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = i < 2 ? 1 : 2; // 2 to the power of 62
    }
    cr_assert(kwi_sizes_count(sizes, KW_TENSOR_DIM_MAX, &count));
    cr_expect_eq(count, HUGE_SIZE);
    cr_assert(kwi_strides_of_format(sizes, KW_TENSOR_DIM_MAX, KW_MEMORY_CONTIGUOUS, strides));
    cr_expect_eq(strides[0], HUGE_SIZE);
    cr_expect_eq(strides[63], 1);
    cr_expect_eq(kwi_shape_flags(sizes, strides, KW_TENSOR_DIM_MAX), C | D);
    strides[62] = 1;
    strides[63] = 2;
    cr_expect_eq(kwi_shape_flags(sizes, strides, KW_TENSOR_DIM_MAX), D);
    cr_expect_not(kwi_sizes_count(sizes, KW_TENSOR_DIM_MAX + 1, &count));
    sizes[1] = 2;
    cr_expect_not(kwi_sizes_count(sizes, KW_TENSOR_DIM_MAX, &count), "2 to the power of 63");
    cr_expect_eq(count, HUGE_SIZE, "an output is written on success only");
}

Test(shape, counts_that_do_not_fit_are_refused_in_every_order)
{
    const int64_t rows[][3] = {{HUGE_SIZE, 2, 1}, {HUGE_SIZE, 4, 0},         {0, HUGE_SIZE, 4},
                               {4, 0, HUGE_SIZE}, {INT64_MAX, INT64_MAX, 0}, {1, -1, 1},
                               {0, -5, 1},        {INT64_MIN, 1, 1}};
    int64_t count = 5;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_not(kwi_sizes_count(rows[i], 3, &count), "row %zu", i);
    }
    cr_expect_eq(count, 5);
    const int64_t most[] = {INT64_MAX, 1, 0};
    cr_expect(kwi_sizes_count(most, 2, &count) && count == INT64_MAX);
    cr_expect(kwi_sizes_count(most, 3, &count) && count == 0);
    cr_expect(kwi_sizes_count(NULL, 0, &count) && count == 1);
}

Test(shape, strides_of_a_format_have_the_flag_of_the_format)
{
    static const struct {
        uint8_t format;
        uint32_t dim;
        unsigned flag;
    } rows[] = {{KW_MEMORY_CONTIGUOUS, 4, C},
                {KW_MEMORY_PRESERVE, 5, C},
                {KW_MEMORY_CHANNELS_LAST, 4, L},
                {KW_MEMORY_CHANNELS_LAST_3D, 5, L3}};
    int64_t sizes[5];
    int64_t strides[5];
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t state = seed;
        for (int i = 0; i < 5; i++) {
            sizes[i] = kwt_random_below(&state, 4);
        }
        for (size_t i = 0; i < 4; i++) {
            cr_assert(kwi_strides_of_format(sizes, rows[i].dim, rows[i].format, strides));
            uint16_t flags = kwi_shape_flags(sizes, strides, rows[i].dim);
            cr_assert(has(flags, rows[i].flag), "seed %" PRIu64 ", row %zu", seed, i);
        }
    }
    cr_expect_not(kwi_strides_of_format(sizes, 3, KW_MEMORY_CHANNELS_LAST, strides));
    cr_expect_not(kwi_strides_of_format(sizes, 5, KW_MEMORY_CHANNELS_LAST, strides));
    cr_expect_not(kwi_strides_of_format(sizes, 4, KW_MEMORY_CHANNELS_LAST_3D, strides));
    cr_expect_not(kwi_strides_of_format(sizes, 4, 9, strides));
}

Test(shape, a_dense_copy_keeps_the_order_of_the_strides, .timeout = 60)
{
    static kwt_places places;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        uint64_t state = seed;
        int64_t sizes[6];
        int64_t strides[6];
        int64_t dense[6];
        uint32_t dim = draw(&state, sizes, strides);
        kwi_strides_densify(sizes, strides, dim, dense);
        kwt_places_of_strides(&places, sizes, dense, dim, 0);
        bool is_right = kwt_places_are_dense(&places);
        for (uint32_t a = 0; a < dim; a++) {
            for (uint32_t b = 0; b < dim; b++) {
                bool is_outer = strides[a] > strides[b] && strides[b] > 0;
                bool is_open = dim > 2; // a stride of 0 in between leaves the order open
                is_right =
                    is_right && (!is_outer || is_open || dense[a] > dense[b] || sizes[b] < 2);
            }
        }
        if (!is_right) {
            print_case(seed, sizes, strides, dim);
        }
        cr_assert(is_right);
    }
}

typedef struct dense_row {
    uint32_t dim;
    int64_t sizes[4];
    int64_t strides[4];
    int64_t dense[4];
} dense_row;

// The strides of empty_like(), which PyTorch 1.13.1 gives. Where strides are equal or 0, they
// depend on the order of comparisons.
static const dense_row dense_rows[] = {
    {3, {2, 3, 4}, {0, 4, 1}, {12, 4, 1}},          {3, {2, 3, 4}, {5, 0, 10}, {1, 2, 6}},
    {3, {4, 3, 2}, {1, 1, 1}, {6, 2, 1}},           {3, {2, 3, 4}, {1, 1, 1}, {1, 2, 6}},
    {4, {2, 2, 3, 3}, {3, 3, 0, 1}, {18, 9, 3, 1}}, {4, {3, 2, 2, 3}, {2, 0, 2, 7}, {2, 6, 1, 12}},
};

Test(shape, a_dense_copy_where_the_order_is_open_is_the_original_s)
{
    for (size_t i = 0; i < sizeof dense_rows / sizeof dense_rows[0]; i++) {
        const dense_row *row = &dense_rows[i];
        int64_t dense[4];
        kwi_strides_densify(row->sizes, row->strides, row->dim, dense);
        cr_expect_arr_eq(dense, row->dense, row->dim * sizeof dense[0], "row %zu: %d %d %d %d", i,
                         (int)dense[0], (int)dense[1], (int)dense[2],
                         row->dim > 3 ? (int)dense[3] : 0);
    }
}

Test(shape, reach_is_one_more_than_the_last_element, .timeout = 60)
{
    static kwt_places places;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        uint64_t state = seed;
        int64_t sizes[6];
        int64_t strides[6];
        uint32_t dim = draw(&state, sizes, strides);
        int64_t offset = kwt_random_below(&state, 50);
        int64_t last = -1;
        int64_t reach = -1;
        size_t bytes = 1;
        kwt_places_of_strides(&places, sizes, strides, dim, offset);
        for (int64_t i = 0; i < places.count; i++) {
            last = places.at[i] > last ? places.at[i] : last;
        }
        cr_assert(kwi_shape_reach(sizes, strides, dim, offset, &reach));
        cr_assert_eq(reach, last + 1, "seed %" PRIu64, seed);
        cr_assert(kwi_shape_reach_bytes(sizes, strides, dim, offset, 16, &bytes));
        cr_assert_eq(bytes, 16 * (size_t)(last + 1));
    }
}

Test(shape, reach_that_does_not_fit_is_refused)
{
    const int64_t two = 2;
    const int64_t sizes[] = {2, 2};
    const int64_t strides[] = {HUGE_SIZE, HUGE_SIZE};
    const int64_t huge[] = {HUGE_SIZE, 1};
    const int64_t none[] = {0, HUGE_SIZE};
    const int64_t most = INT64_MAX;
    int64_t reach = 5;
    size_t bytes = 5;
    cr_expect_not(kwi_shape_reach(sizes, strides, 2, 0, &reach), "2^63 and 1");
    cr_expect_not(kwi_shape_reach(huge, sizes, 1, HUGE_SIZE, &reach), "sums of products");
    cr_expect_not(kwi_shape_reach(&two, &most, 1, 0, &reach));
    cr_expect_not(kwi_shape_reach(huge, strides, 1, 0, &reach));
    cr_expect_not(kwi_shape_reach(NULL, NULL, 0, INT64_MAX, &reach));
    cr_expect_eq(reach, 5);
    cr_expect(kwi_shape_reach(none, strides, 2, 7, &reach) && reach == 0);
    cr_expect(kwi_shape_reach(huge, &two, 1, 1, &reach) == false);
    const int64_t one = 1;
    cr_expect(kwi_shape_reach(huge, &one, 1, HUGE_SIZE - 1, &reach) && reach == INT64_MAX);
    cr_expect_not(kwi_shape_reach_bytes(huge, &one, 1, 0, 16, &bytes), "2^66 bytes");
    cr_expect_eq(bytes, 5);
    cr_expect(kwi_shape_reach_bytes(huge, &one, 1, 0, 2, &bytes) && bytes == (size_t)1 << 63);
}
