// Refusals: the caller's error, filled in; options that do not fit.
//
// Layer:   interp
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_INTERP_REFUSE_H
#define KWI_INTERP_REFUSE_H

#include <stddef.h>

#include <keyway/status.h>

// Fills in `err`, which may be NULL, and returns the status.
kw_status kwi_interp_refuse(kw_error *err, kw_status status, const char *format, ...)
    KW_PRINTF(3, 4);

kw_status kwi_interp_refuse_memory(kw_error *err);

// Refuses options, which begin with their size, of another size than `known`, unless what is beyond
// it is zero.
kw_status kwi_interp_check(const void *options, size_t known, const char *name, kw_error *err);

#endif // KWI_INTERP_REFUSE_H
