// DLPack: structures in and out, every type and device, what is refused, and who ends what.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/dlpack.h>
#include <keyway/library.h>
#include <keyway/local.h>

#include "elements.h"
#include "tensor/dlpack_abi.h"

TestSuite(dlpack);

#define HUGE_SIZE (INT64_C(1) << 62)

typedef struct DLManagedTensor plain_structure;
typedef struct DLManagedTensorVersioned versioned_structure;

// A producer: a 3 by 4 matrix of float, and how often it was ended.
static _Alignas(64) float memory[16];
static int64_t sizes[KW_TENSOR_DIM_MAX + 1] = {3, 4};
static int64_t strides[KW_TENSOR_DIM_MAX + 1] = {4, 1};
static int ended;

static void end_plain(plain_structure *self)
{
    cr_expect_eq(self->manager_ctx, &ended);
    ended++;
}

static void end_versioned(versioned_structure *self)
{
    cr_expect_eq(self->manager_ctx, &ended);
    ended++;
}

static kwi_dl_tensor matrix(void)
{
    return (kwi_dl_tensor){.data = memory,
                           .device = {KWI_DL_CPU, 0},
                           .ndim = 2,
                           .dtype = {KWI_DL_FLOAT, 32, 1},
                           .shape = sizes,
                           .strides = strides};
}

static plain_structure produce(void)
{
    return (plain_structure){.dl_tensor = matrix(), .manager_ctx = &ended, .deleter = end_plain};
}

static versioned_structure produce_versioned(void)
{
    return (versioned_structure){
        .version = {1, 0}, .dl_tensor = matrix(), .manager_ctx = &ended, .deleter = end_versioned};
}

static kw_tensor *import(plain_structure *from)
{
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_tensor_from_dlpack(from, NULL, &tensor, &err), KW_OK, "%s", err.text);
    return tensor;
}

// Inwards -----------------------------------------------------------------------------------------

Test(dlpack, a_structure_becomes_a_tensor_over_its_memory)
{
    plain_structure from = produce();
    kw_tensor *tensor = import(&from);
    cr_expect_eq(kw_tensor_data(tensor), memory);
    cr_expect_eq(kw_tensor_dtype(tensor), KW_DTYPE_FLOAT32);
    cr_expect_eq(kw_tensor_dim(tensor), 2);
    cr_expect(kw_tensor_is_contiguous(tensor));
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 48);
    kw_tensor *made = kwt_tensor(KWT_SIZES(3, 4), 2);
    cr_expect_eq(kw_tensor_keyset(tensor).bits, kw_tensor_keyset(made).bits);
    kw_tensor_release(made);
    void *data = NULL;
    KWT_OK(kw_tensor_mutable_data(tensor, &data, NULL));
    cr_expect_eq(kw_tensor_resize(tensor, KWT_LIST(13), NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(ended, 0);
    kw_tensor_release(tensor);
    cr_expect_eq(ended, 1);
}

Test(dlpack, the_last_view_ends_the_structure)
{
    plain_structure from = produce();
    kw_tensor *tensor = import(&from);
    kw_tensor *view = NULL;
    kw_tensor *detached = NULL;
    KWT_OK(kw_tensor_select(tensor, 0, 1, &view, NULL));
    KWT_OK(kw_tensor_detach(view, &detached, NULL));
    kw_tensor_release(tensor);
    kw_tensor_release(view);
    cr_expect_eq(ended, 0);
    cr_expect_eq(kw_tensor_data(detached), memory + 4);
    kw_tensor_release(detached);
    cr_expect_eq(ended, 1);
}

Test(dlpack, strides_offset_and_inference_mode_are_taken_over)
{
    plain_structure from = produce();
    kw_local_guard guard;
    strides[0] = 1;
    strides[1] = 3;
    from.dl_tensor.byte_offset = 8;
    KWT_OK(kw_local_inference_mode(true, &guard));
    kw_tensor *tensor = import(&from);
    kw_local_restore(&guard);
    cr_expect(kw_tensor_is_inference(tensor));
    cr_expect_eq(kw_tensor_data(tensor), memory + 2);
    cr_expect_arr_eq(kw_tensor_strides(tensor), KWT_SIZES(1, 3), 2 * sizeof(int64_t));
    cr_expect_not(kw_tensor_is_contiguous(tensor));
    kw_tensor_release(tensor);
    from.dl_tensor.strides = NULL;
    tensor = import(&from);
    cr_expect(kw_tensor_is_contiguous(tensor), "no strides: contiguous");
    kw_tensor_release(tensor);
    cr_expect_eq(ended, 2);
}

Test(dlpack, tensors_without_dimensions_or_elements_come_in)
{
    plain_structure from = produce();
    from.dl_tensor.ndim = 0;
    from.dl_tensor.shape = NULL;
    from.dl_tensor.strides = NULL;
    kw_tensor *tensor = import(&from);
    cr_expect_eq(kw_tensor_numel(tensor), 1);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 4);
    kw_tensor_release(tensor);
    from = produce();
    sizes[1] = 0;
    strides[0] = -7;
    from.dl_tensor.data = NULL;
    from.dl_tensor.byte_offset = UINT64_MAX;
    tensor = import(&from);
    cr_expect_eq(kw_tensor_numel(tensor), 0);
    cr_expect_null(kw_tensor_data(tensor));
    cr_expect(kw_tensor_is_contiguous(tensor));
    kw_tensor_release(tensor);
    cr_expect_eq(ended, 2);
}

