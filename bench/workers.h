// Workers: readers and a writer that run at the same time for a window.
//
// Layer:   bench
// Threads: started and joined by each window.
// SPDX-License-Identifier: MIT

#ifndef BENCH_WORKERS_H
#define BENCH_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_READERS_MAX 64

// What the threads of a window do. Functions that nobody would call may be NULL.
typedef struct bench_window {
    void (*begin)(void);              // in each thread, before it starts
    uint64_t (*read)(uint64_t count); // `count` of what is measured
    void (*idle)(void);               // in a reader, after each chunk of reads
    void (*write)(void);              // one change
    void (*end)(void);                // in each thread, when it has ended
    unsigned reader_count;
    double write_rate; // changes a second; 0: none, INFINITY: one after the other
} bench_window;

typedef struct bench_report {
    double read_ns;  // for one read, the mean over all readers
    double write_ns; // for one change, while it was made
    uint64_t writes;
} bench_report;

// Reads of one chunk: a reader looks for the end of the window between chunks.
#define BENCH_CHUNK 500

bench_report bench_window_run(const bench_window *window, uint64_t window_ns);

#endif // BENCH_WORKERS_H
