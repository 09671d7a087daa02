// Boxed values: one 16-byte tagged value for everything that crosses a boxed call, and list views.
//
// Layer:     value
// Threads:   a value belongs to the thread that holds it; nothing here is shared.
// Stability: stable since 0.1. The layout of kw_value and of the views is fixed for ever.
// SPDX-License-Identifier: MIT

#ifndef KW_VALUE_H
#define KW_VALUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>

KW_BEGIN_DECLS

// Plain values lie below KW_TAG_BORROWED, values with a pointer from it on.
typedef enum kw_tag_code {
    KW_TAG_NONE = 0,
    KW_TAG_BOOL = 1,
    KW_TAG_INT = 2,
    KW_TAG_FLOAT = 3,
    KW_TAG_BORROWED = 32,
    KW_TAG_STRING = 32,
    KW_TAG_TENSOR = 33,
    KW_TAG_TENSOR_LIST = 34,
    KW_TAG_INT_LIST = 35,
    KW_TAG_FLOAT_LIST = 36,
    KW_TAG_BOOL_LIST = 37,
    KW_TAG_GENERATOR = 38
} kw_tag_code;

// Views: what a typed kernel receives, by value, for a list argument. They own nothing; the
// elements live as long as the call. `data` may be NULL when `count` is 0.

typedef struct kw_tensor_list {
    void *const *data; // a NULL element is an absent Tensor? of a Tensor?[]
    size_t count;
} kw_tensor_list;

typedef struct kw_int_list {
    const int64_t *data;
    size_t count;
} kw_int_list;

typedef struct kw_float_list {
    const double *data;
    size_t count;
} kw_float_list;

typedef struct kw_bool_list {
    const bool *data;
    size_t count;
} kw_bool_list;

static_assert(sizeof(kw_tensor_list) == sizeof(void *) + sizeof(size_t), "a view is two words");
static_assert(offsetof(kw_tensor_list, count) == sizeof(void *), "a view is two words");
static_assert(sizeof(kw_int_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_int_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_float_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_float_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_bool_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_bool_list, count) == sizeof(void *), "views have one layout");

/// A tagged value. As an argument it borrows what it points to for the length of the call; as a
/// return it is owned by the caller, who releases a tensor through the tensor type.
typedef struct kw_value {
    uint32_t tag;   // a kw_tag_code
    uint32_t count; // elements of a list, bytes of a string; else 0, so plain values compare whole
    union {
        bool as_bool;
        int64_t as_int;
        double as_float;
        void *as_tensor;       // the embedder's tensor; never NULL: an absent tensor is KW_TAG_NONE
        void *as_generator;    // the embedder's generator; never NULL, as a tensor
        const char *as_string; // `count` bytes, then a zero
        void *const *as_tensors;
        const int64_t *as_ints;
        const double *as_floats;
        const bool *as_bools;
        uint64_t bits;
    } as;
} kw_value;

static_assert(sizeof(kw_value) == 16, "the layout of a value is fixed");
static_assert(offsetof(kw_value, tag) == 0, "the layout of a value is fixed");
static_assert(offsetof(kw_value, count) == 4, "the layout of a value is fixed");
static_assert(offsetof(kw_value, as) == 8, "the layout of a value is fixed");

static inline kw_value kw_value_none(void)
{
    kw_value value;
    value.tag = KW_TAG_NONE;
    value.count = 0;
    value.as.bits = 0;
    return value;
}

static inline kw_value kw_value_bool(bool boolean)
{
    kw_value value = kw_value_none();
    value.tag = KW_TAG_BOOL;
    value.as.bits = boolean ? 1 : 0;
    return value;
}

static inline kw_value kw_value_int(int64_t integer)
{
    kw_value value = kw_value_none();
    value.tag = KW_TAG_INT;
    value.as.as_int = integer;
    return value;
}

static inline kw_value kw_value_float(double number)
{
    kw_value value = kw_value_none();
    value.tag = KW_TAG_FLOAT;
    value.as.as_float = number;
    return value;
}

/// Makes a value of a tensor; NULL gives None, the absent tensor.
static inline kw_value kw_value_tensor(void *tensor)
{
    kw_value value = kw_value_none();
    value.tag = tensor != NULL ? (uint32_t)KW_TAG_TENSOR : (uint32_t)KW_TAG_NONE;
    value.as.as_tensor = tensor;
    return value;
}

/// Makes a value of a random number generator; NULL gives None, the absent generator. No schema
/// returns one.
static inline kw_value kw_value_generator(void *generator)
{
    kw_value value = kw_value_none();
    value.tag = generator != NULL ? (uint32_t)KW_TAG_GENERATOR : (uint32_t)KW_TAG_NONE;
    value.as.as_generator = generator;
    return value;
}

/// Makes a borrowed value of a zero-terminated string; NULL, or more than UINT32_MAX bytes, gives
/// None.
///
/// @threads any
/// @since 0.1
KW_API kw_value kw_value_string(const char *text);

/// Make borrowed list values. At most UINT32_MAX elements; more give None.
///
/// @threads any
/// @since 0.1
KW_API kw_value kw_value_tensors(kw_tensor_list list);
KW_API kw_value kw_value_ints(kw_int_list list);
KW_API kw_value kw_value_floats(kw_float_list list);
KW_API kw_value kw_value_bools(kw_bool_list list);

/// Returns the tag as a word of the schema language, such as "Tensor[]"; "unknown" otherwise.
/// Static storage.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_tag_name(uint32_t tag);

KW_END_DECLS

#endif // KW_VALUE_H
