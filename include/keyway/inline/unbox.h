// Unboxing thunks: the pieces of which a boxed call of a typed kernel is made. See Note [Thunks] in
// keyway/inline/box.h.
//
// Layer:     call
// Threads:   any. Only complex returns allocate.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT

#ifndef KW_INLINE_UNBOX_H
#define KW_INLINE_UNBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/inline/box.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

/// Looks again at an argument whose tag is not the one of `letter` itself.
///
/// @retval KW_OK              it serves all the same
/// @retval KW_SYMBOLIC_VALUE  it is symbolic, or holds such, where integers are needed
/// @retval KW_WRONG_VALUE     it is something else; the thread's text says what
KW_API KW_COLD kw_status kw_unbox_check(const kw_frame *frame, uint32_t index, const char *letter);

/// Says that a return of a typed kernel is not what its letter says.
///
/// @retval KW_WRONG_VALUE  always
KW_API KW_COLD kw_status kw_unbox_refuse_return(const kw_frame *frame, uint32_t index,
                                                const char *letter);

/// Says that a frame has other counts than the signature.
///
/// @retval KW_WRONG_VALUE  always
KW_API KW_COLD kw_status kw_unbox_refuse_counts(const kw_frame *frame, uint32_t arg_count,
                                                uint32_t return_count);

/// Puts a complex number into a return, where the kernel writes it.
///
/// @retval KW_NO_MEMORY  nothing was made
KW_API kw_status kw_unbox_complex_return(kw_frame *frame, uint32_t index, kw_complex **out_place);

static inline kw_status kw_unbox_begin(kw_frame *frame, uint32_t arg_count, uint32_t return_count)
{
    if (KW_UNLIKELY(frame->arg_count != arg_count || frame->return_count != return_count)) {
        return kw_unbox_refuse_counts(frame, arg_count, return_count);
    }
    for (uint32_t i = 0; i < return_count; i++) {
        frame->returns[i] = kw_value_none();
    }
    return KW_OK;
}

// Arguments
// ----------------------------------------------------------------------------------------

static inline kw_status kw_unbox_tensor(const kw_frame *frame, uint32_t index, void **out)
{
    const kw_value *value = &frame->args[index];
    if (KW_LIKELY(value->tag == KW_TAG_TENSOR)) {
        *out = value->as.as_tensor;
        return KW_OK;
    }
    *out = NULL;
    return value->tag == KW_TAG_NONE ? KW_OK : kw_unbox_check(frame, index, "t");
}

static inline kw_status kw_unbox_generator(const kw_frame *frame, uint32_t index, void **out)
{
    const kw_value *value = &frame->args[index];
    if (KW_LIKELY(value->tag == KW_TAG_GENERATOR)) {
        *out = value->as.as_generator;
        return KW_OK;
    }
    *out = NULL;
    return value->tag == KW_TAG_NONE ? KW_OK : kw_unbox_check(frame, index, "g");
}

static inline kw_status kw_unbox_string(const kw_frame *frame, uint32_t index, const char **out)
{
    const kw_value *value = &frame->args[index];
    if (KW_LIKELY(value->tag == KW_TAG_STRING)) {
        *out = value->as.as_string;
        return KW_OK;
    }
    *out = NULL;
    return value->tag == KW_TAG_NONE ? KW_OK : kw_unbox_check(frame, index, "s");
}

static inline kw_status kwi_unbox_int(const kw_frame *frame, uint32_t index, int64_t *out,
                                      const char *letter)
{
    const kw_value *value = &frame->args[index];
    *out = value->as.as_int;
    return KW_LIKELY(value->tag == KW_TAG_INT) ? KW_OK : kw_unbox_check(frame, index, letter);
}

static inline kw_status kwi_unbox_float(const kw_frame *frame, uint32_t index, double *out,
                                        const char *letter)
{
    const kw_value *value = &frame->args[index];
    *out = value->tag == KW_TAG_FLOAT ? value->as.as_float : (double)value->as.as_int;
    bool fits = value->tag == KW_TAG_FLOAT || value->tag == KW_TAG_INT;
    return KW_LIKELY(fits) ? KW_OK : kw_unbox_check(frame, index, letter);
}

static inline kw_status kwi_unbox_bool(const kw_frame *frame, uint32_t index, bool *out,
                                       const char *letter)
{
    const kw_value *value = &frame->args[index];
    *out = value->tag == KW_TAG_BOOL && value->as.as_bool;
    return KW_LIKELY(value->tag == KW_TAG_BOOL) ? KW_OK : kw_unbox_check(frame, index, letter);
}

static inline kw_status kwi_unbox_device(const kw_frame *frame, uint32_t index, kw_device *out,
                                         const char *letter)
{
    const kw_value *value = &frame->args[index];
    *out = value->as.as_device;
    return KW_LIKELY(value->tag == KW_TAG_DEVICE) ? KW_OK : kw_unbox_check(frame, index, letter);
}

static inline kw_status kwi_unbox_complex(const kw_frame *frame, uint32_t index, kw_complex *out,
                                          const char *letter)
{
    const kw_value *value = &frame->args[index];
    if (KW_UNLIKELY(value->tag != KW_TAG_COMPLEX)) {
        out->real = 0;
        out->imaginary = 0;
        return kw_unbox_check(frame, index, letter);
    }
    *out = *value->as.as_complex;
    return KW_OK;
}

static inline kw_status kwi_unbox_symint(const kw_frame *frame, uint32_t index, kw_symint *out,
                                         const char *letter)
{
    const kw_value *value = &frame->args[index];
    *out = value->tag == KW_TAG_SYM_INT ? kw_symint_node(value->as.as_object)
                                        : kw_symint_int(value->as.as_int);
    bool is_int = value->tag == KW_TAG_INT && kw_symint_is_int(*out);
    return KW_LIKELY(is_int) ? KW_OK : kw_unbox_check(frame, index, letter);
}

