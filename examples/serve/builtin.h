// Built-in library: the definitions, and a kernel for each in plain C that is always there.
//
// Layer:   example (uses the generated nn.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Plugins come and go over this library, so a call finds a kernel at every moment.

#ifndef SERVE_BUILTIN_H
#define SERVE_BUILTIN_H

#include <keyway/library.h>

/// Creates the library `builtin` and commits its definitions and kernels, under the key CPU.
///
/// On success the caller closes, drains and destroys `*out_library`.
kw_status serve_builtin_create(kw_dispatcher *dispatcher, kw_library **out_library, kw_error *err);

/// Closes, drains and destroys it. NULL is allowed.
kw_status serve_builtin_destroy(kw_library *take_library, kw_error *err);

#endif // SERVE_BUILTIN_H
