// Copies: every element size, alignment and order of strides; overlaps; other devices.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "tensor/copy_loops.h"

TestSuite(copy);

#define CASES 1000
#define AREA 4096 // elements, more than the strides drawn here reach

// A shape that names every element once: dimensions in any order, with gaps.
static void draw_strides(uint64_t *state, const int64_t *sizes, uint32_t dim, int64_t *strides)
{
    uint32_t order[5] = {0, 1, 2, 3, 4};
    int64_t stride = 1 + kwt_random_below(state, 2);
    for (uint32_t i = 0; i < dim; i++) {
        uint32_t other = (uint32_t)kwt_random_below(state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    bool is_plain = kwt_random_below(state, 2) == 0;
    for (uint32_t i = 0; i < dim; i++) {
        uint32_t at = is_plain ? dim - 1 - i : order[i];
        strides[at] = stride;
        stride *= sizes[at] + (kwt_random_below(state, 4) == 0);
    }
}

// Fills with bytes that tell an element from every other.
static void fill(char *area, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        area[i] = (char)(i * 7 + (i >> 8));
    }
}

typedef struct copy_case {
    uint32_t dim;
    int64_t sizes[5];
    int64_t to[5];
    int64_t from[5];
} copy_case;

static void draw_case(copy_case *drawn, uint64_t *state)
{
    drawn->dim = (uint32_t)kwt_random_below(state, 6);
    for (uint32_t i = 0; i < drawn->dim; i++) {
        drawn->sizes[i] = 1 + kwt_random_below(state, 4);
    }
    draw_strides(state, drawn->sizes, drawn->dim, drawn->to);
    draw_strides(state, drawn->sizes, drawn->dim, drawn->from);
    for (uint32_t i = 0; i < drawn->dim; i++) {
        drawn->from[i] = kwt_random_below(state, 8) == 0 ? 0 : drawn->from[i];
    }
}

Test(copy, every_element_goes_to_its_place, .timeout = 60)
{
    static const size_t element_bytes[] = {1, 2, 3, 4, 8, 16};
    static char from[AREA * 16 + 16];
    static char to[AREA * 16 + 16];
    static char wanted[AREA * 16 + 16];
    static kwt_places from_places;
    static kwt_places to_places;
    fill(from, sizeof from);
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        uint64_t state = seed;
        copy_case drawn;
        kwi_loops loops;
        draw_case(&drawn, &state);
        size_t bytes = element_bytes[kwt_random_below(&state, 6)];
        size_t shift = (size_t)kwt_random_below(&state, 9); // whatever alignment
        kwt_places_of_strides(&from_places, drawn.sizes, drawn.from, drawn.dim, 0);
        kwt_places_of_strides(&to_places, drawn.sizes, drawn.to, drawn.dim, 0);
        memset(to, 0x55, sizeof to);
        memset(wanted, 0x55, sizeof wanted);
        for (int64_t i = 0; i < to_places.count; i++) {
            memcpy(wanted + shift + (size_t)to_places.at[i] * bytes,
                   from + 1 + (size_t)from_places.at[i] * bytes, bytes);
        }
        kwi_loops_plan(&loops, drawn.sizes, drawn.to, drawn.from, drawn.dim, bytes);
        kwi_loops_copy(&loops, to + shift, from + 1);
        cr_assert_arr_eq(to, wanted, sizeof to, "seed %" PRIu64, seed);
    }
}

Test(copy, loops_are_as_few_as_the_strides_allow)
{
    kwi_loops loops;
    const int64_t sizes[] = {4, 1, 3, 5};
    const int64_t plain[] = {15, 99, 5, 1};
    const int64_t rows[] = {30, 7, 10, 2};
    const int64_t turned[] = {1, 50, 4, 12};
    const int64_t gap[] = {20, 0, 5, 1};
    kwi_loops_plan(&loops, sizes, plain, plain, 4, 4);
    cr_expect_eq(loops.dim, 0);
    cr_expect_eq(loops.bytes, 240);
    kwi_loops_plan(&loops, sizes, turned, turned, 4, 4);
    cr_expect_eq(loops.dim, 0, "one run in whatever order");
    kwi_loops_plan(&loops, sizes, plain, rows, 4, 4);
    cr_expect_eq(loops.dim, 1);
    cr_expect_eq(loops.bytes, 4);
    cr_expect_eq(loops.sizes[0], 60);
    kwi_loops_plan(&loops, sizes, gap, plain, 4, 4);
    cr_expect_eq(loops.dim, 1);
    cr_expect_eq(loops.bytes, 60);
    kwi_loops_plan(&loops, sizes, plain, turned, 4, 4);
    cr_expect_eq(loops.dim, 3);
    kwi_loops_plan(&loops, sizes, plain, gap, 0, 8);
    cr_expect_eq(loops.dim, 0, "a tensor without dimensions has one element");
    cr_expect_eq(loops.bytes, 8);
}

