// What the concurrency tests share: checks, threads, a dispatcher, and kernels whose user data
// knows when it is dead.
//
// Layer:   test
// Threads: any, but for the functions that begin and end a program or case.
// SPDX-License-Identifier: MIT

#ifndef TESTS_CONCURRENCY_FIXTURE_H
#define TESTS_CONCURRENCY_FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/library.h>

#include "concurrency/typed.h"

#if defined(__SANITIZE_THREAD__)
#define FIXTURE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIXTURE_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIXTURE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIXTURE_ASAN 1
#endif
#endif
#ifndef FIXTURE_TSAN
#define FIXTURE_TSAN 0
#endif
#ifndef FIXTURE_ASAN
#define FIXTURE_ASAN 0
#endif
#define FIXTURE_SANITIZED (FIXTURE_TSAN || FIXTURE_ASAN)

// A count that shrinks where each step costs more.
#define SCALED(count) (FIXTURE_SANITIZED ? (count) / 10 : (count))

// Programs ---------------------------------------------------------------------------------------

// Makes the dispatcher of the program.
void fixture_begin(void);

// Ends it, checks that all user data is dead, prints "N passed, M failed"; the exit status.
int fixture_end(void);

// Runs one case and says how it ended.
void fixture_run(const char *name, void (*run)(void));
#define RUN(function) fixture_run(#function, function)

// Whether a case goes on with step `step` of `wanted`: all of them where it takes seconds, but a
// tenth is enough on a machine that is busy with other things.
bool fixture_goes_on(int step, int wanted);

// Records a failed promise; the case goes on. The first failures of a case are printed.
void fixture_check(bool holds, const char *file, int line, const char *format, ...) KW_PRINTF(4, 5);
#define CHECK(condition, ...) fixture_check((condition), __FILE__, __LINE__, __VA_ARGS__)

// Failures of the case so far.
unsigned fixture_failure_count(void);

// For what a case needs and does not test: ends the program when it fails.
void fixture_must(kw_status status, const kw_error *err, const char *file, int line);
#define MUST(call)                                                                                 \
    do {                                                                                           \
        kw_error err = KW_ERROR_INIT;                                                              \
        fixture_must((call), &err, __FILE__, __LINE__);                                            \
    } while (0)

extern kw_dispatcher *fixture_dispatcher;

// Figures of the library.
kw_statistics fixture_statistics(void);

// User data --------------------------------------------------------------------------------------

// The user data of a kernel. It is poisoned, not freed, by its destructor, so that a kernel that
// runs too long sees it for certain. The program frees it at its end.
typedef struct subject {
    _Atomic uint64_t canary;
    int64_t value;
    struct subject *next;
} subject;

subject *subject_create(int64_t value);
void subject_destroy(void *user_data);
uint64_t subject_alive_count(void);

// The value of the running kernel; a failed check if its user data is dead.
int64_t subject_value(const kw_kernel *self);

// Answers n + value. The usual kernel.
kw_status kernel_add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0);

// Libraries --------------------------------------------------------------------------------------

kw_library *library_open(const char *name);
void library_define(kw_library *library, const char *schema);
kw_registration library_impl(kw_library *library, const char *name, kw_key key,
                             typed_function function, int64_t value);

// A descriptor with fresh user data.
kw_kernel_descriptor kernel_describe(typed_function function, int64_t value);

// Closes, drains and destroys.
void library_end(kw_library *library);

const kw_operator *operator_find(const char *name);

static inline kw_keyset keys_of(kw_key key)
{
    return kw_keyset_from_key(key);
}

// Threads ----------------------------------------------------------------------------------------

#define CREW_LIMIT 64

// Threads that run one function together.
typedef struct crew {
    void (*run)(struct crew *team, unsigned index);
    void *context;
    unsigned count;
    atomic_bool is_stopped;
    atomic_uint next_index;
    pthread_barrier_t start;
    pthread_t threads[CREW_LIMIT];
} crew;

// Returns when all threads are about to run.
void crew_start(crew *team, unsigned count, void (*run)(struct crew *team, unsigned index),
                void *context);
void crew_join(crew *team);

// Tells the threads to stop, then joins them.
void crew_stop(crew *team);

// Gives the processor away outside any section. A thread that is preempted inside one holds up
// every grace period until it runs again, which is rare unless there are more threads than
// processors.
static inline bool crew_goes_on(crew *team)
{
    (void)sched_yield();
    return !atomic_load_explicit(&team->is_stopped, memory_order_relaxed);
}

// A small generator; `*state` is the seed and never 0.
static inline uint32_t random_next(uint32_t *state)
{
    // Marsaglia, "Xorshift RNGs", 2003.
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

#endif // TESTS_CONCURRENCY_FIXTURE_H