Test(dlpack, a_structure_without_a_deleter_is_for_others_to_end)
{
    plain_structure from = produce();
    versioned_structure newer = produce_versioned();
    kw_tensor *tensor = NULL;
    from.deleter = NULL;
    newer.deleter = NULL;
    kw_tensor_release(import(&from));
    KWT_OK(kw_tensor_from_dlpack_versioned(&newer, NULL, &tensor, NULL));
    kw_tensor_release(tensor);
    kw_dlpack_delete(&from);
    kw_dlpack_delete(NULL);
    kw_dlpack_delete_versioned(&newer);
    kw_dlpack_delete_versioned(NULL);
    cr_expect_eq(ended, 0);
    from = produce();
    newer = produce_versioned();
    kw_dlpack_delete(&from);
    kw_dlpack_delete_versioned(&newer);
    cr_expect_eq(ended, 2);
}

Test(dlpack, the_versioned_structure_says_read_only)
{
    versioned_structure from = produce_versioned();
    kw_tensor *tensor = NULL;
    void *data = NULL;
    from.version.minor = 99; // later minor versions have the same fields
    from.flags = KWI_DL_READ_ONLY | KWI_DL_IS_COPIED | UINT64_C(1) << 40;
    KWT_OK(kw_tensor_from_dlpack_versioned(&from, NULL, &tensor, NULL));
    cr_expect(kw_storage_is_read_only(kw_tensor_storage(tensor)));
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_copy(tensor, tensor, NULL), KW_NOT_SUPPORTED);
    kw_tensor_release(tensor);
    from.flags = KWI_DL_IS_COPIED;
    KWT_OK(kw_tensor_from_dlpack_versioned(&from, NULL, &tensor, NULL));
    cr_expect_not(kw_storage_is_read_only(kw_tensor_storage(tensor)));
    kw_tensor_release(tensor);
    cr_expect_eq(ended, 2);
}

Test(dlpack, another_major_version_is_read_no_further)
{
    // Exactly the two numbers: a sanitizer sees a byte more that is read.
    kwi_dl_version *version = malloc(sizeof *version);
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    for (uint32_t major = 0; major < 4; major++) {
        *version = (kwi_dl_version){major, 3};
        char named[32];
        (void)snprintf(named, sizeof named, "DLPack %u.3", (unsigned)major);
        if (major != 1) {
            cr_expect_eq(kw_tensor_from_dlpack_versioned((versioned_structure *)(void *)version,
                                                         NULL, &tensor, &err),
                         KW_NOT_SUPPORTED);
            cr_expect_not_null(strstr(err.text, named), "%s", err.text);
        }
    }
    cr_expect_null(tensor);
    free(version);
}

