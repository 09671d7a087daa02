// Descriptor: what describes a plugin of the server, whose kernels take Keyway's tensors.
//
// Layer:   example (uses keyway/plugin_api.h, keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_PLUGINS_SUPPORT_DESCRIPTOR_H
#define SERVE_PLUGINS_SUPPORT_DESCRIPTOR_H

#include <keyway/plugin_api.h>
#include <keyway/tensor.h>

/// The descriptor: KW_PLUGIN = SERVE_PLUGIN("nn", "fast", "1.0", start, stop);
///
/// `library_ns` is NULL for a plugin with a fallback, which is for operators of all namespaces;
/// `stop_function` is NULL for one that has nothing to end.
#define SERVE_PLUGIN(library_ns, plugin_name, plugin_version, start_function, stop_function)       \
    {                                                                                              \
        KW_PLUGIN_LINKED, .name = (plugin_name), .version = (plugin_version),                      \
                          .start = (start_function), .stop = (stop_function), .ns = (library_ns),  \
                          .tensor_type = "kw_tensor", .tensor_type_version = KW_TENSOR_LAYOUT,     \
    }

#endif // SERVE_PLUGINS_SUPPORT_DESCRIPTOR_H
