// Comparing the sides: what is visible, what is registered, and every slot of every table.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/inspect.h>

#include "operations/side.h"
#include "registry/inspect.h"
#include "table/rule.h"

// Tables ------------------------------------------------------------------------------------------

typedef struct table_visit {
    const reference_table *table;
    const char *name;
    unsigned slot;
} table_visit;

static unsigned mark_of(const kw_table_row *row)
{
    if (row->library == NULL) {
        return REFERENCE_NOBODY;
    }
    return strcmp(row->library, "standard") == 0 ? REFERENCE_STANDARD : row->line;
}

static void compare_row(const kw_table_row *row, void *context)
{
    table_visit *visit = context;
    const reference_slot *expected = &visit->table->slots[visit->slot];
    const char *key = kw_key_name(row->key);
    SIDE_HOLDS(kw_key_slot(row->key) == (int)visit->slot, "%s: the row of %s is out of order",
               visit->name, key);
    SIDE_HOLDS(mark_of(row) == expected->mark, "%s: %s has kernel %u, the reference kernel %u",
               visit->name, key, mark_of(row), expected->mark);
    SIDE_HOLDS(strcmp(row->rule, kwi_rule_name((kwi_rule)expected->rule)) == 0,
               "%s: %s by the rule %s, the reference %s", visit->name, key, row->rule,
               kwi_rule_name((kwi_rule)expected->rule));
    SIDE_HOLDS(row->is_fallthrough == expected->is_fallthrough, "%s: %s falls through: %d",
               visit->name, key, row->is_fallthrough);
    visit->slot++;
}

static void compare_masks(const kw_operator *op, const reference_table *table)
{
    kwi_inspection inspection;
    SIDE_HOLDS(kwi_inspect_begin(op, &inspection), "no memory");
    for (unsigned i = 0; i < KW_BACKEND_COUNT; i++) {
        uint64_t mask = kwi_table_mask(inspection.table, i).bits;
        SIDE_HOLDS(mask == table->masks[i], "%s: mask %u is %#llx, the reference has %#llx",
                   kw_operator_name(op), i, (unsigned long long)mask,
                   (unsigned long long)table->masks[i]);
    }
    kwi_inspect_end(&inspection);
}

static void compare_table(const kw_operator *op, const reference_table *table)
{
    table_visit visit = {.table = table, .name = kw_operator_name(op)};
    kw_status status = kw_operator_visit_table(op, compare_row, &visit);
    SIDE_SAME(status, table->is_visible ? KW_OK : KW_OPERATOR_REMOVED);
    if (table->is_visible) {
        SIDE_HOLDS(visit.slot == KW_SLOT_COUNT, "%u rows", visit.slot);
        compare_masks(op, table);
    }
    char expected[128] = "";
    char text[128] = "";
    if (table->is_visible && table->is_defined) {
        (void)snprintf(expected, sizeof expected, "%s%s", visit.name,
                       reference_schema_text((reference_schema)table->schema));
    }
    (void)kw_operator_schema(op, text, sizeof text);
    SIDE_HOLDS(strcmp(text, expected) == 0, "the schema is `%s`, the reference has `%s`", text,
               expected);
}

// Registrations (always the newest)
// -----------------------------------------------------------------

static void compare_registration(const kw_registration_row *row, void *context)
{
    size_t *left = context;
    unsigned mark = row->line;
    const reference_registration *there = reference_find(&side_it.now.state, mark);
    SIDE_HOLDS(there != NULL, "registration %u is not in the reference", mark);
    SIDE_HOLDS(row->is_definition == (there->sort == REFERENCE_DEFINITION), "its sort");
    SIDE_HOLDS(row->registration == side_it.kernels[mark].registration, "its number");
    if (!row->is_definition) {
        bool is_active = true;
        const reference_registration *each = side_it.now.state.registrations;
        for (; each != there; each++) {
            is_active &=
                each->sort != REFERENCE_KERNEL || each->op != there->op || each->key != there->key;
        }
        SIDE_HOLDS(row->key == there->key, "registration %u has the key %s", mark,
                   kw_key_name(row->key));
        SIDE_HOLDS(row->priority == there->priority, "its priority is %d", row->priority);
        SIDE_HOLDS(row->is_active == is_active, "registration %u is active: %d", mark,
                   row->is_active);
    }
    SIDE_HOLDS(*left > 0, "registration %u is one too many", mark);
    --*left;
}

static void compare_registrations(unsigned op, const kw_operator *handle)
{
    size_t left = 0;
    const reference *state = &side_it.now.state;
    for (size_t i = 0; i < state->registration_count; i++) {
        const reference_registration *each = &state->registrations[i];
        left += each->sort != REFERENCE_FALLBACK && each->op == op ? 1 : 0;
    }
    kw_status status = kw_operator_visit_registrations(handle, compare_registration, &left);
    SIDE_SAME(status, KW_OK);
    SIDE_HOLDS(left == 0, "%s lacks %zu registrations", reference_operator_name(op), left);
}

