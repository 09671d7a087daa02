// Boxed values: one 16-byte tagged value for everything that crosses a boxed call, and list views.
//
// Layer:     value
// Threads:   a value belongs to the thread that holds it; counted objects behind it may be shared.
// Stability: stable since 0.1. The layout of kw_value and of the views is fixed for ever.
// SPDX-License-Identifier: MIT
//
// Note [Values and ownership]
//
// A value is one of four things, which its tag and flags tell:
//
//   plain    None, bool, int, float, device: the value itself
//   tensor   a tensor of the embedder's; or a generator, which is never counted: it lives as long
//   as
//            the embedder lets it, also as a return
//   view     a string, complex number, list, tuple or dict in somebody else's memory
//   counted  one of these in memory of its own, or an object: KW_VALUE_COUNTED is set
//
// A view and a counted value of one tag are read in the same way. An argument of a frame borrows
// what it points to for the length of the call. A return is owned by the caller: it is plain, a
// tensor with its reference, or counted with one reference, never a view. kw_value_own() makes an
// owned value of a borrowed one and kw_value_release() ends an owned one. Lists, tuples and dicts
// never change once made.

#ifndef KW_VALUE_H
#define KW_VALUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <keyway/export.h>
#include <keyway/object.h>
#include <keyway/schema.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/tensor_type.h>

KW_BEGIN_DECLS

// Plain values lie below KW_TAG_POINTER, values with a pointer from it on.
typedef enum kw_tag_code {
    KW_TAG_NONE = 0,
    KW_TAG_BOOL = 1,
    KW_TAG_INT = 2,
    KW_TAG_FLOAT = 3,
    KW_TAG_DEVICE = 4,
    KW_TAG_POINTER = 32,
    KW_TAG_STRING = 32,
    KW_TAG_TENSOR = 33,
    KW_TAG_TENSOR_LIST = 34,
    KW_TAG_INT_LIST = 35,
    KW_TAG_FLOAT_LIST = 36,
    KW_TAG_BOOL_LIST = 37,
    KW_TAG_GENERATOR = 38,
    KW_TAG_COMPLEX = 39,
    KW_TAG_SYM_INT = 40,      // a node; a concrete one is KW_TAG_INT
    KW_TAG_SYM_BOOL = 41,     // a node; a concrete one is KW_TAG_BOOL
    KW_TAG_SYM_INT_LIST = 42, // a concrete one may be KW_TAG_INT_LIST
    KW_TAG_LIST = 43,         // of values: what has no tag of its own
    KW_TAG_TUPLE = 44,
    KW_TAG_DICT = 45,  // `count` keys, each followed by its value
    KW_TAG_OBJECT = 46 // of any other type
} kw_tag_code;

#define KW_VALUE_COUNTED 1

/// A complex number.
typedef struct kw_complex {
    double real;
    double imaginary;
} kw_complex;

/// A device as the embedder numbers them; PyTorch has CPU 0 and CUDA 1. Index -1 is the current
/// one.
typedef struct kw_device {
    int32_t type;
    int32_t index;
} kw_device;

// Views: what a typed kernel receives, by value, for a list argument. They own nothing; the
// elements live as long as the call. `data` may be NULL when `count` is 0.

typedef struct kw_value kw_value;

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

typedef struct kw_value_list {
    const kw_value *data;
    size_t count;
} kw_value_list;

static_assert(sizeof(kw_tensor_list) == sizeof(void *) + sizeof(size_t), "a view is two words");
static_assert(offsetof(kw_tensor_list, count) == sizeof(void *), "a view is two words");
static_assert(sizeof(kw_int_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_int_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_float_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_float_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_bool_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_bool_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_symint_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_symint_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_value_list) == sizeof(kw_tensor_list), "views have one layout");
static_assert(offsetof(kw_value_list, count) == sizeof(void *), "views have one layout");
static_assert(sizeof(kw_complex) == 16, "the layout of a complex number is fixed");
static_assert(sizeof(kw_device) == 8, "the layout of a device is fixed");