static inline kw_status kw_unbox_number(const kw_frame *frame, uint32_t index, kw_value *out)
{
    *out = frame->args[index];
    return KW_LIKELY(out->tag <= KW_TAG_FLOAT) ? KW_OK : kw_unbox_check(frame, index, "n");
}

static inline kw_status kw_unbox_value(const kw_frame *frame, uint32_t index, kw_value *out)
{
    *out = frame->args[index];
    bool fits =
        out->tag <= KW_TAG_DEVICE || (out->tag >= KW_TAG_POINTER && out->tag <= KW_TAG_OBJECT);
    return KW_LIKELY(fits) ? KW_OK : kw_unbox_check(frame, index, "v");
}

// A list of the other kind of integers is looked at by kw_unbox_check(): its words are then good as
// they are.
#define KWI_UNBOX_LIST(word, type, list_tag, member)                                               \
    static inline kw_status kwi_unbox_##word(const kw_frame *frame, uint32_t index, type *out,     \
                                             const char *letter)                                   \
    {                                                                                              \
        const kw_value *value = &frame->args[index];                                               \
        out->data = value->as.member;                                                              \
        out->count = value->count;                                                                 \
        return KW_LIKELY(value->tag == (list_tag)) ? KW_OK : kw_unbox_check(frame, index, letter); \
    }

KWI_UNBOX_LIST(tensors, kw_tensor_list, KW_TAG_TENSOR_LIST, as_tensors)
KWI_UNBOX_LIST(ints, kw_int_list, KW_TAG_INT_LIST, as_ints)
KWI_UNBOX_LIST(floats, kw_float_list, KW_TAG_FLOAT_LIST, as_floats)
KWI_UNBOX_LIST(bools, kw_bool_list, KW_TAG_BOOL_LIST, as_bools)
KWI_UNBOX_LIST(symints, kw_symint_list, KW_TAG_SYM_INT_LIST, as_symints)
KWI_UNBOX_LIST(values, kw_value_list, KW_TAG_LIST, as_values)
#undef KWI_UNBOX_LIST

// kw_unbox_int(), kw_unbox_optional_int() and so on. Of an optional, None gives NULL, and all else
// the address of `place`, where it is put.
#define KWI_UNBOX(word, type, letter)                                                              \
    static inline kw_status kw_unbox_##word(const kw_frame *frame, uint32_t index, type *out)      \
    {                                                                                              \
        return kwi_unbox_##word(frame, index, out, letter);                                        \
    }                                                                                              \
    static inline kw_status kw_unbox_optional_##word(const kw_frame *frame, uint32_t index,        \
                                                     type *place, type const **out)                \
    {                                                                                              \
        bool is_none = frame->args[index].tag == KW_TAG_NONE;                                      \
        *out = is_none ? NULL : place;                                                             \
        return is_none ? KW_OK : kwi_unbox_##word(frame, index, place, "?" letter);                \
    }

KWI_UNBOX(int, int64_t, "i")
KWI_UNBOX(float, double, "d")
KWI_UNBOX(bool, bool, "b")
KWI_UNBOX(complex, kw_complex, "c")
KWI_UNBOX(device, kw_device, "e")
KWI_UNBOX(symint, kw_symint, "y")
KWI_UNBOX(tensors, kw_tensor_list, "T")
KWI_UNBOX(ints, kw_int_list, "I")
KWI_UNBOX(floats, kw_float_list, "D")
KWI_UNBOX(bools, kw_bool_list, "B")
KWI_UNBOX(symints, kw_symint_list, "Y")
KWI_UNBOX(values, kw_value_list, "V")
#undef KWI_UNBOX

// Returns
// ----------------------------------------------------------------------------------------

// What a return holds before the kernel writes it.

static inline kw_device kw_unbox_zero_device(void)
{
    kw_device device;
    device.type = 0;
    device.index = 0;
    return device;
}

static inline kw_symint kw_unbox_zero_symint(void)
{
    return kw_symint_int(0);
}

static inline kw_value kw_unbox_zero_number(void)
{
    return kw_value_none();
}

static inline kw_value kw_unbox_zero_value(void)
{
    return kw_value_none();
}

// Whether what a kernel returned is what its letter says.

static inline kw_status kw_unbox_expect_symint(const kw_frame *frame, uint32_t index)
{
    // None is what an invalid symbolic integer has become.
    bool fits = frame->returns[index].tag != KW_TAG_NONE;
    return KW_LIKELY(fits) ? KW_OK : kw_unbox_refuse_return(frame, index, "y");
}

static inline kw_status kw_unbox_expect_number(const kw_frame *frame, uint32_t index)
{
    uint32_t tag = frame->returns[index].tag;
    bool fits = tag <= KW_TAG_FLOAT || tag == KW_TAG_COMPLEX || tag == KW_TAG_SYM_INT ||
                tag == KW_TAG_SYM_BOOL;
    return KW_LIKELY(fits) ? KW_OK : kw_unbox_refuse_return(frame, index, "n");
}

static inline kw_status kw_unbox_expect_value(const kw_frame *frame, uint32_t index)
{
    uint32_t tag = frame->returns[index].tag;
    bool fits = tag <= KW_TAG_DEVICE || (tag >= KW_TAG_POINTER && tag <= KW_TAG_OBJECT);
    return KW_LIKELY(fits) ? KW_OK : kw_unbox_refuse_return(frame, index, "v");
}

KW_END_DECLS

#endif // KW_INLINE_UNBOX_H