// Names -------------------------------------------------------------------------------------------

// A handle is the same for ever, and of one entry.
static void note_handle(unsigned op, unsigned entry, const kw_operator *handle)
{
    const kw_operator **known = &side_it.handles[op][entry];
    for (unsigned i = 0; i < REFERENCE_ENTRIES; i++) {
        SIDE_HOLDS(i == entry || side_it.handles[op][i] != handle,
                   "%s: entry %u has the handle of %u", reference_operator_name(op), entry, i);
    }
    SIDE_HOLDS(*known == NULL || *known == handle, "%s: entry %u has another handle",
               reference_operator_name(op), entry);
    *known = handle;
}

static bool compare_name(unsigned op)
{
    side_view *view = side_view_now();
    const char *name = reference_operator_name(op);
    const kw_operator *handle = NULL;
    const kw_operator *defined = NULL;
    reference_answer answer;
    reference_operation operation = {.kind = REFERENCE_FIND, .op = (uint8_t)op};
    reference_apply(&view->state, &operation, &answer);
    kw_status status = kw_operator_find(side_it.dispatcher, name, &handle, NULL);
    SIDE_SAME(status, answer.status);
    if (status == KW_OK) {
        note_handle(op, answer.entry, handle);
    }
    operation.kind = REFERENCE_FIND_SCHEMA;
    reference_apply(&view->state, &operation, &answer);
    status = kw_operator_find_schema(side_it.dispatcher, name, &defined, NULL);
    SIDE_SAME(status, answer.status);
    SIDE_HOLDS(status != KW_OK || defined == handle, "%s: two handles", name);
    return handle != NULL;
}

typedef struct count_visit {
    size_t visible;
    size_t dangling;
} count_visit;

static void count_visible(const kw_operator *op, void *context)
{
    (void)op;
    ((count_visit *)context)->visible++;
}

static void count_dangling(const kw_operator *op, void *context)
{
    (void)op;
    ((count_visit *)context)->dangling++;
}

void side_compare(void)
{
    side_view *view = side_view_now();
    count_visit expected = {0};
    count_visit found = {0};
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        bool is_visible = compare_name(op);
        expected.visible += is_visible ? 1 : 0;
        expected.dangling += is_visible && !view->tables[op].is_defined ? 1 : 0;
        for (unsigned entry = 0; entry < REFERENCE_ENTRIES; entry++) {
            const kw_operator *handle = side_it.handles[op][entry];
            bool is_in_use = is_visible && entry == view->state.names[op].in_use;
            if (handle != NULL) {
                static const reference_table gone;
                compare_table(handle, is_in_use ? &view->tables[op] : &gone);
            }
        }
        const kw_operator *newest = side_it.handles[op][side_it.now.state.names[op].in_use];
        if (newest != NULL) {
            compare_registrations(op, newest);
        }
    }
    kw_status status = kw_dispatcher_visit(side_it.dispatcher, count_visible, &found);
    SIDE_SAME(status, KW_OK);
    status = kw_dispatcher_visit_dangling(side_it.dispatcher, count_dangling, &found);
    SIDE_SAME(status, KW_OK);
    SIDE_HOLDS(found.visible == expected.visible && found.dangling == expected.dangling,
               "%zu operators are visible, %zu without a definition", found.visible,
               found.dangling);
    uint64_t version = kw_version() - side_it.first_version;
    SIDE_HOLDS(version == side_it.now.state.version, "the version is %llu, the reference has %llu",
               (unsigned long long)version, (unsigned long long)side_it.now.state.version);
}

// Questions ---------------------------------------------------------------------------------------

// S71: visible as of the thread's version, registered as of the newest.
static bool is_of_key(unsigned op, kw_key key)
{
    const reference *now = &side_it.now.state;
    const reference *seen = &side_view_now()->state;
    reference_operation operation = {.kind = REFERENCE_HAS_KERNEL,
                                     .op = (uint8_t)op,
                                     .entry = seen->names[op].in_use,
                                     .key = (uint16_t)key};
    reference_answer answer;
    reference_apply(&side_it.now.state, &operation, &answer);
    bool has_any = false;
    for (size_t i = 0; i < now->registration_count; i++) {
        const reference_registration *each = &now->registrations[i];
        has_any |= each->sort == REFERENCE_KERNEL && each->op == op &&
                   now->names[op].in_use == operation.entry;
    }
    return reference_is_visible(seen, op) && (key == KW_KEY_Undefined ? has_any : answer.yes);
}

