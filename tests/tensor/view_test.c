// Views: tensors over the storage of another, and copies of them, read element by element.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include <keyway/local.h>

#include "base/memory.h"
#include "elements.h"

TestSuite(view);

#define CHAINS 400
#define LINKS 5
#define ELEMENTS 360

// What is alive before a test, and has to be after it.
typedef struct alive {
    uint64_t bytes;
    kw_tensor_statistics figures;
} alive;

static alive count_alive(void)
{
    return (alive){kwi_memory_bytes(), kwt_figures()};
}

static void expect_alive(alive before)
{
    kw_tensor_statistics figures = kwt_figures();
    cr_expect_eq(kwi_memory_bytes(), before.bytes);
    cr_expect_eq(figures.tensor_count, before.figures.tensor_count);
    cr_expect_eq(figures.storage_count, before.figures.storage_count);
    cr_expect_eq(figures.extra_count, before.figures.extra_count);
}

// Puts `next` in the place of the tensor.
static void step(kw_tensor **tensor, kw_tensor *next)
{
    kw_tensor_release(*tensor);
    *tensor = next;
}

static void link_one(kw_tensor **tensor, kwt_places *places, uint64_t *state)
{
    uint32_t dim = kw_tensor_dim(*tensor);
    int64_t which = kwt_random_below(state, dim > 0 ? 8 : 2);
    int64_t at = kwt_random_below(state, dim > 0 ? dim : 1);
    kw_tensor *next = NULL;
    if (which == 0 || (which == 1 && dim > 5)) {
        KWT_OK(kw_tensor_alias(*tensor, &next, NULL));
    } else if (which == 1) {
        KWT_OK(kw_tensor_unsqueeze(*tensor, at, &next, NULL));
        kwt_places_unsqueeze(places, (uint32_t)at);
    } else if (which == 2 && places->sizes[at] > 1) {
        int64_t index = kwt_random_below(state, places->sizes[at]);
        KWT_OK(kw_tensor_select(*tensor, at, index, &next, NULL));
        kwt_places_select(places, (uint32_t)at, index);
    } else if (which == 3) {
        int64_t start = kwt_random_below(state, places->sizes[at] + 1);
        int64_t length = places->sizes[at] - start;
        KWT_OK(kw_tensor_slice(*tensor, at, start, KW_SLICE_END, 2, &next, NULL));
        kwt_places_slice(places, (uint32_t)at, start, length, 2);
    } else if (which == 6) {
        int64_t length = kwt_random_below(state, places->sizes[at] + 1);
        KWT_OK(kw_tensor_narrow(*tensor, at, places->sizes[at] - length, length, &next, NULL));
        kwt_places_slice(places, (uint32_t)at, places->sizes[at] - length, length, 1);
    } else if (which == 7) {
        KWT_OK(kw_tensor_squeeze(*tensor, at, &next, NULL));
        kwt_places_squeeze(places, (uint32_t)at);
    } else if (which == 4) {
        uint32_t dims[KWT_PLACES_DIM];
        for (uint32_t i = 0; i < dim; i++) {
            dims[i] = i == 0 ? (uint32_t)at : i == (uint32_t)at ? 0 : i;
        }
        KWT_OK(kw_tensor_transpose(*tensor, 0, at, &next, NULL));
        kwt_places_permute(places, dims);
    } else if (places->count > 0 && places->count < KWT_PLACES_COUNT / 2 && dim < 6) {
        int64_t sizes[KWT_PLACES_DIM] = {2};
        memcpy(sizes + 1, places->sizes, dim * sizeof sizes[0]);
        KWT_OK(kw_tensor_expand(*tensor, (kw_int_list){sizes, dim + 1}, &next, NULL));
        kwt_places_expand(places, sizes, dim + 1);
    } else {
        return;
    }
    step(tensor, next);
}

static void begin(kw_tensor **tensor, kwt_places *places, uint64_t *state)
{
    static const int64_t shapes[][4] = {{3, 4, 5, 6}, {360, 1, 1, 1}, {2, 2, 9, 10}, {1, 8, 45, 1}};
    const int64_t *sizes = shapes[kwt_random_below(state, 4)];
    kw_tensor *next = NULL;
    *tensor = kwt_numbered(ELEMENTS);
    KWT_OK(kw_tensor_view(*tensor, (kw_int_list){sizes, 4}, &next, NULL));
    step(tensor, next);
    kwt_read(*tensor, places);
}

