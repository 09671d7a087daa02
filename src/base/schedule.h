// Schedule steps: named places in front of each step that other threads can see, where a scheduler
// of tests decides which thread goes on.
//
// Layer:   base
// Threads: any; the hook is set before threads that it schedules run.
// SPDX-License-Identifier: MIT
//
// KWI_STEP stands in front of one access that the order of threads matters for; the object is the
// word, the block or whatever else the access is about. KWI_STEP_WAITS stands where the library
// would wait: it is true if the hook has waited in its place. What else a thread does under a lock
// needs no step, because the lock orders it.
//
// All of them are empty in the shipped library, and one load in a test build without a hook. Who
// explores all orders of steps is stress/explore.

#ifndef KWI_BASE_SCHEDULE_H
#define KWI_BASE_SCHEDULE_H

#define KWI_STEP_LIST(X)                                                                           \
    X(ENTER, "enter")               /* a section */                                                \
    X(LEAVE, "leave")               /* a section */                                                \
    X(LOAD_VERSION, "load version") /* of the newest commit */                                     \
    X(LOAD_INDEX, "load index")     /* of names */                                                 \
    X(LOAD_ROOT, "load root")       /* object: the cell of an operator */                          \
    X(CHECK_ROOT, "check root")     /* object: the same, by who has announced what was there */    \
    X(LOAD_OLDER, "load older")     /* object: the block that a walk goes on from */               \
    X(DEPTH, "store depth")         /* object: the cell */                                         \
    X(SLOT, "store slot")           /* object: the cell */                                         \
    X(POP, "pop")                   /* object: the cell of the depth */                            \
    X(PIN, "pin")                   /* object: the cell */                                         \
    X(UNPIN, "unpin")               /* object: the cell */                                         \
    X(COUNT, "count references")    /* object: the cell */                                         \
    X(LOCK, "lock")                 /* object: the place of the rank, as in the next three */      \
    X(UNLOCK, "unlock")                                                                            \
    X(SLEEP, "sleep") /* on the condition: the next lock comes after a wake */                     \
    X(WAKE, "wake")                                                                                \
    X(PUT_INDEX, "put index")     /* an entry into the index of names */                           \
    X(STORE_ROOT, "publish root") /* object: the cell of an operator */                            \
    X(STORE_VERSION, "publish version")                                                            \
    X(TICKET, "take ticket")                                                                       \
    X(GRACE, "grace period")                                                                       \
    X(SCAN_PIN, "scan pin")         /* object: the cell */                                         \
    X(SCAN_DEPTH, "scan depth")     /* object: the cell */                                         \
    X(SCAN_SLOT, "scan slot")       /* object: the cell */                                         \
    X(UNLINK, "unlink")             /* object: the block whose `older` is stored */                \
    X(FREE, "free")                 /* object: the block */                                        \
    X(COUNT_LEASES, "count leases") /* object: the cell */                                         \
    X(LOAD_LEASES, "load leases")   /* object: the cell */                                         \
    X(PAUSE, "pause")               /* object: the kwi_pause */                                    \
    X(END_THREAD, "end thread")     /* object: the thread's block */

typedef enum kwi_step {
#define KWI_STEP_ENUMERATOR(name, text) KWI_STEP_##name,
    KWI_STEP_LIST(KWI_STEP_ENUMERATOR)
#undef KWI_STEP_ENUMERATOR
} kwi_step;

#ifdef KWI_TESTING

#include <stdbool.h>

// Returns when the thread may make the step. True: it has waited where the library would have.
typedef bool (*kwi_schedule_hook)(kwi_step step, const void *object, const char *place);

// NULL: none. Call before other threads run.
void kwi_schedule_set(kwi_schedule_hook hook);
bool kwi_schedule_is_set(void);
bool kwi_schedule(kwi_step step, const void *object, const char *place);

const char *kwi_step_name(kwi_step step);

#define KWI_STEP(name, object) ((void)kwi_schedule(KWI_STEP_##name, (object), __func__))
#define KWI_STEP_WAITS(name, object) kwi_schedule(KWI_STEP_##name, (object), __func__)

#else

#define KWI_STEP(name, object) ((void)0)
#define KWI_STEP_WAITS(name, object) 0

#endif

#endif // KWI_BASE_SCHEDULE_H
