// Rows: an operator's table and its registrations, one by one, for tools.
//
// Layer:   registry
// Threads: any; registrations are copied under the writer lock, tables read under an announcement.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include <keyway/inspect.h>

#include "base/memory.h"
#include "registry/inspect.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "table/resolve.h"

// Tables ------------------------------------------------------------------------------------------

static kw_table_row make_row(const kw_table *table, unsigned slot)
{
    const kwi_kernel *kernel = kwi_kernel_of(kwi_table_entry(table, slot)->kernel);
    const kwi_registration *registration = &kernel->registration;
    const kwi_owner *owner = kwi_registration_owner(registration);
    kwi_rule rule = kwi_table_rule(table, slot);
    return (kw_table_row){
        .struct_size = sizeof(kw_table_row),
        .key = kw_key_of_slot((int)slot),
        .registered = registration->key,
        .is_fallthrough = kwi_table_is_fallthrough(table, slot),
        .kernel = kwi_registration_name(registration),
        .library = owner != NULL ? owner->name : NULL,
        .file = kwi_registration_file(registration),
        .line = registration->line,
        .rule = kwi_rule_name(rule),
        .reason = kwi_rule_reason(rule),
        .sentence = kwi_rule_sentence(rule),
    };
}

kw_status kw_operator_visit_table(const kw_operator *op,
                                  void (*visit)(const kw_table_row *row, void *context),
                                  void *context)
{
    if (op == NULL || visit == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_inspection inspection;
    if (!kwi_inspect_begin(op, &inspection)) {
        return KW_NO_MEMORY;
    }
    bool visible = inspection.table->visible != 0;
    for (unsigned slot = 0; visible && slot < KW_SLOT_COUNT; slot++) {
        kw_table_row row = make_row(inspection.table, slot);
        visit(&row, context);
    }
    kwi_inspect_end(&inspection);
    return visible ? KW_OK : KW_OPERATOR_REMOVED;
}

// Registrations -----------------------------------------------------------------------------------

static bool copy_row(kwi_pointers *rows, const kwi_registration *registration, const char *name)
{
    kw_registration_row *row = kwi_allocate(sizeof *row);
    if (row == NULL || !kwi_pointers_add(rows, row)) {
        kwi_free(row, sizeof *row);
        return false;
    }
    *row = (kw_registration_row){
        .struct_size = sizeof *row,
        .registration = kwi_registration_id(registration),
        .line = registration->line,
        .name = kwi_copy_string(name),
        .library = kwi_copy_string(kwi_registration_owner(registration)->name),
        .file = kwi_copy_string(kwi_registration_file(registration)),
    };
    return row->name != NULL && row->library != NULL && row->file != NULL;
}

static bool copy_registrations(const kw_operator *op, kwi_pointers *rows)
    KWI_REQUIRES(kwi_role_writer)
{
    if (op->definition != NULL) {
        if (!copy_row(rows, &op->definition->registration,
                      kwi_schema_text(op->definition->schema))) {
            return false;
        }
        kw_registration_row *row = rows->items[rows->count - 1];
        row->is_definition = true;
        row->is_active = true;
    }
    for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
         kernel = kernel->registration.older) {
        if (!copy_row(rows, &kernel->registration, kwi_registration_name(&kernel->registration))) {
            return false;
        }
        kw_registration_row *row = rows->items[rows->count - 1];
        row->key = kernel->registration.key;
        row->kind = kernel->registration.kernel_kind;
        row->priority = kwi_kernel_priority(kernel);
        row->is_active = kwi_operator_active_kernel(op, kernel->registration.key) == kernel;
    }
    return true;
}

static void free_rows(kwi_pointers *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        kw_registration_row *row = rows->items[i];
        kwi_free_string((char *)(uintptr_t)row->name);
        kwi_free_string((char *)(uintptr_t)row->library);
        kwi_free_string((char *)(uintptr_t)row->file);
        kwi_free(row, sizeof *row);
    }
    kwi_pointers_fini(rows);
}

static int compare_rows(const void *left, const void *right)
{
    const kw_registration_row *a = *(kw_registration_row *const *)left;
    const kw_registration_row *b = *(kw_registration_row *const *)right;
    return (a->registration < b->registration) - (a->registration > b->registration);
}

kw_status kw_operator_visit_registrations(const kw_operator *op,
                                          void (*visit)(const kw_registration_row *row,
                                                        void *context),
                                          void *context)
{
    if (op == NULL || visit == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_pointers rows = {0};
    kwi_world_lock();
    bool complete = copy_registrations(op, &rows);
    kwi_world_unlock();
    if (complete && rows.count > 1) {
        qsort(rows.items, rows.count, sizeof(void *), compare_rows);
    }
    for (size_t i = 0; complete && i < rows.count; i++) {
        visit(rows.items[i], context);
    }
    free_rows(&rows);
    return complete ? KW_OK : KW_NO_MEMORY;
}