Test(view, chains_read_the_elements_of_their_definition, .timeout = 120)
{
    static kwt_places places;
    static kwt_places read;
    alive before = count_alive();
    for (uint64_t seed = 1; seed <= CHAINS; seed++) {
        uint64_t state = seed;
        kw_tensor *tensor = NULL;
        begin(&tensor, &places, &state);
        for (int i = 0; i < LINKS; i++) {
            link_one(&tensor, &places, &state);
            kwt_read(tensor, &read);
            cr_assert(kwt_places_equal(&places, &read), "seed %" PRIu64 ", link %d", seed, i);
        }
        kw_tensor *copy = NULL;
        uint8_t format =
            kwt_random_below(&state, 2) == 0 ? KW_MEMORY_CONTIGUOUS : KW_MEMORY_PRESERVE;
        KWT_OK(kw_tensor_clone(tensor, format, &copy, NULL));
        kwt_read(copy, &read);
        cr_assert(kwt_places_equal(&places, &read), "clone, seed %" PRIu64, seed);
        cr_assert(kw_tensor_is_non_overlapping_and_dense(copy));
        cr_assert(format == KW_MEMORY_PRESERVE || kw_tensor_is_contiguous(copy));
        cr_assert_neq(kw_tensor_storage(copy), kw_tensor_storage(tensor));
        kw_tensor_release(copy);
        KWT_OK(kw_tensor_reshape(tensor, KWT_LIST(-1), &copy, NULL));
        kwt_read(copy, &read);
        cr_assert_arr_eq(read.at, places.at, (size_t)places.count * sizeof places.at[0]);
        kw_tensor_release(copy);
        kw_tensor_release(tensor);
    }
    expect_alive(before);
}

Test(view, a_view_shares_storage_keys_type_and_counter)
{
    kw_tensor *base = kwt_numbered(6);
    kw_tensor *view = NULL;
    kw_tensor_set_neg(base, true);
    KWT_OK(kw_tensor_slice(base, 0, 1, 4, 1, &view, NULL));
    cr_expect_eq(kw_tensor_storage(view), kw_tensor_storage(base));
    cr_expect_eq(kw_storage_use_count(kw_tensor_storage(base)), 2);
    cr_expect_eq(kw_tensor_keyset(view).bits, kw_tensor_keyset(base).bits);
    cr_expect_eq(kw_tensor_dtype(view), KW_DTYPE_INT32);
    cr_expect_eq(kw_tensor_use_count(base), 1, "the storage is shared, the base is not held");
    cr_expect(kw_tensor_is_view(view));
    cr_expect_not(kw_tensor_is_view(base));
    cr_expect_eq(kw_tensor_storage_offset(view), 1);
    kw_tensor_release(base);
    cr_expect_eq(*(const int32_t *)kw_tensor_data(view), 1, "a view keeps the elements");
    kw_tensor_release(view);
}

Test(view, names_and_python_keys_stay_with_the_base)
{
    kw_tensor *base = kwt_tensor(KWT_SIZES(2, 3), 2);
    kw_tensor *view = NULL;
    const char *names[] = {"rows", NULL};
    uint64_t plain = kw_tensor_keyset(base).bits;
    KWT_OK(kw_tensor_set_names(base, names, NULL));
    kw_tensor_set_python_dispatch(base, true);
    KWT_OK(kw_tensor_alias(base, &view, NULL));
    cr_expect_eq(kw_tensor_keyset(view).bits, plain);
    cr_expect_not(kw_tensor_has_names(view));
    kw_tensor_release(view);
    KWT_OK(kw_tensor_detach(base, &view, NULL));
    cr_expect(kw_tensor_has_names(view), "detach keeps names");
    cr_expect_str_eq(kw_tensor_name_of(view, 0), "rows");
    cr_expect_eq(kw_tensor_keyset(view).bits, plain | KW_KEYSET_BITS(KW_KEY_Named));
    cr_expect_not(kw_tensor_is_view(view));
    kw_tensor_release(view);
    kw_tensor_release(base);
}

Test(view, more_than_five_dimensions_are_viewed)
{
    kw_tensor *base = kwt_numbered(64);
    kw_tensor *view = NULL;
    kw_tensor *part = NULL;
    alive before = count_alive();
    KWT_OK(kw_tensor_view(base, KWT_LIST(2, 2, 2, 2, 2, -1), &view, NULL));
    cr_expect_eq(kw_tensor_dim(view), 6);
    KWT_OK(kw_tensor_permute(view, KWT_LIST(5, 4, 3, 2, 1, 0), &part, NULL));
    cr_expect_arr_eq(kw_tensor_strides(part), KWT_SIZES(1, 2, 4, 8, 16, 32), 6 * sizeof(int64_t));
    kw_tensor_release(view);
    KWT_OK(kw_tensor_select(part, 0, 1, &view, NULL));
    cr_expect_eq(kw_tensor_dim(view), 5);
    kw_tensor_release(view);
    KWT_OK(kw_tensor_clone(part, KW_MEMORY_PRESERVE, &view, NULL));
    cr_expect_arr_eq(kw_tensor_strides(view), kw_tensor_strides(part), 6 * sizeof(int64_t));
    kw_tensor_release(view);
    kw_tensor_release(part);
    expect_alive(before);
    kw_tensor_release(base);
}

