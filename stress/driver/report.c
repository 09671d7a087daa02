// The report: counts, memory, violations; a live line, a final table, JSON.
//
// Layer:   stress
// Threads: see report.h.
// SPDX-License-Identifier: MIT

#include "driver/report.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <keyway/dispatcher.h>

#include "driver/report_result.h"
#include "driver/worker.h"

#define VIOLATIONS_PRINTED 10
#define RESULT_LIMIT 16
#define HANG_SECONDS 60

// More than any scenario explains: what grows beyond it grows without bounds.
#define PEAK_BYTES (UINT64_C(64) << 20)

// What the library may keep for good: buffers of its scan, grown once.
#define KEPT_BYTES (UINT64_C(64) << 10)

static const stress_options *options;
static stress_result results[RESULT_LIMIT];
static unsigned result_count;
static stress_result *current;
static double begun_at;
static kw_statistics at_begin;
static uint64_t seen_at_begin[KWI_SEEN_LIMIT];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of the violations
static bool has_live_line;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static kw_statistics figures(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics;
}

void stress_report_begin(const stress_options *run_options, const char *scenario)
{
    options = run_options;
    if (result_count == RESULT_LIMIT) {
        stress_give_up("too many scenarios for one report");
    }
    current = &results[result_count++];
    current->scenario = scenario;
    at_begin = figures();
    current->start_bytes = at_begin.memory_bytes;
    for (unsigned i = 0; i < KWI_SEEN_LIMIT; i++) {
        seen_at_begin[i] = kwi_seen_count((kwi_seen)i);
    }
    begun_at = now();
    (void)printf("%s: %u threads, %g s, seed %u\n", scenario, options->thread_count,
                 options->seconds, options->seed);
    (void)fflush(stdout);
}

// Violations -------------------------------------------------------------------------------------

static void clear_live_line(void)
{
    if (has_live_line) {
        (void)fputs("\r\033[K", stdout);
        (void)fflush(stdout);
        has_live_line = false;
    }
}

void stress_violation(const char *oracle, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)pthread_mutex_lock(&mutex);
    if (current->violations++ < VIOLATIONS_PRINTED) {
        clear_live_line();
        (void)fprintf(stderr, "violation (%s) after %.3f s: %s\n", oracle, now() - begun_at, text);
    }
    if (current->first_violation[0] == '\0') {
        (void)snprintf(current->first_violation, sizeof current->first_violation, "%s: %s", oracle,
                       text);
    }
    if (options->fault != KWI_FAULT_NONE) {
        (void)fprintf(stderr, "repeat: ");
        stress_options_print(options, current->scenario, stderr);
        _exit(1);
    }
    (void)pthread_mutex_unlock(&mutex);
    stress_stop();
}

unsigned stress_violation_count(void)
{
    (void)pthread_mutex_lock(&mutex);
    unsigned count = current->violations;
    (void)pthread_mutex_unlock(&mutex);
    return count;
}

void stress_give_up(const char *why)
{
    (void)fprintf(stderr, "keyway-stress: %s\n", why);
    if (options != NULL && current != NULL) {
        stress_options_print(options, current->scenario, stderr);
    }
    _exit(1);
}

// Memory -----------------------------------------------------------------------------------------

