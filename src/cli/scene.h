// Scenes: what a scenario has made so far, on a dispatcher of its own.
//
// A scene keeps a record of each registration, so that a statement can take it back by its name.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_SCENE_H
#define KWI_CLI_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/keyset.h>
#include <keyway/library.h>
#include <keyway/status.h>
#include <keyway/transaction.h>

#include "cli/library.h"

typedef struct cli_record cli_record;
typedef struct cli_kernel cli_kernel;

// Which kernel ran last; a kernel that runs writes it down.
typedef struct cli_outcome {
    const char *kernel; // NULL: none
    kw_keyset keys;     // that it received
} cli_outcome;

typedef struct cli_scene {
    const char *file; // borrowed; for provenance
    kw_dispatcher *dispatcher;
    cli_library *libraries; // newest first; closed ones stay until the end
    cli_library *current;   // that statements belong to; NULL at first
    cli_record *records;    // newest first
    cli_kernel *kernels;    // of every statement
    kw_transaction *tx;     // NULL: each statement is a transaction of its own
    uint32_t tx_line;       // of its `begin`
    cli_outcome outcome;
} cli_scene;

// The tensors of a scene: a key set and nothing else.
typedef struct cli_tensor {
    kw_keyset keys;
} cli_tensor;

// Makes an empty scene, which cli_scene_fini() takes down again with all that it made. That one
// fails only if the library does not let go of something; the reason it gives is the last one.
KW_NODISCARD kw_status cli_scene_init(cli_scene *scene, const char *file, bool is_bare,
                                      kw_error *err);
KW_NODISCARD kw_status cli_scene_fini(cli_scene *scene, kw_error *err);

// What a registering statement says beside its operator. `key` may be NULL: none is given.
typedef struct cli_place {
    const char *key;
    const char *kernel;
    uint32_t line;
} cli_place;

// The statements of the same names. Each is a transaction, or part of the one that is open.
KW_NODISCARD kw_status cli_scene_library(cli_scene *scene, const cli_library_words *words,
                                         kw_error *err);
KW_NODISCARD kw_status cli_scene_define(cli_scene *scene, const char *schema, uint32_t line,
                                        kw_error *err);
KW_NODISCARD kw_status cli_scene_impl(cli_scene *scene, const char *op, const cli_place *place,
                                      kw_error *err);
KW_NODISCARD kw_status cli_scene_fallback(cli_scene *scene, const cli_place *place, kw_error *err);
KW_NODISCARD kw_status cli_scene_remove_definition(cli_scene *scene, const char *op, kw_error *err);
KW_NODISCARD kw_status cli_scene_remove_impl(cli_scene *scene, const char *op,
                                             const cli_place *place, kw_error *err);
KW_NODISCARD kw_status cli_scene_remove_fallback(cli_scene *scene, const char *key, kw_error *err);
KW_NODISCARD kw_status cli_scene_close(cli_scene *scene, const char *name, kw_error *err);
KW_NODISCARD kw_status cli_scene_begin(cli_scene *scene, uint32_t line, kw_error *err);
KW_NODISCARD kw_status cli_scene_commit(cli_scene *scene, kw_error *err);
KW_NODISCARD kw_status cli_scene_abort(cli_scene *scene, kw_error *err);

#endif // KWI_CLI_SCENE_H
