// Tensors of options: shapes, storages, and what is refused.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "base/memory.h"
#include "make.h"

TestSuite(tensor_create);

static const char *refuse(const kw_tensor_options *options, kw_status status)
{
    static kw_error err;
    err = (kw_error)KW_ERROR_INIT;
    kw_tensor *tensor = kw_tensor_undefined();
    uint64_t bytes = kwi_memory_bytes();
    cr_assert_eq(kw_tensor_create(options, &tensor, &err), status, "%s", err.text);
    cr_expect_eq(tensor, kw_tensor_undefined(), "outputs are untouched");
    cr_expect_eq(kwi_memory_bytes(), bytes);
    cr_expect_eq(kwt_figures().tensor_count, 0);
    return err.text;
}

#define REFUSED(options, status, piece)                                                            \
    do {                                                                                           \
        const char *text = refuse((options), (status));                                            \
        cr_expect_not_null(strstr(text, (piece)), "%s", text);                                     \
    } while (0)

Test(tensor_create, sizes_that_cannot_be_are_refused)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2, -3), 2);
    REFUSED(&options, KW_INVALID_ARGUMENT, "dimension 1 has size -3");
    options.sizes = KWT_SIZES(INT64_C(1) << 40, INT64_C(1) << 40);
    REFUSED(&options, KW_INVALID_ARGUMENT, "beyond 64 bits");
    options.sizes = KWT_SIZES(INT64_C(1) << 31, INT64_C(1) << 31);
    REFUSED(&options, KW_INVALID_ARGUMENT, "in bytes");
    options.sizes = NULL;
    REFUSED(&options, KW_INVALID_ARGUMENT, "2 dimensions have no sizes");
    options.dim = KW_TENSOR_DIM_MAX + 1;
    options.sizes = KWT_SIZES(1);
    REFUSED(&options, KW_INVALID_ARGUMENT, "65 dimensions");
    options.dim = 1;
    options.strides = KWT_SIZES(-1);
    REFUSED(&options, KW_INVALID_ARGUMENT, "stride -1");
    options.strides = NULL;
    options.storage_offset = -1;
    REFUSED(&options, KW_INVALID_ARGUMENT, "offset -1");
    options.storage_offset = INT64_MAX;
    REFUSED(&options, KW_INVALID_ARGUMENT, "beyond 64 bits");
    options.storage_offset = INT64_MAX / 2;
    REFUSED(&options, KW_INVALID_ARGUMENT, "in bytes");
    options.strides = KWT_SIZES(INT64_MAX);
    options.sizes = KWT_SIZES(3);
    REFUSED(&options, KW_INVALID_ARGUMENT, "beyond 64 bits");
    options.sizes = KWT_SIZES(0);
    options.strides = NULL;
    options.storage_offset = INT64_MAX;
    kw_tensor *empty = kwt_create(&options); // no element is anywhere
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(empty)), 0);
    kw_tensor_release(empty);
}

Test(tensor_create, numbers_that_mean_nothing_are_refused)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.dtype = 30;
    REFUSED(&options, KW_INVALID_ARGUMENT, "30 is no element type");
    options = kwt_options(KWT_SIZES(2), 1);
    options.layout = 8;
    REFUSED(&options, KW_INVALID_ARGUMENT, "8 no layout");
    options = kwt_options(KWT_SIZES(2), 1);
    options.inference = 3;
    REFUSED(&options, KW_INVALID_ARGUMENT, "3 no choice");
    options = kwt_options(KWT_SIZES(2), 1);
    options.device.type = 21;
    REFUSED(&options, KW_INVALID_ARGUMENT, "21:-1 is no device");
    options.device = (kw_device){KW_DEVICE_CUDA, 128};
    REFUSED(&options, KW_INVALID_ARGUMENT, "1:128 is no device");
    options.device = (kw_device){KW_DEVICE_CUDA, -2};
    REFUSED(&options, KW_INVALID_ARGUMENT, "1:-2 is no device");
    options = kwt_options(KWT_SIZES(2), 1);
    options.struct_size = 8;
    REFUSED(&options, KW_INVALID_ARGUMENT, "struct_size");
    options = kwt_options(KWT_SIZES(2), 1);
    cr_expect_eq(kw_tensor_create(&options, NULL, NULL), KW_INVALID_ARGUMENT);
    REFUSED(NULL, KW_INVALID_ARGUMENT, "there is no kw_tensor_options");
}

