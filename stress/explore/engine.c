// The engine: real threads of which one runs at a time, and stops in front of every step.
//
// Layer:   stress
// Threads: the threads of a case, and the main thread while none of them runs.
// SPDX-License-Identifier: MIT

#include "explore/engine.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <keyway/inline/table.h>

#include "base/pause.h"
#include "base/schedule.h"
#include "explore/fingerprint.h"
#include "explore/memory.h"
#include "explore/order.h"
#include "explore/report.h"
#include "explore/search.h"
#include "rcu/section.h"
#include "rcu/thread.h"
#include "rcu/version.h"

// A pause with a deadline is over after so many, in a case whose other threads go on.
#define PAUSE_LIMIT 3

typedef enum wait {
    WAIT_NOTHING, // the next step is possible
    WAIT_LOCK,
    WAIT_GRACE,
    WAIT_PAUSE,
    WAIT_END, // the thread has ended
} wait;

typedef struct thread {
    pthread_t id;
    sem_t baton;
    unsigned index;
    void (*run)(void);

    wait waits;
    const void *lock;    // that it waits for
    bool is_asleep;      // and that somebody has to wake it for
    uint64_t own_count;  // steps that it has made
    uint64_t seen_count; // steps of others when its last look began
    unsigned pause_count;
    bool has_deadline;

    const kwi_thread_block *block;
    const unsigned long *section; // its word in liburcu
    bool was_inside;
    uint64_t section_number;         // counts the sections that it has entered
    uint64_t grace[EXPLORE_THREADS]; // numbers of the sections that it waits for; 0: none

    uint64_t fingerprint; // of its last step
    bool accepts_signal;
    bool is_interrupted; // the handler has to run before its step
} thread;

static const explore_case *tested;
static thread threads[EXPLORE_THREADS];
static sem_t main_baton;
static unsigned current; // who has made the last step
static uint64_t step_count;
static bool is_exploring;
static bool is_signal_used;
static pthread_key_t end_key;

static struct {
    const void *lock;
    const thread *holder;
} held[8];

static _Thread_local thread *self;

unsigned explore_self(void)
{
    return self != NULL ? self->index : EXPLORE_NOBODY;
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

// States ------------------------------------------------------------------------------------------

// Whether somebody else has made a step since the thread last began to look for what it waits for.
static bool has_news(const thread *each)
{
    return step_count - each->own_count > each->seen_count;
}

uint64_t explore_state(void)
{
    uint64_t state = is_signal_used;
    for (unsigned i = 0; i < tested->thread_count; i++) {
        const thread *each = &threads[i];
        uint64_t flags = (uint64_t)each->accepts_signal << 1 | (uint64_t)has_news(each);
        state = explore_mix(explore_mix(state, each->fingerprint), flags);
    }
    return state;
}

void explore_touch(const void *object, bool writes)
{
    if (self != NULL && is_exploring) {
        self->fingerprint = explore_order_access(self->fingerprint, object, writes);
    }
}

// Who can go on -----------------------------------------------------------------------------------

static const thread *holder_of(const void *lock)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (held[i].lock == lock) {
            return held[i].holder;
        }
    }
    return NULL;
}

static void set_holder(const void *lock, const thread *holder)
{
    size_t i = 0;
    while (held[i].lock != NULL && held[i].lock != lock) {
        i++;
    }
    held[i].lock = lock;
    held[i].holder = holder;
}

// Called wherever the thread stops, so at most one section begins in between.
static void note_section(thread *of)
{
    bool is_inside = kwi_section_word_is_inside(of->section);
    of->section_number += is_inside && !of->was_inside;
    of->was_inside = is_inside;
}

static bool is_grace_over(const thread *waiting)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        const thread *reader = &threads[i];
        if (waiting->grace[i] != 0 && reader->was_inside &&
            reader->section_number == waiting->grace[i]) {
            return false;
        }
    }
    return true;
}