Test(copy, a_source_is_expanded)
{
    static kwt_places read;
    kw_tensor *source = kwt_numbered(3);
    kw_tensor *flat = kwt_numbered(6);
    kw_tensor *target = NULL;
    KWT_OK(kw_tensor_view(flat, KWT_LIST(2, 3), &target, NULL));
    KWT_OK(kw_tensor_copy(target, source, NULL));
    kwt_read(flat, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(0, 1, 2, 0, 1, 2), 6 * sizeof(int64_t));
    kw_tensor *one = NULL;
    KWT_OK(kw_tensor_select(source, 0, 2, &one, NULL));
    KWT_OK(kw_tensor_copy(target, one, NULL));
    kwt_read(flat, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(2, 2, 2, 2, 2, 2), 6 * sizeof(int64_t));
    kw_tensor_release(one);
    cr_expect_eq(kw_tensor_copy(source, target, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_copy(flat, source, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kwt_version(flat), 2, "what is refused is not counted");
    kw_tensor_release(target);
    kw_tensor_release(flat);
    kw_tensor_release(source);
}

Test(copy, nothing_is_copied_without_elements)
{
    kw_tensor *empty = kwt_tensor(KWT_SIZES(0, 3), 2);
    kw_tensor *clone = NULL;
    KWT_OK(kw_tensor_clone(empty, KW_MEMORY_CONTIGUOUS, &clone, NULL));
    KWT_OK(kw_tensor_copy(clone, empty, NULL));
    cr_expect_eq(kwt_version(clone), 1);
    cr_expect_null(kw_tensor_data(clone));
    kw_tensor_release(clone);
    kw_tensor_release(empty);
}

Test(copy, types_and_targets_that_cannot_be_written_are_refused)
{
    kw_tensor *ints = kwt_numbered(4);
    kw_tensor *floats = kwt_tensor(KWT_SIZES(4), 1);
    kw_tensor *wide = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_copy(ints, floats, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "float32"), "%s", err.text);
    KWT_OK(kw_tensor_expand(ints, KWT_LIST(2, 4), &wide, NULL));
    cr_expect_eq(kw_tensor_copy(wide, ints, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "several indices"), "%s", err.text);

    static int32_t memory[4];
    const kw_external_memory external = {.struct_size = sizeof external,
                                         .data = memory,
                                         .bytes = sizeof memory,
                                         .device = KWT_CPU,
                                         .read_only = true};
    kw_tensor_options options = kwt_options(KWT_SIZES(4), 1);
    options.dtype = KW_DTYPE_INT32;
    KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
    kw_tensor *constant = kwt_create(&options);
    kw_storage_release(options.storage);
    cr_expect_eq(kw_tensor_copy(constant, ints, NULL), KW_NOT_SUPPORTED);
    KWT_OK(kw_tensor_copy(ints, constant, NULL));
    cr_expect_eq(((const int32_t *)kw_tensor_data(ints))[3], 0);
    kw_tensor_release(constant);
    kw_tensor_release(wide);
    kw_tensor_release(floats);
    kw_tensor_release(ints);
}

// Overlaps ----------------------------------------------------------------------------------------

Test(copy, dense_tensors_that_overlap_in_part_are_refused)
{
    kw_tensor *base = kwt_numbered(6);
    kw_tensor *low = NULL;
    kw_tensor *high = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_tensor_slice(base, 0, 0, 4, 1, &low, NULL));
    KWT_OK(kw_tensor_slice(base, 0, 1, 5, 1, &high, NULL));
    cr_expect_eq(kw_tensor_copy(low, high, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "copy a clone"), "%s", err.text);
    cr_expect_eq(kwt_version(base), 0);
    kw_tensor_release(high);
    KWT_OK(kw_tensor_slice(base, 0, 4, 6, 1, &high, NULL));
    kw_tensor *part = NULL;
    KWT_OK(kw_tensor_slice(base, 0, 2, 4, 1, &part, NULL));
    KWT_OK(kw_tensor_copy(part, high, NULL));
    cr_expect_eq(((const int32_t *)kw_tensor_data(base))[3], 5, "neighbours do not overlap");
    KWT_OK(kw_tensor_copy(part, part, NULL));
    cr_expect_eq(kwt_version(base), 2, "a tensor is copied to itself");
    kw_tensor_release(part);
    kw_tensor_release(high);
    kw_tensor_release(low);
    kw_tensor_release(base);
}

