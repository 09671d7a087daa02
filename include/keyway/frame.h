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

/// What a boxed kernel works on.
///
/// Arguments are borrowed and may be replaced before a redispatch; whoever replaces one keeps it
/// alive until the redispatch returns. A kernel that returns KW_OK has set every return, owned by
/// the caller. After any other status the returns hold None, and nothing in them is owned: a
/// kernel that fails half-way releases what it had made.
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

KW_END_DECLS

#endif // KW_FRAME_H