static bool can_go_on(const thread *each)
{
    switch (each->waits) {
    case WAIT_NOTHING:
        return true;
    case WAIT_LOCK:
        return !each->is_asleep && holder_of(each->lock) == NULL;
    case WAIT_GRACE:
        return is_grace_over(each);
    case WAIT_PAUSE:
        return has_news(each);
    case WAIT_END:
        break;
    }
    return false;
}

static unsigned find_enabled(void)
{
    unsigned enabled = 0;
    for (unsigned i = 0; i < tested->thread_count; i++) {
        enabled |= (unsigned)can_go_on(&threads[i]) << i;
    }
    // Time passes when nothing else can happen.
    for (unsigned i = 0; i < tested->thread_count && enabled == 0; i++) {
        bool passes = threads[i].waits == WAIT_PAUSE && threads[i].has_deadline;
        enabled |= (unsigned)passes << i;
    }
    bool accepts = tested->handler != NULL && threads[0].accepts_signal && !is_signal_used &&
                   threads[0].waits != WAIT_END;
    return enabled | (unsigned)accepts << EXPLORE_SIGNAL;
}

static bool is_all_over(void)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        if (threads[i].waits != WAIT_END) {
            return false;
        }
    }
    return true;
}

// Batons ------------------------------------------------------------------------------------------

static void wait_for(sem_t *baton)
{
    while (sem_wait(baton) != 0) {
    }
}

// Decides who goes on; NULL: nobody is left.
static thread *decide(void)
{
    if (is_all_over()) {
        return NULL;
    }
    unsigned enabled = find_enabled();
    if (enabled == 0) {
        explore_fail("deadlock", "no thread can go on, and not all have ended");
    }
    unsigned chosen = explore_search_choose(enabled, current);
    if (chosen != EXPLORE_SIGNAL) {
        current = chosen;
        return &threads[chosen];
    }
    current = 0;
    is_signal_used = true;
    threads[0].is_interrupted = true;
    return &threads[0];
}

static void hand_over(thread *next)
{
    (void)sem_post(next != NULL ? &next->baton : &main_baton);
}

static void note_step(unsigned letter, const char *what, const char *place, const void *object)
{
    explore_trace_step(letter, what, place, object);
    self->fingerprint = explore_mix(self->fingerprint, 1);
    self->own_count++;
    step_count++;
}

static void run_handler(void)
{
    thread before = *self;
    self->is_interrupted = false;
    self->waits = WAIT_NOTHING;
    self->fingerprint = explore_order_access(self->fingerprint, &is_signal_used, true);
    note_step(EXPLORE_SIGNAL, "a signal interrupts", "the handler", NULL);
    tested->handler();
    self->waits = before.waits;
    self->lock = before.lock;
}

// Stops in front of a step until the thread may make it.
static void stop(wait waits)
{
    self->waits = waits;
    note_section(self);
    for (;;) {
        thread *next = decide();
        if (next != self) {
            hand_over(next);
            wait_for(&self->baton);
        }
        if (!self->is_interrupted) {
            break;
        }
        run_handler();
        note_section(self);
    }
    self->waits = WAIT_NOTHING;
}

static void make_step(wait waits, const char *what, const char *place, const void *object)
{
    stop(waits);
    note_step(self->index, what, place, object);
}

void explore_read(const char *what, const void *object)
{
    if (self != NULL && is_exploring) {
        make_step(WAIT_NOTHING, what, "the case", object);
        explore_touch(object, false);
    }
}

void explore_write(const char *what, const void *object)
{
    if (self != NULL && is_exploring) {
        make_step(WAIT_NOTHING, what, "the case", object);
        explore_touch(object, true);
    }
}

void explore_accept_signal(bool accepts)
{
    if (self != NULL) {
        self->accepts_signal = accepts;
    }
}

// The library's steps -----------------------------------------------------------------------------

