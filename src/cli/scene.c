// Scenes: what a scenario has made so far, on a dispatcher of its own.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/scene.h"

#include <string.h>

#include <keyway/local.h>

#include "cli/change.h"
#include "cli/kernel.h"
#include "cli/memory.h"

static kw_keyset tensor_keys(const void *tensor)
{
    return ((const cli_tensor *)tensor)->keys;
}

kw_status cli_scene_init(cli_scene *scene, const char *file, bool is_bare, kw_error *err)
{
    static const kw_tensor_type type = {.struct_size = sizeof type,
                                        .name = "keys of a scenario",
                                        .version = 1,
                                        .keys = tensor_keys};
    const kw_dispatcher_options options = {
        .struct_size = sizeof options, .tensor_type = &type, .bare = is_bare};
    *scene = (cli_scene){.file = file};
    return kw_dispatcher_create(&options, &scene->dispatcher, err);
}

kw_status cli_scene_fini(cli_scene *scene, kw_error *err)
{
    kw_local_guard guard;
    kw_status first = kw_local_force(kw_local_default(), &guard);
    cli_change_abort(scene);
    cli_records_free(scene);
    while (scene->libraries != NULL) {
        cli_library *library = scene->libraries;
        scene->libraries = library->older;
        kw_status status = cli_library_destroy(library, err);
        first = first != KW_OK ? first : status;
    }
    if (first == KW_OK) {
        first = kw_dispatcher_destroy(scene->dispatcher, err);
    }
    cli_kernels_free(scene);
    return first;
}

// The newest library of that name; NULL if there is none.
static cli_library *find_library(const cli_scene *scene, const char *name)
{
    cli_library *library = scene->libraries;
    while (library != NULL && strcmp(library->name, name) != 0) {
        library = library->older;
    }
    return library;
}

kw_status cli_scene_library(cli_scene *scene, const cli_library_words *words, kw_error *err)
{
    cli_library *library = find_library(scene, words->name);
    if (library != NULL && !library->is_closed) {
        kw_status status = cli_library_match(library, words, err);
        scene->current = status == KW_OK ? library : scene->current;
        return status;
    }
    kw_status status = cli_library_create(words, scene->dispatcher, &library, err);
    if (status == KW_OK) {
        library->older = scene->libraries;
        scene->libraries = library;
        scene->current = library;
    }
    return status;
}

kw_status cli_scene_close(cli_scene *scene, const char *name, kw_error *err)
{
    cli_library *library = find_library(scene, name);
    if (library == NULL) {
        return cli_fail(err, KW_NOT_FOUND, "there is no library %.64s", name);
    }
    bool is_own = false;
    kw_status status = cli_change_begin(scene, &is_own, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_close(scene->tx, library->handle, err);
    if (status == KW_OK) {
        library->is_closing = true;
        cli_records_leave(scene, library);
    }
    return cli_change_end(scene, is_own, status, err);
}

kw_status cli_scene_begin(cli_scene *scene, uint32_t line, kw_error *err)
{
    if (scene->tx != NULL) {
        return cli_fail(err, KW_WRONG_ORDER, "the transaction of line %u is still open",
                        scene->tx_line);
    }
    scene->tx_line = line;
    return kw_transaction_begin(scene->dispatcher, &scene->tx, err);
}

kw_status cli_scene_commit(cli_scene *scene, kw_error *err)
{
    if (scene->tx == NULL) {
        return cli_fail(err, KW_WRONG_ORDER, "there is no transaction to commit");
    }
    return cli_change_commit(scene, err);
}

kw_status cli_scene_abort(cli_scene *scene, kw_error *err)
{
    if (scene->tx == NULL) {
        return cli_fail(err, KW_WRONG_ORDER, "there is no transaction to abort");
    }
    cli_change_abort(scene);
    return KW_OK;
}
