// Sections and grace periods: who is inside is waited for, with a block and without one, and
// whoever is served by the grace period of another thread has waited as well.
//
// Layer:   test
// Threads: readers, which enter sections, and writers, which make grace periods.
// SPDX-License-Identifier: MIT

#include <keyway/inline/cell.h>

#include "base/yield.h"
#include "concurrency/fixture.h"
#include "rcu/section.h"
#include "rcu/thread.h"

enum {
    READERS = 2,
    WRITERS = 3,
    OBJECTS = 2, // of each writer: one is published, the other is freed
    LOOKS = 8,
    ROUNDS = SCALED(3000)
};

// One section -------------------------------------------------------------------------------------

static kwi_u32_cell is_inside;
static kwi_u32_cell is_leaving;

static void *stay_inside(void *attaches)
{
    if (attaches != NULL) {
        CHECK(kwi_thread_attach() != NULL, "the thread attaches");
    }
    kwi_section section = kwi_section_enter();
    kwi_section inner = kwi_section_enter();
    kwi_section_leave(inner);
    kwi_u32_store_release(&is_inside, 1);
    for (int i = 0; i < 100; i++) {
        (void)sched_yield();
    }
    kwi_u32_store_release(&is_leaving, 1);
    kwi_section_leave(section);
    return NULL;
}

static void wait_for_a_section(void *attaches)
{
    pthread_t reader;
    kwi_u32_store_relaxed(&is_inside, 0); // relaxed, both: no other thread
    kwi_u32_store_relaxed(&is_leaving, 0);
    if (pthread_create(&reader, NULL, stay_inside, attaches) != 0) {
        CHECK(false, "a thread starts");
        return;
    }
    while (kwi_u32_load_acquire(&is_inside) == 0) {
        (void)sched_yield();
    }
    kwi_grace_period();
    CHECK(kwi_u32_load_acquire(&is_leaving) == 1, "a grace period ended before a section");
    (void)pthread_join(reader, NULL);
}

static void a_grace_period_waits_for_a_section(void)
{
    wait_for_a_section(&is_inside);
}

static void a_grace_period_waits_for_a_section_of_a_thread_without_a_block(void)
{
    wait_for_a_section(NULL);
}

// Turns -------------------------------------------------------------------------------------------

static struct {
    kwi_u32_cell newest; // the object that is published
    kwi_u32_cell is_freed[OBJECTS];
} parts[WRITERS];

static void look(crew *team, unsigned index)
{
    (void)index;
    CHECK(kwi_thread_attach() != NULL, "the thread attaches");
    while (crew_goes_on(team)) {
        kwi_section section = kwi_section_enter();
        for (unsigned i = 0; i < WRITERS * LOOKS; i++) {
            uint32_t at = kwi_u32_load_acquire(&parts[i % WRITERS].newest);
            KWI_YIELD();
            CHECK(kwi_u32_load_acquire(&parts[i % WRITERS].is_freed[at]) == 0,
                  "an object is freed while a section holds it");
        }
        kwi_section_leave(section);
    }
}

static void replace(crew *team, unsigned index)
{
    for (uint32_t round = 1; crew_goes_on(team) && fixture_goes_on((int)round, ROUNDS); round++) {
        uint32_t fresh = round % OBJECTS;
        kwi_u32_store_release(&parts[index].is_freed[fresh], 0);
        kwi_u32_store_release(&parts[index].newest, fresh);
        kwi_grace_period();
        kwi_u32_store_release(&parts[index].is_freed[1 - fresh], 1);
        kwi_grace_period(); // nobody holds it from before, when it is published again
    }
}

static void who_is_served_has_waited(void)
{
    crew readers;
    crew writers;
    kwi_yield_set(200);
    crew_start(&readers, READERS, look, NULL);
    crew_start(&writers, WRITERS, replace, NULL);
    crew_join(&writers);
    crew_stop(&readers);
    kwi_yield_set(0);
}

int main(void)
{
    fixture_begin();
    RUN(a_grace_period_waits_for_a_section);
    RUN(a_grace_period_waits_for_a_section_of_a_thread_without_a_block);
    RUN(who_is_served_has_waited);
    return fixture_end();
}
