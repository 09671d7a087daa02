// The engine: real threads of which one runs at a time, and stops in front of every step.
//
// Layer:   stress
// Threads: see the functions.
// SPDX-License-Identifier: MIT
//
// Note [One thread at a time]
//
// Each thread of a case is a thread of the system that waits for its baton in front of every step
// of base/schedule.h. Whoever stops decides, as the search tells, who goes on, and hands the baton
// over; between two stops nobody else runs. A thread is enabled when its next step would not block:
// the lock is free, every section that the grace period waits for has been left, somebody has made
// a step since a pause began. Grace periods, pauses and condition waits of the library are replaced
// by the engine's. A section is what liburcu's own word of the thread says it is.

#ifndef EXPLORE_ENGINE_H
#define EXPLORE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/export.h>

#define EXPLORE_THREADS 3

// The letter after those of the threads: a signal handler that interrupts the first thread.
#define EXPLORE_SIGNAL EXPLORE_THREADS
#define EXPLORE_NOBODY (EXPLORE_THREADS + 1)

typedef struct explore_case {
    const char *name;
    const char *summary;
    int bound; // preemptions in the default run; EXPLORE_UNBOUNDED
    unsigned thread_count;
    void (*begin)(void);                    // the main thread makes the scene
    void (*prepare[EXPLORE_THREADS])(void); // each thread by itself, before the exploration
    void (*arrange)(void);                  // the main thread, after that
    void (*run[EXPLORE_THREADS])(void);     // explored
    void (*handler)(void);                  // a signal handler on the first thread, explored
    void (*end)(void);                      // the main thread checks and ends the scene
    bool ends_thread;                       // the first thread ends with its run
} explore_case;

#define EXPLORE_UNBOUNDED (-1)

// Main thread: starts the threads of a case; runs it once, from `begin` to `end`.
void explore_engine_start(const explore_case *tested);
void explore_engine_run(void);

// Steps of a case itself: the thread is about to read, or write, something of the case.
void explore_read(const char *what, const void *object);
void explore_write(const char *what, const void *object);

// The first thread lets the handler of its case interrupt it from here on, or no more.
void explore_accept_signal(bool accepts);

// What the step that runs has read or written besides; no new step.
void explore_touch(const void *object, bool writes);

// The same for memory of the library, of which the object is a part; freed memory is a finding.
void explore_touch_memory(const void *object);

// Records a broken promise and ends the process. Any thread.
_Noreturn void explore_fail(const char *oracle, const char *format, ...) KW_PRINTF(2, 3);

// The calling thread's index; EXPLORE_NOBODY outside an exploration.
unsigned explore_self(void);

// For the search. A fingerprint of everything that led to the state, see Note [States].
uint64_t explore_state(void);

// A name for an address in printed steps, until the end of the execution. The text is not copied.
void explore_label(const void *object, const char *text);

#endif // EXPLORE_ENGINE_H
