// Burials: the end of records that nothing refers to any more, from the last reference to the
// return of the destructor.
//
// Layer:   registry
// Threads: under the writer lock, which is given up while a destructor runs.
// SPDX-License-Identifier: MIT

#include "registry/burial.h"

#include "base/yield.h"
#include "registry/observer.h"
#include "registry/world.h"

// guard: thread. The burial that the thread is inside of.
static _Thread_local kwi_burial *innermost;

void kwi_burial_begin(kwi_burial *burial)
{
    *burial = (kwi_burial){.outer = innermost};
    innermost = burial;
}

static kwi_registration *last_of(kwi_registration *list)
{
    while (list->next_dead != NULL) {
        list = list->next_dead;
    }
    return list;
}

void kwi_burial_add(kwi_burial *burial, kwi_registration *dead)
{
    dead = kwi_observers_part(dead, &burial->observers);
    if (dead == NULL) {
        return;
    }
    for (kwi_registration *each = dead; each != NULL; each = each->next_dead) {
        each->burial = each->burial == KWI_BURIAL_NONE ? KWI_BURIAL_DUE : each->burial;
    }
    kwi_registration *last = last_of(dead);
    kwi_registration **behind =
        burial->last != NULL ? &burial->last->next_dead : &kwi_the_world.dying;
    last->next_dead = *behind;
    *behind = dead;
    burial->first = burial->first != NULL ? burial->first : dead;
    burial->last = last;
}

void kwi_burial_adopt(kwi_burial *burial)
{
    kwi_registration *orphans = kwi_the_world.orphans;
    kwi_the_world.orphans = NULL;
    kwi_burial_add(burial, orphans);
}

static void run_destructor(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    if (registration->kind == KWI_REGISTRATION_DEFINITION ||
        registration->burial != KWI_BURIAL_DUE) {
        return;
    }
    const kwi_kernel *kernel = kwi_kernel_of_registration(registration);
    const kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_DESTROY);
    if (part == NULL) {
        return;
    }
    registration->burial = KWI_BURIAL_BEGUN;
    if (KWI_FAULT(GONE_BEFORE_DESTRUCTOR)) {
        kwi_registration_owner(registration)->alive_count--;
        registration->owner = 0; // it may be freed now
    }
    kwi_world_unlock();
    part->destroy(kernel->base.user_data);
    kwi_world_lock();
}

static void free_record(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer)
{
    if (!KWI_FAULT(GONE_BEFORE_DESTRUCTOR) || registration->owner != 0) {
        kwi_registration_owner(registration)->alive_count--;
    }
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        kwi_definition_free(kwi_definition_of_registration(registration));
        return;
    }
    kwi_the_world.kernel_count--;
    kwi_kernel_free(kwi_kernel_of_registration(registration));
}

// Takes the burial's stretch out of `dying`; it then ends with NULL.
static void unlink_records(const kwi_burial *burial) KWI_REQUIRES(kwi_role_writer)
{
    kwi_registration **link = &kwi_the_world.dying;
    while (*link != burial->first) {
        link = &(*link)->next_dead;
    }
    *link = burial->last->next_dead;
    burial->last->next_dead = NULL;
}

void kwi_burial_end(kwi_burial *burial)
{
    if (burial->observers != NULL) {
        kwi_world_unlock();
        kwi_observers_let_go(burial->observers);
        kwi_world_lock();
    }
    if (burial->first != NULL) {
        for (kwi_registration *each = burial->first;; each = each->next_dead) {
            run_destructor(each);
            each->burial = KWI_BURIAL_DONE;
            if (each == burial->last) {
                break;
            }
        }
        unlink_records(burial);
    }
    innermost = burial->outer;
    for (kwi_registration *each = burial->first, *next; each != NULL; each = next) {
        next = each->next_dead;
        free_record(each);
    }
    kwi_world_unlock();
}

bool kwi_burial_is_running(void)
{
    return innermost != NULL;
}

// The burial of the calling thread whose stretch begins with the record, or NULL.
static const kwi_burial *own_burial_at(const kwi_registration *first)
{
    const kwi_burial *burial = innermost;
    while (burial != NULL && burial->first != first) {
        burial = burial->outer;
    }
    return burial;
}

void kwi_burial_after_fork_child(void)
{
    kwi_registration **link = &kwi_the_world.dying;
    while (*link != NULL) {
        kwi_registration *each = *link;
        const kwi_burial *own = own_burial_at(each);
        if (own != NULL) {
            link = &own->last->next_dead;
            continue;
        }
        *link = each->next_dead;
        each->burial = each->burial == KWI_BURIAL_BEGUN ? KWI_BURIAL_DONE : each->burial;
        each->next_dead = kwi_the_world.orphans;
        kwi_the_world.orphans = each;
    }
}
