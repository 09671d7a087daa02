// Operators: entries of a dispatcher, their registrations, and the making of their tables.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/operator.h"

#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/schedule.h"
#include "base/shared_text.h"
#include "base/yield.h"
#include "registry/dispatcher.h"
#include "registry/error_kernels.h"
#include "registry/observer.h"
#include "registry/world.h"

size_t kwi_operator_bytes(const kw_operator *op)
{
    return offsetof(kw_operator, name) + op->name_length + 1;
}

kw_status kwi_operator_create(kw_dispatcher *dispatcher, const char *name, const char *code,
                              kw_operator *previous, kw_operator **out_op, kw_error *err)
{
    size_t name_bytes = strlen(name) + 1;
    kw_operator *op = kwi_allocate(offsetof(kw_operator, name) + name_bytes);
    if (op == NULL) {
        return kwi_fail_memory(err);
    }
    op->name_length = (uint32_t)(name_bytes - 1);
    memcpy(op->name, name, name_bytes);
    op->dispatcher = dispatcher;
    op->previous = previous;
    kwi_signature_slot *end_slot = NULL; // its reference is the one that end_slot_of() finds
    kw_status status = kwi_signature_pool_get(code, &end_slot, err);
    if (status == KW_OK) {
        // Relaxed: the entry is not in the index yet, whose put publishes it.
        kwi_ptr_store_relaxed(&op->table, end_slot->end);
    }
    if (status == KW_OK && code != NULL) {
        status = kwi_signature_pool_get(code, &op->slot, err);
    }
    if (status != KW_OK) {
        kwi_operator_free(op);
        return status;
    }
    *out_op = op;
    return KW_OK;
}

// The slot whose permanent table ends the chain: that of the signature with which the entry was
// made, of which it may have the other form by now; NULL: it has no chain yet.
static kwi_signature_slot *end_slot_of(const kw_operator *op) KWI_REQUIRES(kwi_role_writer)
{
    // Relaxed: nobody else knows the entry.
    const kw_table *end = kwi_ptr_load_relaxed(&op->table);
    while (end != NULL && end->block.state != KWI_BLOCK_PERMANENT) {
        end = kwi_ptr_load_relaxed(&end->block.older); // relaxed: the same
    }
    if (end == NULL || (op->slot != NULL && op->slot->end == end)) {
        return end != NULL ? op->slot : NULL;
    }
    bool is_other = op->other_slot != NULL && op->other_slot->end == end;
    return is_other ? op->other_slot : kwi_signature_pool_find("");
}

void kwi_operator_free(kw_operator *op)
{
    kwi_signature_slot *end_slot = end_slot_of(op);
    kw_table *table = kwi_ptr_load_relaxed(&op->table); // relaxed: nobody else knows the entry
    if (table != NULL && table->block.state == KWI_BLOCK_NEWEST) {
        kwi_table_destroy(table); // of an operator without registrations: it names nothing
    }
    kwi_signature_pool_put(op->slot);
    kwi_signature_pool_put(op->other_slot);
    kwi_signature_pool_put(end_slot);
    kwi_free(op, kwi_operator_bytes(op));
}

bool kwi_operator_has_registration(const kw_operator *op)
{
    return op->definition != NULL || op->kernels != NULL;
}

kwi_kernel *kwi_operator_active_kernel(const kw_operator *op, kw_key key)
{
    kwi_kernel *kernel = op->kernels;
    while (kernel != NULL && kernel->registration.key != key) {
        kernel = kernel->registration.older;
    }
    return kernel;
}

void kwi_kernel_push(kwi_kernel **list, kwi_kernel *kernel)
{
    kwi_kernel **link = list;
    while (*link != NULL && kwi_kernel_priority(*link) > kwi_kernel_priority(kernel)) {
        link = &(*link)->registration.older;
    }
    kernel->registration.older = *link;
    *link = kernel;
}

// The link that leads to a member of the list, or to its end for NULL.
static kwi_kernel **link_to(kwi_kernel **list, const kwi_kernel *member)
{
    kwi_kernel **link = list;
    while (*link != member) {
        link = &(*link)->registration.older;
    }
    return link;
}

void kwi_kernel_unlink(kwi_kernel **list, kwi_kernel *kernel)
{
    *link_to(list, kernel) = kernel->registration.older;
}

void kwi_kernel_relink(kwi_kernel **list, kwi_kernel *kernel)
{
    *link_to(list, kernel->registration.older) = kernel;
}

// The function to call an unboxed kernel through with the operator's C signature; NULL: its boxing
// entry. See Note [Plain kernels of symbolic operators].
static kw_function entry_function(const kw_operator *op, const kwi_kernel *kernel)
    KWI_REQUIRES(kwi_role_writer)
{
    if (kernel->registration.kernel_kind != KW_KERNEL_UNBOXED ||
        kwi_shared_text_number(op->slot->code) == kernel->registration.code) {
        return kernel->base.unboxed;
    }
    const kwi_part *symbolic = kwi_kernel_part_of(kernel, KWI_PART_SYMBOLIC);
    return symbolic != NULL ? symbolic->symbolic : NULL;
}

