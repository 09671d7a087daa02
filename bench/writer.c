// What commits do to readers: throughput, tail of latency, the time until a commit is seen, and
// what commits and grace periods cost themselves.
//
// Layer:   bench
// Threads: a reader and a writer.
// SPDX-License-Identifier: MIT
//
// Commits replace the CPU kernel of the operator that the reader calls. "Deferred" ones leave
// reclaiming to a later commit, within the library's limit; the others wait for a grace period and
// free what they replaced.

#include <pthread.h>
#include <stdio.h>

#include <keyway/dispatcher.h>

#include "harness.h"
#include "latency.h"
#include "subject.h"
#include "swap.h"
#include "workers.h"

// Reading -----------------------------------------------------------------------------------------

static uint64_t read_calls(uint64_t count)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < count; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
    }
    return (uint64_t)out + (uint64_t)failures;
}

static bench_latencies latencies; // guard: thread. The reader's, then the main thread's.

// Each call with the clock before and after it.
static uint64_t read_timed(uint64_t count)
{
    int64_t out = 0;
    kw_status failures = 0;
    double before = bench_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
        double after = bench_now_ns();
        bench_latencies_add(&latencies, after - before);
        before = after;
    }
    return (uint64_t)out + (uint64_t)failures;
}

// Throughput and tail -----------------------------------------------------------------------------

typedef struct load {
    double rate; // of commits
    bool defers;
} load;

static bench_report run(const load *commits, uint64_t (*read)(uint64_t count), uint64_t window_ns)
{
    const bench_window window = {.read = read,
                                 .write =
                                     commits->defers ? bench_swap_deferring : bench_swap_at_once,
                                 .reader_count = 1,
                                 .write_rate = commits->rate};
    bench_report report = bench_window_run(&window, window_ns);
    bench_require(kw_reclaim(), NULL); // the next window begins with nothing left over
    return report;
}

static bench_report last; // of the newest window of throughput

static double measure_calls(const void *argument, uint64_t window_ns)
{
    last = run(argument, read_calls, window_ns);
    return last.read_ns;
}

// What a commit took in the window of the variant before.
static double measure_commits(const void *argument, uint64_t window_ns)
{
    (void)argument;
    (void)window_ns;
    return last.write_ns;
}

static double measure_median(const void *argument, uint64_t window_ns)
{
    bench_latencies_clear(&latencies);
    (void)run(argument, read_timed, window_ns);
    return bench_latencies_quantile(&latencies, 0.5);
}

// Of the window that the median before it is of: `argument` is the quantile.
static double measure_quantile(const void *argument, uint64_t window_ns)
{
    (void)window_ns;
    return bench_latencies_quantile(&latencies, *(const double *)argument);
}

// Visibility --------------------------------------------------------------------------------------

#define COMMITS_SEEN 50U

// The commits that a watcher looks for, by number from 1. Swaps answer 1 and 2 in turn.
static struct {
    uint64_t wanted;   // guard: cell. Store: release, by the writer. Load: acquire. 0: the end.
    uint64_t seen;     // guard: cell. Store: release, by the watcher. Load: acquire.
    double seen_at_ns; // guard: cell. Written before `seen`, read after it.
    int64_t first;     // guard: immutable while a watcher runs. What the first commit answers.
} view;

static int64_t answer_of(uint64_t number)
{
    return number % 2 == 1 ? view.first : 3 - view.first;
}

static void *watch(void *nothing)
{
    uint64_t seen = 0;
    uint64_t wanted = 0;
    bench_pin(0);
    while ((wanted = __atomic_load_n(&view.wanted, __ATOMIC_ACQUIRE)) != 0) {
        int64_t out = 0;
        kw_status status = bench_two_call_on(bench_op.two, &bench_left, &bench_right, 0, &out);
        if (status == KW_OK && wanted != seen && out == answer_of(wanted)) {
            seen = wanted;
            view.seen_at_ns = bench_now_ns();
            __atomic_store_n(&view.seen, seen, __ATOMIC_RELEASE);
        }
    }
    return nothing;
}