// Refused: one change to the structure each.
#define REFUSED(expected, change, ...)                                                             \
    do {                                                                                           \
        static const char *const words[] = {__VA_ARGS__};                                          \
        plain_structure from = produce();                                                          \
        versioned_structure newer = produce_versioned();                                           \
        kw_tensor *tensor = NULL;                                                                  \
        kw_error err = KW_ERROR_INIT;                                                              \
        kwi_dl_tensor *s = &from.dl_tensor;                                                        \
        change;                                                                                    \
        newer.dl_tensor = *s;                                                                      \
        cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, &tensor, &err), expected, "%s", #change);  \
        for (size_t word = 0; word < sizeof words / sizeof words[0]; word++) {                     \
            cr_expect_not_null(strstr(err.text, words[word]), "%s: %s", #change, err.text);        \
        }                                                                                          \
        cr_expect_eq(kw_tensor_from_dlpack_versioned(&newer, NULL, &tensor, NULL), expected);      \
        cr_expect_null(tensor);                                                                    \
        cr_expect_eq(ended, 0, "the caller still has it");                                         \
        sizes[0] = 3;                                                                              \
        sizes[1] = 4;                                                                              \
        strides[0] = 4;                                                                            \
        strides[1] = 1;                                                                            \
    } while (0)

Test(dlpack, types_and_devices_that_are_not_known_are_refused)
{
    REFUSED(KW_NOT_SUPPORTED, s->dtype.code = KWI_DL_OPAQUE_HANDLE, "opaque handles");
    REFUSED(KW_NOT_SUPPORTED, s->dtype.lanes = 4, "4 lanes", "one more dimension");
    REFUSED(KW_NOT_SUPPORTED, s->dtype.lanes = 0, "0 lanes");
    REFUSED(KW_NOT_SUPPORTED, s->dtype.bits = 31, "code 2 with 31 bits");
    REFUSED(KW_NOT_SUPPORTED, s->dtype.bits = 0, "0 bits");
    REFUSED(KW_NOT_SUPPORTED, s->dtype.code = 99, "code 99");
    REFUSED(KW_NOT_SUPPORTED, s->dtype = ((kwi_dl_type){KWI_DL_BOOL, 1, 1}), "1 bits");
    REFUSED(KW_NOT_SUPPORTED, s->device.device_type = 0, "device type 0");
    REFUSED(KW_NOT_SUPPORTED, s->device.device_type = 4, "device type 4");
    REFUSED(KW_INVALID_ARGUMENT, s->device = ((kwi_dl_device){KWI_DL_CUDA, -1}), "index is -1");
    REFUSED(KW_INVALID_ARGUMENT, s->device = ((kwi_dl_device){KWI_DL_CUDA, 128}), "index is 128");
}

static void set_place(kwi_dl_tensor *tensor, uintptr_t address, uint64_t byte_offset)
{
    tensor->data = (void *)address;
    tensor->byte_offset = byte_offset;
}

