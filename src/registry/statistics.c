// Statistics: figures of the whole process, and reclaiming on demand.
//
// Layer:   registry
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/dispatcher.h>
#include <keyway/snapshot.h>

#include "base/memory.h"
#include "rcu/forced_end.h"
#include "rcu/holders.h"
#include "rcu/section.h"
#include "rcu/thread.h"
#include "registry/backlog.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "value/lease.h"

static void count_operators(kw_statistics *all) KWI_REQUIRES(kwi_role_writer)
{
    for (const kw_dispatcher *dispatcher = kwi_the_world.dispatchers; dispatcher != NULL;
         dispatcher = dispatcher->next) {
        for (const kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
            if (kwi_operator_has_registration(op)) {
                all->operator_count++;
            } else {
                const kw_table *table = kwi_operator_newest(op);
                bool own = table->block.state == KWI_BLOCK_NEWEST;
                all->interned_bytes += kwi_operator_bytes(op) + (own ? table->block.bytes : 0);
            }
        }
    }
}

static void count_holders(kw_statistics *all) KWI_REQUIRES(kwi_role_writer)
{
    kwi_census census = kwi_census_take(&kwi_the_world.reclaimer);
    all->snapshot_count = census.snapshot_count;
    all->shared_snapshot_count = census.shared_count;
    all->held_version_count = census.version_count;
    all->held_table_count = census.pinned_count;
    all->held_table_bytes = census.pinned_bytes;
    all->oldest_snapshot_ns = census.oldest_age_ns;
    all->oldest_version =
        census.oldest_version < all->version ? census.oldest_version : all->version;
    all->deferred_count = census.unripe_count;
    all->deferred_bytes = census.unripe_bytes;
}

void kw_statistics_get(kw_statistics *out_statistics)
{
    if (out_statistics == NULL) {
        return;
    }
    size_t size = out_statistics->struct_size;
    kw_statistics all = {.struct_size = size};
    kwi_world_lock();
    all.version = kw_version();
    count_operators(&all);
    count_holders(&all);
    all.kernel_count = kwi_the_world.kernel_count;
    all.retired_count = kwi_the_world.reclaimer.retired_count;
    all.retired_bytes = kwi_the_world.reclaimer.retired_bytes;
    all.backlog_waits = kwi_backlog_wait_count();
    all.backlog_refusals = kwi_backlog_refusal_count();
    kwi_world_unlock();
    all.memory_bytes = kwi_memory_bytes();
    all.thread_blocks = kwi_thread_block_count();
    all.forced_cleanups = kwi_forced_end_count();
    all.lease_count = kwi_lease_count();
    memcpy(out_statistics, &all, size < sizeof all ? size : sizeof all);
}

kw_status kw_reclaim(void)
{
    if (kwi_section_is_ongoing()) {
        return KW_WOULD_WAIT_FOR_SELF;
    }
    kwi_world_reclaim();
    return KW_OK;
}
