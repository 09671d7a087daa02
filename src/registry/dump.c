// Dumps: an operator's registrations and its computed table as text.
//
// Layer:   registry
// Threads: any; registrations are read under the writer lock, tables under an announcement.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/dispatcher.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "registry/inspect.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "table/resolve.h"

// Longest line of a dump; what does not fit ends in "...".
#define LINE_BYTES 1024

static void write_line(kw_write_function write, void *context, const kwi_text *text)
{
    write(text->buffer, text->length, context);
    write("\n", 1, context);
}

// Registrations -----------------------------------------------------------------------------------

// Text gathered under the lock and written after it.
typedef struct gathered {
    char *text;
    size_t bytes;
    size_t length;
    bool is_complete;
} gathered;

static void gather(gathered *all, const kwi_text *line)
{
    size_t wanted = all->length + line->length + 1;
    if (wanted > all->bytes) {
        size_t bytes = wanted * 2;
        char *moved = kwi_reallocate(all->text, all->bytes, bytes);
        if (moved == NULL) {
            all->is_complete = false;
            return;
        }
        all->text = moved;
        all->bytes = bytes;
    }
    KWI_ASSERT(all->text != NULL); // there is room for one byte at least
    memcpy(all->text + all->length, line->buffer, line->length);
    all->length += line->length;
    all->text[all->length++] = '\n';
}

static void gather_kernel(gathered *all, const kw_operator *op, const kwi_kernel *kernel)
    KWI_REQUIRES(kwi_role_writer)
{
    char buffer[LINE_BYTES];
    kwi_text line;
    kwi_text_init(&line, buffer, sizeof buffer);
    bool active = kwi_operator_active_kernel(op, kernel->registration.key) == kernel;
    kwi_text_add(&line, "%s%s%s: ", kw_key_name(kernel->registration.key),
                 kw_key_is_alias(kernel->registration.key) ? "[alias]" : "",
                 active ? "" : " (inactive)");
    kwi_registration_describe(&kernel->registration, &line);
    const char *kind = kernel->registration.kernel_kind == KW_KERNEL_UNBOXED ? "unboxed"
                       : kernel->registration.kernel_kind == KW_KERNEL_BOXED ? "boxed"
                                                                             : "fallthrough";
    kwi_text_add(&line, " [%s]", kind);
    if (kwi_kernel_priority(kernel) != 0) {
        kwi_text_add(&line, " [priority %d]", (int)kwi_kernel_priority(kernel));
    }
    gather(all, &line);
}

static void gather_operator(gathered *all, const kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    char buffer[LINE_BYTES];
    kwi_text line;
    kwi_text_init(&line, buffer, sizeof buffer);
    kwi_text_add(&line, "name: %s", op->name);
    gather(all, &line);
    const kwi_definition *definition = op->definition;
    kwi_text_init(&line, buffer, sizeof buffer);
    kwi_text_add(&line, "schema: %s",
                 definition != NULL ? kwi_schema_text(definition->schema) : "(none)");
    gather(all, &line);
    if (definition != NULL) {
        kwi_text_init(&line, buffer, sizeof buffer);
        kwi_text_add(&line, "debug: ");
        kwi_registration_describe(&definition->registration, &line);
        gather(all, &line);
    }
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
             kernel = kernel->registration.older) {
            if (kernel->registration.key == key) {
                gather_kernel(all, op, kernel);
            }
        }
    }
}

kw_status kw_operator_dump(const kw_operator *op, kw_write_function write, void *context)
{
    if (op == NULL || write == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    gathered all = {.is_complete = true};
    kwi_world_lock();
    gather_operator(&all, op);
    kwi_world_unlock();
    if (all.is_complete) {
        write(all.text, all.length, context);
    }
    kwi_free(all.text, all.bytes);
    return all.is_complete ? KW_OK : KW_NO_MEMORY;
}

// Tables ------------------------------------------------------------------------------------------

// Writes one slot; nothing for a missing kernel.
static void write_slot(const kw_table *table, unsigned slot, kw_write_function write, void *context)
{
    kwi_rule rule = kwi_table_rule(table, slot);
    if (rule == KWI_RULE_MISSING) {
        return;
    }
    char buffer[LINE_BYTES];
    kwi_text line;
    kwi_text_init(&line, buffer, sizeof buffer);
    const kwi_kernel *kernel = kwi_kernel_of(kwi_table_entry(table, slot)->kernel);
    kwi_text_add(&line, "%s: ", kw_key_name(kw_key_of_slot((int)slot)));
    if (kwi_table_is_fallthrough(table, slot) &&
        strcmp(kwi_registration_name(&kernel->registration), "fallthrough") != 0) {
        kwi_text_add(&line, "fallthrough ");
    }
    kwi_registration_describe(&kernel->registration, &line);
    kwi_text_add(&line, " [%s]", kwi_rule_reason(rule));
    write_line(write, context, &line);
}

kw_status kw_operator_dump_table(const kw_operator *op, kw_write_function write, void *context)
{
    if (op == NULL || write == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_inspection inspection;
    if (!kwi_inspect_begin(op, &inspection)) {
        return KW_NO_MEMORY;
    }
    for (unsigned slot = 0; inspection.table->visible && slot < KW_SLOT_COUNT; slot++) {
        write_slot(inspection.table, slot, write, context);
    }
    kwi_inspect_end(&inspection);
    return KW_OK;
}
