// Boxing thunks: the pieces of which a typed call of a boxed kernel is made.
//
// Layer:     call
// Threads:   any. Nothing here allocates.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// Note [Thunks]
//
// A boxing thunk has the C signature of an operator and calls a boxed kernel; one for "tI>t" is
//
//     kw_value args[2];
//     kw_value returns[1];
//     kw_frame frame = kw_box_frame(args, 2, returns, 1);
//     args[0] = kw_value_tensor(arg_0);
//     KW_THUNK_TRY(kw_box_ints(self, &frame, 1, arg_1));
//     KW_THUNK_TRY(kw_box_run(self, keys, &frame));
//     KW_THUNK_TRY(kw_box_expect_tensor(self, &frame, 0)); // all returns, before any is written
//     *out_0 = kw_box_take_tensor(&returns[0]);
//     return KW_OK;
//
// An unboxing thunk is a kw_boxed_function and calls a typed kernel; one for "tI>t" is
//
//     void *arg_0;
//     kw_int_list arg_1;
//     void *out_0 = NULL;
//     KW_THUNK_TRY(kw_unbox_begin(frame, 2, 1));
//     KW_THUNK_TRY(kw_unbox_tensor(frame, 0, &arg_0));
//     KW_THUNK_TRY(kw_unbox_ints(frame, 1, &arg_1));
//     KW_THUNK_TRY(((function_type)self->unboxed)(self, keys, arg_0, arg_1, &out_0));
//     frame->returns[0] = kw_value_tensor(out_0);
//     return KW_OK;
//
// They take and refuse what the library's own boxing and unboxing does, with the same texts. Each
// function is named for a letter of the C signature codes (docs/embedding.md). Arguments and
// returns are numbered from 0 here, from 1 in texts.

#ifndef KW_INLINE_BOX_H
#define KW_INLINE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/inline/call.h>
#include <keyway/kernel.h>
#include <keyway/keyset.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

/// Returns the status of an expression from the function around it, unless it is KW_OK.
#define KW_THUNK_TRY(expression)                                                                   \
    do {                                                                                           \
        const kw_status kwi_thunk_status = (expression);                                           \
        if (KW_UNLIKELY(kwi_thunk_status != KW_OK)) {                                              \
            return kwi_thunk_status;                                                               \
        }                                                                                          \
    } while (0)

/// Says why an argument cannot be boxed as `letter`.
///
/// @retval KW_WRONG_VALUE  always
KW_API KW_COLD kw_status kw_box_refuse(const kw_kernel *self, kw_frame *frame, uint32_t index,
                                       const char *letter);

/// Says why a return cannot be handed on as `letter`, and releases all of them.
///
/// @retval KW_WRONG_VALUE  always
KW_API KW_COLD kw_status kw_box_refuse_return(const kw_kernel *self, kw_frame *frame,
                                              uint32_t index, const char *letter);

/// Releases what a kernel that failed has left in the returns; returns `status`.
KW_API KW_COLD kw_status kw_box_failed(kw_frame *frame, kw_status status);

static inline kw_frame kw_box_frame(kw_value *args, uint32_t arg_count, kw_value *returns,
                                    uint32_t return_count)
{
    kw_frame frame;
    frame.args = args;
    frame.returns = returns;
    frame.arg_count = arg_count;
    frame.return_count = return_count;
    for (uint32_t i = 0; i < return_count; i++) {
        returns[i] = kw_value_none();
    }
    return frame;
}

// What kw_call_operator() says, inside a call.
static inline const kw_operator *kwi_box_operator(void)
{
    const kw_thread *thread = kwi_thread_self;
    // Relaxed: a thread reads its own words.
    uint32_t top = kwi_u32_load_relaxed(&thread->depth) - 1;
    if (KW_UNLIKELY(top >= KWI_INSIDE_COUNT)) {
        return kw_call_operator(); // deeper than the block
    }
    const kw_table *table = (const kw_table *)kwi_ptr_load_relaxed(&thread->inside[top]);
    return (const kw_operator *)table->block.owner;
}

static inline kw_status kw_box_run(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    kw_status status = self->boxed(self, kwi_box_operator(), keys, frame);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_box_failed(frame, status);
}

