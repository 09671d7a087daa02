// keyway-explore: runs small cases through every order of their steps.
//
// Layer:   stress
// Threads: the main thread; each exploration is a process with threads of its own.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "explore/cases.h"
#include "explore/options.h"
#include "explore/process.h"
#include "explore/prove.h"
#include "explore/shrink.h"

static const char *bound_text(int bound, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, bound == EXPLORE_UNBOUNDED ? "none" : "%d", bound);
    return buffer;
}

static void print_finding(const explore_case *tested, const explore_options *options)
{
    const explore_report *report = explore_report_now;
    (void)printf("violation (%s) %s: %s\n%s", report->oracle, tested->name, report->text,
                 report->trace);
    (void)printf("repeat: keyway-explore --case %s", tested->name);
    if (options->fault != KWI_FAULT_NONE) {
        (void)printf(" --fault %s", explore_fault_name(options->fault));
    }
    (void)printf(" --schedule \"%s\"\n", report->schedule);
}

static void print_result(const explore_case *tested, int bound, double seconds,
                         const explore_options *options)
{
    const explore_report *report = explore_report_now;
    char text[16];
    const char *how = report->is_found      ? "found"
                      : report->was_stopped ? "stopped"
                      : report->was_cut     ? "bounded"
                                            : "complete";
    if (report->is_found) {
        print_finding(tested, options);
    }
    (void)printf("%s: %llu schedules, %llu states, bound %s (%s), %llu steps, %.2f s\n",
                 tested->name, (unsigned long long)report->schedules,
                 (unsigned long long)report->states, bound_text(bound, text, sizeof text), how,
                 (unsigned long long)report->steps, seconds);
}

static void print_json(FILE *file, const explore_case *tested, int bound, double seconds,
                       bool is_first)
{
    const explore_report *report = explore_report_now;
    (void)fprintf(
        file,
        "%s\n  {\"case\": \"%s\", \"schedules\": %llu, \"states\": %llu, \"steps\": %llu, "
        "\"bound\": %d, \"complete\": %s, \"stopped\": %s, \"seconds\": %.3f, "
        "\"violation\": \"%s\", \"schedule\": \"%s\"}",
        is_first ? "" : ",", tested->name, (unsigned long long)report->schedules,
        (unsigned long long)report->states, (unsigned long long)report->steps, bound,
        report->was_cut ? "false" : "true", report->was_stopped ? "true" : "false", seconds,
        report->oracle, report->schedule);
}

// One case: 0 clean, 1 found, 2 the system failed.
static int run_case(const explore_case *tested, const explore_options *options, FILE *json,
                    bool is_first)
{
    double begin = explore_process_seconds();
    int bound = options->bound == EXPLORE_DEFAULT_BOUND ? tested->bound : options->bound;
    if (!explore_search_case(tested, bound, options, &bound)) {
        (void)fprintf(stderr, "keyway-explore: no memory or process for the exploration\n");
        return 2;
    }
    double seconds = explore_process_seconds() - begin;
    print_result(tested, bound, seconds, options);
    if (json != NULL) {
        print_json(json, tested, bound, seconds, is_first);
    }
    return explore_report_now->is_found ? 1 : 0;
}

// Runs one schedule and prints its steps.
static int run_schedule(const explore_case *tested, const explore_options *options)
{
    if (!explore_process_run(tested, 0, options)) {
        return 2;
    }
    const explore_report *report = explore_report_now;
    if (report->is_refused) {
        (void)printf("%s", report->trace);
        (void)fprintf(stderr, "keyway-explore: --schedule %s: %s\n", options->schedule,
                      report->text);
        return 2;
    }
    if (report->is_found) {
        print_finding(tested, options);
        return 1;
    }
    (void)printf("%s%s: nothing found in this order\n", report->trace, tested->name);
    return 0;
}

static int run_wanted(const explore_options *options, FILE *json)
{
    int worst = 0;
    bool is_first = true;
    for (const explore_case *const *each = explore_cases; *each != NULL; each++) {
        if (strcmp(options->name, "all") == 0 || strcmp(options->name, (*each)->name) == 0) {
            int status = run_case(*each, options, json, is_first);
            is_first = false;
            worst = status > worst ? status : worst;
        }
    }
    return worst;
}

int main(int argc, char **argv)
{
    explore_options options;
    switch (explore_options_parse(argc, argv, &options)) {
    case EXPLORE_DONE:
        return 0;
    case EXPLORE_REFUSED:
        return 2;
    case EXPLORE_PARSED:
        break;
    }
    if (options.proves_faults) {
        return explore_prove(&options);
    }
    if (options.schedule != NULL) {
        return run_schedule(explore_case_find(options.name), &options);
    }
    FILE *json = options.json != NULL ? fopen(options.json, "w") : NULL;
    if (options.json != NULL && json == NULL) {
        (void)fprintf(stderr, "keyway-explore: %s cannot be written\n", options.json);
        return 2;
    }
    if (json != NULL) {
        (void)fputs("[", json);
    }
    int status = run_wanted(&options, json);
    if (json != NULL && (fputs("\n]\n", json) < 0 || fclose(json) != 0)) {
        (void)fprintf(stderr, "keyway-explore: %s cannot be written\n", options.json);
        return 2;
    }
    return status;
}
