// Inspection: the rows of an operator's table and its registrations, for tools.
//
// Layer:     registry
// Threads:   any.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_INSPECT_H
#define KW_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// One slot of a computed table. Borrowed for the call.
typedef struct kw_table_row {
    size_t struct_size;
    kw_key key;          // the runtime key of the slot
    kw_key registered;   // the key, alias or not, that the kernel was registered under
    bool is_fallthrough; // the kernel falls through: only a redispatch reaches the slot
    const char *kernel;  // its name as registered; "missing" where nothing serves the slot
    const char *library; // who registered it; NULL for the library's own error kernels
    const char *file;    // "" if not known
    uint32_t line;
    const char *rule;     // the name of the rule that put it there, such as "implicit"
    const char *reason;   // PyTorch's word for it, such as "math kernel"
    const char *sentence; // the rule in one sentence
} kw_table_row;

/// Calls `visit` for every slot of the operator's computed table, Undefined first, then the runtime
/// keys in their order. Answers as of the thread's snapshot; the table stays announced meanwhile.
///
/// @retval KW_OPERATOR_REMOVED  the operator has no registration as of that version
/// @threads any; wait-free but for `visit`
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_visit_table(
    const kw_operator *op, void (*visit)(const kw_table_row *row, void *context), void *context);

/// One registration of an operator. Borrowed for the call.
typedef struct kw_registration_row {
    size_t struct_size;
    uint64_t registration; // its number
    bool is_definition;
    bool is_active;   // false: another kernel of the same key covers it
    kw_key key;       // of a kernel
    uint32_t kind;    // a kw_kernel_kind; 0 for a definition
    const char *name; // of the kernel; the schema of a definition
    const char *library;
    const char *file; // "" if not known
    uint32_t line;
    int32_t priority; // of a kernel
} kw_registration_row;

/// Calls `visit` for every registration of the operator, newest first, outside every lock.
///
/// @retval KW_NO_MEMORY  nothing was visited
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_visit_registrations(
    const kw_operator *op, void (*visit)(const kw_registration_row *row, void *context),
    void *context);

KW_END_DECLS

#endif // KW_INSPECT_H
