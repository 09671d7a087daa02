// The engine: real threads of which one runs at a time, and stops in front of every step.
//
// Layer:   stress
// Threads: the threads of a case, and the main thread while none of them runs.
// SPDX-License-Identifier: MIT

#include "explore/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/lock.h"
#include "explore/crew.h"
#include "explore/fingerprint.h"
#include "explore/memory.h"
#include "explore/order.h"
#include "explore/report.h"
#include "explore/search.h"
#include "rcu/section.h"

explore_crew explore_the_crew;
_Thread_local explore_thread *explore_own;

static explore_crew *const crew = &explore_the_crew;
static sem_t main_baton;
static unsigned current; // who has made the last step
static pthread_key_t end_key;

unsigned explore_self(void)
{
    return explore_own != NULL ? explore_own->index : EXPLORE_NOBODY;
}

// Findings ----------------------------------------------------------------------------------------

void explore_fail(const char *oracle, const char *format, ...)
{
    explore_report *report = explore_report_now;
    if (!report->is_found) {
        report->is_found = true;
        va_list arguments;
        va_start(arguments, format);
        (void)snprintf(report->oracle, sizeof report->oracle, "%s", oracle);
        (void)vsnprintf(report->text, sizeof report->text, format, arguments);
        va_end(arguments);
        explore_trace_write();
    }
    _exit(1);
}

// Batons ------------------------------------------------------------------------------------------

static void wait_for(sem_t *baton)
{
    while (sem_wait(baton) != 0) {
    }
}

// Decides who goes on; NULL: nobody is left.
static explore_thread *decide(void)
{
    if (explore_is_all_over()) {
        return NULL;
    }
    unsigned enabled = explore_enabled();
    if (enabled == 0) {
        explore_fail("deadlock", "no thread can go on, and not all have ended");
    }
    unsigned chosen = explore_search_choose(enabled, current);
    if (chosen != EXPLORE_SIGNAL) {
        current = chosen;
        return &crew->threads[chosen];
    }
    current = 0;
    crew->is_signal_used = true;
    crew->threads[0].is_interrupted = true;
    return &crew->threads[0];
}

static void hand_over(explore_thread *next)
{
    (void)sem_post(next != NULL ? &next->baton : &main_baton);
}

static void note_step(unsigned letter, const char *what, const char *place, const void *object)
{
    explore_trace_step(letter, what, place, object);
    explore_own->fingerprint = explore_mix(explore_own->fingerprint, 1);
    explore_own->own_count++;
    crew->step_count++;
}

static void run_handler(void)
{
    explore_thread before = *explore_own;
    explore_own->is_interrupted = false;
    explore_own->waits = WAIT_NOTHING;
    explore_own->fingerprint =
        explore_order_access(explore_own->fingerprint, &crew->is_signal_used, true);
    note_step(EXPLORE_SIGNAL, "a signal interrupts", "the handler", NULL);
    crew->tested->handler();
    explore_own->waits = before.waits;
    explore_own->lock = before.lock;
}

// Stops in front of a step until the thread may make it.
static void stop(explore_wait waits)
{
    explore_thread *own = explore_own;
    own->waits = waits;
    explore_note_section(own);
    for (;;) {
        explore_thread *next = decide();
        if (next != own) {
            hand_over(next);
            wait_for(&own->baton);
        }
        if (!own->is_interrupted) {
            break;
        }
        run_handler();
        explore_note_section(own);
    }
    own->waits = WAIT_NOTHING;
}

void explore_make_step(explore_wait waits, const char *what, const char *place, const void *object)
{
    stop(waits);
    note_step(explore_own->index, what, place, object);
}

void explore_read(const char *what, const void *object)
{
    if (explore_own != NULL && crew->is_exploring) {
        explore_make_step(WAIT_NOTHING, what, "the case", object);
        explore_touch(object, false);
    }
}

void explore_write(const char *what, const void *object)
{
    if (explore_own != NULL && crew->is_exploring) {
        explore_make_step(WAIT_NOTHING, what, "the case", object);
        explore_touch(object, true);
    }
}

void explore_accept_signal(bool accepts)
{
    if (explore_own != NULL) {
        explore_own->accepts_signal = accepts;
    }
}

// Threads -----------------------------------------------------------------------------------------

static void end_run(void)
{
    explore_own->waits = WAIT_END;
    explore_note_section(explore_own);
    hand_over(decide());
}

// The end of a thread whose case lets it end. The key is younger than the library's, so this comes
// after the library has seen the thread's end.
static void end_thread(void *argument)
{
    (void)argument;
    end_run();
    explore_own = NULL;
}

