// Harness: several variants of one question, timed in interleaved rounds in one process.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

// Runs `iterations` of what is measured and returns something that depends on all of them.
typedef uint64_t (*bench_function)(uint64_t iterations);

typedef struct bench_variant {
    const char *name;
    bench_function run;
} bench_variant;

typedef struct bench_options {
    uint64_t iterations; // of one variant in one round
    unsigned rounds;
    const char *json; // a file to write, or NULL
    const char *only; // run this variant alone, `iterations` times, untimed: for instruction counts
} bench_options;

#define BENCH_ROUNDS_MAX 1000

// Reads --iterations, --rounds, --json and --only. False: a sentence has been printed.
bool bench_options_read(bench_options *options, int argc, char **argv);

// Times every variant in every round, in turn, and prints for each the median and quartiles of
// nanoseconds an iteration and the median of its ratio to the variant `floor` of the same round.
// Returns the program's exit status.
int bench_run(const char *question, const bench_variant *variants, unsigned count, unsigned floor,
              const bench_options *options);

#endif // BENCH_HARNESS_H
