// Changes: one statement's part of a transaction, and the records of what is registered.
//
// A change outside a transaction of the scenario is a transaction of its own. Records follow the
// real registrations: those of an aborted or failed transaction go, those it would have taken back
// stay.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_CHANGE_H
#define KWI_CLI_CHANGE_H

#include <stdbool.h>

#include "cli/scene.h"

typedef enum cli_record_kind {
    CLI_DEFINITION,
    CLI_KERNEL,
    CLI_FALLBACK_KERNEL
} cli_record_kind;

struct cli_record {
    cli_record *older;
    cli_library *library;
    cli_record_kind kind;
    char *op;           // full name; NULL for a fallback
    kw_key key;         // as the library stores it; Undefined for a definition
    const char *kernel; // borrowed from the scene's kernels; NULL for a definition
    kw_registration registration;
    bool is_staged;  // the open transaction makes it
    bool is_leaving; // the open transaction takes it back
};

// Begins a change of the current library. `*out_is_own` is for cli_change_end().
KW_NODISCARD kw_status cli_change_begin(cli_scene *scene, bool *out_is_own, kw_error *err);

// Ends it: a transaction of its own is committed if `status` is KW_OK, else aborted.
KW_NODISCARD kw_status cli_change_end(cli_scene *scene, bool is_own, kw_status status,
                                      kw_error *err);

// Ends the scene's transaction.
KW_NODISCARD kw_status cli_change_commit(cli_scene *scene, kw_error *err);
void cli_change_abort(cli_scene *scene);

// Adds a copy of a record, whose `op` it takes over, as staged.
void cli_record_add(cli_scene *scene, const cli_record *record);

// The newest record of the current library that is alike in kind, operator, key and kernel; NULL
// if there is none. A `wanted->kernel` of NULL is alike any.
cli_record *cli_record_find(const cli_scene *scene, const cli_record *wanted);

// Marks all records of a library as leaving.
void cli_records_leave(cli_scene *scene, const cli_library *library);

void cli_records_free(cli_scene *scene);

#endif // KWI_CLI_CHANGE_H
