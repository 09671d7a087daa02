// Workers: readers and a writer that run at the same time for a window.
//
// Layer:   bench
// Threads: started and joined by each window.
// SPDX-License-Identifier: MIT

#include "workers.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "harness.h"

typedef struct schedule {
    const bench_window *window;
    pthread_barrier_t start;
    bool is_over; // guard: cell. Relaxed: nothing is handed over by it.
} schedule;

typedef struct hand {
    pthread_t thread;
    schedule *shift;
    unsigned index;
    uint64_t done;
    double ns; // reader: of its reads; writer: of its changes
} hand;

static bool is_over(const schedule *shift)
{
    return __atomic_load_n(&shift->is_over, __ATOMIC_RELAXED); // relaxed: see there
}

static void begin(const hand *worker)
{
    bench_pin(worker->index);
    if (worker->shift->window->begin != NULL) {
        worker->shift->window->begin();
    }
    (void)pthread_barrier_wait(&worker->shift->start);
}

static void end(const hand *worker)
{
    if (worker->shift->window->end != NULL) {
        worker->shift->window->end();
    }
}

static void *read_all(void *argument)
{
    hand *reader = argument;
    const bench_window *window = reader->shift->window;
    begin(reader);
    bench_keep(window->read(BENCH_CHUNK)); // the thread's first
    double begun = bench_now_ns();
    do {
        bench_keep(window->read(BENCH_CHUNK));
        reader->done += BENCH_CHUNK;
        if (window->idle != NULL) {
            window->idle();
        }
    } while (!is_over(reader->shift));
    reader->ns = bench_now_ns() - begun;
    end(reader);
    return NULL;
}

// Changes at the given rate; a change that comes late is made at once.
static void *write_all(void *argument)
{
    hand *writer = argument;
    const bench_window *window = writer->shift->window;
    begin(writer);
    double due = bench_now_ns();
    double step = 1e9 / window->write_rate; // 0 at an infinite rate
    while (!is_over(writer->shift)) {
        double now = bench_now_ns();
        if (now >= due) {
            window->write();
            writer->ns += bench_now_ns() - now;
            writer->done++;
            due += step;
        }
    }
    end(writer);
    return NULL;
}

static void start(hand *worker, schedule *shift, unsigned index, void *(*work)(void *))
{
    worker->shift = shift;
    worker->index = index;
    worker->done = 0;
    worker->ns = 0;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        (void)fprintf(stderr, "a thread does not start\n");
        _Exit(1);
    }
}

static void sleep_until(double ns)
{
    const struct timespec pause = {.tv_nsec = 200000};
    while (bench_now_ns() < ns) {
        (void)nanosleep(&pause, NULL);
    }
}

bench_report bench_window_run(const bench_window *window, uint64_t window_ns)
{
    static hand readers[BENCH_READERS_MAX];
    static hand writer;
    schedule shift = {.window = window};
    unsigned writer_count = window->write_rate > 0;
    bench_pin(0); // learns what CPUs there are; this thread sleeps
    (void)pthread_barrier_init(&shift.start, NULL, window->reader_count + writer_count + 1);
    for (unsigned i = 0; i < window->reader_count; i++) {
        start(&readers[i], &shift, i, read_all);
    }
    if (writer_count > 0) {
        start(&writer, &shift, window->reader_count, write_all);
    }
    (void)pthread_barrier_wait(&shift.start);
    sleep_until(bench_now_ns() + (double)window_ns);
    __atomic_store_n(&shift.is_over, true, __ATOMIC_RELAXED); // relaxed: see there
    bench_report report = {.read_ns = 0};
    for (unsigned i = 0; i < window->reader_count; i++) {
        (void)pthread_join(readers[i].thread, NULL);
        report.read_ns += readers[i].ns / (double)readers[i].done / (double)window->reader_count;
    }
    if (writer_count > 0) {
        (void)pthread_join(writer.thread, NULL);
        report.writes = writer.done;
        report.write_ns = writer.ns / (double)writer.done;
    }
    (void)pthread_barrier_destroy(&shift.start);
    return report;
}
