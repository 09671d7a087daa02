// Symbolic shapes: sizes, strides and offset that are not all numbers.
//
// Layer:   tensor
// Threads: as the tensor.
// SPDX-License-Identifier: MIT

#include <keyway/allocator.h>

#include "tensor/extra.h"
#include "tensor/failure.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

static size_t word_count(uint32_t dim)
{
    return 2 * (size_t)dim + 1;
}

static size_t symbols_bytes(uint32_t dim)
{
    return sizeof(kwi_symbols) + word_count(dim) * sizeof(kw_symint);
}

void kwi_symbols_free(kwi_symbols *symbols)
{
    if (symbols != NULL) {
        for (size_t i = 0; i < word_count(symbols->dim); i++) {
            kw_symint_release(symbols->word[i]);
        }
        kw_memory_free(symbols, symbols_bytes(symbols->dim));
    }
}

// The words as one list, each node retained; NULL: no memory.
static kwi_symbols *make_symbols(kw_symint_list sizes, kw_symint_list strides, kw_symint offset)
{
    uint32_t dim = (uint32_t)sizes.count;
    kwi_symbols *made = kw_memory_allocate(symbols_bytes(dim));
    if (made == NULL) {
        return NULL;
    }
    made->dim = dim;
    for (uint32_t i = 0; i < dim; i++) {
        made->word[i] = sizes.data[i];
        made->word[dim + i] = strides.data[i];
    }
    made->word[word_count(dim) - 1] = offset;
    for (size_t i = 0; i < word_count(dim); i++) {
        kw_symint_retain(made->word[i]);
    }
    return made;
}

kwi_symbols *kwi_symbols_copy(const kwi_symbols *symbols)
{
    const kw_symint_list sizes = {symbols->word, symbols->dim};
    const kw_symint_list strides = {symbols->word + symbols->dim, symbols->dim};
    return make_symbols(sizes, strides, symbols->word[word_count(symbols->dim) - 1]);
}

// What stands for a symbol where a number has to be.
static int64_t number_of(kw_symint symint)
{
    return kw_symint_is_int(symint) ? (int64_t)symint.word : 0;
}

typedef struct shape_words {
    int64_t sizes[KW_TENSOR_DIM_MAX];
    int64_t strides[KW_TENSOR_DIM_MAX];
    int64_t offset;
    uint32_t dim;
    bool is_symbolic; // a word at least is a node
} shape_words;

static kw_status read_word(kw_symint symint, const char *what, int64_t *out_number,
                           shape_words *words, kw_error *err)
{
    if (!kw_symint_is_int(symint) && kw_symint_object(symint) == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "a %s is an invalid symbolic integer", what);
    }
    words->is_symbolic |= !kw_symint_is_int(symint);
    *out_number = number_of(symint);
    return *out_number >= 0 ? KW_OK
                            : kw_error_set(err, KW_INVALID_ARGUMENT, "a %s is negative: %lld", what,
                                           (long long)*out_number);
}

static kw_status read_words(kw_symint_list sizes, kw_symint_list strides, kw_symint offset,
                            shape_words *out, kw_error *err)
{
    if (sizes.count > KW_TENSOR_DIM_MAX || sizes.count != strides.count) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "there are %zu sizes and %zu strides; both may be %d at most",
                            sizes.count, strides.count, KW_TENSOR_DIM_MAX);
    }
    out->dim = (uint32_t)sizes.count;
    kw_status status = read_word(offset, "storage offset", &out->offset, out, err);
    for (uint32_t i = 0; i < out->dim && status == KW_OK; i++) {
        status = read_word(sizes.data[i], "size", &out->sizes[i], out, err);
        if (status == KW_OK) {
            status = read_word(strides.data[i], "stride", &out->strides[i], out, err);
        }
    }
    return status;
}