Test(dlpack, sizes_strides_and_pointers_that_cannot_be_are_refused)
{
    REFUSED(KW_INVALID_ARGUMENT, s->ndim = -1, "-1 dimensions");
    REFUSED(KW_INVALID_ARGUMENT, s->ndim = 65, "65 dimensions");
    REFUSED(KW_INVALID_ARGUMENT, s->shape = NULL, "no sizes");
    REFUSED(KW_INVALID_ARGUMENT, sizes[1] = -4, "dimension 1", "size -4");
    REFUSED(KW_INVALID_ARGUMENT, sizes[0] = HUGE_SIZE, "63 bits");
    REFUSED(KW_INVALID_ARGUMENT, strides[1] = -1, "dimension 1", "stride -1", "ascontiguousarray");
    REFUSED(KW_INVALID_ARGUMENT, strides[0] = INT64_MIN, "stride -9223372036854775808");
    REFUSED(KW_INVALID_ARGUMENT, strides[0] = HUGE_SIZE, "63 bits");
    REFUSED(KW_INVALID_ARGUMENT, strides[0] = HUGE_SIZE / 4, "63 bits");
    REFUSED(KW_INVALID_ARGUMENT, s->data = NULL, "no data pointer");
    REFUSED(KW_INVALID_ARGUMENT, s->byte_offset = UINT64_MAX - 3, "addresses end");
    REFUSED(KW_INVALID_ARGUMENT, s->byte_offset = UINT64_C(1) << 63, "addresses end");
    REFUSED(KW_INVALID_ARGUMENT, set_place(s, UINTPTR_MAX / 2 + 1, UINTPTR_MAX / 2 - 15),
            "48 bytes", "addresses end");
    REFUSED(KW_INVALID_ARGUMENT, s->byte_offset = 2, "2 bytes beside a multiple of 4", "copy");
    REFUSED(KW_INVALID_ARGUMENT, s->data = (char *)memory + 1, "1 bytes beside");
    kw_tensor *tensor = NULL;
    plain_structure from = produce();
    cr_expect_eq(kw_tensor_from_dlpack(NULL, NULL, &tensor, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_from_dlpack_versioned(NULL, NULL, &tensor, NULL), KW_INVALID_ARGUMENT);
}

Test(dlpack, complex_numbers_are_aligned_as_their_parts)
{
    plain_structure from = produce();
    from.dl_tensor.dtype = (kwi_dl_type){KWI_DL_COMPLEX, 64, 1};
    from.dl_tensor.ndim = 1;
    from.dl_tensor.byte_offset = 4;
    kw_tensor *tensor = import(&from);
    cr_expect_eq(kw_tensor_dtype(tensor), KW_DTYPE_COMPLEX64);
    kw_tensor_release(tensor);
}

Test(dlpack, strides_of_one_element_may_be_anything)
{
    plain_structure from = produce();
    sizes[0] = 1;
    strides[0] = -4;
    kw_tensor *tensor = import(&from);
    cr_expect_eq(kw_tensor_strides(tensor)[0], 4);
    kw_tensor_release(tensor);
    strides[0] = INT64_MAX;
    tensor = import(&from);
    cr_expect_eq(kw_tensor_strides(tensor)[0], INT64_MAX);
    cr_expect(kw_tensor_is_contiguous(tensor));
    kw_tensor_release(tensor);
}

Test(dlpack, a_structure_leases_the_library_of_its_deleter)
{
    kw_library *library = NULL;
    const kw_library_options options = {.struct_size = sizeof options, .ns = "producer"};
    KWT_OK(kw_library_create(&options, &library, NULL));
    plain_structure from = produce();
    kw_tensor *tensor = NULL;
    kw_tensor *view = NULL;
    KWT_OK(kw_tensor_from_dlpack(&from, library, &tensor, NULL));
    KWT_OK(kw_tensor_alias(tensor, &view, NULL));
    kw_tensor_release(tensor);
    KWT_OK(kw_library_close(library, NULL));
    cr_expect_eq(kw_library_destroy(library, NULL), KW_BUSY);
    kw_tensor_release(view);
    cr_expect_eq(ended, 1);
    KWT_OK(kw_library_destroy(library, NULL));
}

// Outwards ----------------------------------------------------------------------------------------

Test(dlpack, a_tensor_becomes_a_structure_that_holds_its_storage)
{
    kw_tensor *base = kwt_numbered(12);
    kw_tensor *view = NULL;
    plain_structure *managed = NULL;
    KWT_OK(kw_tensor_as_strided(base, KWT_LIST(2, 3), KWT_LIST(1, 4), 2, &view, NULL));
    KWT_OK(kw_tensor_to_dlpack(view, &managed, NULL));
    kw_storage *storage = kw_tensor_storage(base);
    cr_expect_eq(kw_storage_use_count(storage), 3);
    kwi_dl_tensor out = managed->dl_tensor;
    cr_expect_eq(out.data, kw_tensor_data(view));
    cr_expect_eq(out.byte_offset, 0);
    cr_expect_eq(out.ndim, 2);
    cr_expect_arr_eq(out.shape, KWT_SIZES(2, 3), 2 * sizeof(int64_t));
    cr_expect_arr_eq(out.strides, KWT_SIZES(1, 4), 2 * sizeof(int64_t));
    cr_expect_eq(out.device.device_type, KWI_DL_CPU);
    cr_expect_eq(out.device.device_id, 0);
    kw_tensor *other = kwt_numbered(1);
    KWT_OK(kw_tensor_set_data(view, other, NULL));
    kw_tensor_release(other);
    kw_tensor_release(view);
    kw_tensor_release(base);
    cr_expect_eq(((const int32_t *)managed->dl_tensor.data)[5], 7, "the memory is there");
    cr_expect_eq(kwt_figures().storage_count, 1);
    managed->deleter(managed);
    cr_expect_eq(kwt_figures().storage_count, 0);
}

Test(dlpack, a_versioned_structure_has_version_and_flags)
{
    static const float constant[4] = {1, 2, 3, 4};
    const kw_external_memory external = {.struct_size = sizeof external,
                                         .data = (void *)(uintptr_t)constant,
                                         .bytes = sizeof constant,
                                         .device = KWT_CPU,
                                         .read_only = true};
    kw_tensor_options options = kwt_options(KWT_SIZES(4), 1);
    KWT_OK(kw_storage_wrap(&external, &options.storage, NULL));
    kw_tensor *tensor = kwt_create(&options);
    kw_storage_release(options.storage);
    versioned_structure *managed = NULL;
    plain_structure *plain = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_to_dlpack(tensor, &plain, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "read-only"));
    cr_expect_null(plain);
    KWT_OK(kw_tensor_to_dlpack_versioned(tensor, &managed, NULL));
    cr_expect_eq(managed->version.major, KW_DLPACK_MAJOR);
    cr_expect_eq(managed->version.minor, KW_DLPACK_MINOR);
    cr_expect_eq(managed->flags, KWI_DL_READ_ONLY);
    kw_tensor_release(tensor);
    KWT_OK(kw_tensor_from_dlpack_versioned(managed, NULL, &tensor, NULL));
    cr_expect_eq(kw_tensor_data(tensor), constant);
    cr_expect(kw_storage_is_read_only(kw_tensor_storage(tensor)));
    kw_tensor_release(tensor);
    cr_expect_eq(kwt_figures().storage_count, 0, "in and out again");
}

