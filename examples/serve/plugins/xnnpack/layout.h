// Layout: tensors whose elements lie channel by channel within each pixel (NHWC), and their tag.
//
// Layer:   example (uses keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [The tag of a layout]
//
// Between two layers that XNNPACK computes, images stay in its layout. Their tensors say so twice:
// by their strides, and by a functionality key that brings calls with them to kernels that know the
// layout, whatever serves the backend below. The key is Functionalize, for four reasons. Its place
// is right: below autograd, views and the keys that change what the bytes mean (Conjugate,
// Negative, ZeroTensor), above every backend, so that what arrives under it is about to reach one.
// Its meaning is near: in c10 it too marks tensors that are not what a backend expects, and is
// resolved just before one. It is no key of a backend, so that the tensors keep theirs and go on to
// it when the tag is taken off. And nothing takes it out of a call's keys: threads exclude autocast
// keys from the start, the server excludes none, and its canary includes a backend.

#ifndef SERVE_PLUGINS_XNNPACK_LAYOUT_H
#define SERVE_PLUGINS_XNNPACK_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/keyset.h>
#include <keyway/tensor.h>

#define XNNPACK_TAG KW_KEY_Functionalize

bool xnnpack_is_tagged(const kw_tensor *tensor);

/// Returns the keys of a call below the tag.
kw_keyset xnnpack_keys_below(kw_keyset keys);

// The functions below fail as kernels do. What they make has XNN_EXTRA_BYTES behind its elements:
// XNNPACK reads that far.

/// Checks that a tensor has float32 elements in memory of the CPU; strides may be any.
kw_status xnnpack_float_check(const kw_tensor *tensor, const char *name);

/// Makes a tagged tensor, whose values are still to be written in NHWC order.
kw_status xnnpack_image_create(const int64_t sizes[4], kw_tensor **out_tensor, float **out_values);

/// Gives a tensor with the elements of an image in NHWC order: a reference on `x` or a copy.
kw_status xnnpack_image_of(kw_tensor *x, kw_tensor **out_tensor);

/// Gives a contiguous tensor without the tag: a reference on `x` or a copy.
kw_status xnnpack_plain_of(kw_tensor *x, kw_tensor **out_tensor);

#endif // SERVE_PLUGINS_XNNPACK_LAYOUT_H