// A plain shape has to lie within the storage.
static kw_status check_plain(const kw_tensor *tensor, const shape_words *words, kw_error *err)
{
    int64_t count = 0;
    size_t bytes = 0;
    if (!kwi_sizes_count(words->sizes, words->dim, &count) ||
        !kwi_shape_reach_bytes(words->sizes, words->strides, words->dim, words->offset,
                               kw_dtype_bytes(tensor->dtype), &bytes)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "the shape has more elements than 64 bits can count");
    }
    if (tensor->storage != NULL && kw_storage_bytes(tensor->storage) < bytes) {
        return kw_error_set(err, KW_WRONG_VALUE,
                            "the shape needs %zu bytes of storage, which has %zu", bytes,
                            kw_storage_bytes(tensor->storage));
    }
    return KW_OK;
}

static kw_status check(const kw_tensor *tensor, const shape_words *words, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (kw_tensor_has_names(tensor) && words->dim != tensor->dim) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "%u dimensions have names; a shape of %u cannot keep them",
                            (unsigned)tensor->dim, (unsigned)words->dim);
    }
    return words->is_symbolic ? KW_OK : check_plain(tensor, words, err);
}

kw_status kw_tensor_set_symbolic_shape(kw_tensor *tensor, kw_symint_list sizes,
                                       kw_symint_list strides, kw_symint storage_offset,
                                       kw_error *err)
{
    shape_words words; // not zeroed as a whole: filled in as far as there are dimensions
    words.dim = 0;
    words.offset = 0;
    words.is_symbolic = false;
    kw_status status = read_words(sizes, strides, storage_offset, &words, err);
    if (status == KW_OK) {
        status = check(tensor, &words, err);
    }
    if (status != KW_OK) {
        return status;
    }
    kwi_symbols *symbols = words.is_symbolic ? make_symbols(sizes, strides, storage_offset) : NULL;
    kwi_extra *extra = words.is_symbolic ? kwi_extra_make(tensor) : kwi_extra_of(tensor);
    if (words.is_symbolic && (symbols == NULL || extra == NULL)) {
        kwi_symbols_free(symbols);
        return kwi_tensor_fail_memory(err);
    }
    const kwi_geometry shape = {words.sizes, words.strides, words.offset, words.dim};
    status = kwi_tensor_set_shape(tensor, &shape, err);
    if (status != KW_OK) {
        kwi_symbols_free(symbols);
        return status;
    }
    kwi_tensor_set_symbols(tensor, symbols);
    return KW_OK;
}

void kwi_tensor_set_symbols(kw_tensor *tensor, kwi_symbols *take_symbols)
{
    kwi_extra *extra = kwi_extra_of(tensor);
    if (extra != NULL) {
        kwi_symbols_free(extra->symbols);
        extra->symbols = take_symbols;
    }
    if (take_symbols != NULL) {
        // What the numbers say of contiguity does not hold for symbols.
        tensor->flags &= (uint16_t)~KWI_SHAPE_FLAGS;
        tensor->flags |= KWI_TENSOR_SYMBOLIC;
    }
}

// Reading ---------------------------------------------------------------------------------------

static kw_symint word_at(const kw_tensor *tensor, size_t index, int64_t plain)
{
    return kw_tensor_is_symbolic(tensor) ? kwi_extra_of(tensor)->symbols->word[index]
                                         : kw_symint_int(plain);
}

kw_symint kw_tensor_symbolic_size(const kw_tensor *tensor, uint32_t dim_index)
{
    return word_at(tensor, dim_index, kw_tensor_sizes(tensor)[dim_index]);
}

kw_symint kw_tensor_symbolic_stride(const kw_tensor *tensor, uint32_t dim_index)
{
    return word_at(tensor, tensor->dim + dim_index, kw_tensor_strides(tensor)[dim_index]);
}

kw_symint kw_tensor_symbolic_storage_offset(const kw_tensor *tensor)
{
    return word_at(tensor, 2 * (size_t)tensor->dim, tensor->offset);
}
