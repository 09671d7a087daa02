// Harness: variants of one question, measured in interleaved rounds of one process.
//
// Layer:   bench
// Threads: one; variants may start their own.
// SPDX-License-Identifier: MIT

#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_VARIANTS_MAX 96
#define BENCH_ROUNDS_MAX 1000

// Runs `iterations` of what is measured and returns something that depends on all of them.
typedef uint64_t (*bench_function)(uint64_t iterations);

// Measures by itself for about `window_ns`; returns nanoseconds for one, NAN: not possible here.
typedef double (*bench_measure)(const void *argument, uint64_t window_ns);

typedef struct bench_variant {
    const char *name;
    bench_function run;    // timed by the harness, and its instructions can be counted; or
    bench_measure measure; // one that times itself
    const void *argument;  // of `measure`
    const char *ratio_to;  // a variant of the same question; NULL: the first
} bench_variant;

typedef struct bench_question {
    const char *group;
    const bench_variant *variants;
    unsigned count;
    bool has_threads;     // its variants place their threads: the harness does not pin this one
    bool (*set_up)(void); // false: a sentence has been printed
} bench_question;

// The main function of a benchmark: reads the options, measures, prints a table, writes JSON.
int bench_main(const bench_question *question, int argc, char **argv);

// Nanoseconds of a clock that never goes back.
double bench_now_ns(void);

// Keeps a result from being optimised away.
void bench_keep(uint64_t result);

// Binds the calling thread to the CPU that is number `index` of those it may run on, counted round.
// Where that is not allowed, it is not bound.
void bench_pin(unsigned index);

// A variant of another program of the benchmarks, which runs in a process of its own on the same
// CPU and answers round by round: `argument` is a bench_remote. The other process sleeps meanwhile.
typedef struct bench_remote {
    const char *program; // beside this one
    const char *variant;
} bench_remote;

double bench_remote_measure(const void *argument, uint64_t window_ns);

#ifdef __clang__
#define BENCH_COMPILER __VERSION__
#else
#define BENCH_COMPILER "gcc " __VERSION__
#endif

#define BENCH_COUNT(array) ((unsigned)(sizeof(array) / sizeof(array)[0]))

#endif // BENCH_HARNESS_H
