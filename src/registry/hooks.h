// Hooks: the functions behind table entries that only the layer which makes calls can provide.
//
// Layer:   registry
// Threads: run inside calls of any thread.
// SPDX-License-Identifier: MIT
//
// The registry puts them into tables and needs no more than their addresses; src/call/ defines
// them.

#ifndef KWI_REGISTRY_HOOKS_H
#define KWI_REGISTRY_HOOKS_H

#include <keyway/kernel.h>

// Behind entries that have no kernel to call: each reports why.
kw_status kwi_refuse_missing(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame);
kw_status kwi_refuse_ambiguous(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame);
kw_status kwi_refuse_fallthrough(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame);
kw_status kwi_refuse_removed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame);

// The entry function of a table whose operator has no C signature yet. No typed handle to such a
// table is given out, but a handle obtained later can meet the table under an older snapshot.
kw_status kwi_refuse_unsigned(void);

// The boxed form of an unboxed kernel that brings no unboxing thunk of its own.
kw_status kwi_unbox_by_ffi(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame);

// Behind every entry of an observed table, with a stand-in of the kernel as `self`: see
// Note [Observed tables].
kw_status kwi_observe_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame);

// What a boxing entry calls with the frame it has made, and where it hands one it must give up.
kw_status kwi_boxed_invoke_top(const kw_kernel *self, kw_keyset keys, kw_frame *frame);
void kwi_boxed_refuse_frame(const kw_kernel *self, kw_frame *frame, const char *sentence);

#endif // KWI_REGISTRY_HOOKS_H