static void touch_sections(void)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        explore_touch(&threads[i].section, false);
    }
}

static void wait_for_grace(const char *place)
{
    make_step(WAIT_NOTHING, "begin grace period", place, NULL);
    touch_sections();
    for (unsigned i = 0; i < tested->thread_count; i++) {
        self->grace[i] = threads[i].was_inside ? threads[i].section_number : 0;
    }
    make_step(WAIT_GRACE, "end grace period", place, NULL);
    touch_sections();
}

static void take_lock(const void *lock, const char *place)
{
    self->lock = lock;
    make_step(WAIT_LOCK, "lock", place, lock);
    explore_touch(lock, true);
    set_holder(lock, self);
}

static void wake_all(void)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        threads[i].is_asleep = false;
    }
}

static void make_pause(kwi_pause *pause, const char *place)
{
    self->has_deadline = pause->end_ns != UINT64_MAX;
    make_step(WAIT_PAUSE, "pause", place, NULL);
    bool is_over = self->has_deadline && (!has_news(self) || ++self->pause_count >= PAUSE_LIMIT);
    self->seen_count = step_count - self->own_count;
    pause->end_ns = is_over ? 0 : pause->end_ns;
    self->fingerprint = explore_mix(self->fingerprint, is_over);
}

// The thread of the case that a word of a thread block belongs to, or NULL.
static const thread *owner_of(const void *object)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        uintptr_t at = (uintptr_t)object - (uintptr_t)threads[i].block;
        if (at < sizeof *threads[i].block) {
            return &threads[i];
        }
    }
    return NULL;
}

static bool make_library_step(kwi_step step, const void *object, const char *place)
{
    const char *what = kwi_step_name(step);
    switch (step) {
    case KWI_STEP_ENTER:
    case KWI_STEP_LEAVE:
        object = &self->section;
        break;
    case KWI_STEP_LOCK:
        take_lock(object, place);
        return true;
    case KWI_STEP_UNLOCK:
        explore_touch(object, true);
        set_holder(object, NULL);
        return true;
    case KWI_STEP_SLEEP:
        explore_touch(object, true);
        set_holder(object, NULL);
        self->is_asleep = true;
        return true;
    case KWI_STEP_WAKE:
        wake_all();
        return true;
    case KWI_STEP_GRACE:
        wait_for_grace(place);
        return true;
    case KWI_STEP_PAUSE:
        make_pause((kwi_pause *)(uintptr_t)object, place);
        return true;
    case KWI_STEP_TICKET:
        explore_trace_note(self->index, what, place); // the lock orders it
        return true;
    case KWI_STEP_SCAN_PIN:
    case KWI_STEP_SCAN_DEPTH:
    case KWI_STEP_SCAN_SLOT:
        if (owner_of(object) == NULL || owner_of(object) == self) {
            return true; // nobody writes it meanwhile
        }
        break;
    case KWI_STEP_LOAD_VERSION:
    case KWI_STEP_LOAD_INDEX:
    case KWI_STEP_LOAD_ROOT:
    case KWI_STEP_LOAD_OLDER:
    case KWI_STEP_DEPTH:
    case KWI_STEP_SLOT:
    case KWI_STEP_POP:
    case KWI_STEP_PIN:
    case KWI_STEP_UNPIN:
    case KWI_STEP_COUNT:
    case KWI_STEP_PUT_INDEX:
    case KWI_STEP_STORE_ROOT:
    case KWI_STEP_STORE_VERSION:
    case KWI_STEP_UNLINK:
    case KWI_STEP_FREE:
    case KWI_STEP_COUNT_LEASES:
    case KWI_STEP_LOAD_LEASES:
    case KWI_STEP_END_THREAD:
        break;
    }
    make_step(WAIT_NOTHING, what, place, object);
    bool reads = step == KWI_STEP_LOAD_VERSION || step == KWI_STEP_LOAD_INDEX ||
                 step == KWI_STEP_LOAD_ROOT || step == KWI_STEP_LOAD_OLDER ||
                 step == KWI_STEP_SCAN_PIN || step == KWI_STEP_SCAN_DEPTH ||
                 step == KWI_STEP_SCAN_SLOT || step == KWI_STEP_LOAD_LEASES;
    if (step == KWI_STEP_LOAD_OLDER || step == KWI_STEP_UNLINK) {
        explore_touch_memory(object);
        object = &((const kwi_block *)object)->older;
    }
    explore_touch(object, !reads);
    return true;
}

