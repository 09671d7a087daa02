// Visits: operators of a dispatcher, all or those of a kind, as of the thread's version.
//
// Layer:   registry
// Threads: any; the list is gathered under the writer lock and visited outside it.
// SPDX-License-Identifier: MIT

#include <keyway/dispatcher.h>

#include "base/vector.h"
#include "rcu/announce.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "table/resolve.h"

typedef bool (*predicate)(const kw_operator *op, const kw_table *table, kw_key key);

static bool is_any(const kw_operator *op, const kw_table *table, kw_key key)
{
    (void)op;
    (void)table;
    (void)key;
    return true;
}

static bool is_dangling(const kw_operator *op, const kw_table *table, kw_key key)
{
    (void)op;
    (void)key;
    return table->definition == NULL;
}

// The registrations say it, not the table: a kernel that others cover everywhere is in no table.
static bool has_kernel_for(const kw_operator *op, const kw_table *table, kw_key key)
    KWI_REQUIRES(kwi_role_writer)
{
    (void)table;
    return key == KW_KEY_Undefined ? op->kernels != NULL
                                   : kwi_operator_active_kernel(op, key) != NULL;
}

static bool gather(const kw_dispatcher *dispatcher, predicate wanted, kw_key key,
                   kwi_pointers *found) KWI_REQUIRES(kwi_role_writer)
{
    if (!kwi_pointers_reserve(found, dispatcher->operator_count)) {
        return false;
    }
    uint64_t pinned = kwi_u64_load_relaxed(&kwi_thread_self->pinned); // relaxed: its own word
    // No section: a pass, which frees tables, would need the lock. And none may be entered under it
    // by a thread that liburcu-bp does not know yet, since a fork may hold liburcu's lock first.
    for (kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
        const kw_table *table = (const kw_table *)(const void *)kwi_chain_find(&op->table, pinned);
        if (table->visible && wanted(op, table, key)) {
            (void)kwi_pointers_add(found, op); // room was reserved
        }
    }
    return true;
}

static kw_status visit_all(kw_dispatcher *dispatcher, predicate wanted, kw_key key,
                           void (*visit)(const kw_operator *op, void *context), void *context)
{
    if (dispatcher == NULL || visit == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_pointers found = {0};
    kwi_world_lock();
    bool complete = gather(dispatcher, wanted, key, &found);
    kwi_world_unlock();
    for (size_t i = 0; i < found.count; i++) {
        visit(found.items[i], context);
    }
    kwi_pointers_fini(&found);
    return complete ? KW_OK : KW_NO_MEMORY;
}

kw_status kw_dispatcher_visit(kw_dispatcher *dispatcher,
                              void (*visit)(const kw_operator *op, void *context), void *context)
{
    return visit_all(dispatcher, is_any, KW_KEY_Undefined, visit, context);
}

kw_status kw_dispatcher_visit_dangling(kw_dispatcher *dispatcher,
                                       void (*visit)(const kw_operator *op, void *context),
                                       void *context)
{
    return visit_all(dispatcher, is_dangling, KW_KEY_Undefined, visit, context);
}

kw_status kw_dispatcher_visit_key(kw_dispatcher *dispatcher, kw_key key,
                                  void (*visit)(const kw_operator *op, void *context),
                                  void *context)
{
    return visit_all(dispatcher, has_kernel_for, key, visit, context);
}
