// The world: what the process has one of. The writer lock, the reclaimer, the newest version.
//
// Layer:   registry
// Threads: any; the lock serialises every change of every dispatcher.
// SPDX-License-Identifier: MIT

#include "registry/world.h"

#include <pthread.h>

#include <keyway/inline/table.h>

#include "base/memory.h"
#include "base/yield.h"
#include "rcu/section.h"

kwi_world kwi_the_world;

// guard: thread. Destructors that the thread is inside of.
static _Thread_local unsigned burying_depth;

static pthread_mutex_t writer_mutex = PTHREAD_MUTEX_INITIALIZER;

void kwi_world_lock(void) KWI_UNCHECKED
{
    (void)pthread_mutex_lock(&writer_mutex); // cannot fail: initialised, not recursive
}

void kwi_world_unlock(void) KWI_UNCHECKED
{
    (void)pthread_mutex_unlock(&writer_mutex);
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
        if (kernel->registration.owner != NULL) {
            kwi_registration_release(&kernel->registration, dead);
        }
    }
    if (table->definition != NULL) {
        kwi_definition *definition = (kwi_definition *)(uintptr_t)table->definition;
        kwi_registration_release(&definition->registration, dead);
    }
}

static void run_pass(uint64_t ticket, kwi_registration **dead) KWI_REQUIRES(kwi_role_writer)
{
    kwi_block *freed = kwi_reclaim_pass(&kwi_the_world.reclaimer, ticket);
    while (freed != NULL) {
        kwi_block *next = freed->next;
        release_names((const kw_table *)(const void *)freed, dead);
        kwi_free(freed, freed->bytes);
        freed = next;
    }
    free_old_arrays();
}

void kwi_world_unlock_and_reclaim(kwi_registration *dead)
{
    uint64_t ticket = kwi_reclaim_ticket(&kwi_the_world.reclaimer);
    kwi_world_unlock();
    kwi_grace_period();
    KWI_YIELD_OFTEN();
    kwi_world_lock();
    run_pass(ticket, &dead);
    kwi_world_unlock();
    kwi_world_bury(dead);
}

void kwi_world_reclaim(void)
{
    kwi_world_lock();
    kwi_world_unlock_and_reclaim(NULL);
    kwi_world_lock();
    if (kwi_reclaim_wants_grace(&kwi_the_world.reclaimer)) {
        kwi_world_unlock_and_reclaim(NULL);
    } else {
        kwi_world_unlock();
    }
}

static void run_destructor(kwi_registration *registration)
{
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        return;
    }
    kwi_kernel *kernel =
        (kwi_kernel *)(void *)((char *)registration - offsetof(kwi_kernel, registration));
    if (kernel->destroy != NULL) {
        kernel->destroy(kernel->base.user_data);
    }
}

static void free_record(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    registration->owner->alive_count--;
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        kwi_definition_free((kwi_definition *)(void *)registration);
        return;
    }
    kwi_the_world.kernel_count--;
    kwi_kernel_free(
        (kwi_kernel *)(void *)((char *)registration - offsetof(kwi_kernel, registration)));
}

bool kwi_world_is_burying(void)
{
    return burying_depth > 0;
}

void kwi_world_bury(kwi_registration *dead)
{
    if (dead == NULL) {
        return;
    }
    burying_depth++;
    for (kwi_registration *each = dead; each != NULL; each = each->next_dead) {
        run_destructor(each);
    }
    burying_depth--;
    kwi_world_lock();
    for (kwi_registration *each = dead, *next; each != NULL; each = next) {
        next = each->next_dead;
        free_record(each);
    }
    kwi_world_unlock();
}