Test(view, views_that_need_a_copy_are_refused_and_reshaped)
{
    static kwt_places read;
    kw_tensor *base = kwt_numbered(6);
    kw_tensor *grid = NULL;
    kw_tensor *flat = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_tensor_view(base, KWT_LIST(2, 3), &grid, NULL));
    kw_tensor *turned = NULL;
    KWT_OK(kw_tensor_transpose(grid, 0, 1, &turned, NULL));
    cr_expect_eq(kw_tensor_view(turned, KWT_LIST(6), &flat, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "kw_tensor_reshape()"));
    cr_expect_null(flat);
    KWT_OK(kw_tensor_reshape(turned, KWT_LIST(6), &flat, NULL));
    kwt_read(flat, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(0, 3, 1, 4, 2, 5), 6 * sizeof(int64_t));
    cr_expect_not(kw_tensor_is_view(flat));
    cr_expect_neq(kw_tensor_storage(flat), kw_tensor_storage(base));
    kw_tensor_release(flat);
    KWT_OK(kw_tensor_reshape(grid, KWT_LIST(3, -1, 1, 1, 1, 1), &flat, NULL));
    cr_expect(kw_tensor_is_view(flat));
    cr_expect_eq(kw_tensor_storage(flat), kw_tensor_storage(base));
    kw_tensor_release(flat);
    kw_tensor_release(turned);
    kw_tensor_release(grid);
    kw_tensor_release(base);
}

Test(view, as_strided_answers_with_bytes)
{
    kw_tensor *base = kwt_numbered(6);
    kw_tensor *view = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_tensor_as_strided(base, KWT_LIST(2, 2), KWT_LIST(1, 3), 1, &view, NULL));
    cr_expect_eq(((const int32_t *)kw_tensor_data(view))[4], 5);
    cr_expect_eq(kw_tensor_as_strided(view, KWT_LIST(2, 2), KWT_LIST(1, 3), 2, &view, &err),
                 KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "28 bytes; the storage has 24"), "%s", err.text);
    kw_tensor_release(view);
    kw_tensor_release(base);
}

Test(view, what_has_no_strides_has_no_views)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2, 3), 2);
    options.layout = KW_LAYOUT_SPARSE;
    kw_tensor *sparse = kwt_create(&options);
    kw_tensor *view = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_select(sparse, 0, 0, &view, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "layout sparse"), "%s", err.text);
    cr_expect_eq(kw_tensor_alias(sparse, &view, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_clone(sparse, KW_MEMORY_PRESERVE, &view, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_contiguous(sparse, KW_MEMORY_PRESERVE, &view, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_copy(sparse, sparse, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_resize(sparse, KWT_LIST(1), NULL), KW_NOT_SUPPORTED);
    KWT_OK(kw_tensor_detach(sparse, &view, NULL));
    cr_expect(kw_tensor_is_sparse(view), "what needs no strides works");
    kw_tensor_release(view);
    kw_tensor_release(sparse);
    view = NULL;
    kw_tensor *none = kw_tensor_undefined();
    cr_expect_neq(kw_tensor_alias(none, &view, NULL), KW_OK);
    cr_expect_neq(kw_tensor_detach(none, &view, NULL), KW_OK);
    cr_expect_neq(kw_tensor_resize(none, KWT_LIST(1), NULL), KW_OK);
    uint32_t version = 7;
    cr_expect_neq(kw_tensor_version(none, &version, NULL), KW_OK);
    cr_expect_neq(kw_tensor_bump_version(none, NULL), KW_OK);
    cr_expect_eq(version, 7);
    cr_expect_null(view);
}

Test(view, symbolic_shapes_are_detached_and_not_viewed)
{
    kwt_count_bytes();
    kw_object *node = NULL;
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    KWT_OK(kw_object_create(&options, &node, NULL));
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    kw_tensor *made = NULL;
    const kw_symint size = kw_symint_node(node);
    const kw_symint one = kw_symint_int(1);
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){&size, 1},
                                        (kw_symint_list){&one, 1}, kw_symint_int(0), NULL));
    cr_expect_eq(kw_tensor_alias(tensor, &made, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(1), NULL), KW_NOT_SUPPORTED);
    KWT_OK(kw_tensor_detach(tensor, &made, NULL));
    cr_expect(kw_tensor_is_symbolic(made));
    cr_expect_eq(kw_tensor_symbolic_size(made, 0).word, size.word);
    kw_tensor *plain = kwt_tensor(KWT_SIZES(3), 1);
    KWT_OK(kw_tensor_set_data(made, plain, NULL));
    cr_expect_not(kw_tensor_is_symbolic(made));
    cr_expect_eq(kw_tensor_sizes(made)[0], 3);
    cr_expect(kw_tensor_is_contiguous(made));
    KWT_OK(kw_tensor_set_data(made, tensor, NULL));
    cr_expect(kw_tensor_is_symbolic(made));
    kw_tensor_release(plain);
    kw_tensor_release(made);
    kw_tensor_release(tensor);
    kw_object_release(node);
    kwt_expect_bytes();
}

