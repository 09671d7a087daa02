// Gradients of reference tensors: what a program uses beside the operators in ops.txt.
//
// Layer:     example
// Threads:   graphs that share leaves only may be built and gone back through in several threads
//            at once; one graph belongs to one thread at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// Functions answer as operators do: a status, and kw_call_error() has the sentence.
//
// Inside kw_local_below_autograd() nothing is recorded, as with `no_grad`; inside
// kw_local_inference_mode() neither that nor versions. kw_tensor_detach() gives a tensor that
// shares the elements and has no part in the graph.

#ifndef GRAD_H
#define GRAD_H

#include <stdbool.h>

#include <keyway/status.h>
#include <keyway/tensor.h>

// What kernels and backward passes answer with here, beside the library's statuses.
typedef enum grad_status_code {
    GRAD_MODIFIED = KW_STATUS_USER + 1, // a saved tensor was changed in place
    GRAD_FREED = KW_STATUS_USER + 2,    // a graph is gone back through a second time
    GRAD_REFUSED = KW_STATUS_USER + 3   // no gradient could be right
} grad_status_code;

/// Makes a tensor a leaf: operators record what becomes of it, and grad_backward() adds to its
/// gradient.
///
/// @retval GRAD_REFUSED  it is a result or a view, no float tensor, or an inference tensor
kw_status grad_require(kw_tensor *tensor);

/// Whether a gradient flows back into the tensor, and whether it ends there.
bool grad_is_required(const kw_tensor *tensor);
bool grad_is_leaf(const kw_tensor *tensor);

/// Adds to every leaf that `result` was made of the gradient of sum(result * seed). `seed` NULL
/// stands for one, and `result` then has one element. `retain`: the graph can be gone back through
/// once more.
///
/// On failure the gradients of all leaves are what they were.
///
/// @retval GRAD_MODIFIED  a tensor that an operator saved has another version; the text has both
/// @retval GRAD_FREED     the graph was gone back through without `retain`
/// @retval GRAD_REFUSED   nothing was recorded for `result`, or the seed has another shape
kw_status grad_backward(kw_tensor *result, kw_tensor *seed, bool retain);

/// A leaf's gradient, borrowed until the next pass; NULL: none yet. And its end.
kw_tensor *grad_of(const kw_tensor *leaf);
void grad_clear(kw_tensor *leaf);

#endif // GRAD_H
