// The layers of the example, and the libraries that register them.
//
// Layer:     example (uses the library)
// Threads:   any; each function is one commit, but for the staging ones
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_LAYERS_H
#define GRAD_LAYERS_H

#include <keyway/library.h>
#include <keyway/status.h>

// A kernel and its operator.
typedef struct grad_kernel {
    const char *op;
    kw_kernel_descriptor descriptor;
} grad_kernel;

/// Stages kernels for one key, each with the library as its user data.
kw_status grad_stage(kw_transaction *tx, kw_library *library, kw_key key,
                     const grad_kernel *kernels, size_t kernel_count);

/// Stage the kernels of one file each.
kw_status grad_stage_pointwise(kw_transaction *tx, kw_library *library);  // Autograd
kw_status grad_stage_shapes(kw_transaction *tx, kw_library *library);     // Autograd
kw_status grad_stage_in_place(kw_transaction *tx, kw_library *library);   // Autograd
kw_status grad_stage_marks(kw_transaction *tx, kw_library *library);      // ADInplaceOrView
kw_status grad_stage_composites(kw_transaction *tx, kw_library *library); // both Composite keys
kw_status grad_stage_cpu(kw_transaction *tx, kw_library *library);        // CPU

// A library for each layer, so that one can be taken away alone.
typedef struct grad_layers {
    kw_library *operators; // definitions, composites and views
    kw_library *cpu;
    kw_library *autograd; // Autograd and ADInplaceOrView
} grad_layers;

/// Defines the operators on the default dispatcher and registers all layers.
kw_status grad_layers_open(grad_layers *out_layers, kw_error *err);

/// Registers one layer anew, in a library of its own.
kw_status grad_cpu_open(kw_library **out_library, kw_error *err);
kw_status grad_autograd_open(kw_library **out_library, kw_error *err);

/// Closes, drains and destroys. KW_BUSY while a graph holds something of the library: it is closed
/// then, and this can be called again.
kw_status grad_library_end(kw_library *library, kw_error *err);
kw_status grad_layers_close(grad_layers *layers, kw_error *err);

#endif // GRAD_LAYERS_H
