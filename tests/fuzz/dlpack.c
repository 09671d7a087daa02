// Fuzz target: structures of DLPack that anybody may have made.
//
// A structure is refused, with a sentence and still the caller's; or it gives a tensor whose sizes,
// strides and flags are the structure's and whose elements lie within its storage, as do those of
// its views; exported, it describes the same elements; and in the end its deleter has run once.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/dlpack.h>
#include <keyway/tensor_view.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "tensor/dlpack_abi.h"

typedef struct DLManagedTensor plain_structure;
typedef struct DLManagedTensorVersioned versioned_structure;

// What the bits of the first byte choose.
enum choice {
    VERSIONED = 1,
    NO_STRIDES = 2,
    NO_SHAPE = 4,
    NO_DATA = 8,
    NO_DELETER = 16
};

// The memory that data pointers point to.
static _Alignas(64) unsigned char memory[4096];
static int64_t sizes[KW_TENSOR_DIM_MAX];
static int64_t strides[KW_TENSOR_DIM_MAX];
static int ended;

// The bytes of the input, then zeros.
typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static uint8_t take(input *from)
{
    if (from->size == 0) {
        return 0;
    }
    from->size--;
    return *from->data++;
}

// Small numbers of both signs, and those next to powers of two.
static int64_t take_number(input *from)
{
    uint8_t byte = take(from);
    if (byte < 64) {
        return byte;
    }
    if (byte < 80) {
        return 64 - (int64_t)byte;
    }
    uint64_t power = UINT64_C(1) << (byte % 64);
    return (int64_t)(power + (uint64_t)take(from) - 128);
}

static void end_plain(plain_structure *self)
{
    (void)self;
    ended++;
}

static void end_versioned(versioned_structure *self)
{
    (void)self;
    ended++;
}

static kwi_dl_tensor take_tensor(input *from, uint8_t choices)
{
    kwi_dl_tensor made = {.data = (choices & NO_DATA) != 0 ? NULL : memory + take(from) % 32,
                          .shape = (choices & NO_SHAPE) != 0 ? NULL : sizes,
                          .strides = (choices & NO_STRIDES) != 0 ? NULL : strides};
    made.dtype.code = take(from);
    made.dtype.bits = take(from);
    made.dtype.lanes = take(from);
    made.device.device_type = take(from);
    made.device.device_id = (int8_t)take(from);
    made.byte_offset = (uint64_t)take_number(from);
    made.ndim = (int32_t)take_number(from);
    for (int32_t i = 0; i < made.ndim && i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = take_number(from);
        strides[i] = take_number(from);
    }
    return made;
}

// The product of the sizes, and how far the elements reach from the first: with 128 bits nothing of
// 64 dimensions of 63 bits overflows before it is seen to be too large.
__extension__ typedef __int128 wide;

static bool measure(const kw_tensor *tensor, wide *out_count, wide *out_reach)
{
    const wide most = (wide)1 << 100;
    *out_count = 1;
    *out_reach = 0;
    for (uint32_t i = 0; i < kw_tensor_dim(tensor); i++) {
        int64_t size = kw_tensor_sizes(tensor)[i];
        int64_t stride = kw_tensor_strides(tensor)[i];
        FUZZ_CHECK(size >= 0 && stride >= 0, "dimension %u", i);
        *out_count *= size;
        *out_reach += size > 0 ? (wide)(size - 1) * stride : 0;
        if (*out_count > most || *out_reach > most) {
            return false;
        }
    }
    return true;
}

static void check_bounds(const kw_tensor *tensor)
{
    wide count = 0;
    wide reach = 0;
    size_t bytes = kw_storage_bytes(kw_tensor_storage(tensor));
    bool is_small = measure(tensor, &count, &reach);
    for (uint32_t i = 0; i < kw_tensor_dim(tensor); i++) {
        if (kw_tensor_sizes(tensor)[i] == 0) {
            return; // no element lies anywhere
        }
    }
    FUZZ_CHECK(is_small && count <= INT64_MAX, "too many elements");
    wide last = reach + kw_tensor_storage_offset(tensor) + 1;
    FUZZ_CHECK(last * (wide)kw_dtype_bytes(kw_tensor_dtype(tensor)) <= (wide)bytes,
               "%zu bytes are too few", bytes);
    uintptr_t begin = (uintptr_t)kw_storage_data(kw_tensor_storage(tensor));
    FUZZ_CHECK(begin != 0 && begin + bytes >= begin, "beyond the last address");
}

static void check_view(kw_status status, kw_tensor **view, const kw_error *err)
{
    FUZZ_CHECK((status == KW_OK) == (*view != NULL), "status %d", status);
    FUZZ_CHECK(status == KW_OK || err->text[0] != '\0', "no sentence");
    if (*view != NULL) {
        check_bounds(*view);
        kw_tensor_release(*view);
        *view = NULL;
    }
}

