// Shapes of views: random chains of view functions, against the definition carried out on lists of
// elements; and what each of them refuses.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "places.h"
#include "tensor/shape_view.h"

TestSuite(shape_view);

#define CHAINS 4000
#define LINKS 8
#define HUGE_SIZE (INT64_C(1) << 62)

// A shape, and the same as a list.
typedef struct chain {
    uint64_t state;
    kwi_view_shape shape;
    kwt_places places;
    kwt_places again;
    char story[2048]; // of calls, for a failure
    unsigned met[9];
} chain;

static void tell(chain *c, const char *verb, int64_t a, int64_t b, int64_t n)
{
    size_t length = strlen(c->story);
    (void)snprintf(c->story + length, sizeof c->story - length,
                   " %s(%" PRId64 ", %" PRId64 ", %" PRId64 ")", verb, a, b, n);
}

static int64_t below(chain *c, int64_t limit)
{
    return kwt_random_below(&c->state, limit);
}

// Strided, with an offset; sometimes dense, sometimes with gaps or repeated elements.
static void begin(chain *c, uint64_t seed)
{
    c->state = seed;
    c->story[0] = '\0';
    c->shape.dim = (uint32_t)below(c, 5);
    c->shape.offset = below(c, 100);
    int64_t stride = 1;
    for (uint32_t i = c->shape.dim; i-- > 0;) {
        int64_t dice = below(c, 12);
        c->shape.sizes[i] = dice == 0 ? 0 : dice < 3 ? 1 : 1 + below(c, 6);
        c->shape.strides[i] = below(c, 8) == 0 ? below(c, 9) : stride;
        stride *= c->shape.sizes[i] > 0 ? c->shape.sizes[i] : 1;
    }
    kwt_places_of_strides(&c->places, c->shape.sizes, c->shape.strides, c->shape.dim,
                          c->shape.offset);
    tell(c, "begin", c->shape.dim, c->shape.offset, (int64_t)seed);
}

// The same dimension from either end.
static int64_t either_end(chain *c, uint32_t dim, uint32_t count)
{
    return below(c, 2) == 0 ? (int64_t)dim : (int64_t)dim - (int64_t)count;
}

static void link_slice(chain *c)
{
    uint32_t dim = (uint32_t)below(c, c->shape.dim);
    int64_t size = c->shape.sizes[dim];
    int64_t start = below(c, size + 3) - 1; // -1 to size + 1
    int64_t end = below(c, 4) == 0 ? INT64_MAX : below(c, 2 * size + 3) - size - 1;
    int64_t step = below(c, 8) == 0 ? HUGE_SIZE : 1 + below(c, 3);
    int64_t first = start < 0 ? start + size : start;
    int64_t last = end < 0 ? end + size : end;
    first = first < 0 ? 0 : first > size ? size : first;
    last = last < 0 ? 0 : last > size ? size : last;
    tell(c, "slice", dim, start, end);
    cr_assert_eq(
        kwi_shape_slice(&c->shape, either_end(c, dim, c->shape.dim), start, end, step, NULL), KW_OK,
        "%s", c->story);
    kwt_places_slice(&c->places, dim, first, last > first ? last - first : 0, step);
}

static void link_narrow(chain *c)
{
    uint32_t dim = (uint32_t)below(c, c->shape.dim);
    int64_t size = c->shape.sizes[dim];
    int64_t start = below(c, size + 1);
    int64_t length = below(c, size - start + 1);
    int64_t given = start < size && below(c, 2) == 0 ? start - size : start;
    tell(c, "narrow", dim, given, length);
    cr_assert_eq(kwi_shape_narrow(&c->shape, either_end(c, dim, c->shape.dim), given, length, NULL),
                 KW_OK, "%s", c->story);
    kwt_places_slice(&c->places, dim, start, length, 1);
}