// From just before a commit to the end of the first call that runs the new kernel, on another
// thread that calls all the time.
static double measure_visible(const void *argument, uint64_t window_ns)
{
    const load *commits = argument;
    (void)window_ns;
    pthread_t watcher;
    double sum = 0;
    view.first = 3 - bench_swap(commits->defers);
    view.seen = 0;
    view.wanted = 1;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) {
        return NAN;
    }
    bench_pin(1);
    for (uint64_t number = 1; number <= COMMITS_SEEN + 1; number++) {
        __atomic_store_n(&view.wanted, number, __ATOMIC_RELEASE);
        double begun = bench_now_ns();
        (void)bench_swap(commits->defers);
        while (__atomic_load_n(&view.seen, __ATOMIC_ACQUIRE) != number) {
        }
        sum += number > 1 ? view.seen_at_ns - begun : 0; // by the first one the watcher runs
    }
    __atomic_store_n(&view.wanted, 0, __ATOMIC_RELEASE);
    (void)pthread_join(watcher, NULL);
    return sum / COMMITS_SEEN;
}

// Grace periods -----------------------------------------------------------------------------------

static double waited_ns;

static void swap_and_reclaim(void)
{
    bench_swap_deferring();
    double begun = bench_now_ns();
    bench_require(kw_reclaim(), NULL);
    waited_ns += bench_now_ns() - begun;
}

// One grace period and the pass that frees one table, beside readers that call all the time.
static double measure_grace(const void *argument, uint64_t window_ns)
{
    const unsigned *reader_count = argument;
    const bench_window window = {.read = read_calls,
                                 .write = swap_and_reclaim,
                                 .reader_count = *reader_count,
                                 .write_rate = 2000};
    waited_ns = 0;
    bench_report report = bench_window_run(&window, window_ns);
    return waited_ns / (double)report.writes;
}

// The question ------------------------------------------------------------------------------------

static const load none = {0, false};
static const load slow = {1000, false};
static const load slow_deferred = {1000, true};
static const load fast = {10000, false};
static const load fast_deferred = {10000, true};
static const load full = {INFINITY, false};
static const load full_deferred = {INFINITY, true};
static const double p99 = 0.99;
static const double p999 = 0.999;
static const double all = 1;
static const unsigned no_reader = 0;
static const unsigned one_reader = 1;

#define CALLS(text, load)                                                                          \
    {                                                                                              \
        .name = "call, " text, .measure = measure_calls, .argument = &(load)                       \
    }
#define COMMIT(text)                                                                               \
    {                                                                                              \
        .name = "commit, " text, .measure = measure_commits, .ratio_to = "commit, full rate"       \
    }
#define TAIL(text, load)                                                                           \
    {.name = "p50, " text,                                                                         \
     .measure = measure_median,                                                                    \
     .argument = &(load),                                                                          \
     .ratio_to = "p50, no commits"},                                                               \
        {.name = "p99, " text,                                                                     \
         .measure = measure_quantile,                                                              \
         .argument = &p99,                                                                         \
         .ratio_to = "p99, no commits"},                                                           \
        {.name = "p99.9, " text,                                                                   \
         .measure = measure_quantile,                                                              \
         .argument = &p999,                                                                        \
         .ratio_to = "p99.9, no commits"},                                                         \
    {                                                                                              \
        .name = "max, " text, .measure = measure_quantile, .argument = &all,                       \
        .ratio_to = "max, no commits"                                                              \
    }

static const bench_variant variants[] = {
    CALLS("no commits", none),
    CALLS("1,000 commits/s", slow),
    CALLS("1,000 commits/s deferred", slow_deferred),
    CALLS("10,000 commits/s", fast),
    CALLS("10,000 commits/s deferred", fast_deferred),
    CALLS("full rate", full),
    COMMIT("full rate"), // of the window before
    CALLS("full rate deferred", full_deferred),
    COMMIT("full rate deferred"),
    TAIL("no commits", none),
    TAIL("1,000 commits/s", slow),
    TAIL("10,000 commits/s", fast),
    TAIL("10,000 commits/s deferred", fast_deferred),
    TAIL("full rate", full),
    TAIL("full rate deferred", full_deferred),
    {.name = "commit to visible",
     .measure = measure_visible,
     .argument = &full,
     .ratio_to = "commit to visible"},
    {.name = "commit to visible, deferred",
     .measure = measure_visible,
     .argument = &full_deferred,
     .ratio_to = "commit to visible"},
    {.name = "grace period and pass, no reader",
     .measure = measure_grace,
     .argument = &no_reader,
     .ratio_to = "grace period and pass, no reader"},
    {.name = "grace period and pass, a reader",
     .measure = measure_grace,
     .argument = &one_reader,
     .ratio_to = "grace period and pass, no reader"},
};

int main(int argc, char **argv)
{
    static const bench_question question = {.group = "writer",
                                            .variants = variants,
                                            .count = BENCH_COUNT(variants),
                                            .has_threads = true,
                                            .set_up = bench_subject_set_up};
    return bench_main(&question, argc, argv);
}
