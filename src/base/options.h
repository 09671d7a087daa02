// Options: structs of callers that may be older or newer than this library.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_OPTIONS_H
#define KWI_BASE_OPTIONS_H

#include <stddef.h>

#include <keyway/status.h>

// Whether a struct whose first member is its size may be read as one of `known` bytes: not smaller,
// and nothing but zeros beyond. NULL is refused. KW_INVALID_ARGUMENT otherwise; the text names the
// struct and both sizes.
kw_status kwi_options_check(const void *options, size_t known, const char *name, kw_error *err);

#endif // KWI_BASE_OPTIONS_H
