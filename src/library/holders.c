// Holders: what keeps a library in use, told one by one.
//
// Layer:   library
// Threads: any; gathered under the writer lock and told outside it.
// SPDX-License-Identifier: MIT

#include "rcu/holders.h"

#include "base/memory.h"
#include "library/library.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"
#include "registry/world.h"

_Static_assert((int)KWI_HOLD_CALL == (int)KW_HOLDER_CALL, "one numbering");
_Static_assert((int)KWI_HOLD_SNAPSHOT == (int)KW_HOLDER_SNAPSHOT, "one numbering");
_Static_assert((int)KWI_HOLD_SHARED_SNAPSHOT == (int)KW_HOLDER_SHARED_SNAPSHOT, "one numbering");

typedef struct gathering {
    const kwi_owner *owner;
    kw_holder *items;
    size_t count;
    size_t capacity;
    bool is_complete; // false: memory ran out
} gathering;

bool kwi_table_names_owner(const kw_table *table, const kwi_owner *owner)
{
    if (table->definition != NULL && table->definition->registration.owner == owner->number) {
        return true;
    }
    for (unsigned i = 0; i < table->entry_count; i++) {
        if (kwi_kernel_of(table->entries[i].kernel)->registration.owner == owner->number) {
            return true;
        }
    }
    return false;
}

static bool make_room(gathering *found)
{
    if (found->count < found->capacity) {
        return true;
    }
    size_t capacity = found->capacity > 0 ? 2 * found->capacity : 16;
    kw_holder *items =
        kwi_reallocate(found->items, found->capacity * sizeof *items, capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    found->items = items;
    found->capacity = capacity;
    return true;
}

static void add_holder(const kwi_hold *hold, void *context)
{
    gathering *found = context;
    if (!found->is_complete || !make_room(found)) {
        found->is_complete = false;
        return;
    }
    const kw_operator *op = hold->owner;
    found->items[found->count++] = (kw_holder){
        .struct_size = sizeof(kw_holder),
        .kind = (uint32_t)hold->kind,
        .thread_id = hold->thread_id,
        .op = op->name,
        .version = hold->version,
        .age_ns = hold->age_ns,
    };
}

static void look_at_retired(const kwi_block *block, void *context) KWI_REQUIRES(kwi_role_writer)
{
    gathering *found = context;
    if (kwi_table_names_owner((const kw_table *)(const void *)block, found->owner)) {
        kwi_holds_visit(block, add_holder, found);
    }
}

static void gather(gathering *found) KWI_REQUIRES(kwi_role_writer)
{
    kwi_reclaim_visit(&kwi_the_world.reclaimer, look_at_retired, found);
    const kw_operator *op = found->owner->dispatcher->operators;
    for (; op != NULL; op = op->next) {
        const kw_table *table = kwi_operator_newest(op);
        if (kwi_table_names_owner(table, found->owner)) {
            kwi_holds_visit(&table->block, add_holder, found);
        }
    }
}

kw_status kw_library_holders(const kw_library *library,
                             void (*visit)(const kw_holder *holder, void *context), void *context)
{
    if (library == NULL || visit == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    gathering found = {.owner = &library->owner, .is_complete = true};
    kwi_world_lock();
    gather(&found);
    kwi_world_unlock();
    for (size_t i = 0; found.is_complete && i < found.count; i++) {
        visit(&found.items[i], context);
    }
    kwi_free(found.items, found.capacity * sizeof *found.items);
    return found.is_complete ? KW_OK : KW_NO_MEMORY;
}
