// Registering statements: define, impl, fallback, and taking each of them back.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include "cli/change.h"
#include "cli/kernel.h"
#include "cli/memory.h"
#include "cli/scene.h"

kw_status cli_scene_define(cli_scene *scene, const char *schema, uint32_t line, kw_error *err)
{
    bool is_own = false;
    kw_status status = cli_change_begin(scene, &is_own, err);
    if (status != KW_OK) {
        return status;
    }
    kw_definition definition = KW_DEFINE(schema);
    definition.file = scene->file;
    definition.line = line;
    cli_record record = {.kind = CLI_DEFINITION};
    status = kw_transaction_define(scene->tx, scene->current->handle, &definition,
                                   &record.registration, err);
    if (status == KW_OK) {
        record.op = cli_library_full_name(scene->current, schema);
        cli_record_add(scene, &record);
    }
    return cli_change_end(scene, is_own, status, err);
}

// The key that the library stores a kernel of an operator under.
static kw_key stored_key(kw_key key)
{
    return key == KW_KEY_Undefined ? KW_KEY_CompositeImplicitAutograd : key;
}

// Stages a kernel or, without an operator, a fallback.
static kw_status stage_kernel(cli_scene *scene, const char *op, kw_key key, const cli_place *place,
                              kw_error *err)
{
    const kw_kernel_descriptor kernel = cli_kernel_make(scene, place);
    cli_record record = {.kind = op != NULL ? CLI_KERNEL : CLI_FALLBACK_KERNEL,
                         .key = op != NULL ? stored_key(key) : key,
                         .kernel = kernel.name};
    kw_status status = op != NULL ? kw_transaction_impl(scene->tx, scene->current->handle, op, key,
                                                        &kernel, &record.registration, err)
                                  : kw_transaction_fallback(scene->tx, scene->current->handle, key,
                                                            &kernel, &record.registration, err);
    if (status == KW_OK) {
        record.op = op != NULL ? cli_library_full_name(scene->current, op) : NULL;
        cli_record_add(scene, &record);
    }
    return status;
}

static kw_status add_kernel(cli_scene *scene, const char *op, const cli_place *place, kw_error *err)
{
    bool is_own = false;
    kw_status status = cli_change_begin(scene, &is_own, err);
    if (status != KW_OK) {
        return status;
    }
    kw_key key = KW_KEY_Undefined;
    status = cli_library_key(scene->current, place->key, &key, err);
    if (status == KW_OK) {
        status = stage_kernel(scene, op, key, place, err);
    }
    return cli_change_end(scene, is_own, status, err);
}

kw_status cli_scene_impl(cli_scene *scene, const char *op, const cli_place *place, kw_error *err)
{
    return add_kernel(scene, op, place, err);
}

kw_status cli_scene_fallback(cli_scene *scene, const cli_place *place, kw_error *err)
{
    return add_kernel(scene, NULL, place, err);
}

static kw_status refuse_unknown(const cli_scene *scene, const cli_record *wanted, kw_error *err)
{
    const char *library = scene->current->name;
    const char *key = kw_key_name(wanted->key);
    if (scene->current->is_closed) {
        return cli_fail(err, KW_LIBRARY_CLOSED, "library %s is closed and has no registrations",
                        library);
    }
    switch (wanted->kind) {
    case CLI_DEFINITION:
        return cli_fail(err, KW_NOT_FOUND, "library %s has no definition of `%s`", library,
                        wanted->op);
    case CLI_KERNEL:
        return cli_fail(err, KW_NOT_FOUND, "library %s has no kernel %s for %s of `%s`", library,
                        wanted->kernel, key, wanted->op);
    case CLI_FALLBACK_KERNEL:
        break;
    }
    return cli_fail(err, KW_NOT_FOUND, "library %s has no fallback of %s", library, key);
}

// Completes what a statement says: its operator with the library's namespace, the key it is under.
static kw_status complete(const cli_scene *scene, cli_record *wanted, const char *op,
                          const char *key, kw_error *err)
{
    wanted->op = op != NULL ? cli_library_full_name(scene->current, op) : NULL;
    if (wanted->kind == CLI_DEFINITION) {
        return KW_OK;
    }
    kw_status status = cli_library_key(scene->current, key, &wanted->key, err);
    wanted->key = wanted->kind == CLI_KERNEL ? stored_key(wanted->key) : wanted->key;
    return status;
}

// Takes back the newest registration of the current library that is like `wanted`.
static kw_status take_back(cli_scene *scene, cli_record wanted, const char *op, const char *key,
                           kw_error *err)
{
    bool is_own = false;
    kw_status status = cli_change_begin(scene, &is_own, err);
    if (status != KW_OK) {
        return status;
    }
    status = complete(scene, &wanted, op, key, err);
    cli_record *found = status == KW_OK ? cli_record_find(scene, &wanted) : NULL;
    if (found != NULL) {
        status = kw_transaction_remove(scene->tx, scene->current->handle, found->registration, err);
        found->is_leaving = status == KW_OK;
    } else if (status == KW_OK) {
        status = refuse_unknown(scene, &wanted, err);
    }
    free(wanted.op);
    return cli_change_end(scene, is_own, status, err);
}

kw_status cli_scene_remove_definition(cli_scene *scene, const char *op, kw_error *err)
{
    return take_back(scene, (cli_record){.kind = CLI_DEFINITION}, op, NULL, err);
}

kw_status cli_scene_remove_impl(cli_scene *scene, const char *op, const cli_place *place,
                                kw_error *err)
{
    const cli_record wanted = {.kind = CLI_KERNEL, .kernel = place->kernel};
    return take_back(scene, wanted, op, place->key, err);
}

kw_status cli_scene_remove_fallback(cli_scene *scene, const char *key, kw_error *err)
{
    return take_back(scene, (cli_record){.kind = CLI_FALLBACK_KERNEL}, NULL, key, err);
}