static bool on_step(kwi_step step, const void *object, const char *place)
{
    if (self != NULL && is_exploring) {
        return make_library_step(step, object, place);
    }
    return step == KWI_STEP_GRACE; // while no thread runs, no section is open
}

// Threads -----------------------------------------------------------------------------------------

static void end_run(void)
{
    self->waits = WAIT_END;
    note_section(self);
    hand_over(decide());
}

// The end of a thread whose case lets it end. The key is younger than the library's, so this comes
// after the library has seen the thread's end.
static void end_thread(void *argument)
{
    (void)argument;
    end_run();
    self = NULL;
}

static void *run_thread(void *argument)
{
    self = argument;
    self->section = kwi_section_word();
    self->block = kwi_thread_attach();
    if (self->block == NULL) {
        explore_fail("memory", "a thread cannot attach");
    }
    (void)sem_post(&main_baton);
    for (;;) {
        wait_for(&self->baton);
        if (self->run != NULL) {
            self->run(); // before the exploration
            (void)sem_post(&main_baton);
            continue;
        }
        if (self->index == 0 && tested->ends_thread) {
            (void)pthread_setspecific(end_key, self);
        }
        note_step(self->index, "start", "the case", NULL);
        tested->run[self->index]();
        if (self->index == 0 && tested->ends_thread) {
            return NULL;
        }
        end_run();
    }
}

static void start_thread(unsigned index)
{
    threads[index].index = index;
    if (pthread_create(&threads[index].id, NULL, run_thread, &threads[index]) != 0) {
        explore_fail("memory", "a thread cannot be started");
    }
    wait_for(&main_baton);
}

void explore_engine_start(const explore_case *wanted)
{
    tested = wanted;
    (void)sem_init(&main_baton, 0, 0);
    (void)pthread_key_create(&end_key, end_thread);
    kwi_schedule_set(on_step);
    for (unsigned i = 0; i < tested->thread_count; i++) {
        (void)sem_init(&threads[i].baton, 0, 0);
        if (i > 0 || !tested->ends_thread) {
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

static void reset(thread *each)
{
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
    for (unsigned i = 0; i < tested->thread_count; i++) {
        threads[i].run = tested->prepare[i];
        if (threads[i].run != NULL) {
            (void)sem_post(&threads[i].baton);
            wait_for(&main_baton);
            threads[i].run = NULL;
        }
    }
}

static void explore(void)
{
    for (unsigned i = 0; i < tested->thread_count; i++) {
        reset(&threads[i]);
    }
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        held[i].lock = NULL;
    }
    explore_order_begin();
    explore_fingerprint_begin();
    current = EXPLORE_NOBODY;
    step_count = 0;
    is_signal_used = false;
    is_exploring = true;
    hand_over(decide());
    wait_for(&main_baton);
    is_exploring = false;
}

void explore_engine_run(void)
{
    explore_memory_begin();
    explore_trace_begin();
    if (tested->ends_thread) {
        start_thread(0);
    }
    tested->begin();
    prepare();
    if (tested->arrange != NULL) {
        tested->arrange();
    }
    explore();
    if (tested->ends_thread) {
        (void)pthread_join(threads[0].id, NULL);
    }
    tested->end();
    if (explore_memory_count() != 0) {
        explore_fail("leak", "%zu pieces of memory are not freed at rest", explore_memory_count());
    }
}
