// Processes: one exploration of one case, in a process of its own.
//
// Layer:   stress
// Threads: the main thread of each process.
// SPDX-License-Identifier: MIT

#include "explore/process.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore/memory.h"
#include "explore/scene.h"
#include "explore/search.h"

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// What a fault breaks may crash; that is a finding too, with the steps that led there.
static void report_crash(int number)
{
    explore_fail("crash", "signal %d: %s", number, number == SIGABRT ? "aborted" : "crashed");
}

static void watch_for_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const struct sigaction action = {.sa_handler = report_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

// One thread runs at a time, and a baton is handed over faster where the next one runs already.
static void stay_on_one_processor(void)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    int processor = sched_getcpu();
    if (processor >= 0) {
        CPU_SET((unsigned)processor, &here);
        (void)sched_setaffinity(0, sizeof here, &here);
    }
}

static _Noreturn void explore(const explore_case *tested, int bound, const explore_options *options)
{
    explore_report *report = explore_report_now;
    double end = options->seconds > 0 ? now() + options->seconds : 0;
    stay_on_one_processor();
    watch_for_crashes();
    explore_memory_install();
    scene_warm_up();
    kwi_fault_set(options->fault);
    explore_search_begin(bound, options->goes_over);
    if (options->schedule != NULL) {
        (void)explore_search_repeat(options->schedule);
    }
    explore_engine_start(tested);
    bool goes_on = true;
    while (goes_on) {
        explore_search_execution();
        explore_engine_run();
        goes_on = explore_search_next();
        report->was_stopped = goes_on && end > 0 && now() >= end;
        goes_on = goes_on && !report->was_stopped;
    }
    if (options->schedule != NULL) {
        explore_trace_write();
    }
    report->is_over = true;
    _exit(0);
}

double explore_process_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool make_report(void)
{
    if (explore_report_now == NULL) {
        void *memory = mmap(NULL, sizeof *explore_report_now, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        explore_report_now = memory != MAP_FAILED ? memory : NULL;
    }
    return explore_report_now != NULL;
}

bool explore_process_run(const explore_case *tested, int bound, const explore_options *options)
{
    if (!make_report()) {
        return false;
    }
    explore_report *report = explore_report_now;
    memset(report, 0, sizeof *report);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        explore(tested, bound, options);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return false;
    }
    if (!report->is_over && !report->is_found) {
        report->is_found = true;
        (void)snprintf(report->oracle, sizeof report->oracle, "crash");
        (void)snprintf(report->text, sizeof report->text, "the process ended with status %#x",
                       (unsigned)status);
    }
    return true;
}