// Options of a newer header may be longer, by zeros.
Test(tensor_create, unknown_tail_of_options_is_refused)
{
    struct {
        kw_tensor_options known;
        uint64_t tail[2];
    } longer = {.known = kwt_options(KWT_SIZES(2), 1)};
    longer.known.struct_size = sizeof longer;
    kw_tensor *tensor = kwt_create(&longer.known);
    kw_tensor_release(tensor);
    longer.tail[1] = 1;
    REFUSED(&longer.known, KW_INVALID_ARGUMENT, "sets something beyond");
}

Test(tensor_create, sentence_is_cut_where_the_caller_has_no_room)
{
    kw_error err = KW_ERROR_INIT;
    err.struct_size = offsetof(kw_error, text) + 16;
    memset(err.text, '#', sizeof err.text);
    kw_tensor_options options = kwt_options(NULL, 1);
    kw_tensor *tensor = NULL;
    cr_expect_eq(kw_tensor_create(&options, &tensor, &err), KW_INVALID_ARGUMENT);
    cr_expect_str_eq(err.text, "1 dimensions...");
    cr_expect_eq(err.text[16], '#');
    err.struct_size = offsetof(kw_error, text);
    err.status = KW_OK;
    cr_expect_eq(kw_tensor_create(&options, &tensor, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(err.status, KW_OK, "no room, nothing written");
}

Test(tensor_create, device_without_allocator_or_key_is_refused)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.device.type = KW_DEVICE_CUDA;
    REFUSED(&options, KW_NOT_FOUND, "storages on cuda have no allocator");
    options.device.type = KW_DEVICE_METAL;
    options.layout = KW_LAYOUT_SPARSE_BSC;
    REFUSED(&options, KW_NOT_SUPPORTED, "layout sparse_bsc on device metal");
}

Test(tensor_create, sixty_four_dimensions_are_the_most)
{
    int64_t sizes[KW_TENSOR_DIM_MAX];
    for (unsigned i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = i % 8 == 0 ? 2 : 1;
    }
    kw_tensor *tensor = kwt_tensor(sizes, KW_TENSOR_DIM_MAX);
    cr_expect_eq(kw_tensor_numel(tensor), 256);
    cr_expect_eq(kw_tensor_strides(tensor)[0], 128);
    cr_expect(kw_tensor_is_contiguous(tensor));
    kw_tensor_release(tensor);
}

Test(tensor_create, no_elements_need_no_memory)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(3, 0, 5), 3);
    cr_expect_eq(kw_tensor_numel(tensor), 0);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 0);
    cr_expect_null(kw_tensor_data(tensor));
    void *data = &data;
    KWT_OK(kw_tensor_mutable_data(tensor, &data, NULL));
    cr_expect_null(data);
    kw_tensor_release(tensor);
}

Test(tensor_create, strides_and_offset_say_how_large_the_storage_is)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2, 3), 2);
    options.strides = KWT_SIZES(10, 2);
    options.storage_offset = 5;
    kw_tensor *tensor = kwt_create(&options);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), (5 + 10 + 2 * 2 + 1) * 4);
    cr_expect_eq((const char *)kw_tensor_data(tensor) -
                     (const char *)kw_storage_data(kw_tensor_storage(tensor)),
                 20);
    cr_expect_not(kw_tensor_is_contiguous(tensor));
    cr_expect_eq(kw_tensor_storage_offset(tensor), 5);
    kw_tensor_release(tensor);
}

Test(tensor_create, given_storage_is_shared_and_must_be_large_enough)
{
    kw_storage *storage = NULL;
    KWT_OK(kw_storage_create(48, KWT_CPU, &storage, NULL));
    kw_tensor_options options = kwt_options(KWT_SIZES(3, 4), 2);
    options.storage = storage;
    kw_tensor *one = kwt_create(&options);
    kw_tensor *two = kwt_create(&options);
    cr_expect_eq(kw_storage_use_count(storage), 3);
    cr_expect_eq(kw_tensor_data(one), kw_tensor_data(two));
    options.storage_offset = 1;
    kw_error err = KW_ERROR_INIT;
    kw_tensor *three = NULL;
    cr_expect_eq(kw_tensor_create(&options, &three, &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "the shape needs 52 bytes of storage, which has 48");
    options.storage_offset = 0;
    options.device = (kw_device){KW_DEVICE_CPU, 0};
    cr_expect_eq(kw_tensor_create(&options, &three, &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "the storage is on cpu:-1, the tensor would be on cpu:0");
    cr_expect_eq(kw_storage_use_count(storage), 3);
    kw_tensor_release(one);
    kw_tensor_release(two);
    kw_storage_release(storage);
    cr_expect_eq(kwt_figures().storage_count, 0);
}

Test(tensor_create, meta_tensor_has_a_size_and_no_memory)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(INT64_C(1) << 30, 1000), 2);
    options.device = (kw_device){KW_DEVICE_META, -1};
    kw_tensor *tensor = kwt_create(&options);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), (UINT64_C(4000) << 30));
    cr_expect_null(kw_tensor_data(tensor));
    void *data = &data;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, &err), KW_NOT_SUPPORTED);
    cr_expect_str_eq(err.text, "the storage of the tensor, on meta, has no memory to write to");
    cr_expect_eq(data, &data);
    cr_expect_eq(kwt_figures().storage_bytes, 0);
    kw_tensor_release(tensor);
}

