// Pin: keeps a library that a plugin links mapped when the plugin leaves.
//
// Layer:   example (needs dlfcn.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Libraries with thread pools and tables of their own take milliseconds to load, and some leak each
// time. Only the thin plugin above them is reloaded.

#ifndef SERVE_PIN_H
#define SERVE_PIN_H

#include <keyway/status.h>

/// Pins the shared object that has `address`, such as one of the library's functions.
kw_status serve_pin(const void *address, kw_error *err);

#endif // SERVE_PIN_H