Test(copy, memory_wrapped_twice_is_one)
{
    static int32_t memory[6] = {0, 1, 2, 3, 4, 5};
    kw_tensor *tensors[2];
    for (int i = 0; i < 2; i++) {
        const kw_external_memory external = {.struct_size = sizeof external,
                                             .data = memory + i,
                                             .bytes = 5 * sizeof memory[0],
                                             .device = KWT_CPU};
        kw_tensor_options options = kwt_options(KWT_SIZES(5), 1);
        options.dtype = KW_DTYPE_INT32;
        KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
        tensors[i] = kwt_create(&options);
        kw_storage_release(options.storage);
    }
    cr_expect_eq(kw_tensor_copy(tensors[1], tensors[0], NULL), KW_INVALID_ARGUMENT);
    kw_tensor_release(tensors[0]);
    kw_tensor_release(tensors[1]);
}

// Rows and columns that share elements, or lie between each other: as if the source was read first.
Test(copy, what_may_overlap_is_read_before_it_is_written)
{
    static kwt_places read;
    kw_tensor *base = kwt_numbered(9);
    kw_tensor *grid = NULL;
    kw_tensor *turned = NULL;
    kw_tensor *first = NULL;
    kw_tensor *second = NULL;
    KWT_OK(kw_tensor_view(base, KWT_LIST(3, 3), &grid, NULL));
    KWT_OK(kw_tensor_slice(grid, 1, 0, 2, 1, &first, NULL));
    KWT_OK(kw_tensor_slice(grid, 1, 1, 3, 1, &second, NULL));
    KWT_OK(kw_tensor_copy(second, first, NULL));
    kwt_read(base, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(0, 0, 1, 3, 3, 4, 6, 6, 7), 9 * sizeof(int64_t));
    cr_expect_eq(kwt_version(base), 1);
    KWT_OK(kw_tensor_transpose(grid, 0, 1, &turned, NULL));
    cr_expect_eq(kw_tensor_copy(turned, grid, NULL), KW_INVALID_ARGUMENT, "dense: surely");
    kw_tensor_release(turned);
    kw_tensor_release(first);
    kw_tensor_release(second);
    KWT_OK(kw_tensor_select(grid, 1, 0, &first, NULL));
    KWT_OK(kw_tensor_select(grid, 0, 2, &second, NULL));
    KWT_OK(kw_tensor_copy(first, second, NULL));
    kwt_read(base, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(6, 0, 1, 6, 3, 4, 7, 6, 7), 9 * sizeof(int64_t));
    kw_tensor_release(first);
    kw_tensor_release(second);
    kw_tensor_release(grid);
    kw_tensor_release(base);
}

// Formats -----------------------------------------------------------------------------------------

Test(copy, contiguous_gives_the_tensor_itself_where_it_can)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3, 4, 5), 4);
    kw_tensor *same = NULL;
    kw_tensor *last = NULL;
    KWT_OK(kw_tensor_contiguous(tensor, KW_MEMORY_CONTIGUOUS, &same, NULL));
    cr_expect_eq(same, tensor);
    cr_expect_eq(kw_tensor_use_count(tensor), 2);
    kw_tensor_release(same);
    KWT_OK(kw_tensor_contiguous(tensor, KW_MEMORY_CHANNELS_LAST, &last, NULL));
    cr_expect_neq(last, tensor);
    cr_expect(kw_tensor_is_contiguous_as(last, KW_MEMORY_CHANNELS_LAST));
    KWT_OK(kw_tensor_contiguous(last, KW_MEMORY_CHANNELS_LAST, &same, NULL));
    cr_expect_eq(same, last);
    kw_tensor_release(same);
    KWT_OK(kw_tensor_contiguous(last, KW_MEMORY_PRESERVE, &same, NULL));
    cr_expect_neq(same, last);
    cr_expect(kw_tensor_is_contiguous(same));
    kw_tensor_release(same);
    same = NULL;
    cr_expect_eq(kw_tensor_contiguous(tensor, KW_MEMORY_CHANNELS_LAST_3D, &same, NULL),
                 KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_contiguous(tensor, 17, &same, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_clone(tensor, 4, &same, NULL), KW_INVALID_ARGUMENT);
    cr_expect_null(same);
    kw_tensor_release(last);
    kw_tensor_release(tensor);
}