static void link_select(chain *c)
{
    uint32_t dim = (uint32_t)below(c, c->shape.dim);
    int64_t size = c->shape.sizes[dim];
    if (size == 0) {
        cr_assert_eq(kwi_shape_select(&c->shape, dim, 0, NULL), KW_INVALID_ARGUMENT);
        return;
    }
    int64_t index = below(c, size);
    int64_t given = below(c, 2) == 0 ? index : index - size;
    tell(c, "select", dim, given, 0);
    cr_assert_eq(kwi_shape_select(&c->shape, either_end(c, dim, c->shape.dim), given, NULL), KW_OK,
                 "%s", c->story);
    kwt_places_select(&c->places, dim, index);
}

static void link_permute(chain *c)
{
    uint32_t dims[KWT_PLACES_DIM] = {0};
    int64_t given[KWT_PLACES_DIM] = {0};
    for (uint32_t i = 0; i < c->shape.dim; i++) {
        uint32_t other = (uint32_t)below(c, i + 1);
        dims[i] = dims[other];
        dims[other] = i;
    }
    for (uint32_t i = 0; i < c->shape.dim; i++) {
        given[i] = either_end(c, dims[i], c->shape.dim);
    }
    tell(c, "permute", c->shape.dim > 0 ? given[0] : 0, 0, 0);
    cr_assert_eq(kwi_shape_permute(&c->shape, (kw_int_list){given, c->shape.dim}, NULL), KW_OK);
    kwt_places_permute(&c->places, dims);
}

static void link_transpose(chain *c)
{
    uint32_t dims[KWT_PLACES_DIM] = {0};
    uint32_t a = (uint32_t)below(c, c->shape.dim);
    uint32_t b = (uint32_t)below(c, c->shape.dim);
    for (uint32_t i = 0; i < c->shape.dim; i++) {
        dims[i] = i == a ? b : i == b ? a : i;
    }
    tell(c, "transpose", a, b, 0);
    cr_assert_eq(kwi_shape_transpose(&c->shape, either_end(c, a, c->shape.dim),
                                     either_end(c, b, c->shape.dim), NULL),
                 KW_OK);
    kwt_places_permute(&c->places, dims);
}

static void link_squeeze(chain *c)
{
    uint32_t dim = (uint32_t)below(c, c->shape.dim);
    tell(c, "squeeze", dim, 0, 0);
    cr_assert_eq(kwi_shape_squeeze(&c->shape, either_end(c, dim, c->shape.dim), NULL), KW_OK);
    kwt_places_squeeze(&c->places, dim);
}

static void link_unsqueeze(chain *c)
{
    uint32_t dim = (uint32_t)below(c, (int64_t)c->shape.dim + 1);
    tell(c, "unsqueeze", dim, 0, 0);
    cr_assert_eq(kwi_shape_unsqueeze(&c->shape, either_end(c, dim, c->shape.dim + 1), NULL), KW_OK);
    kwt_places_unsqueeze(&c->places, dim);
}

static void link_expand(chain *c)
{
    uint32_t front = (uint32_t)below(c, 3);
    uint32_t dim = c->shape.dim + front;
    int64_t sizes[KWT_PLACES_DIM] = {0};
    int64_t given[KWT_PLACES_DIM] = {0};
    for (uint32_t i = 0; i < dim; i++) {
        sizes[i] = i < front ? 1 : c->shape.sizes[i - front];
        bool is_kept = sizes[i] != 1 || below(c, 3) == 0;
        sizes[i] = is_kept ? sizes[i] : below(c, 3);
        given[i] = i >= front && is_kept && below(c, 2) == 0 ? -1 : sizes[i];
    }
    tell(c, "expand", front, dim, dim > 0 ? given[0] : 0);
    cr_assert_eq(kwi_shape_expand(&c->shape, (kw_int_list){given, dim}, NULL), KW_OK);
    kwt_places_expand(&c->places, sizes, dim);
}

// Splits the count into random sizes, one of which may be left open.
static uint32_t draw_sizes(chain *c, int64_t count, int64_t *sizes)
{
    uint32_t dim = 0;
    while (dim < 5 && (count != 1 || below(c, 3) > 0)) {
        int64_t size = count == 0 ? below(c, 3) : 1 + below(c, count < 7 ? count : 7);
        if (count > 0 && count % size != 0) {
            continue;
        }
        sizes[dim++] = size;
        count = count > 0 ? count / size : count;
    }
    if (count != 1) {
        sizes[dim++] = count;
    }
    return dim;
}