// One candidate for each key that has a kernel: the first in the list, which is the active one.
static size_t collect(const kw_operator *op, kwi_candidate *candidates)
    KWI_REQUIRES(kwi_role_writer)
{
    uint64_t seen[(KW_KEY_LIMIT + 63) / 64] = {0};
    size_t count = 0;
    for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
         kernel = kernel->registration.older) {
        uint64_t *word = &seen[kernel->registration.key / 64];
        uint64_t bit = UINT64_C(1) << (kernel->registration.key % 64);
        if ((*word & bit) == 0) {
            *word |= bit;
            candidates[count++] = (kwi_candidate){
                .kernel = &kernel->base,
                .unboxed = entry_function(op, kernel),
                .key = kernel->registration.key,
                .fallthrough = kernel->registration.kernel_kind == KW_KERNEL_FALLTHROUGH &&
                               !KWI_FAULT(LOST_FALLTHROUGH_UPDATE),
            };
        }
    }
    return count;
}

static void note_frame(kw_table *table)
{
    const kwi_definition *definition = table->definition;
    if (definition == NULL) {
        return;
    }
    const kw_schema *schema = definition->schema;
    if (!schema->vararg && !schema->varret && schema->generator_mask == 0) {
        table->frame_args = schema->arg_count;
        table->frame_returns = schema->return_count;
    }
}

kw_table *kwi_operator_resolve(const kw_operator *op, kwi_layouts *layouts)
{
    kwi_candidate candidates[KW_KEY_LIMIT];
    bool visible = kwi_operator_has_registration(op) || op == op->dispatcher->fallback_op;
    const kwi_definition *definition = op->definition;
    kw_function own_box = definition != NULL ? kwi_definition_box(definition) : NULL;
    const void *observers[KW_OBSERVERS_MAX];
    const kwi_resolve_input input = {
        .kernels = candidates,
        .kernel_count = collect(op, candidates),
        .fallbacks = visible ? &op->dispatcher->fallbacks : NULL,
        .missing = visible ? &kwi_kernel_missing.kernel.base : &kwi_kernel_removed.kernel.base,
        .ambiguous = &kwi_kernel_ambiguous.kernel.base,
        .box = own_box != NULL ? own_box : kwi_signature_slot_box(op->slot),
        .definition = definition,
        .owner = op,
        .layout_set = &kwi_the_world.layouts,
        .observers = observers,
        .observer_count = visible ? kwi_observers_of(op, observers) : 0,
        .observed = kwi_observe_boxed,
    };
    kw_table *table = kwi_table_resolve(&input, layouts);
    if (table != NULL) {
        table->visible = visible;
        note_frame(table);
    }
    return table;
}

static void retain_names(const kw_table *table) KWI_REQUIRES(kwi_role_writer)
{
    for (unsigned i = 0; i < table->entry_count; i++) {
        kwi_kernel *kernel = (kwi_kernel *)(uintptr_t)kwi_kernel_of(table->entries[i].kernel);
        if (kernel->registration.owner != 0) {
            kwi_registration_retain(&kernel->registration);
        }
    }
    if (table->definition != NULL) {
        kwi_definition *definition = (kwi_definition *)(uintptr_t)table->definition;
        kwi_registration_retain(&definition->registration);
    }
    kwi_observers_retain(table);
}

static void store_root(kw_operator *op, const kw_table *table) KWI_REQUIRES(kwi_role_writer)
{
    KWI_STEP(STORE_ROOT, &op->table);
    if (KWI_FAULT(RELAXED_PUBLICATION)) {
        kwi_ptr_store_relaxed(&op->table, table); // relaxed: that is the fault
        return;
    }
    kwi_ptr_store_release(&op->table, table); // [pair: table-publish]
}

void kwi_operator_publish(kw_operator *op, kw_table *take_table, uint64_t version)
{
    kw_table *old = kwi_ptr_load_relaxed(&op->table); // relaxed: written under this lock
    if (KWI_FAULT(TABLE_BEFORE_COMPLETE)) {
        store_root(op, take_table);
        KWI_YIELD_OFTEN();
        KWI_STEP(STORE_ROOT, &op->table); // what follows would have come before
    }
    retain_names(take_table);
    take_table->block.version = version;
    op->was_defined |= take_table->definition != NULL;
    kwi_ptr_store_relaxed(&take_table->block.older, old); // relaxed: the next store publishes it
    store_root(op, take_table);
    if (old->block.state == KWI_BLOCK_NEWEST) {
        kwi_retire(&kwi_the_world.reclaimer, &old->block, &take_table->block, version);
    }
}
