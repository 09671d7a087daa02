// The signature pool: one boxing entry and one permanent table for each C signature.
//
// Layer:   registry
// Threads: under the writer lock; a slot's contents are immutable.
// SPDX-License-Identifier: MIT

#include "registry/signature_pool.h"

#include <stddef.h>

#include "base/memory.h"
#include "base/shared_text.h"
#include "base/text.h"
#include "rcu/reclaim.h"
#include "registry/error_kernels.h"
#include "registry/hooks.h"
#include "registry/world.h"
#include "table/resolve.h"

// guard: lock writer.
static kwi_text_set slots KWI_GUARDED_BY(kwi_role_writer);

static void free_slot(kwi_signature_slot *slot)
{
    if (slot->end != NULL) {
        kwi_table_destroy(slot->end);
    }
    kwi_signature_destroy(slot->signature);
    kwi_shared_text_put(slot->code);
    kwi_free(slot, sizeof *slot);
}

kw_function kwi_signature_slot_box(const kwi_signature_slot *slot)
{
    return slot != NULL && slot->signature != NULL ? kwi_signature_box(slot->signature)
                                                   : (kw_function)kwi_refuse_unsigned;
}

static bool make_end(kwi_signature_slot *slot)
{
    const kwi_resolve_input nothing = {
        .missing = &kwi_kernel_removed.kernel.base,
        .ambiguous = &kwi_kernel_ambiguous.kernel.base,
        .box = kwi_signature_slot_box(slot),
        .layout_set = &kwi_the_world.layouts,
    };
    slot->end = kwi_table_resolve(&nothing, NULL);
    if (slot->end == NULL) {
        return false;
    }
    slot->end->block.state = KWI_BLOCK_PERMANENT;
    return true;
}

// NULL: `*out_status` and `err` say why.
static kwi_signature_slot *make_slot(const char *code, kw_status *out_status, kw_error *err)
{
    kw_status status = KW_OK;
    kwi_signature_slot *slot = kwi_allocate(sizeof *slot);
    if (slot == NULL) {
        *out_status = kwi_fail_memory(err);
        return NULL;
    }
    if (code[0] != '\0') {
        status = kwi_signature_create(code, kwi_boxed_invoke_top, kwi_boxed_refuse_frame,
                                      &slot->signature, err);
    }
    if (status == KW_OK) {
        slot->code = kwi_shared_text_get(code);
        if (slot->code == NULL || !make_end(slot)) {
            status = kwi_fail_memory(err);
        }
    }
    if (status != KW_OK) {
        free_slot(slot);
        *out_status = status;
        return NULL;
    }
    return slot;
}

static kwi_signature_slot *slot_of(kwi_text_node *node)
{
    return (kwi_signature_slot *)(void *)((char *)node - offsetof(kwi_signature_slot, node));
}

kwi_signature_slot *kwi_signature_pool_find(const char *code)
{
    return slot_of(kwi_text_set_find(&slots, code, kwi_text_hash(code)));
}

kw_status kwi_signature_pool_get(const char *code, kwi_signature_slot **out_slot, kw_error *err)
{
    const char *wanted = code != NULL ? code : "";
    uint64_t hash = kwi_text_hash(wanted);
    kwi_text_node *node = kwi_text_set_find(&slots, wanted, hash);
    if (node == NULL) {
        kw_status status = KW_OK;
        kwi_signature_slot *made = make_slot(wanted, &status, err);
        if (made == NULL) {
            return status;
        }
        made->node.text = made->code;
        made->node.hash = hash;
        kwi_text_set_add(&slots, &made->node);
        node = &made->node;
    }
    slot_of(node)->reference_count++;
    *out_slot = slot_of(node);
    return KW_OK;
}

void kwi_signature_pool_put(kwi_signature_slot *slot)
{
    if (slot != NULL && --slot->reference_count == 0) {
        kwi_text_set_remove(&slots, &slot->node);
        free_slot(slot);
    }
}