Test(dlpack, tensors_without_dimensions_or_elements_go_out)
{
    kw_tensor *scalar = kwt_tensor(NULL, 0);
    kw_tensor *empty = kwt_tensor(KWT_SIZES(0, 3), 2);
    plain_structure *managed = NULL;
    KWT_OK(kw_tensor_to_dlpack(scalar, &managed, NULL));
    cr_expect_eq(managed->dl_tensor.ndim, 0);
    cr_expect_not_null(managed->dl_tensor.data);
    kw_tensor_release(scalar);
    scalar = import(managed);
    cr_expect_eq(kw_tensor_dim(scalar), 0);
    KWT_OK(kw_tensor_to_dlpack(empty, &managed, NULL));
    cr_expect_null(managed->dl_tensor.data);
    kw_tensor_release(empty);
    empty = import(managed);
    cr_expect_eq(kw_tensor_sizes(empty)[1], 3);
    kw_tensor_release(empty);
    kw_tensor_release(scalar);
}

Test(dlpack, what_a_structure_cannot_say_is_refused)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    plain_structure *managed = NULL;
    kw_error err = KW_ERROR_INIT;
    void (*const set[])(kw_tensor *, bool) = {kw_tensor_set_conj, kw_tensor_set_neg,
                                              kw_tensor_set_zero_tensor};
    static const char *const words[] = {"conjugate", "negative", "zero"};
    for (int i = 0; i < 3; i++) {
        set[i](tensor, true);
        cr_expect_eq(kw_tensor_to_dlpack(tensor, &managed, &err), KW_NOT_SUPPORTED);
        cr_expect_not_null(strstr(err.text, words[i]), "%s", err.text);
        set[i](tensor, false);
    }
    kw_tensor_release(tensor);
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.layout = KW_LAYOUT_SPARSE;
    tensor = kwt_create(&options);
    cr_expect_eq(kw_tensor_to_dlpack(tensor, &managed, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "sparse"));
    kw_tensor_release(tensor);
    options.layout = KW_LAYOUT_STRIDED;
    options.device.type = KW_DEVICE_META;
    tensor = kwt_create(&options);
    cr_expect_eq(kw_tensor_to_dlpack(tensor, &managed, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "meta"));
    kw_tensor_release(tensor);
    cr_expect_neq(kw_tensor_to_dlpack(kw_tensor_undefined(), &managed, NULL), KW_OK);
    cr_expect_eq(kw_tensor_to_dlpack(NULL, &managed, NULL), KW_INVALID_ARGUMENT);
    cr_expect_null(managed);
}

