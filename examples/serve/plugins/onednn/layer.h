// Layer: one oneDNN primitive with the conversions it needs, made once for a shape and run by any
// number of threads at a time.
//
// Layer:   example (uses oneDNN's C API)
// Threads: any; a layer does not change once it is made
// SPDX-License-Identifier: MIT
//
// Note [User scratchpad]
//
// oneDNN keeps the scratch memory of its primitives for each thread, allocated by the thread that
// makes the primitive: another thread that runs it then writes through a null pointer. So every
// primitive is made with the attribute that the caller brings the scratchpad, and each run has a
// workspace of its own: nothing is left behind in threads that the plugin did not start.
//
// Note [One thread a run]
//
// The server has as many workers as it wants, so a run must not start a team of OpenMP threads of
// its own. The number of threads is a variable of the calling thread; it is set to one while a
// primitive is made or run, and put back: the host's threads are left as they were found.

#ifndef SERVE_PLUGINS_ONEDNN_LAYER_H
#define SERVE_PLUGINS_ONEDNN_LAYER_H

#include <dnnl.h>
#include <stddef.h>

#include <keyway/status.h>

typedef struct onednn_layer onednn_layer; // opaque

/// What a layer is made of: a description of the operation in which formats may be left to oneDNN,
/// and the formats of the tensors that come and go.
typedef struct onednn_recipe {
    const_dnnl_op_desc_t operation;
    const dnnl_memory_desc_t *source;
    const dnnl_memory_desc_t *weight; // NULL: the operation has none
    const dnnl_memory_desc_t *result;
} onednn_recipe;

/// Values of one run. `weight` is as onednn_layer_weight_pack() left it, or as it came where
/// onednn_layer_weight_bytes() is 0.
typedef struct onednn_values {
    const float *source;
    const float *weight; // NULL: none
    const float *bias;   // NULL: none
    float *result;
} onednn_values;

/// Starts and ends what all layers share. `start` may be called again after `stop`.
kw_status onednn_start(kw_error *err);
void onednn_stop(void);

/// Makes a layer. This and the functions below fail as kernels do.
kw_status onednn_layer_create(const onednn_recipe *recipe, onednn_layer **out_layer);
void onednn_layer_destroy(onednn_layer *take_layer);

/// The format that the layer wants its weight in, and the bytes of it; 0 if it takes it as it is.
const dnnl_memory_desc_t *onednn_layer_weight(const onednn_layer *layer);
size_t onednn_layer_weight_bytes(const onednn_layer *layer);

/// Writes a weight into memory of onednn_layer_weight_bytes(), aligned to ONEDNN_ALIGNMENT.
kw_status onednn_layer_weight_pack(const onednn_layer *layer, const float *weight, void *packed);

kw_status onednn_layer_run(const onednn_layer *layer, const onednn_values *values);

#endif // SERVE_PLUGINS_ONEDNN_LAYER_H
