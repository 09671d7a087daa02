// What the two halves of the scenario "exit" share: how a process ends, beside whom, and what it
// still does then.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SCENARIOS_EXIT_H
#define STRESS_SCENARIOS_EXIT_H

// How the process ends.
#define STRESS_EXIT_WAYS(X)                                                                        \
    X(RETURN, "return")                 /* from main */                                            \
    X(EXIT, "exit")                     /* in the main thread */                                   \
    X(EXIT_ELSEWHERE, "exit-elsewhere") /* in another thread, while the main thread waits */       \
    X(EXIT_IN_CALL, "exit-in-call")                                                                \
    X(EXIT_UNDER_SNAPSHOT, "exit-under-snapshot")                                                  \
    X(AT_ONCE, "_exit")                                                                            \
    X(AT_ONCE_IN_CALL, "_exit-in-call")                                                            \
    X(QUICK, "quick_exit")                                                                         \
    X(LAST_THREAD, "last-thread") /* the main thread ends first */

// Who is busy meanwhile.
#define STRESS_EXIT_COMPANIES(X)                                                                   \
    X(NOBODY, "nobody")                                                                            \
    X(CALLERS, "callers")                                                                          \
    X(COMMITTERS, "committers")                                                                    \
    X(BOTH, "callers-and-committers")                                                              \
    X(SHORT_THREADS, "short-threads")                                                              \
    X(PARKED, "parked") /* in calls and under snapshots, for ever */                               \
    X(PLUGIN, "plugin") /* loaded and unloaded under callers */                                    \
    X(GUEST, "guest")   /* a library that uses ours, opened and closed under callers */

// What calls, commits and closes after the end has begun.
#define STRESS_EXIT_LATES(X)                                                                       \
    X(NOTHING, "nothing")                                                                          \
    X(HANDLER, "handler")       /* of atexit() or at_quick_exit() */                               \
    X(DESTRUCTOR, "destructor") /* of the program */                                               \
    X(THREAD, "thread")         /* the destructor of a thread key, in a thread that ends late */   \
    X(ALL, "all")

#define STRESS_EXIT_ENUMERATOR(name, text) STRESS_EXIT_##name,
typedef enum stress_exit_way {
    STRESS_EXIT_WAYS(STRESS_EXIT_ENUMERATOR) STRESS_EXIT_WAY_COUNT
} stress_exit_way;
typedef enum stress_exit_company {
    STRESS_EXIT_COMPANIES(STRESS_EXIT_ENUMERATOR) STRESS_EXIT_COMPANY_COUNT
} stress_exit_company;
typedef enum stress_exit_late {
    STRESS_EXIT_LATES(STRESS_EXIT_ENUMERATOR) STRESS_EXIT_LATE_COUNT
} stress_exit_late;
#undef STRESS_EXIT_ENUMERATOR

#define STRESS_EXIT_SECONDS 45 // a process lives for milliseconds; a busy machine may be slow

// The first argument of a process that ends so:
//     keyway-stress --end WAY COMPANY LATE STATUS SEED [FAULT]
#define STRESS_EXIT_OPTION "--end"

// The life of such a process; what main() returns, if it returns.
int stress_exit_child(int argc, char **argv);

#endif // STRESS_SCENARIOS_EXIT_H