Test(dlpack, every_element_type_goes_out_and_comes_back_or_is_refused)
{
    for (unsigned dtype = 0; kw_dtype_name((uint8_t)dtype) != NULL; dtype++) {
        kw_dtype_kind kind = kw_dtype_kind_of((uint8_t)dtype);
        bool is_known = kind != KW_DTYPE_KIND_QUANTIZED && kind != KW_DTYPE_KIND_BITS;
        bool is_float8 = kind == KW_DTYPE_KIND_FLOATING && kw_dtype_bytes((uint8_t)dtype) == 1;
        kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
        options.dtype = (uint8_t)dtype;
        kw_tensor *tensor = kwt_create(&options);
        plain_structure *plain = NULL;
        versioned_structure *versioned = NULL;
        cr_expect_eq(kw_tensor_to_dlpack_versioned(tensor, &versioned, NULL),
                     is_known ? KW_OK : KW_NOT_SUPPORTED, "%u", dtype);
        cr_expect_eq(kw_tensor_to_dlpack(tensor, &plain, NULL),
                     is_known && !is_float8 ? KW_OK : KW_NOT_SUPPORTED, "%u", dtype);
        kw_tensor_release(tensor);
        if (is_known) {
            cr_expect_eq(versioned->dl_tensor.dtype.bits, 8 * kw_dtype_bytes((uint8_t)dtype));
            KWT_OK(kw_tensor_from_dlpack_versioned(versioned, NULL, &tensor, NULL));
            cr_expect_eq(kw_tensor_dtype(tensor), dtype);
            kw_tensor_release(tensor);
        }
        kw_dlpack_delete(plain);
    }
    cr_expect_eq(kwt_figures().storage_count, 0);
}

typedef struct type_row {
    kwi_dl_type type;
    uint8_t dtype;
} type_row;

// The numbers as a producer writes them: those of the specification.
static const type_row type_rows[] = {
    {{0, 8, 1}, KW_DTYPE_INT8},           {{0, 16, 1}, KW_DTYPE_INT16},
    {{0, 32, 1}, KW_DTYPE_INT32},         {{0, 64, 1}, KW_DTYPE_INT64},
    {{1, 8, 1}, KW_DTYPE_UINT8},          {{1, 16, 1}, KW_DTYPE_UINT16},
    {{1, 32, 1}, KW_DTYPE_UINT32},        {{1, 64, 1}, KW_DTYPE_UINT64},
    {{2, 16, 1}, KW_DTYPE_FLOAT16},       {{2, 32, 1}, KW_DTYPE_FLOAT32},
    {{2, 64, 1}, KW_DTYPE_FLOAT64},       {{4, 16, 1}, KW_DTYPE_BFLOAT16},
    {{5, 32, 1}, KW_DTYPE_COMPLEX32},     {{5, 64, 1}, KW_DTYPE_COMPLEX64},
    {{5, 128, 1}, KW_DTYPE_COMPLEX128},   {{6, 8, 1}, KW_DTYPE_BOOL},
    {{10, 8, 1}, KW_DTYPE_FLOAT8_E4M3FN}, {{11, 8, 1}, KW_DTYPE_FLOAT8_E4M3FNUZ},
    {{12, 8, 1}, KW_DTYPE_FLOAT8_E5M2},   {{13, 8, 1}, KW_DTYPE_FLOAT8_E5M2FNUZ},
};

Test(dlpack, type_codes_are_those_of_the_specification)
{
    for (size_t i = 0; i < sizeof type_rows / sizeof type_rows[0]; i++) {
        plain_structure from = produce();
        from.dl_tensor.dtype = type_rows[i].type;
        from.dl_tensor.ndim = 0;
        kw_tensor *tensor = import(&from);
        cr_expect_eq(kw_tensor_dtype(tensor), type_rows[i].dtype, "row %zu", i);
        kw_tensor_release(tensor);
    }
}

typedef struct device_row {
    uint32_t dl_type;
    int32_t type;
    bool goes_out; // as the same number
} device_row;