/// A tagged value. See Note [Values and ownership].
struct kw_value {
    uint16_t tag;   // a kw_tag_code
    uint16_t flags; // KW_VALUE_COUNTED
    uint32_t count; // elements of a list, bytes of a string; else 0, so plain values compare whole
    union {
        bool as_bool;
        int64_t as_int;
        double as_float;
        kw_device as_device;
        void *as_tensor;       // the embedder's tensor; never NULL: an absent tensor is KW_TAG_NONE
        void *as_generator;    // the embedder's generator; never NULL, as a tensor
        const char *as_string; // `count` bytes, then a zero
        const kw_complex *as_complex;
        kw_object *as_object; // of KW_TAG_OBJECT, KW_TAG_SYM_INT and KW_TAG_SYM_BOOL
        void *const *as_tensors;
        const int64_t *as_ints;
        const double *as_floats;
        const bool *as_bools;
        const kw_symint *as_symints;
        const kw_value *as_values; // of a list, a tuple or a dict
        uint64_t bits;
    } as;
};

static_assert(sizeof(kw_value) == 16, "the layout of a value is fixed");
static_assert(offsetof(kw_value, tag) == 0, "the layout of a value is fixed");
static_assert(offsetof(kw_value, flags) == 2, "the layout of a value is fixed");
static_assert(offsetof(kw_value, count) == 4, "the layout of a value is fixed");
static_assert(offsetof(kw_value, as) == 8, "the layout of a value is fixed");

// Making borrowed values
// ----------------------------------------------------------------------------------------

