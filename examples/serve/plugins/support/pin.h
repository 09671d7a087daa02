// Pin: keeps a library that a plugin links in memory when the plugin leaves.
//
// Layer:   example (uses the system's loader)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Libraries with thread pools, tables of the processor or unique symbols leak a little, or take
// milliseconds, each time they are loaded anew. So they stay, and only the thin plugin comes and
// goes.

#ifndef SERVE_PLUGINS_SUPPORT_PIN_H
#define SERVE_PLUGINS_SUPPORT_PIN_H

#include <keyway/status.h>

/// Keeps the library that has `address`, of one of its functions or variables, until the process
/// ends. May be asked again.
kw_status serve_library_pin(const void *address, kw_error *err);

#endif // SERVE_PLUGINS_SUPPORT_PIN_H