static void *run_thread(void *argument)
{
    explore_own = argument;
    explore_own->section = kwi_section_word();
    explore_own->block = kwi_thread_attach();
    if (explore_own->block == NULL) {
        explore_fail("memory", "a thread cannot attach");
    }
    (void)sem_post(&main_baton);
    for (;;) {
        wait_for(&explore_own->baton);
        if (explore_own->run != NULL) {
            explore_own->run(); // before the exploration
            (void)sem_post(&main_baton);
            continue;
        }
        if (explore_own->index == 0 && crew->tested->ends_thread) {
            (void)pthread_setspecific(end_key, explore_own);
        }
        note_step(explore_own->index, "start", "the case", NULL);
        crew->tested->run[explore_own->index]();
        if (explore_own->index == 0 && crew->tested->ends_thread) {
            return NULL;
        }
        end_run();
    }
}

static void start_thread(unsigned index)
{
    crew->threads[index].index = index;
    if (pthread_create(&crew->threads[index].id, NULL, run_thread, &crew->threads[index]) != 0) {
        explore_fail("memory", "a thread cannot be started");
    }
    wait_for(&main_baton);
}

void explore_engine_start(const explore_case *wanted)
{
    crew->tested = wanted;
    (void)sem_init(&main_baton, 0, 0);
    (void)pthread_key_create(&end_key, end_thread);
    explore_steps_install();
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        (void)sem_init(&crew->threads[i].baton, 0, 0);
        if (i > 0 || !crew->tested->ends_thread) {
            start_thread(i);
        }
    }
}

// Announcements that the execution before has left above the depth would be seen while the depth
// covers them, and the same choices would not lead to the same state.
static void forget_announcements(const kwi_thread_block *block)
{
    kwi_thread_block *stale = (kwi_thread_block *)(uintptr_t)block;
    uint32_t depth = kwi_u32_load_relaxed(&stale->hot.depth); // relaxed, both: no thread runs
    for (uint32_t i = depth; i < KWI_INSIDE_COUNT; i++) {
        kwi_ptr_store_relaxed(&stale->hot.inside[i], NULL);
    }
}

static void label(const explore_thread *each)
{
    static const char *const letters[EXPLORE_THREADS] = {"a", "b", "c"};
    const char *text = letters[each->index];
    explore_label(&each->block->hot.pinned, text);
    explore_label(&each->block->hot.depth, text);
    for (unsigned i = 0; i < 3; i++) { // deeper than any case nests
        explore_label(&each->block->hot.inside[i], text);
    }
}

static void reset(explore_thread *each)
{
    label(each);
    forget_announcements(each->block);
    each->waits = WAIT_NOTHING;
    each->is_asleep = false;
    each->pause_count = 0;
    each->own_count = 0;
    each->seen_count = 0;
    each->was_inside = false;
    each->section_number = 0;
    each->fingerprint = explore_mix(each->index + 1, 0);
    each->accepts_signal = false;
    each->is_interrupted = false;
}

static void prepare(void)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        crew->threads[i].run = crew->tested->prepare[i];
        if (crew->threads[i].run != NULL) {
            (void)sem_post(&crew->threads[i].baton);
            wait_for(&main_baton);
            crew->threads[i].run = NULL;
        }
    }
}

static void explore(void)
{
    for (unsigned i = 0; i < crew->tested->thread_count; i++) {
        reset(&crew->threads[i]);
    }
    explore_forget_holders();
    explore_order_begin();
    explore_fingerprint_begin();
    current = EXPLORE_NOBODY;
    crew->step_count = 0;
    crew->is_signal_used = false;
    crew->is_exploring = true;
    hand_over(decide());
    wait_for(&main_baton);
    crew->is_exploring = false;
}

void explore_engine_run(void)
{
    explore_memory_begin();
    explore_trace_begin();
    explore_label(kwi_lock_place(KWI_LOCK_WRITER), "writer");
    explore_label(kwi_lock_place(KWI_LOCK_SHARED), "shared snapshots");
    if (crew->tested->ends_thread) {
        start_thread(0);
    }
    crew->tested->begin();
    prepare();
    if (crew->tested->arrange != NULL) {
        crew->tested->arrange();
    }
    explore();
    if (crew->tested->ends_thread) {
        (void)pthread_join(crew->threads[0].id, NULL);
    }
    crew->tested->end();
    if (explore_memory_count() != 0) {
        explore_fail("leak", "%zu pieces of memory are not freed at rest", explore_memory_count());
    }
}
