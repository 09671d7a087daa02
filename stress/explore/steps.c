// Steps: what the library's steps wait for, and what they read and write.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/table.h>

#include "base/pause.h"
#include "base/schedule.h"
#include "explore/crew.h"
#include "explore/order.h"
#include "explore/report.h"

// A pause with a deadline is over after so many, in a case whose other threads go on.
#define PAUSE_LIMIT 3

static explore_crew *const crew = &explore_the_crew;

void explore_touch(const void *object, bool writes)
{
    if (explore_own != NULL && crew->is_exploring) {
        explore_own->fingerprint = explore_order_access(explore_own->fingerprint, object, writes);
    }
}

static void touch_sections(void)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        explore_touch(&crew->threads[i].section, false);
    }
}

static void wait_for_grace(const char *place)
{
    explore_make_step(WAIT_NOTHING, "begin grace period", place, NULL);
    touch_sections();
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        explore_own->grace[i] = crew->threads[i].was_inside ? crew->threads[i].section_number : 0;
    }
    explore_make_step(WAIT_GRACE, "end grace period", place, NULL);
    touch_sections();
}

static void take_lock(const void *lock, const char *place)
{
    explore_own->lock = lock;
    explore_make_step(WAIT_LOCK, "lock", place, lock);
    explore_touch(lock, true);
    explore_set_holder(lock, explore_own);
}

static void wake_all(void)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        crew->threads[i].is_asleep = false;
    }
}

static void make_pause(kwi_pause *pause, const char *place)
{
    explore_own->has_deadline = pause->end_ns != UINT64_MAX;
    explore_make_step(WAIT_PAUSE, "pause", place, NULL);
    bool is_over = explore_own->has_deadline &&
                   (!explore_has_news(explore_own) || ++explore_own->pause_count >= PAUSE_LIMIT);
    explore_own->seen_count = crew->step_count - explore_own->own_count;
    pause->end_ns = is_over ? 0 : pause->end_ns;
    explore_own->fingerprint = explore_mix(explore_own->fingerprint, is_over);
}

// The thread of the case that a word of a thread block belongs to, or NULL.
static const explore_thread *owner_of(const void *object)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        uintptr_t at = (uintptr_t)object - (uintptr_t)crew->threads[i].block;
        if (at < sizeof *crew->threads[i].block) {
            return &crew->threads[i];
        }
    }
    return NULL;
}

// What the library would wait with, and what its lock orders anyway. False: it is another step.
static bool stand_in(kwi_step step, const void *object, const char *place)
{
    if (step == KWI_STEP_LOCK) {
        take_lock(object, place);
    } else if (step == KWI_STEP_UNLOCK || step == KWI_STEP_SLEEP) {
        explore_touch(object, true);
        explore_set_holder(object, NULL);
        explore_own->is_asleep = step == KWI_STEP_SLEEP;
    } else if (step == KWI_STEP_WAKE) {
        wake_all();
    } else if (step == KWI_STEP_GRACE) {
        wait_for_grace(place);
    } else if (step == KWI_STEP_PAUSE) {
        make_pause((kwi_pause *)(uintptr_t)object, place);
    } else if (step == KWI_STEP_TICKET) {
        explore_trace_note(explore_own->index, kwi_step_name(step), place);
    } else {
        return false;
    }
    return true;
}

// Steps that write nothing which another thread reads. Those left out write.
static bool only_reads(kwi_step step)
{
    return step == KWI_STEP_LOAD_VERSION || step == KWI_STEP_LOAD_INDEX ||
           step == KWI_STEP_LOAD_ROOT || step == KWI_STEP_CHECK_ROOT ||
           step == KWI_STEP_LOAD_OLDER || step == KWI_STEP_SCAN_PIN ||
           step == KWI_STEP_SCAN_DEPTH || step == KWI_STEP_SCAN_SLOT ||
           step == KWI_STEP_LOAD_LEASES;
}

// A scan of words that no other thread of the case writes.
static bool is_idle(kwi_step step, const void *object)
{
    bool scans =
        step == KWI_STEP_SCAN_PIN || step == KWI_STEP_SCAN_DEPTH || step == KWI_STEP_SCAN_SLOT;
    const explore_thread *owner = scans ? owner_of(object) : NULL;
    return scans && (owner == NULL || owner == explore_own);
}

static void make_library_step(kwi_step step, const void *object, const char *place)
{
    if (stand_in(step, object, place) || is_idle(step, object)) {
        return;
    }
    if (step == KWI_STEP_ENTER || step == KWI_STEP_LEAVE) {
        object = &explore_own->section;
    }
    explore_make_step(WAIT_NOTHING, kwi_step_name(step), place, object);
    if (step == KWI_STEP_LOAD_OLDER || step == KWI_STEP_UNLINK) {
        explore_touch_memory(object);
        object = &((const kwi_block *)object)->older;
    }
    explore_touch(object, !only_reads(step));
}

static bool on_step(kwi_step step, const void *object, const char *place)
{
    if (explore_own == NULL || !crew->is_exploring) {
        return step == KWI_STEP_GRACE; // while no thread runs, no section is open
    }
    make_library_step(step, object, place);
    return true;
}

void explore_steps_install(void)
{
    kwi_schedule_set(on_step);
}