Test(copy, more_elements_than_memory_can_hold_are_refused)
{
    kw_tensor *one = kwt_numbered(1);
    kw_tensor *wide = NULL;
    kw_tensor *clone = NULL;
    KWT_OK(kw_tensor_expand(one, KWT_LIST(INT64_C(1) << 62), &wide, NULL));
    cr_expect_eq(kw_tensor_clone(wide, KW_MEMORY_CONTIGUOUS, &clone, NULL), KW_NO_MEMORY);
    cr_expect_eq(kw_tensor_reshape(wide, KWT_LIST(2, -1), &clone, NULL), KW_OK);
    kw_tensor_release(clone);
    kw_tensor_release(wide);
    KWT_OK(kw_tensor_expand(one, KWT_LIST(INT64_MAX), &wide, NULL));
    cr_expect_eq(kw_tensor_clone(wide, KW_MEMORY_CONTIGUOUS, &clone, NULL), KW_NO_MEMORY);
    kw_tensor_release(wide);
    kw_tensor_release(one);
}

// Devices -----------------------------------------------------------------------------------------

// A device whose addresses are not memory: they differ from it by a bit.
#define FAR UINTPTR_MAX / 2 + 1

static int moves;
static int moves_left = 1000;

static void *near(const void *data, kw_device device)
{
    return (void *)(device.type == KW_DEVICE_PRIVATEUSE1 ? (uintptr_t)data ^ (FAR)
                                                         : (uintptr_t)data);
}

static void *device_allocate(size_t bytes, size_t alignment, int32_t index, void *context)
{
    (void)index;
    (void)context;
    void *data = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return data != NULL ? (void *)((uintptr_t)data ^ (FAR)) : NULL;
}

static void device_free(void *data, size_t bytes, int32_t index, void *context)
{
    (void)bytes;
    (void)index;
    (void)context;
    free((void *)((uintptr_t)data ^ (FAR)));
}

static kw_status device_copy(void *to, kw_device to_device, const void *from, kw_device from_device,
                             size_t bytes, void *context)
{
    (void)context;
    if (moves_left-- == 0) {
        return KW_KERNEL_FAILED;
    }
    moves++;
    memcpy(near(to, to_device), near(from, from_device), bytes);
    return KW_OK;
}

static void set_device(bool has_copy)
{
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "far",
        .allocate = device_allocate,
        .free = device_free,
        .copy = has_copy ? device_copy : NULL,
    };
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, &allocator, NULL));
}

static kw_tensor *device_tensor(const int64_t *sizes, uint32_t dim)
{
    kw_tensor_options options = kwt_options(sizes, dim);
    options.dtype = KW_DTYPE_INT32;
    options.device = (kw_device){KW_DEVICE_PRIVATEUSE1, 0};
    return kwt_create(&options);
}

Test(copy, other_devices_copy_with_their_allocator)
{
    static kwt_places read;
    set_device(true);
    kw_tensor *flat = kwt_numbered(6);
    kw_tensor *host = NULL;
    kw_tensor *turned = NULL;
    KWT_OK(kw_tensor_view(flat, KWT_LIST(2, 3), &host, NULL));
    KWT_OK(kw_tensor_transpose(host, 0, 1, &turned, NULL));
    kw_tensor *device = device_tensor(KWT_SIZES(2, 3), 2);
    KWT_OK(kw_tensor_copy(device, host, NULL));
    cr_expect_eq(moves, 1, "a run is one call");
    kw_tensor *device_turned = NULL;
    kw_tensor *clone = NULL;
    KWT_OK(kw_tensor_transpose(device, 0, 1, &device_turned, NULL));
    KWT_OK(kw_tensor_clone(device_turned, KW_MEMORY_CONTIGUOUS, &clone, NULL));
    cr_expect_eq(moves, 7, "single elements, without knowing their address");
    kw_tensor *back = kwt_numbered(6);
    kw_tensor *grid = NULL;
    KWT_OK(kw_tensor_view(back, KWT_LIST(3, 2), &grid, NULL));
    KWT_OK(kw_tensor_copy(grid, clone, NULL));
    kwt_read(back, &read);
    cr_expect_arr_eq(read.at, KWT_SIZES(0, 3, 1, 4, 2, 5), 6 * sizeof(int64_t));
    kw_tensor_release(back);
    kw_tensor_release(grid);
    kw_tensor_release(clone);
    kw_tensor_release(device_turned);
    kw_tensor_release(device);
    kw_tensor_release(turned);
    kw_tensor_release(host);
    kw_tensor_release(flat);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, NULL, NULL));
}

