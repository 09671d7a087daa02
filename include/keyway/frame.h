// Frames: the arguments and returns of one boxed call, in the caller's stack memory.
//
// Layer:     value
// Threads:   a frame belongs to the thread that makes the call.
// Stability: stable since 0.1. The layout of kw_frame is fixed for ever.
// SPDX-License-Identifier: MIT

#ifndef KW_FRAME_H
#define KW_FRAME_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

// The most arguments and returns a schema may have. 64 arguments is the original's limit: its boxed
// key extraction keeps one bit an argument.
#define KW_FRAME_ARGS_MAX 64
#define KW_FRAME_RETURNS_MAX 16

/// What a boxed kernel works on. See Note [Values and ownership] in value.h.
///
/// Arguments are borrowed and may be replaced before a redispatch; whoever replaces one keeps it
/// alive until the redispatch returns. A kernel that returns KW_OK has set every return, owned by
/// the caller: no view is left in them. A kernel that fails leaves what it has set so far, or what
/// a redispatch has set, where it is: whoever called it through the library finds None in every
/// return, and what was there has been released.
typedef struct kw_frame {
    kw_value *args;
    kw_value *returns;
    uint32_t arg_count;
    uint32_t return_count;
} kw_frame;

static_assert(sizeof(kw_frame) == 2 * sizeof(void *) + 8, "the layout of a frame is fixed");
static_assert(offsetof(kw_frame, returns) == sizeof(void *), "the layout of a frame is fixed");
static_assert(offsetof(kw_frame, arg_count) == 2 * sizeof(void *),
              "the layout of a frame is fixed");
static_assert(offsetof(kw_frame, return_count) == 2 * sizeof(void *) + 4,
              "the layout of a frame is fixed");

/// Declares a frame on the stack, all None, with room for the given constant numbers of values.
#define KW_FRAME(name, args_max, returns_max)                                                      \
    kw_value name##_args[(args_max) > 0 ? (args_max) : 1];                                         \
    kw_value name##_returns[(returns_max) > 0 ? (returns_max) : 1];                                \
    kw_frame name = kw_frame_make(name##_args, (args_max), name##_returns, (returns_max))

/// Makes a frame of the caller's memory, which must outlive it, and sets all of it to None.
static inline kw_frame kw_frame_make(kw_value *args, uint32_t arg_count, kw_value *returns,
                                     uint32_t return_count)
{
    kw_frame frame;
    frame.args = args;
    frame.returns = returns;
    frame.arg_count = arg_count;
    frame.return_count = return_count;
    for (uint32_t i = 0; i < arg_count; i++) {
        args[i] = kw_value_none();
    }
    for (uint32_t i = 0; i < return_count; i++) {
        returns[i] = kw_value_none();
    }
    return frame;
}

/// Releases every return that the frame's owner has got, and leaves None.
///
/// @threads any
/// @since 0.1
KW_API void kw_frame_release_returns(kw_frame *frame, const kw_tensor_type *type);

/// Checks the counts of a frame and each of its arguments against a schema.
///
/// @retval KW_WRONG_VALUE  the text names the argument
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_frame_check(const kw_schema *schema, const kw_frame *frame,
                                             kw_error *err);

KW_END_DECLS

#endif // KW_FRAME_H
