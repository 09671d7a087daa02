// What the files of the harness share.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef BENCH_HARNESS_PART_H
#define BENCH_HARNESS_PART_H

#include "harness.h"

typedef struct bench_options {
    double seconds;      // for all rounds
    unsigned rounds_min; // made in any case
    uint64_t window_ns;  // for one variant in one round
    unsigned rounds;     // at most
    uint64_t iterations; // with `only`
    const char *json;    // a file that the results are added to, or NULL
    const char *budget;  // compare instructions with this file, untimed; or NULL
    const char *only;    // run this variant alone, `iterations` times, untimed; or NULL
    bool counts;         // count instructions too
    bool is_counted;     // this process runs under valgrind for one that counts
    bool serves;         // this process measures for another one
} bench_options;

// Of one variant: the median of its nanoseconds and their quartiles, the median of its ratios.
typedef struct bench_result {
    bool is_present;
    double ns;
    double lower_ns;
    double upper_ns;
    double ratio;
    double instructions; // NAN: not counted
} bench_result;

// False: a sentence has been printed.
bool bench_options_read(bench_options *options, const bench_question *question, int argc,
                        char **argv);

// The variant's index; `question->count` if there is none of this name.
unsigned bench_find(const bench_question *question, const char *name);
unsigned bench_floor_of(const bench_question *question, unsigned index);

// Answers the requests of another process until its end.
int bench_serve(const bench_question *question);

// Compares the instructions of the variants that a file names with what it grants them. Returns
// the program's exit status: 77 without valgrind.
int bench_compare_budget(const bench_question *question, const char *path);

// Counts the instructions of all variants that can be counted, under valgrind. False: there is no
// valgrind, which has been said. Where it fails, no variant is counted.
bool bench_count(const bench_question *question, bench_result *results);
// What the process under valgrind does.
int bench_be_counted(const bench_question *question);

void bench_print(const bench_question *question, const bench_result *results, unsigned rounds);
bool bench_write_json(const bench_question *question, const bench_result *results,
                      const char *path);

// Path of a program in the folder of this one.
bool bench_beside(const char *program, char *path, size_t size);

// How many iterations fill the window.
uint64_t bench_calibrate(bench_function run, uint64_t window_ns);

#endif // BENCH_HARNESS_PART_H