// Arguments that can fail, and optional ones
// ----------------------------------------------------------------------------------------

static inline kw_status kw_box_string(const kw_kernel *self, kw_frame *frame, uint32_t index,
                                      const char *text)
{
    frame->args[index] = kw_value_string(text);
    bool fits = frame->args[index].tag != KW_TAG_NONE || text == NULL;
    return KW_LIKELY(fits) ? KW_OK : kw_box_refuse(self, frame, index, "s");
}

static inline kw_status kw_box_symint(const kw_kernel *self, kw_frame *frame, uint32_t index,
                                      kw_symint symint)
{
    frame->args[index] = kw_value_symint(symint);
    bool fits = frame->args[index].tag != KW_TAG_NONE;
    return KW_LIKELY(fits) ? KW_OK : kw_box_refuse(self, frame, index, "y");
}

static inline kw_status kw_box_optional_symint(const kw_kernel *self, kw_frame *frame,
                                               uint32_t index, const kw_symint *symint)
{
    frame->args[index] = kw_value_none();
    return symint != NULL ? kw_box_symint(self, frame, index, *symint) : KW_OK;
}

static inline kw_status kw_box_optional_complex(const kw_kernel *self, kw_frame *frame,
                                                uint32_t index, const kw_complex *number)
{
    (void)self;
    frame->args[index] = number != NULL ? kw_value_complex(number) : kw_value_none();
    return KW_OK;
}

#define KWI_BOX_OPTIONAL(word, type)                                                               \
    static inline kw_status kw_box_optional_##word(const kw_kernel *self, kw_frame *frame,         \
                                                   uint32_t index, type const *argument)           \
    {                                                                                              \
        (void)self;                                                                                \
        frame->args[index] = argument != NULL ? kw_value_##word(*argument) : kw_value_none();      \
        return KW_OK;                                                                              \
    }

KWI_BOX_OPTIONAL(int, int64_t)
KWI_BOX_OPTIONAL(float, double)
KWI_BOX_OPTIONAL(bool, bool)
KWI_BOX_OPTIONAL(device, kw_device)
#undef KWI_BOX_OPTIONAL

// kw_box_tensors(), kw_box_optional_tensors() and so on. A list has at most UINT32_MAX elements.
#define KWI_BOX_LIST(word, type, list_tag, member, letter)                                         \
    static inline kw_status kw_box_##word(const kw_kernel *self, kw_frame *frame, uint32_t index,  \
                                          type list)                                               \
    {                                                                                              \
        kw_value *value = &frame->args[index];                                                     \
        *value = kw_value_none();                                                                  \
        value->tag = list_tag;                                                                     \
        value->count = (uint32_t)list.count;                                                       \
        value->as.member = list.data;                                                              \
        return KW_LIKELY(list.count <= UINT32_MAX) ? KW_OK                                         \
                                                   : kw_box_refuse(self, frame, index, letter);    \
    }                                                                                              \
    static inline kw_status kw_box_optional_##word(const kw_kernel *self, kw_frame *frame,         \
                                                   uint32_t index, type const *list)               \
    {                                                                                              \
        frame->args[index] = kw_value_none();                                                      \
        return list != NULL ? kw_box_##word(self, frame, index, *list) : KW_OK;                    \
    }

KWI_BOX_LIST(tensors, kw_tensor_list, KW_TAG_TENSOR_LIST, as_tensors, "T")
KWI_BOX_LIST(ints, kw_int_list, KW_TAG_INT_LIST, as_ints, "I")
KWI_BOX_LIST(floats, kw_float_list, KW_TAG_FLOAT_LIST, as_floats, "D")
KWI_BOX_LIST(bools, kw_bool_list, KW_TAG_BOOL_LIST, as_bools, "B")
KWI_BOX_LIST(symints, kw_symint_list, KW_TAG_SYM_INT_LIST, as_symints, "Y")
KWI_BOX_LIST(values, kw_value_list, KW_TAG_LIST, as_values, "V")
#undef KWI_BOX_LIST

// Returns
// ----------------------------------------------------------------------------------------

// Whether a value with a pointer has its own reference to what it points to.
static inline bool kwi_box_is_counted(const kw_value *value)
{
    return (value->flags & KW_VALUE_COUNTED) != 0;
}

