// What the guest of the stress driver gets from its host: a shared object that is no plugin and
// uses the library by itself.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef STRESS_OBJECTS_GUEST_H
#define STRESS_OBJECTS_GUEST_H

#include <keyway/library.h>

typedef struct guest_host {
    kw_dispatcher *dispatcher;
    const char *op;
    __typeof__(kw_library_create) *library_create;
    __typeof__(kw_library_impl) *library_impl;
    __typeof__(kw_library_close) *library_close;
    __typeof__(kw_library_drain) *library_drain;
    __typeof__(kw_library_destroy) *library_destroy;
} guest_host;

// Adds a kernel to the operator, which its destructor takes back. `host` outlives the guest.
// KW_LIBRARY_CLOSED: the process ends, and its destructor has run; it must not be closed.
typedef kw_status guest_begin_function(const guest_host *host);
KW_API guest_begin_function guest_begin;

#endif // STRESS_OBJECTS_GUEST_H