Test(tensor_create, read_only_memory_is_not_lent_for_writing)
{
    static const float numbers[] = {1, 2, 3};
    const kw_external_memory memory = {
        .struct_size = sizeof memory,
        .data = (void *)(uintptr_t)numbers,
        .bytes = sizeof numbers,
        .device = KWT_CPU,
        .read_only = true,
    };
    kw_tensor_options options = kwt_options(KWT_SIZES(3), 1);
    KWT_OK(kw_storage_wrap(&memory, &options.storage, NULL));
    kw_tensor *tensor = kwt_create(&options);
    kw_storage_release(options.storage);
    cr_expect_eq(kw_tensor_data(tensor), numbers);
    void *data = &data;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, &err), KW_NOT_SUPPORTED);
    cr_expect_str_eq(err.text, "the memory of 12 bytes is read-only; copy it to write");
    cr_expect_eq(data, &data);
    kw_tensor_release(tensor);
}

// A backend that no device type names: the key says what it is.
Test(tensor_create, given_keys_take_the_place_of_the_device_s)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.keys = kw_keyset_from_key(KW_KEY_PrivateUse2);
    kw_tensor *tensor = kwt_create(&options);
    cr_expect_eq(kw_tensor_keyset(tensor).bits, KW_KEYSET_BITS(KW_KEY_PrivateUse2) |
                                                    KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                                                    KW_KEYSET_BITS(KW_KEY_AutogradPrivateUse2));
    cr_expect(kw_tensor_is_on(tensor, KW_DEVICE_CPU));
    kw_tensor_release(tensor);
}

Test(tensor_create, wrapped_number_is_a_flag)
{
    kw_tensor *tensor = kwt_tensor(NULL, 0);
    cr_expect_not(kw_tensor_is_wrapped_number(tensor));
    kw_tensor_set_wrapped_number(tensor, true);
    cr_expect(kw_tensor_is_wrapped_number(tensor));
    cr_expect(kw_tensor_is_contiguous(tensor), "other flags stay");
    kw_tensor_set_wrapped_number(tensor, false);
    cr_expect_not(kw_tensor_is_wrapped_number(tensor));
    cr_expect_not(kw_tensor_is_view(tensor));
    kw_tensor_release(tensor);
}

Test(tensor_create, channels_last_is_told_apart)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2, 3, 4, 5), 4);
    options.strides = KWT_SIZES(60, 1, 15, 3);
    kw_tensor *tensor = kwt_create(&options);
    cr_expect_not(kw_tensor_is_contiguous_as(tensor, KW_MEMORY_CONTIGUOUS));
    cr_expect(kw_tensor_is_contiguous_as(tensor, KW_MEMORY_CHANNELS_LAST));
    cr_expect_not(kw_tensor_is_contiguous_as(tensor, KW_MEMORY_CHANNELS_LAST_3D));
    cr_expect(kw_tensor_is_strides_like(tensor, KW_MEMORY_CHANNELS_LAST));
    cr_expect_not(kw_tensor_is_strides_like(tensor, KW_MEMORY_CONTIGUOUS));
    cr_expect(kw_tensor_is_non_overlapping_and_dense(tensor));
    kw_tensor_release(tensor);
}

Test(tensor_create, statistics_fill_what_the_caller_has_room_for)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(16), 1);
    kw_tensor_statistics figures = kwt_figures();
    cr_expect_eq(figures.tensor_count, 1);
    cr_expect_geq(figures.tensor_bytes, 128);
    cr_expect_eq(figures.storage_count, 1);
    cr_expect_eq(figures.storage_bytes, 64);
    cr_expect_eq(figures.external_bytes, 0);
    cr_expect_eq(figures.extra_count, 0);
    kw_tensor_statistics older = {.struct_size = offsetof(kw_tensor_statistics, tensor_bytes)};
    older.tensor_bytes = 77;
    kw_tensor_statistics_get(&older);
    cr_expect_eq(older.tensor_count, 1);
    cr_expect_eq(older.tensor_bytes, 77);
    kw_tensor_release(tensor);
}