static inline bool kwi_fits_tensor(const kw_value *value)
{
    return value->tag == KW_TAG_TENSOR || value->tag == KW_TAG_NONE;
}

static inline bool kwi_fits_int(const kw_value *value)
{
    return value->tag == KW_TAG_INT;
}

static inline bool kwi_fits_float(const kw_value *value)
{
    return value->tag == KW_TAG_FLOAT;
}

static inline bool kwi_fits_bool(const kw_value *value)
{
    return value->tag == KW_TAG_BOOL;
}

static inline bool kwi_fits_device(const kw_value *value)
{
    return value->tag == KW_TAG_DEVICE;
}

static inline bool kwi_fits_complex(const kw_value *value)
{
    return value->tag == KW_TAG_COMPLEX && kwi_box_is_counted(value);
}

static inline bool kwi_fits_symint(const kw_value *value)
{
    return (value->tag == KW_TAG_INT && value->as.as_int >= KW_SYMINT_MIN) ||
           (value->tag == KW_TAG_SYM_INT && kwi_box_is_counted(value));
}

static inline bool kwi_fits_number(const kw_value *value)
{
    bool has_pointer = value->tag == KW_TAG_COMPLEX || value->tag == KW_TAG_SYM_INT ||
                       value->tag == KW_TAG_SYM_BOOL;
    return value->tag <= KW_TAG_FLOAT || (has_pointer && kwi_box_is_counted(value));
}

static inline bool kwi_fits_value(const kw_value *value)
{
    bool is_whole = value->tag <= KW_TAG_DEVICE || value->tag == KW_TAG_TENSOR ||
                    value->tag == KW_TAG_GENERATOR;
    bool has_pointer = value->tag >= KW_TAG_POINTER && value->tag <= KW_TAG_OBJECT;
    return is_whole || (has_pointer && kwi_box_is_counted(value));
}

// kw_box_expect_tensor() and so on: whether a return can be handed on; else it is refused.
#define KWI_BOX_EXPECT(word, letter)                                                               \
    static inline kw_status kw_box_expect_##word(const kw_kernel *self, kw_frame *frame,           \
                                                 uint32_t index)                                   \
    {                                                                                              \
        return KW_LIKELY(kwi_fits_##word(&frame->returns[index]))                                  \
                   ? KW_OK                                                                         \
                   : kw_box_refuse_return(self, frame, index, letter);                             \
    }

KWI_BOX_EXPECT(tensor, "t")
KWI_BOX_EXPECT(int, "i")
KWI_BOX_EXPECT(float, "d")
KWI_BOX_EXPECT(bool, "b")
KWI_BOX_EXPECT(complex, "c")
KWI_BOX_EXPECT(device, "e")
KWI_BOX_EXPECT(symint, "y")
KWI_BOX_EXPECT(number, "n")
KWI_BOX_EXPECT(value, "v")
#undef KWI_BOX_EXPECT

static inline void *kw_box_take_tensor(kw_value *take_value)
{
    return take_value->tag == KW_TAG_TENSOR ? take_value->as.as_tensor : NULL;
}

static inline int64_t kw_box_take_int(kw_value *take_value)
{
    return take_value->as.as_int;
}

static inline double kw_box_take_float(kw_value *take_value)
{
    return take_value->as.as_float;
}

static inline bool kw_box_take_bool(kw_value *take_value)
{
    return take_value->as.as_bool;
}

static inline kw_device kw_box_take_device(kw_value *take_value)
{
    return take_value->as.as_device;
}

static inline kw_complex kw_box_take_complex(kw_value *take_value)
{
    kw_complex number = *take_value->as.as_complex;
    kw_value_release(take_value, NULL);
    return number;
}

static inline kw_symint kw_box_take_symint(kw_value *take_value)
{
    return take_value->tag == KW_TAG_INT ? kw_symint_int(take_value->as.as_int)
                                         : kw_symint_node(take_value->as.as_object);
}

static inline kw_value kw_box_take_number(kw_value *take_value)
{
    return *take_value;
}

static inline kw_value kw_box_take_value(kw_value *take_value)
{
    return *take_value;
}

KW_END_DECLS

#endif // KW_INLINE_BOX_H