static const device_row device_rows[] = {
    {1, KW_DEVICE_CPU, true},    {2, KW_DEVICE_CUDA, true},         {3, KW_DEVICE_CPU, false},
    {7, KW_DEVICE_VULKAN, true}, {8, KW_DEVICE_MPS, true},          {10, KW_DEVICE_HIP, true},
    {11, KW_DEVICE_CPU, false},  {12, KW_DEVICE_PRIVATEUSE1, true}, {13, KW_DEVICE_CPU, false},
    {14, KW_DEVICE_XPU, true},   {17, KW_DEVICE_MAIA, true},
};

Test(dlpack, devices_are_those_of_the_specification)
{
    for (size_t i = 0; i < sizeof device_rows / sizeof device_rows[0]; i++) {
        const device_row *row = &device_rows[i];
        plain_structure from = produce();
        from.dl_tensor.device = (kwi_dl_device){row->dl_type, 2};
        kw_tensor *tensor = import(&from);
        cr_expect(kw_tensor_is_on(tensor, row->type), "row %zu", i);
        cr_expect_eq(kw_tensor_device(tensor).index, row->type == KW_DEVICE_CPU ? -1 : 2);
        plain_structure *again = NULL;
        KWT_OK(kw_tensor_to_dlpack(tensor, &again, NULL));
        cr_expect_eq(again->dl_tensor.device.device_type, row->goes_out ? row->dl_type : 1);
        cr_expect_eq(again->dl_tensor.device.device_id, row->type == KW_DEVICE_CPU ? 0 : 2);
        kw_dlpack_delete(again);
        kw_tensor_release(tensor);
    }
}

Test(dlpack, offsets_are_not_added_to_handles)
{
    plain_structure from = produce();
    kw_error err = KW_ERROR_INIT;
    from.dl_tensor.device.device_type = KWI_DL_VULKAN;
    from.dl_tensor.data = (void *)0x1235; // no address, and aligned to nothing
    from.dl_tensor.byte_offset = 8;
    kw_tensor *tensor = import(&from);
    cr_expect_eq(kw_storage_data(kw_tensor_storage(tensor)), from.dl_tensor.data);
    cr_expect_eq(kw_tensor_storage_offset(tensor), 2);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 56);
    plain_structure *again = NULL;
    KWT_OK(kw_tensor_to_dlpack(tensor, &again, NULL));
    cr_expect_eq(again->dl_tensor.data, from.dl_tensor.data);
    cr_expect_eq(again->dl_tensor.byte_offset, 8);
    kw_dlpack_delete(again);
    kw_tensor_release(tensor);
    tensor = NULL;
    from.dl_tensor.byte_offset = 6;
    cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, &tensor, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "6 bytes"), "%s", err.text);
    from.dl_tensor.byte_offset = UINT64_MAX - 103; // with the elements just below 2^64
    cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, &tensor, NULL), KW_INVALID_ARGUMENT);
    from.dl_tensor.byte_offset = UINT64_MAX - 3;
    cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, &tensor, NULL), KW_INVALID_ARGUMENT);
    from.dl_tensor.byte_offset = 0;
    from.dl_tensor.data = NULL;
    cr_expect_eq(kw_tensor_from_dlpack(&from, NULL, &tensor, NULL), KW_INVALID_ARGUMENT);
    cr_expect_null(tensor);
}

Test(dlpack, sixty_four_dimensions_go_round)
{
    for (int i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = i % 16 == 0 ? 2 : 1;
    }
    plain_structure from = produce();
    from.dl_tensor.ndim = KW_TENSOR_DIM_MAX;
    from.dl_tensor.strides = NULL;
    kw_tensor *tensor = import(&from);
    plain_structure *again = NULL;
    KWT_OK(kw_tensor_to_dlpack(tensor, &again, NULL));
    cr_expect_eq(again->dl_tensor.ndim, KW_TENSOR_DIM_MAX);
    cr_expect_eq(again->dl_tensor.strides[0], 8);
    kw_tensor_release(tensor);
    tensor = import(again);
    cr_expect_eq(kw_tensor_numel(tensor), 16);
    kw_tensor_release(tensor);
    cr_expect_eq(ended, 1);
}
