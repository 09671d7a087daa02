// The world: what the process has one of. The writer lock, the reclaimer, the newest version.
//
// Layer:   registry
// Threads: any; the lock serialises every change of every dispatcher.
// SPDX-License-Identifier: MIT

#include "registry/world.h"

#include <keyway/inline/table.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/schedule.h"
#include "base/seen.h"
#include "base/yield.h"
#include "rcu/section.h"
#include "rcu/version.h"
#include "registry/burial.h"
#include "registry/forced_cleanup.h"
#include "registry/observer.h"

kwi_world kwi_the_world;

void kwi_world_lock(void) KWI_UNCHECKED
{
    kwi_lock(KWI_LOCK_WRITER);
}

void kwi_world_unlock(void) KWI_UNCHECKED
{
    kwi_unlock(KWI_LOCK_WRITER);
}

bool kwi_world_wait(uint64_t end_ns) KWI_UNCHECKED
{
    if (kwi_clock_ns() >= end_ns) {
        return false;
    }
    int cancel = kwi_cancel_hold(); // a cancelled wait would end with the lock held
    kwi_lock_wait(KWI_LOCK_WRITER, end_ns);
    kwi_cancel_restore(cancel);
    return true;
}

void kwi_world_wake(void)
{
    kwi_lock_wake(KWI_LOCK_WRITER);
}

void kwi_waits_after_fork_child(void)
{
    kwi_locks_forget_waiters();
    for (kw_dispatcher *each = kwi_the_world.dispatchers; each != NULL; each = each->next) {
        each->waiter_count = 0;
    }
}

void kwi_world_defer_array(kwi_old_array *array)
{
    array->ticket = kwi_the_world.reclaimer.tick + 1; // the next one that is given out
    array->next = kwi_the_world.old_arrays;
    kwi_the_world.old_arrays = array;
}

static void free_old_arrays(void) KWI_REQUIRES(kwi_role_writer)
{
    kwi_old_array **link = &kwi_the_world.old_arrays;
    while (*link != NULL) {
        kwi_old_array *array = *link;
        if (array->ticket > kwi_the_world.reclaimer.done) {
            link = &array->next;
            continue;
        }
        *link = array->next;
        kwi_free(array, array->bytes);
    }
}

// Gives back what a freed table named: each entry's kernel, and the definition.
static void release_names(const kw_table *table, kwi_registration **dead)
    KWI_REQUIRES(kwi_role_writer)
{
    for (unsigned i = 0; i < table->entry_count; i++) {
        kwi_kernel *kernel = (kwi_kernel *)(uintptr_t)kwi_kernel_of(table->entries[i].kernel);
        if (kernel->registration.owner != 0) {
            kwi_registration_release(&kernel->registration, dead);
        }
    }
    if (table->definition != NULL) {
        kwi_definition *definition = (kwi_definition *)(uintptr_t)table->definition;
        kwi_registration_release(&definition->registration, dead);
    }
    kwi_observers_release(table, dead);
}

static void run_pass(uint64_t ticket, kwi_registration **dead) KWI_REQUIRES(kwi_role_writer)
{
    kwi_block *freed = kwi_reclaim_pass(&kwi_the_world.reclaimer, ticket);
    while (freed != NULL) {
        kwi_block *next = freed->next;
        KWI_STEP(FREE, freed);
        kw_table *table = (kw_table *)(void *)freed;
        release_names(table, dead);
        kwi_table_destroy(table);
        freed = next;
    }
    KWI_SEEN_WHEN(*dead != NULL, LATE_KERNEL);
    free_old_arrays();
}

// Gives up the lock, waits for a grace period, which only a seeded fault leaves out, and reclaims.
static void reclaim(kwi_registration *dead, bool waits) KWI_RELEASES(kwi_role_writer)
{
    kwi_burial burial;
    kwi_burial_begin(&burial);
    kwi_burial_add(&burial, dead);
    uint64_t ticket = kwi_reclaim_ticket(&kwi_the_world.reclaimer);
    uint64_t newest = kwi_u64_load_relaxed(&kwi_version.newest); // relaxed: written under this lock
    kwi_world_unlock();
    if (waits) {
        kwi_grace_period();
    }
    KWI_YIELD_OFTEN();
    kwi_world_lock();
    (void)newest; // builds that count nothing do not read it
    // Relaxed: the same.
    KWI_SEEN_WHEN(kwi_u64_load_relaxed(&kwi_version.newest) != newest, COMMIT_IN_GRACE_PERIOD);
    kwi_forced_news news;
    kwi_forced_news_gather(&news);
    kwi_registration *freed = NULL;
    run_pass(ticket, &freed);
    kwi_burial_add(&burial, freed);
    kwi_burial_adopt(&burial);
    kwi_burial_end(&burial);
    kwi_forced_news_tell(&news);
}

void kwi_world_unlock_and_reclaim(kwi_registration *dead)
{
    reclaim(dead, true);
}

void kwi_world_unlock_and_bury(kwi_registration *dead)
{
    kwi_burial burial;
    kwi_burial_begin(&burial);
    kwi_burial_add(&burial, dead);
    kwi_burial_end(&burial);
}

void kwi_world_reclaim(void)
{
    const bool waits = !KWI_FAULT(DRAIN_WITHOUT_GRACE_PERIOD);
    int cancel = kwi_cancel_hold();
    kwi_world_lock();
    reclaim(NULL, waits);
    kwi_world_lock();
    if (kwi_reclaim_wants_grace(&kwi_the_world.reclaimer)) {
        reclaim(NULL, waits);
    } else {
        kwi_world_unlock();
    }
    kwi_cancel_restore(cancel);
}