static void check_views(kw_tensor *tensor, input *from)
{
    int64_t dim = kw_tensor_dim(tensor);
    for (int i = 0; i < 4 && dim > 0; i++) {
        kw_error err = KW_ERROR_INIT;
        kw_tensor *view = NULL;
        int64_t at = take(from) % dim;
        int64_t begin = take_number(from);
        int64_t end = take_number(from);
        int64_t step = take_number(from);
        const int64_t pair[] = {begin, end};
        const int64_t steps[] = {step, i % 2 == 0 ? 1 : 0};
        check_view(kw_tensor_select(tensor, at, begin, &view, &err), &view, &err);
        check_view(kw_tensor_slice(tensor, at, begin, end, step, &view, &err), &view, &err);
        check_view(kw_tensor_view(tensor, (kw_int_list){&begin, 1}, &view, &err), &view, &err);
        check_view(kw_tensor_as_strided(tensor, (kw_int_list){pair, 2}, (kw_int_list){steps, 2},
                                        step, &view, &err),
                   &view, &err);
    }
}

// What goes out again describes the same elements.
static void check_export(kw_tensor *tensor)
{
    versioned_structure *out = NULL;
    kw_error err = KW_ERROR_INIT;
    FUZZ_CHECK(kw_tensor_to_dlpack_versioned(tensor, &out, &err) == KW_OK, "%s", err.text);
    kw_tensor *again = NULL;
    FUZZ_CHECK(kw_tensor_from_dlpack_versioned(out, NULL, &again, &err) == KW_OK, "%s", err.text);
    size_t bytes = kw_tensor_dim(tensor) * sizeof(int64_t);
    FUZZ_CHECK(kw_tensor_dim(again) == kw_tensor_dim(tensor) &&
                   memcmp(kw_tensor_sizes(again), kw_tensor_sizes(tensor), bytes) == 0 &&
                   memcmp(kw_tensor_strides(again), kw_tensor_strides(tensor), bytes) == 0,
               "another shape");
    FUZZ_CHECK(kw_tensor_data(again) == kw_tensor_data(tensor), "other memory");
    FUZZ_CHECK(kw_tensor_dtype(again) == kw_tensor_dtype(tensor), "another type");
    kw_tensor_release(again);
}

static void check_imported(kw_tensor *tensor, const kwi_dl_tensor *made, input *from)
{
    FUZZ_CHECK((int32_t)kw_tensor_dim(tensor) == made->ndim, "%d dimensions", made->ndim);
    for (int32_t i = 0; i < made->ndim; i++) {
        FUZZ_CHECK(kw_tensor_sizes(tensor)[i] == sizes[i], "size %d", i);
        bool is_used = made->strides != NULL && strides[i] >= 0;
        FUZZ_CHECK(!is_used || kw_tensor_strides(tensor)[i] == strides[i], "stride %d", i);
    }
    check_bounds(tensor);
    check_views(tensor, from);
    check_export(tensor);
}

static kw_status import(const kwi_dl_tensor *made, uint8_t choices, input *from, kw_tensor **out,
                        kw_error *err)
{
    static plain_structure plain;
    static versioned_structure versioned;
    bool has_deleter = (choices & NO_DELETER) == 0;
    if ((choices & VERSIONED) == 0) {
        plain = (plain_structure){.dl_tensor = *made, .deleter = has_deleter ? end_plain : NULL};
        return kw_tensor_from_dlpack(&plain, NULL, out, err);
    }
    uint32_t major = take(from);
    versioned = (versioned_structure){.version = {major < 192 ? 1 : major, take(from)},
                                      .deleter = has_deleter ? end_versioned : NULL,
                                      .flags = take(from),
                                      .dl_tensor = *made};
    kw_status status = kw_tensor_from_dlpack_versioned(&versioned, NULL, out, err);
    FUZZ_CHECK(status != KW_OK || versioned.version.major == 1, "another major version");
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t before = kwi_memory_bytes();
    input from = {data, size};
    uint8_t choices = take(&from);
    kwi_dl_tensor made = take_tensor(&from, choices);
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    ended = 0;
    kw_status status = import(&made, choices, &from, &tensor, &err);
    if (status != KW_OK) {
        FUZZ_CHECK(err.status == status && err.text[0] != '\0', "no sentence");
        FUZZ_CHECK(tensor == NULL && ended == 0, "the output or the structure is touched");
    } else {
        check_imported(tensor, &made, &from);
        FUZZ_CHECK(ended == 0, "ended too early");
        kw_tensor_release(tensor);
        FUZZ_CHECK(ended == ((choices & NO_DELETER) == 0 ? 1 : 0), "ended %d times", ended);
    }
    FUZZ_CHECK(kwi_memory_bytes() == before, "something stays allocated");
    return 0;
}