static void link_view(chain *c)
{
    int64_t given[KWT_PLACES_DIM] = {0};
    int64_t sizes[KWT_PLACES_DIM] = {0};
    uint32_t dim = draw_sizes(c, c->places.count, sizes);
    memcpy(given, sizes, sizeof given);
    if (dim > 0 && c->places.count > 0 && below(c, 2) == 0) {
        given[below(c, dim)] = -1;
    }
    tell(c, "view", dim, dim > 0 ? given[0] : 0, dim > 1 ? given[1] : 0);
    int64_t found[KW_TENSOR_DIM_MAX];
    cr_assert_eq(kwi_sizes_infer(&c->shape, (kw_int_list){given, dim}, found, NULL), KW_OK, "%s",
                 c->story);
    cr_assert_arr_eq(found, sizes, dim * sizeof *sizes, "%s", c->story);
    c->again = c->places;
    kwt_places_set_sizes(&c->again, sizes, dim);
    bool is_possible = kwt_places_have_strides(&c->again);
    cr_assert_eq(kwi_shape_view(&c->shape, sizes, dim), is_possible, "%s", c->story);
    if (is_possible) {
        c->places = c->again;
    }
    c->met[is_possible ? 0 : 8]++;
}

static void draw_link(chain *c)
{
    static void (*const links[])(chain *) = {link_view,    link_unsqueeze, link_expand,
                                             link_permute, link_slice,     link_narrow,
                                             link_select,  link_transpose, link_squeeze};
    bool is_full = c->shape.dim > 6 || c->places.count > KWT_PLACES_COUNT / 16;
    uint32_t which = (uint32_t)below(c, c->shape.dim > 0 ? 9 : 4);
    if (is_full && which < 3) {
        which = 6; // select: fewer of everything
    }
    c->met[which > 0 ? which - 1 : 0]++;
    links[which](c);
}

Test(shape_view, chains_name_the_elements_of_their_definition, .timeout = 120)
{
    static chain c;
    for (uint64_t seed = 1; seed <= CHAINS; seed++) {
        begin(&c, seed);
        for (int i = 0; i < LINKS; i++) {
            draw_link(&c);
            kwt_places_of_strides(&c.again, c.shape.sizes, c.shape.strides, c.shape.dim,
                                  c.shape.offset);
            cr_assert(kwt_places_equal(&c.places, &c.again), "seed %" PRIu64 ":%s", seed, c.story);
        }
    }
    for (int i = 0; i < 9; i++) {
        cr_expect_gt(c.met[i], CHAINS / 40, "link %d was met %u times", i, c.met[i]);
    }
}

static kwi_view_shape plain(uint32_t dim, const int64_t *sizes)
{
    kwi_view_shape shape = {.dim = dim};
    memcpy(shape.sizes, sizes, dim * sizeof *sizes);
    cr_assert(kwi_strides_of_format(sizes, dim, 0, shape.strides));
    return shape;
}

