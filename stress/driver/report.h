// The report: counts, memory, violations; a live line, a final table, JSON.
//
// Layer:   stress
// Threads: violations and samples come from any thread; the rest is the main thread's.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_REPORT_H
#define STRESS_DRIVER_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/export.h>

#include "driver/options.h"

#define STRESS_COUNT_LIST(X)                                                                       \
    X(CALL, "typed calls")                                                                         \
    X(BOXED_CALL, "boxed calls")                                                                   \
    X(NESTED_CALL, "of them inside kernels")                                                       \
    X(SIGNAL_CALL, "of them in signal handlers")                                                   \
    X(REDISPATCH, "redispatches")                                                                  \
    X(FIND, "look-ups")                                                                            \
    X(SNAPSHOT, "snapshots")                                                                       \
    X(SHARE, "of them shared")                                                                     \
    X(CLOSED_INSIDE, "of them closed inside a call")                                               \
    X(ENTER, "shared snapshots entered")                                                           \
    X(CHECKED, "answers checked")                                                                  \
    X(OVERLAPPED, "of calls that a commit came into")                                              \
    X(UNCHECKED, "answers too late to check")                                                      \
    X(COMMIT, "commits")                                                                           \
    X(DEFERRED, "of them with reclaiming deferred")                                                \
    X(UNDER_SNAPSHOT, "of them under the writer's snapshot")                                       \
    X(REFUSED, "commits refused as a whole")                                                       \
    X(DEFINE, "definitions")                                                                       \
    X(IMPL, "kernels")                                                                             \
    X(FALLTHROUGH, "fallthroughs")                                                                 \
    X(FALLBACK, "fallbacks")                                                                       \
    X(REMOVE, "removals")                                                                          \
    X(CLOSE, "libraries closed, drained, destroyed")                                               \
    X(RECLAIM, "reclaims on demand")                                                               \
    X(PARKED_CALL, "calls parked")                                                                 \
    X(PARKED_OVERTAKEN, "of them overtaken by commits")                                            \
    X(PARKED_SNAPSHOT, "snapshots parked")                                                         \
    X(AGE_BEGIN_0, "age 0 when the call began")                                                    \
    X(AGE_BEGIN_1, "age 1 when the call began, a commit in flight")                                \
    X(AGE_END_0, "age 0 when the call ended")                                                      \
    X(AGE_END_1, "age 1 when the call ended")                                                      \
    X(AGE_END_2, "age 2 to 9 when the call ended")                                                 \
    X(AGE_END_10, "age 10 to 99 when the call ended")                                              \
    X(AGE_END_100, "age 100 and more when the call ended")                                         \
    X(THREAD, "threads that came and went")                                                        \
    X(FORCED_END, "of them ended inside a call or under a snapshot")                               \
    X(FORCED_TOLD, "of these told as events")                                                      \
    X(LATE_CALL, "calls made by destructors at a thread's end")                                    \
    X(VERY_DEEP, "calls more than 500 levels deep")                                                \
    X(SELF_DRAIN, "drains of a library from inside its kernel")                                    \
    X(OBSERVER, "observers that were added inside a call")                                         \
    X(HANDLER, "signal handlers")                                                                  \
    X(NO_MEMORY, "failures for want of memory")                                                    \
    X(EXHAUSTED, "times without any memory")                                                       \
    X(SERVED, "other uses of memory")                                                              \
    X(HANDLE_CALL, "calls of a kernel by its handle")                                              \
    X(KERNEL_GONE, "of them whose kernel was gone")                                                \
    X(PLUGIN_ANSWER, "calls that a plugin answered")                                               \
    X(ABSENT, "calls that met no kernel, as the plugin was away")                                  \
    X(LOAD, "plugins loaded")                                                                      \
    X(REPLACE, "replaced")                                                                         \
    X(ROLL_BACK, "rolled back")                                                                    \
    X(UNLOAD, "unloaded")                                                                          \
    X(STILL_USED, "attempts to unload one that was in use")                                        \
    X(LOAD_REFUSED, "loads and rollbacks that failed, as they should")                             \
    X(FORKED, "children, all of which ended well")                                                 \
    X(SHORT_THREAD, "threads that made one call")                                                  \
    X(ENDED, "processes that have ended")                                                          \
    X(STARVED, "calls and changes refused for want of memory")

typedef enum stress_count {
#define STRESS_COUNT_ENUMERATOR(name, text) STRESS_##name,
    STRESS_COUNT_LIST(STRESS_COUNT_ENUMERATOR)
#undef STRESS_COUNT_ENUMERATOR
    STRESS_COUNT_LIMIT
} stress_count;

// Begins and ends the report of one scenario; `options` has to outlive it. The end says in a line
// what came of it; false if there was a violation.
void stress_report_begin(const stress_options *options, const char *scenario);
bool stress_report_end(void);

// Prints the table over all scenarios, and last the line that repeats the run.
void stress_report_total(const stress_options *options);

// Writes what all scenarios so far found. False: the file cannot be written.
bool stress_report_json(const char *path);

// Records a violation, says so at once, and stops the scenario. With a seeded fault the program
// ends here: what the fault has broken must not run on.
void stress_violation(const char *oracle, const char *format, ...) KW_PRINTF(2, 3);

unsigned stress_violation_count(void);

// Ends the program with status 1: the scenario cannot go on.
_Noreturn void stress_give_up(const char *why);

// Takes memory figures of the library; the peaks are kept. Returns the retired tables now.
uint64_t stress_sample(void);

// Lets the scenario run for its time, with a live line on a terminal. `each_ms` runs about every
// millisecond.
void stress_watch(void (*each_ms)(void));

// So many threads have ended inside a call or under a snapshot on purpose.
void stress_forced_ends_add(uint64_t count);

// Compares the figures of the library with those at the begin, when all is taken back.
void stress_check_end(void);

#endif // STRESS_DRIVER_REPORT_H
