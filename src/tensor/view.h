// Views, from inside: tensors made of a tensor, over its storage.
//
// Layer:   tensor
// Threads: as tensor_view.h says.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_VIEW_H
#define KWI_TENSOR_VIEW_H

#include <keyway/tensor.h>
#include <keyway/value.h>

#include "tensor/shape.h"
#include "tensor/tensor.h"

// Checks that a tensor has a storage, and sizes and strides in numbers, and copies its shape.
// `place`, where a result goes, must not be NULL.
kw_status kwi_view_begin(const kw_tensor *tensor, const void *place, kwi_view_shape *out_shape,
                         kw_error *err);

// Checks that a list has elements where it says so.
kw_status kwi_list_check(kw_int_list list, kw_error *err);

// The same shape, borrowed.
kwi_geometry kwi_view_geometry(const kwi_view_shape *shape);

// Makes a view of another shape, which lies within the storage.
kw_status kwi_view_make(kw_tensor *base, const kwi_view_shape *shape, kw_tensor **out,
                        kw_error *err);

// Keys of a tensor without those that views do not take over: Python's, and Named.
kw_keyset kwi_view_keys(const kw_tensor *tensor);

// A tensor over the same storage with shape, names, symbols and backend metadata of this one. It
// has no version counter of its own.
kw_status kwi_view_copy_shallow(const kw_tensor *tensor, kw_tensor **out, kw_error *err);

// Exchanges sizes, strides, offset and their flags.
void kwi_view_swap_shapes(kw_tensor *a, kw_tensor *b);

#endif // KWI_TENSOR_VIEW_H