Test(copy, a_device_that_fails_is_named_and_the_write_counted)
{
    set_device(true);
    kw_tensor *host = kwt_numbered(3);
    kw_tensor *device = device_tensor(KWT_SIZES(3, 2), 2);
    kw_tensor *column = NULL;
    kw_tensor *clone = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_tensor_select(device, 1, 0, &column, NULL));
    moves_left = 2;
    cr_expect_eq(kw_tensor_copy(column, host, &err), KW_KERNEL_FAILED);
    cr_expect_not_null(strstr(err.text, "allocator 'far'"), "%s", err.text);
    cr_expect_eq(kwt_version(device), 1);
    moves_left = 0;
    cr_expect_eq(kw_tensor_clone(device, KW_MEMORY_PRESERVE, &clone, NULL), KW_KERNEL_FAILED);
    cr_expect_null(clone);
    kw_tensor_release(column);
    kw_tensor_release(device);
    kw_tensor_release(host);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, NULL, NULL));
}

Test(copy, devices_without_a_way_are_refused)
{
    kw_tensor *host = kwt_numbered(3);
    kw_error err = KW_ERROR_INIT;
    set_device(true);
    kw_tensor *device = device_tensor(KWT_SIZES(3), 1);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, NULL, NULL));
    KWT_OK(kw_tensor_copy(device, host, NULL));
    KWT_OK(kw_tensor_copy(host, device, NULL));
    cr_expect_eq(moves, 2, "a storage keeps the allocator that it was made with");
    static int32_t memory[3];
    const kw_external_memory external = {.struct_size = sizeof external,
                                         .data = memory,
                                         .bytes = sizeof memory,
                                         .device = {KW_DEVICE_XPU, 0}};
    kw_tensor_options options = kwt_options(KWT_SIZES(3), 1);
    options.dtype = KW_DTYPE_INT32;
    options.device = external.device;
    KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
    kw_tensor *other = kwt_create(&options);
    kw_storage_release(options.storage);
    cr_expect_eq(kw_tensor_copy(host, other, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "no allocator"), "%s", err.text);
    cr_expect_eq(kw_tensor_copy(device, other, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "by way of the CPU"), "%s", err.text);
    kw_tensor_release(other);
    kw_tensor_release(device);
    kw_tensor_release(host);
}

Test(copy, tensors_on_meta_have_shapes_to_copy_and_no_elements)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(3, 2), 2);
    options.dtype = KW_DTYPE_INT32;
    options.device = (kw_device){KW_DEVICE_META, -1};
    kw_error err = KW_ERROR_INIT;
    kw_tensor *meta = kwt_create(&options);
    kw_tensor *turned = NULL;
    kw_tensor *clone = NULL;
    KWT_OK(kw_tensor_transpose(meta, 0, 1, &turned, NULL));
    KWT_OK(kw_tensor_clone(turned, KW_MEMORY_PRESERVE, &clone, NULL));
    cr_expect_arr_eq(kw_tensor_strides(clone), KWT_SIZES(1, 2), 2 * sizeof(int64_t));
    KWT_OK(kw_tensor_copy(clone, turned, NULL));
    cr_expect_eq(kwt_version(clone), 1);
    kw_tensor *host = kwt_numbered(2);
    KWT_OK(kw_tensor_copy(meta, host, NULL));
    cr_expect_eq(kw_tensor_copy(host, meta, NULL), KW_INVALID_ARGUMENT, "sizes come first");
    kw_tensor *row = NULL;
    KWT_OK(kw_tensor_select(meta, 0, 0, &row, NULL));
    cr_expect_eq(kw_tensor_copy(host, row, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "on meta has no elements"), "%s", err.text);
    cr_expect_eq(kwt_version(host), 0);
    kw_tensor_release(row);
    kw_tensor_release(host);
    kw_tensor_release(clone);
    kw_tensor_release(turned);
    kw_tensor_release(meta);
}
