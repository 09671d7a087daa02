// keyway-stress: tries to break the library for as long as one likes.
//
// Layer:   stress
// Threads: the main thread; scenarios start others.
// SPDX-License-Identifier: MIT

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/heap.h"
#include "driver/report.h"
#include "driver/scenario.h"
#include "driver/worker.h"
#include "faults/faults.h"
#include "scenarios/exit.h"

const stress_scenario stress_scenarios[] = {
    {"storm", "operators and kernels come and go while readers check every answer",
     stress_storm_run},
    {"parked", "calls and snapshots stay for long while a writer commits", stress_parked_run},
    {"torture", "readers measure how many generations old everything is that they run",
     stress_torture_run},
    {"churn", "threads come and go in every way while a writer commits", stress_churn_run},
    {"nested", "kernels call, register, drain and observe inside each other", stress_nested_run},
    {"signals", "handlers call and open snapshots in readers and writers", stress_signals_run},
    {"oom", "the allocator fails under everything that allocates", stress_oom_run},
    {"fork", "a thread forks at random moments while others call and commit", stress_fork_run},
    {"plugins", "shared objects are loaded, replaced and unmapped under calls", stress_plugins_run},
    {"exit", "processes end in every order while their threads call and commit", stress_exit_run},
    {"user", "your own plugin under all of that: --plugin FILE --op NAME --keys SET",
     stress_user_run},
    {NULL, NULL, NULL},
};

const stress_scenario *stress_scenario_find(const char *name)
{
    for (const stress_scenario *each = stress_scenarios; each->name != NULL; each++) {
        if (strcmp(each->name, name) == 0) {
            return each;
        }
    }
    return NULL;
}

#define GRACE_SECONDS 30

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPORTS_CRASHES 0 // the sanitizer does, and better
#else
#define REPORTS_CRASHES 1
#endif

static char repeat_line[512];

// What a fault breaks may crash; that is a finding too.
static void report_crash(int number)
{
    static const char text[] = "\nviolation (crash): the process crashes\nrepeat: ";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, repeat_line, strlen(repeat_line));
    _exit(1);
}

static void watch_for_crashes(const stress_options *options, const char *scenario)
{
    FILE *line = fmemopen(repeat_line, sizeof repeat_line, "w");
    if (line != NULL) {
        stress_options_print(options, scenario, line);
        (void)fclose(line);
    }
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const struct sigaction action = {.sa_handler = report_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; REPORTS_CRASHES && i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

static bool run_one(const stress_options *options, const stress_scenario *scenario)
{
    watch_for_crashes(options, scenario->name);
    if (options->fault != KWI_FAULT_NONE) {
        (void)alarm((unsigned)options->seconds + GRACE_SECONDS); // what is broken may hang
    }
    stress_report_begin(options, scenario->name);
    scenario->run(options);
    bool is_clean = stress_report_end();
    stress_workers_forget();
    return is_clean;
}

// The scenario "user" is about a plugin of the user's.
static bool can_run(const stress_options *options, const stress_scenario *scenario)
{
    return scenario->run != stress_user_run || options->plugin != NULL;
}

// All scenarios share the time.
static bool run_all(const stress_options *options)
{
    static stress_options share;
    share = *options;
    unsigned count = 0;
    for (const stress_scenario *each = stress_scenarios; each->name != NULL; each++) {
        count += can_run(options, each) ? 1 : 0;
    }
    share.seconds = options->seconds / count;
    bool is_clean = true;
    for (const stress_scenario *each = stress_scenarios; each->name != NULL && is_clean; each++) {
        is_clean = !can_run(options, each) || run_one(&share, each);
    }
    return is_clean;
}

static bool run_wanted(const stress_options *options)
{
    bool is_clean = strcmp(options->scenario, "all") == 0
                        ? run_all(options)
                        : run_one(options, stress_scenario_find(options->scenario));
    stress_report_total(options);
    return is_clean;
}

int main(int argc, char **argv)
{
    stress_options options;
    if (argc > 1 && strcmp(argv[1], STRESS_EXIT_OPTION) == 0) {
        return stress_exit_child(argc, argv);
    }
    switch (stress_options_parse(argc, argv, &options)) {
    case STRESS_OPTIONS_DONE:
        return 0;
    case STRESS_OPTIONS_REFUSED:
        return 2;
    case STRESS_OPTIONS_PARSED:
        break;
    }
    if (options.proves_faults) {
        return stress_faults_prove(&options) ? 0 : 1;
    }
    if (options.json != NULL && !stress_report_json(options.json)) { // not after a long run
        (void)fprintf(stderr, "keyway-stress: %s cannot be written\n", options.json);
        return 2;
    }
    stress_heap_install(); // before the library allocates
    bool is_user = options.plugin != NULL || strcmp(options.scenario, "user") == 0;
    if (is_user && !stress_user_prepare(&options)) {
        return 2;
    }
    bool is_clean = run_wanted(&options);
    if (options.json != NULL && !stress_report_json(options.json)) {
        (void)fprintf(stderr, "keyway-stress: %s cannot be written\n", options.json);
        return 2;
    }
    return is_clean ? 0 : 1;
}