Test(view, missing_arguments_are_refused)
{
    kw_tensor *tensor = kwt_numbered(4);
    kw_tensor *view = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_alias(NULL, &view, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_alias(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_detach(NULL, &view, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_data_alias(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_set_data(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_copy(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_view(tensor, (kw_int_list){NULL, 1}, &view, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "1 integers"));
    cr_expect_eq(kw_tensor_as_strided(tensor, KWT_LIST(1), (kw_int_list){NULL, 1}, 0, &view, NULL),
                 KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_version(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_bump_version(NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_null(view);
    kw_tensor_release(tensor);
}

// Resizing --------------------------------------------------------------------------------------

Test(view, resizing_grows_the_storage_and_keeps_the_elements)
{
    static kwt_places read;
    kw_tensor *tensor = kwt_numbered(6);
    kw_tensor *view = NULL;
    KWT_OK(kw_tensor_slice(tensor, 0, 2, 4, 1, &view, NULL));
    KWT_OK(kw_tensor_resize(tensor, KWT_LIST(2, 2, 1, 1, 1, 3), NULL));
    cr_expect_eq(kw_tensor_dim(tensor), 6);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 48);
    cr_expect(kw_tensor_is_contiguous(tensor));
    kwt_read(tensor, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(0, 1, 2, 3, 4, 5), 6 * sizeof(int64_t));
    cr_expect_eq(*(const int32_t *)kw_tensor_data(view), 2, "views follow");
    KWT_OK(kw_tensor_resize(tensor, (kw_int_list){NULL, 0}, NULL));
    cr_expect_eq(kw_tensor_numel(tensor), 1);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 48, "never smaller");
    KWT_OK(kw_tensor_resize(view, KWT_LIST(20), NULL));
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 88, "the offset counts");
    cr_expect_eq(kw_tensor_storage_offset(view), 2);
    kw_tensor_release(view);
    kw_tensor_release(tensor);
}

Test(view, resizing_to_the_same_sizes_keeps_strides)
{
    kw_tensor *tensor = kwt_numbered(6);
    kw_tensor *grid = NULL;
    KWT_OK(kw_tensor_as_strided(tensor, KWT_LIST(2, 3), KWT_LIST(1, 2), 0, &grid, NULL));
    KWT_OK(kw_tensor_resize(grid, KWT_LIST(2, 3), NULL));
    cr_expect_arr_eq(kw_tensor_strides(grid), KWT_SIZES(1, 2), 2 * sizeof(int64_t));
    KWT_OK(kw_tensor_resize(grid, KWT_LIST(3, 2), NULL));
    cr_expect_arr_eq(kw_tensor_strides(grid), KWT_SIZES(2, 1), 2 * sizeof(int64_t));
    cr_expect(kw_tensor_is_contiguous(grid));
    kw_tensor_release(grid);
    kw_tensor_release(tensor);
}

Test(view, resizing_what_cannot_grow_changes_nothing)
{
    static float memory[6];
    const kw_external_memory external = {
        .struct_size = sizeof external, .data = memory, .bytes = sizeof memory, .device = KWT_CPU};
    kw_tensor_options options = kwt_options(KWT_SIZES(2, 3), 2);
    KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
    kw_tensor *tensor = kwt_create(&options);
    kw_storage_release(options.storage);
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(7), NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_dim(tensor), 2);
    cr_expect_arr_eq(kw_tensor_strides(tensor), KWT_SIZES(3, 1), 2 * sizeof(int64_t));
    KWT_OK(kw_tensor_resize(tensor, KWT_LIST(5), NULL));
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(-1), NULL), KW_INVALID_ARGUMENT);
    const int64_t many[KW_TENSOR_DIM_MAX + 1] = {0};
    cr_expect_eq(kw_tensor_resize(tensor, (kw_int_list){many, KW_TENSOR_DIM_MAX + 1}, NULL),
                 KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(INT64_MAX), NULL), KW_NO_MEMORY);
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(INT64_MAX, 2), NULL), KW_INVALID_ARGUMENT);
    const char *name = "x";
    KWT_OK(kw_tensor_set_names(tensor, &name, NULL));
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(4), NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_sizes(tensor)[0], 5);
    kw_tensor_release(tensor);
}
