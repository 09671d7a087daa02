// Handles: the default dispatcher's operators, found on first use and kept.
//
// Layer:     call
// Threads:   any. Wait-free once the operator is found.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// An operator's C signature never changes: when it is defined anew with another one, a handle found
// before answers KW_OPERATOR_REMOVED for ever, and never calls through a wrong prototype.

#ifndef KW_INLINE_HANDLE_H
#define KW_INLINE_HANDLE_H

#include <stddef.h>

#include <keyway/export.h>
#include <keyway/inline/cell.h>
#include <keyway/kernel.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

// One for each operator and C signature, in static storage: {{NULL}, "ns::name", "t>t"}.
typedef struct kw_handle {
    // guard: cell. Store: release, when the operator is found. Load: acquire. [pair: handle]
    kwi_ptr_cell op;

    // guard: immutable.
    const char *name;
    const char *signature;
} kw_handle;

// Returned in two registers. `op` is NULL unless `status` is KW_OK.
typedef struct kw_handle_answer {
    const kw_operator *op;
    kw_status status;
} kw_handle_answer;

/// Finds the operator of the default dispatcher and keeps it. On failure the thread's text says
/// why, and the next call looks again.
///
/// @retval KW_NOT_FOUND, KW_OPERATOR_UNDEFINED, KW_SIGNATURE_MISMATCH  as kw_operator_find_typed()
/// @retval KW_NO_MEMORY  there is no default dispatcher
KW_API KW_COLD kw_handle_answer kw_handle_find(kw_handle *handle);

static inline kw_handle_answer kw_handle_get(kw_handle *handle)
{
    kw_handle_answer answer;
    answer.op = (const kw_operator *)kwi_ptr_load_acquire(&handle->op); // [pair: handle]
    answer.status = KW_OK;
    return KW_LIKELY(answer.op != NULL) ? answer : kw_handle_find(handle);
}

KW_END_DECLS

#endif // KW_INLINE_HANDLE_H