#define CHECK(call, expected, ...)                                                                 \
    do {                                                                                           \
        static const char *const words[] = {__VA_ARGS__};                                          \
        kw_error err = KW_ERROR_INIT;                                                              \
        kwi_view_shape shape = plain(3, (const int64_t[]){2, 3, 4});                               \
        cr_expect_eq(call, expected, "%s", #call);                                                 \
        for (size_t word = 0; word < sizeof words / sizeof words[0]; word++) {                     \
            cr_expect(strstr(err.text, words[word]) != NULL, "%s: %s", #call, err.text);           \
        }                                                                                          \
    } while (0)
#define REFUSED(call, ...) CHECK(call, KW_INVALID_ARGUMENT, __VA_ARGS__)

#define LIST(...)                                                                                  \
    (kw_int_list)                                                                                  \
    {                                                                                              \
        (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)         \
    }

Test(shape_view, what_does_not_fit_is_refused_by_name)
{
    REFUSED(kwi_shape_slice(&shape, 3, 0, 1, 1, &err), "dimension 3", "-3 to 2");
    REFUSED(kwi_shape_slice(&shape, -4, 0, 1, 1, &err), "dimension -4");
    REFUSED(kwi_shape_slice(&shape, INT64_MIN, 0, 1, 1, &err), "dimension -9223372036854775808");
    REFUSED(kwi_shape_slice(&shape, 1, 0, 1, 0, &err), "dimension 1", "step 0");
    REFUSED(kwi_shape_slice(&shape, 1, 0, 1, -1, &err), "step -1");
    REFUSED(kwi_shape_select(&shape, 2, 4, &err), "element 4", "dimension 2", "size is 4");
    REFUSED(kwi_shape_select(&shape, 2, -5, &err), "element -5");
    REFUSED(kwi_shape_select(&shape, 2, INT64_MAX, &err), "9223372036854775807");
    REFUSED(kwi_shape_narrow(&shape, 1, 2, 2, &err), "2 elements from 2", "dimension 1",
            "size is 3");
    REFUSED(kwi_shape_narrow(&shape, 1, 0, -1, &err), "-1 elements");
    REFUSED(kwi_shape_narrow(&shape, 1, 4, 0, &err), "from 4");
    REFUSED(kwi_shape_narrow(&shape, 1, -4, 0, &err), "from -4");
    REFUSED(kwi_shape_narrow(&shape, 1, 1, INT64_MAX, &err), "from 1");
    REFUSED(kwi_shape_narrow(&shape, 1, INT64_MIN, 1, &err), "from -9223372036854775808");
    REFUSED(kwi_shape_transpose(&shape, 0, 3, &err), "dimension 3");
    REFUSED(kwi_shape_permute(&shape, LIST(0, 1), &err), "2 dimensions of 3");
    REFUSED(kwi_shape_permute(&shape, LIST(0, 1, -2), &err), "dimension 1 twice");
    REFUSED(kwi_shape_permute(&shape, LIST(0, 1, 3), &err), "dimension 3");
    REFUSED(kwi_shape_squeeze(&shape, 3, &err), "dimension 3");
    REFUSED(kwi_shape_unsqueeze(&shape, 4, &err), "dimension 4", "-4 to 3");
    REFUSED(kwi_shape_expand(&shape, LIST(3, 4), &err), "2 sizes", "3 dimensions");
    REFUSED(kwi_shape_expand(&shape, LIST(2, 3, 5), &err), "dimension 2", "size 4", "to 5");
    REFUSED(kwi_shape_expand(&shape, LIST(-1, 2, 3, 4), &err), "dimension 0", "-1");
    REFUSED(kwi_shape_expand(&shape, LIST(2, -2, 4), &err), "dimension 1", "-2");
    REFUSED(kwi_shape_expand(&shape, LIST(HUGE_SIZE, 2, 3, 4), &err), "63 bits",
            "[4611686018427387904, 2, 3, 4]");
    REFUSED(kwi_shape_expand(&shape, ((kw_int_list){NULL, 65}), &err), "65 dimensions", "64");
    int64_t found[KW_TENSOR_DIM_MAX];
    REFUSED(kwi_sizes_infer(&shape, LIST(5, 5), found, &err), "[5, 5]", "24 elements");
    REFUSED(kwi_sizes_infer(&shape, LIST(5, -1), found, &err), "[5, -1]", "24 elements");
    REFUSED(kwi_sizes_infer(&shape, LIST(-1, 2, -1), found, &err), "dimensions 0 and 2");
    REFUSED(kwi_sizes_infer(&shape, LIST(-2, 12), found, &err), "dimension 0", "-2");
    REFUSED(kwi_sizes_infer(&shape, LIST(0, -1), found, &err), "24 elements");
    REFUSED(kwi_sizes_infer(&shape, LIST(HUGE_SIZE, 4), found, &err), "63 bits");
    REFUSED(kwi_sizes_infer(&shape, ((kw_int_list){NULL, 65}), found, &err), "65 dimensions");
}

Test(shape_view, tensors_without_dimensions_have_few_views)
{
    const kwi_view_shape scalar = {.offset = 3};
    kwi_view_shape shape = scalar;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_shape_slice(&shape, 0, 0, 1, 1, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "the tensor has none"));
    cr_expect_eq(kwi_shape_select(&shape, -1, 0, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kwi_shape_narrow(&shape, 0, 0, 0, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kwi_shape_transpose(&shape, 0, -1, NULL), KW_OK);
    cr_expect_eq(kwi_shape_transpose(&shape, 0, 1, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kwi_shape_squeeze(&shape, -1, NULL), KW_OK);
    cr_expect_eq(kwi_shape_permute(&shape, (kw_int_list){NULL, 0}, NULL), KW_OK);
    cr_expect_eq(kwi_shape_expand(&shape, (kw_int_list){NULL, 0}, NULL), KW_OK);
    cr_expect(kwi_shape_view(&shape, (const int64_t[]){1, 1}, 2));
    cr_expect_eq(shape.dim, 2);
    shape = scalar;
    cr_expect_eq(kwi_shape_expand(&shape, LIST(1, 3), NULL), KW_OK);
    cr_expect_eq(shape.strides[0], 0, "as in the original, also for a size of 1");
    shape = scalar;
    cr_expect_eq(kwi_shape_unsqueeze(&shape, -1, NULL), KW_OK);
    cr_expect_eq(shape.dim, 1);
    cr_expect_eq(shape.offset, 3);
}

Test(shape_view, tensors_without_elements_are_viewed)
{
    kwi_view_shape shape = plain(3, (const int64_t[]){2, 0, 4});
    int64_t found[KW_TENSOR_DIM_MAX];
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_sizes_infer(&shape, LIST(0, -1), found, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "can be any"), "%s", err.text);
    cr_expect_eq(kwi_sizes_infer(&shape, LIST(3, -1), found, NULL), KW_OK);
    cr_expect_eq(found[1], 0);
    cr_expect_eq(kwi_sizes_infer(&shape, LIST(0, HUGE_SIZE), found, NULL), KW_OK);
    cr_expect(kwi_shape_view(&shape, found, 2));
    cr_expect_eq(shape.strides[0], HUGE_SIZE);
    const int64_t before[] = {5, 7};
    memcpy(shape.strides, before, sizeof before);
    cr_expect(kwi_shape_view(&shape, found, 2), "the same sizes");
    cr_expect_arr_eq(shape.strides, before, sizeof before, "keep their strides");
}

Test(shape_view, offsets_and_strides_that_do_not_fit_are_refused)
{
    kw_error err = KW_ERROR_INIT;
    // Without elements any strides and offset are within a storage.
    const kwi_view_shape far = {
        .dim = 2, .offset = HUGE_SIZE, .sizes = {5, 0}, .strides = {HUGE_SIZE, 1}};
    kwi_view_shape shape = far;
    cr_expect_eq(kwi_shape_select(&shape, 0, 1, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "63 bits"));
    shape = far;
    cr_expect_eq(kwi_shape_select(&shape, 0, 4, NULL), KW_INVALID_ARGUMENT);
    shape = far;
    cr_expect_eq(kwi_shape_slice(&shape, 0, 1, 3, 1, NULL), KW_INVALID_ARGUMENT);
    shape = far;
    cr_expect_eq(kwi_shape_narrow(&shape, 0, 2, 1, NULL), KW_INVALID_ARGUMENT);
    shape = far;
    cr_expect_eq(kwi_shape_slice(&shape, 0, 0, 3, 2, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "step of 2"), "%s", err.text);
    shape = far;
    cr_expect_eq(kwi_shape_slice(&shape, 0, 0, 3, 4, NULL), KW_OK, "one element has no step");
    cr_expect_eq(shape.sizes[0], 1);
    shape = far;
    cr_expect_eq(kwi_shape_unsqueeze(&shape, 0, NULL), KW_OK);
    cr_expect_eq(shape.strides[0], 1, "the stride of one element may be any");
}

Test(shape_view, sixty_four_dimensions_are_the_most)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    for (int i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = i < 6 ? 2 : 1;
    }
    kwi_view_shape shape = plain(KW_TENSOR_DIM_MAX, sizes);
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_shape_unsqueeze(&shape, 0, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "64 dimensions"));
    int64_t order[KW_TENSOR_DIM_MAX];
    for (int i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        order[i] = KW_TENSOR_DIM_MAX - 1 - i;
    }
    cr_expect_eq(kwi_shape_permute(&shape, (kw_int_list){order, KW_TENSOR_DIM_MAX}, NULL), KW_OK);
    cr_expect_eq(shape.sizes[63], 2);
    cr_expect_eq(shape.strides[63], 32);
    order[63] = order[62];
    cr_expect_eq(kwi_shape_permute(&shape, (kw_int_list){order, KW_TENSOR_DIM_MAX}, NULL),
                 KW_INVALID_ARGUMENT);
    shape = plain(KW_TENSOR_DIM_MAX, sizes);
    cr_expect(kwi_shape_view(&shape, (const int64_t[]){64}, 1));
    cr_expect_eq(shape.dim, 1);
    cr_expect(kwi_shape_view(&shape, sizes, KW_TENSOR_DIM_MAX));
    cr_expect_eq(shape.strides[0], 32);
    order[0] = 65;
    cr_expect_eq(kwi_sizes_infer(&shape, (kw_int_list){order, 65}, order, NULL),
                 KW_INVALID_ARGUMENT);
}

static kw_status as_strided(kwi_view_shape *shape, kw_int_list sizes, kw_int_list strides,
                            int64_t offset, size_t element_bytes, size_t storage_bytes,
                            kw_error *err)
{
    kw_status status = kwi_shape_set(shape, sizes, strides, offset, err);
    return status == KW_OK ? kwi_shape_check_reach(shape, element_bytes, storage_bytes, err)
                           : status;
}

Test(shape_view, as_strided_stays_within_the_storage)
{
    kwi_view_shape shape = {0};
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(as_strided(&shape, LIST(2, 3), LIST(4, 1), 1, 4, 32, NULL), KW_OK);
    cr_expect_eq(shape.dim, 2);
    cr_expect_eq(shape.offset, 1);
    cr_expect_eq(as_strided(&shape, LIST(2, 3), LIST(4, 1), 1, 4, 31, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "the sizes [2, 3] with the strides [4, 1] from element 1 on need 32 "
                               "bytes; the storage has 31");
    cr_expect_eq(as_strided(&shape, LIST(2, 0), LIST(HUGE_SIZE, 5), HUGE_SIZE, 4, 0, NULL), KW_OK,
                 "no element lies anywhere");
    cr_expect_eq(as_strided(&shape, LIST(3, 2), LIST(HUGE_SIZE, 1), 0, 1, SIZE_MAX, &err),
                 KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "63 bits"));
    cr_expect_eq(as_strided(&shape, LIST(2, 2), LIST(1), 0, 1, 9, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "there are 2 sizes and 1 strides");
    cr_expect_eq(as_strided(&shape, LIST(2), LIST(-1), 1, 1, 9, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "stride -1"));
    cr_expect_eq(as_strided(&shape, LIST(-2), LIST(1), 0, 1, 9, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "size -2"));
    cr_expect_eq(as_strided(&shape, LIST(2), LIST(1), -1, 1, 9, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "the offset is -1, which is negative");
}

Test(shape_view, long_lists_are_cut_in_texts)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    kwi_view_shape shape = {0};
    kw_error err = KW_ERROR_INIT;
    for (int i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = i == 0 ? 1 : 1000000;
    }
    const kw_int_list list = {sizes, KW_TENSOR_DIM_MAX};
    cr_expect_eq(kwi_shape_expand(&shape, list, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "[1, 1000000, 1000000"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "1000000, ...]"), "%s", err.text);
}
