// Frames in calls: what a call reads from a frame before its kernel, and leaves in it after.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_FRAME_H
#define KWI_CALL_FRAME_H

#include <keyway/frame.h>
#include <keyway/inline/table.h>

#include "registry/registration.h"

// Whether the counts fit the definition, if there is one. On failure the thread's text says why.
kw_status kwi_frame_check(const kw_table *table, const kw_frame *frame);

// The same, and the keys of the arguments; an operator without a definition sees no
// tensors. On failure the thread's text says why.
kw_status kwi_frame_read(const kw_operator *op, const kw_table *table, const kw_frame *frame,
                         kw_keyset *out_keys);

// Runs an entry's kernel in its boxed form. The returns are None before it, and after a failure.
kw_status kwi_frame_run(const kw_entry *entry, const kw_operator *op, kw_keyset keys,
                        kw_frame *frame);

#endif // KWI_CALL_FRAME_H
