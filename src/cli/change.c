// Changes: one statement's part of a transaction, and the records of what is registered.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/change.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

static void free_record(cli_record *record)
{
    free(record->op);
    free(record);
}

// What the end of a transaction does to the records.
static void settle_records(cli_scene *scene, bool is_committed)
{
    cli_record **link = &scene->records;
    while (*link != NULL) {
        cli_record *record = *link;
        bool goes = is_committed ? record->is_leaving : record->is_staged;
        if (goes) {
            *link = record->older;
            free_record(record);
            continue;
        }
        record->is_staged = false;
        record->is_leaving = false;
        link = &record->older;
    }
}

static void settle(cli_scene *scene, bool is_committed)
{
    settle_records(scene, is_committed);
    for (cli_library *library = scene->libraries; library != NULL; library = library->older) {
        library->is_closed = library->is_closed || (is_committed && library->is_closing);
        library->is_closing = false;
    }
}

kw_status cli_change_begin(cli_scene *scene, bool *out_is_own, kw_error *err)
{
    if (scene->current == NULL) {
        return cli_fail(err, KW_WRONG_ORDER,
                        "there is no library yet; begin one with `library NAME NAMESPACE`");
    }
    *out_is_own = scene->tx == NULL;
    return *out_is_own ? kw_transaction_begin(scene->dispatcher, &scene->tx, err) : KW_OK;
}

kw_status cli_change_end(cli_scene *scene, bool is_own, kw_status status, kw_error *err)
{
    if (!is_own) {
        return status;
    }
    if (status == KW_OK) {
        return cli_change_commit(scene, err);
    }
    cli_change_abort(scene);
    return status;
}

kw_status cli_change_commit(cli_scene *scene, kw_error *err)
{
    kw_transaction *tx = scene->tx;
    scene->tx = NULL;
    kw_status status = kw_transaction_commit(tx, NULL, NULL, err);
    settle(scene, status == KW_OK);
    return status;
}

void cli_change_abort(cli_scene *scene)
{
    kw_transaction_abort(scene->tx);
    scene->tx = NULL;
    settle(scene, false);
}

void cli_record_add(cli_scene *scene, const cli_record *record)
{
    cli_record *made = cli_allocate(sizeof *made);
    *made = *record;
    made->library = scene->current;
    made->is_staged = true;
    made->older = scene->records;
    scene->records = made;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

cli_record *cli_record_find(const cli_scene *scene, const cli_record *wanted)
{
    for (cli_record *record = scene->records; record != NULL; record = record->older) {
        if (record->library == scene->current && !record->is_leaving &&
            record->kind == wanted->kind && record->key == wanted->key &&
            is_same_text(record->op, wanted->op) &&
            (wanted->kernel == NULL || is_same_text(record->kernel, wanted->kernel))) {
            return record;
        }
    }
    return NULL;
}

void cli_records_leave(cli_scene *scene, const cli_library *library)
{
    for (cli_record *record = scene->records; record != NULL; record = record->older) {
        record->is_leaving = record->is_leaving || record->library == library;
    }
}

void cli_records_free(cli_scene *scene)
{
    while (scene->records != NULL) {
        cli_record *record = scene->records;
        scene->records = record->older;
        free_record(record);
    }
}