static void compare_key(kw_key key)
{
    count_visit found = {0};
    size_t expected = 0;
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        expected += is_of_key(op, key) ? 1 : 0;
    }
    kw_status status = kw_dispatcher_visit_key(side_it.dispatcher, key, count_visible, &found);
    SIDE_SAME(status, KW_OK);
    SIDE_HOLDS(found.visible == expected, "%zu operators have a kernel for %s, the reference %zu",
               found.visible, kw_key_name(key), expected);
}

void side_ask(const sequence_record *record)
{
    unsigned entry = 0;
    const kw_operator *op = side_handle(record, &entry);
    reference_operation operation = {
        .kind = REFERENCE_HAS_KERNEL,
        .op = (uint8_t)sequence_operator(record),
        .entry = (uint8_t)entry,
        .key = (uint16_t)sequence_key(record->key),
    };
    if (op == NULL) {
        return;
    }
    compare_key((kw_key)operation.key);
    reference_answer answer;
    reference_apply(&side_it.now.state, &operation, &answer); // registrations: the newest
    bool has = kw_operator_has_kernel(op, (kw_key)operation.key);
    SIDE_HOLDS(has == answer.yes, "a kernel is registered: %d, the reference says %d", has,
               answer.yes);
    operation.kind = REFERENCE_HAS_COMPUTED;
    reference_apply(&side_view_now()->state, &operation, &answer);
    has = kw_operator_has_computed_kernel(op, (kw_key)operation.key);
    SIDE_HOLDS(has == answer.yes, "a kernel is computed: %d, the reference says %d", has,
               answer.yes);
    operations_figures_all.operations++;
}

// S28: typed access wants a definition with the signature.
void side_find_typed(const sequence_record *record)
{
    unsigned op = sequence_operator(record);
    const side_view *view = side_view_now();
    reference_form form = (record->a & 1) != 0 ? REFERENCE_FORM_TI : REFERENCE_FORM_T;
    const reference_registration *definition = reference_definition(&view->state, op);
    kw_status expected = KW_OK;
    if (!reference_is_visible(&view->state, op)) {
        expected = KW_NOT_FOUND;
    } else if (definition == NULL) {
        expected = KW_OPERATOR_UNDEFINED;
    } else if (reference_signature_of_schema((reference_schema)definition->schema) !=
               reference_signature_of_form(form)) {
        expected = KW_SIGNATURE_MISMATCH;
    }
    const kw_operator *found = NULL;
    kw_status status = kw_operator_find_typed(side_it.dispatcher, reference_operator_name(op),
                                              reference_form_signature(form), &found, NULL);
    SIDE_SAME(status, expected);
    SIDE_HOLDS(status != KW_OK || found == side_it.handles[op][view->state.names[op].in_use],
               "typed access finds another handle");
    operations_figures_all.operations++;
}

// Statistics at rest
// --------------------------------------------------------------------------------

void side_check_rest(void)
{
    const reference *state = &side_it.now.state;
    uint64_t operators = 0;
    uint64_t kernels = state->is_bare != 0 ? 0 : 1;
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        operators += reference_is_visible(state, op) ? 1 : 0;
    }
    for (size_t i = 0; i < state->registration_count; i++) {
        kernels += state->registrations[i].sort != REFERENCE_DEFINITION ? 1 : 0;
    }
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    SIDE_HOLDS(now.operator_count == side_it.before.operator_count + operators, "%llu operators",
               (unsigned long long)now.operator_count);
    SIDE_HOLDS(now.kernel_count == side_it.before.kernel_count + kernels,
               "%llu kernels are alive, the reference has %llu",
               (unsigned long long)(now.kernel_count - side_it.before.kernel_count),
               (unsigned long long)kernels);
    SIDE_HOLDS(now.retired_count == 0 && now.retired_bytes == 0 && now.deferred_count == 0,
               "%llu tables wait to be freed", (unsigned long long)now.retired_count);
    SIDE_HOLDS(now.snapshot_count == 0 && now.shared_snapshot_count == 0, "snapshots are left");
    SIDE_HOLDS(now.memory_bytes == side_memory_bytes(), "%llu bytes, the allocator has %llu",
               (unsigned long long)now.memory_bytes, (unsigned long long)side_memory_bytes());
    for (unsigned mark = 1; mark <= side_it.mark_count; mark++) {
        const side_kernel *kernel = &side_it.kernels[mark];
        const reference_registration *there = reference_find(state, mark);
        bool is_to_be = kernel->was_registered && kernel->is_kernel && there == NULL;
        SIDE_HOLDS((kernel->destroyed != 0) == is_to_be, "kernel %u is destroyed: %u", mark,
                   kernel->destroyed);
    }
}
