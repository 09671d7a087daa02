// Shapes of views: what each view function makes of sizes, strides and offset.
//
// Layer:   tensor
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT
//
// Each function changes a shape in place, and answers KW_INVALID_ARGUMENT with a sentence for what
// does not fit. A shape is of no use after a failure. Shapes hold A1 and A2 before and after.

#ifndef KWI_TENSOR_SHAPE_VIEW_H
#define KWI_TENSOR_SHAPE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>
#include <keyway/value.h>

#include "tensor/shape.h"

kw_status kwi_shape_slice(kwi_view_shape *shape, int64_t dim, int64_t start, int64_t end,
                          int64_t step, kw_error *err);
kw_status kwi_shape_select(kwi_view_shape *shape, int64_t dim, int64_t index, kw_error *err);
kw_status kwi_shape_narrow(kwi_view_shape *shape, int64_t dim, int64_t start, int64_t length,
                           kw_error *err);
kw_status kwi_shape_transpose(kwi_view_shape *shape, int64_t dim_0, int64_t dim_1, kw_error *err);
kw_status kwi_shape_permute(kwi_view_shape *shape, kw_int_list dims, kw_error *err);
kw_status kwi_shape_squeeze(kwi_view_shape *shape, int64_t dim, kw_error *err);
kw_status kwi_shape_unsqueeze(kwi_view_shape *shape, int64_t dim, kw_error *err);
kw_status kwi_shape_expand(kwi_view_shape *shape, kw_int_list sizes, kw_error *err);

// Checks the sizes of a view, and puts what remains in the place of -1.
kw_status kwi_sizes_infer(const kwi_view_shape *shape, kw_int_list sizes, int64_t *out_sizes,
                          kw_error *err);

// Other sizes of the same product. False: strides cannot express it; the shape is unchanged.
bool kwi_shape_view(kwi_view_shape *shape, const int64_t *sizes, uint32_t dim);

// Sets all of it; and checks that it lies within a storage of so many bytes.
kw_status kwi_shape_set(kwi_view_shape *shape, kw_int_list sizes, kw_int_list strides,
                        int64_t offset, kw_error *err);
kw_status kwi_shape_check_reach(const kwi_view_shape *shape, size_t element_bytes,
                                size_t storage_bytes, kw_error *err);

// Checks sizes that are given as a list: at most KW_TENSOR_DIM_MAX, A1 and A2.
kw_status kwi_sizes_check(kw_int_list sizes, kw_error *err);

#endif // KWI_TENSOR_SHAPE_VIEW_H
