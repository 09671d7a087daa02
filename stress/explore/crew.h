// Crews: the threads of a case, as the files of the engine share them.
//
// Layer:   stress
// Threads: the one that runs.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_CREW_H
#define EXPLORE_CREW_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "explore/engine.h"
#include "rcu/thread.h"

typedef enum explore_wait {
    WAIT_NOTHING, // the next step is possible
    WAIT_LOCK,
    WAIT_GRACE,
    WAIT_PAUSE,
    WAIT_END, // the thread has ended
} explore_wait;

typedef struct explore_thread {
    pthread_t id;
    sem_t baton;
    unsigned index;
    void (*run)(void);

    explore_wait waits;
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
} explore_thread;

typedef struct explore_crew {
    const explore_case *tested;
    explore_thread threads[EXPLORE_THREADS];
    uint64_t step_count; // made by anybody
    bool is_exploring;
    bool is_signal_used;
} explore_crew;

extern explore_crew explore_the_crew;

// The calling thread; NULL of the main thread.
extern _Thread_local explore_thread *explore_own;

// Stops in front of a step until the search lets the thread make it, and notes it.
void explore_make_step(explore_wait waits, const char *what, const char *place, const void *object);

// The threads that can go on, a bit for each, and whether all have ended.
unsigned explore_enabled(void);
bool explore_is_all_over(void);

// Whether somebody else has made a step since the thread last began to look for what it waits for.
bool explore_has_news(const explore_thread *each);

// Called wherever the thread stops, so at most one section begins in between.
void explore_note_section(explore_thread *of);

// Who has a lock, NULL: nobody.
void explore_set_holder(const void *lock, const explore_thread *holder);

// Before each execution.
void explore_forget_holders(void);

// Takes the library's steps, as the hook of base/schedule.h.
void explore_steps_install(void);

#endif // EXPLORE_CREW_H