static inline kw_value kw_value_none(void)
{
    kw_value value;
    value.tag = KW_TAG_NONE;
    value.flags = 0;
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

static inline kw_value kw_value_device(kw_device device)
{
    kw_value value = kw_value_none();
    value.tag = KW_TAG_DEVICE;
    value.as.as_device = device;
    return value;
}

// A value of a pointer that has no flags and no count; NULL gives None. The tag is computed, so it
// is put together with them into a word that compilers store at once.
static inline kw_value kwi_value_of_pointer(uint16_t tag, void *pointer)
{
    uint64_t head = pointer != NULL ? tag : (uint64_t)KW_TAG_NONE;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    head <<= 48;
#endif
    kw_value value;
    memcpy(&value, &head, sizeof head);
    value.as.as_tensor = pointer;
    return value;
}

/// Makes a value of a tensor; NULL gives None, the absent tensor.
static inline kw_value kw_value_tensor(void *tensor)
{
    return kwi_value_of_pointer(KW_TAG_TENSOR, tensor);
}

/// Makes a value of a random number generator; NULL gives None, the absent generator.
static inline kw_value kw_value_generator(void *generator)
{
    return kwi_value_of_pointer(KW_TAG_GENERATOR, generator);
}

/// Makes a view of a complex number, which lives as long as the value.
static inline kw_value kw_value_complex(const kw_complex *complex_number)
{
    kw_value value = kw_value_none();
    value.tag = KW_TAG_COMPLEX;
    value.as.as_complex = complex_number;
    return value;
}

/// Makes a value of an object, whose reference goes with it; NULL gives None.
static inline kw_value kw_value_object(kw_object *object)
{
    kw_value value = kw_value_none();
    value.tag = object != NULL ? (uint16_t)KW_TAG_OBJECT : (uint16_t)KW_TAG_NONE;
    value.flags = object != NULL ? KW_VALUE_COUNTED : 0;
    value.as.as_object = object;
    return value;
}

/// Makes a value of a symbolic integer: KW_TAG_INT, or KW_TAG_SYM_INT whose reference goes with it.
/// An invalid one gives None.
static inline kw_value kw_value_symint(kw_symint symint)
{
    kw_value value = kw_value_object(kw_symint_object(symint));
    if (value.tag == KW_TAG_OBJECT) {
        value.tag = KW_TAG_SYM_INT;
    }
    return kw_symint_is_int(symint) ? kw_value_int((int64_t)symint.word) : value;
}

/// Makes a value of a symbolic boolean's node, whose reference goes with it; NULL gives None.
static inline kw_value kw_value_symbool(kw_object *node)
{
    kw_value value = kw_value_object(node);
    if (value.tag == KW_TAG_OBJECT) {
        value.tag = KW_TAG_SYM_BOOL;
    }
    return value;
}

/// Makes a view of a zero-terminated string; NULL, or more than UINT32_MAX bytes, gives None.
///
/// @threads any
/// @since 0.1
KW_API kw_value kw_value_string(const char *text);

/// Make views of lists; of a tuple's members; of a dict, whose list has each key before its value.
/// At most UINT32_MAX elements; more give None, and so does an odd number for a dict.
///
/// @threads any
/// @since 0.1
KW_API kw_value kw_value_tensors(kw_tensor_list list);
KW_API kw_value kw_value_ints(kw_int_list list);
KW_API kw_value kw_value_floats(kw_float_list list);
KW_API kw_value kw_value_bools(kw_bool_list list);
KW_API kw_value kw_value_symints(kw_symint_list list);
KW_API kw_value kw_value_values(kw_value_list list);
KW_API kw_value kw_value_tuple(kw_value_list members);
KW_API kw_value kw_value_dict(kw_value_list pairs);

// Reading values
// ----------------------------------------------------------------------------------------

/// Returns the value of a dict's key, which is an int, float, bool or string; NULL if it has none,
/// or `dict` is no dict. Looks at each key in turn.
///
/// @threads any
/// @since 0.1
KW_API const kw_value *kw_value_dict_find(const kw_value *dict, const kw_value *key);

/// Returns whether two values have the same tag and contents: lists element by element, dicts key
/// by key in any order. Tensors, generators and objects are equal if they are the same one; a NaN
/// equals nothing. Says false of values that are nested more than 128 deep.
///
/// @threads any
/// @since 0.1
KW_API bool kw_value_equal(const kw_value *a, const kw_value *b);

/// Returns the tag as a word of the schema language, such as "Tensor[]"; "unknown" otherwise.
/// Static storage.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_tag_name(uint32_t tag);

/// Checks a value against a type of the schema language, its elements too.
///
/// Values fit as a kernel takes them: an int serves as a float and as a symbolic integer, None as a
/// tensor; int[] and SymInt[] serve as each other as long as their elements do; a list whose type
/// has no tag of its own is KW_TAG_LIST. `Any` and type variables take everything. Sizes of lists
/// do not count.
///
/// @retval KW_WRONG_VALUE  the text says what is there and what the type says
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_value_check(const kw_value *value, const kw_type *type,
                                             kw_error *err);

// Owning values
// ----------------------------------------------------------------------------------------

/// Makes an owned value of a borrowed one: a view is copied, with all it holds; a counted value
/// gets one more reference; a tensor is retained through `type`, which may be NULL only if there
/// is none to retain. A list of tensors, or of values, keeps the type's `release` for its end.
///
/// @retval KW_NO_MEMORY         nothing was made or retained
/// @retval KW_INVALID_ARGUMENT  a tensor, and `type` is NULL; or a tag is unknown
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_value_own(const kw_value *borrowed, const kw_tensor_type *type,
                                           kw_value *out_owned, kw_error *err);

/// Makes an owned list of tensors whose references it takes over. On failure the caller still has
/// them.
///
/// @retval KW_NO_MEMORY  nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_value_own_tensors(kw_tensor_list take_tensors,
                                                   const kw_tensor_type *type, kw_value *out_owned,
                                                   kw_error *err);

/// Ends an owned value and leaves None. A tensor is released through `type`; NULL: it is not
/// counted. A view is only forgotten. NULL is allowed.
///
/// @threads any
/// @since 0.1
KW_API void kw_value_release(kw_value *take_value, const kw_tensor_type *type);

/// Makes the default of a schema's argument as an owned value: what `int[2] k=1` gives is a list of
/// two ones. An optional gets its constant as it is written, as in the original: `Device? d='cpu'`
/// gives a string.
///
/// @retval KW_NOT_FOUND      the argument has no default
/// @retval KW_NO_MEMORY      nothing was made
/// @retval KW_NOT_SUPPORTED  a list of more than 65,536 elements
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_value_default(const kw_schema *schema, uint32_t arg_index,
                                               kw_value *out_owned, kw_error *err);

KW_END_DECLS

#endif // KW_VALUE_H