static void raise_peak(_Atomic uint64_t *peak, uint64_t value)
{
    uint64_t there = atomic_load_explicit(peak, memory_order_relaxed);
    while (there < value && !atomic_compare_exchange_weak_explicit(
                                peak, &there, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

uint64_t stress_sample(void)
{
    kw_statistics statistics = figures();
    raise_peak(&current->peak_bytes, statistics.memory_bytes);
    raise_peak(&current->peak_retired, statistics.retired_count);
    return statistics.retired_count;
}

void stress_forced_ends_add(uint64_t count)
{
    at_begin.forced_cleanups += count;
}

void stress_check_end(void)
{
    if (current->violations > 0) {
        return; // what was found before is the cause
    }
    kw_statistics end = figures();
    current->end_bytes = end.memory_bytes;
    if (end.retired_count != 0) {
        stress_violation("leak", "%llu tables stay retired", (unsigned long long)end.retired_count);
    }
    if (end.kernel_count != at_begin.kernel_count) {
        stress_violation("leak", "%llu kernels live at the end, %llu at the start",
                         (unsigned long long)end.kernel_count,
                         (unsigned long long)at_begin.kernel_count);
    }
    if (end.memory_bytes > at_begin.memory_bytes + KEPT_BYTES) {
        stress_violation("leak", "%llu bytes at the end, %llu at the start",
                         (unsigned long long)end.memory_bytes,
                         (unsigned long long)at_begin.memory_bytes);
    }
    if (end.forced_cleanups != at_begin.forced_cleanups) {
        stress_violation("leak", "%llu threads ended inside a call",
                         (unsigned long long)(end.forced_cleanups - at_begin.forced_cleanups));
    }
}

// The run ----------------------------------------------------------------------------------------

static uint64_t call_total(void)
{
    return stress_count_total(STRESS_CALL) + stress_count_total(STRESS_BOXED_CALL);
}

static void print_live_line(double elapsed)
{
    uint64_t calls = call_total();
    uint64_t commits = stress_count_total(STRESS_COMMIT);
    (void)printf("\r%s  %5.1f s  %llu calls  %llu commits  %.0f KiB  %llu tables retired\033[K",
                 current->scenario, elapsed, (unsigned long long)calls, (unsigned long long)commits,
                 (double)atomic_load(&current->peak_bytes) / 1024.0,
                 (unsigned long long)stress_sample());
    (void)fflush(stdout);
    has_live_line = true;
}

static void check_memory(void)
{
    kw_statistics now_there = figures();
    if (now_there.memory_bytes > current->start_bytes + PEAK_BYTES) {
        stress_violation("memory", "%llu bytes are in use",
                         (unsigned long long)now_there.memory_bytes);
    }
}

// A run in which nothing is called or committed for a long time hangs.
static void check_progress(double elapsed)
{
    static uint64_t seen;
    static double seen_at;
    uint64_t total =
        call_total() + stress_count_total(STRESS_COMMIT) + stress_count_total(STRESS_ENDED);
    if (total != seen || elapsed < seen_at) {
        seen = total;
        seen_at = elapsed;
    } else if (elapsed - seen_at > HANG_SECONDS) {
        stress_violation("hang", "nothing happened for %d s", HANG_SECONDS);
        stress_give_up("the scenario hangs");
    }
}

void stress_watch(void (*each_ms)(void))
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool is_terminal = isatty(STDOUT_FILENO) == 1;
    double printed_at = 0;
    double elapsed = 0;
    while (elapsed < options->seconds && stress_goes_on()) {
        (void)nanosleep(&pause, NULL);
        each_ms();
        if (elapsed - printed_at > 0.2) {
            printed_at = elapsed;
            (void)stress_sample();
            check_memory();
            check_progress(elapsed);
            if (is_terminal) {
                print_live_line(elapsed);
            }
        }
        elapsed = now() - begun_at;
    }
    clear_live_line();
}

// The end ----------------------------------------------------------------------------------------

static void print_line(const stress_result *result)
{
    (void)printf("%s: %s after %.1f s, %llu calls, %llu commits\n", result->scenario,
                 result->violations == 0 ? "nothing found" : "FAILED", result->seconds,
                 (unsigned long long)call_total(),
                 (unsigned long long)result->counts[STRESS_COMMIT]);
    if (result->violations > 0) {
        (void)printf("first violation: %s\nrepeat: ", result->first_violation);
        stress_options_print(options, result->scenario, stdout);
    }
    (void)fflush(stdout);
}

bool stress_report_end(void)
{
    current->seconds = now() - begun_at;
    for (unsigned i = 0; i < STRESS_COUNT_LIMIT; i++) {
        current->counts[i] = stress_count_total((stress_count)i);
    }
    for (unsigned i = 0; i < KWI_SEEN_LIMIT; i++) {
        current->seen[i] = kwi_seen_count((kwi_seen)i) - seen_at_begin[i];
    }
    print_line(current);
    return current->violations == 0;
}

void stress_report_total(const stress_options *run_options)
{
    static stress_result sum;
    sum = (stress_result){.scenario = run_options->scenario};
    for (unsigned i = 0; i < result_count; i++) {
        stress_result_add(&sum, &results[i]);
    }
    stress_result_print(&sum);
    (void)printf("%u violations in %.1f s\nrepeat: ", sum.violations, sum.seconds);
    stress_options_print(run_options, run_options->scenario, stdout);
}

bool stress_report_json(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    (void)fprintf(file, "{\"threads\": %u, \"seed\": %u, \"scenarios\": [\n",
                  options != NULL ? options->thread_count : 0, options != NULL ? options->seed : 0);
    for (unsigned i = 0; i < result_count; i++) {
        (void)fprintf(file, "%s", i == 0 ? "" : ",\n");
        stress_result_write(&results[i], file);
    }
    (void)fprintf(file, "\n]}\n");
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written;
}
