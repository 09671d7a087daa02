// The self-test: runs the server with a client that checks every answer while plugins are swapped.
//
// Layer:   example (uses run, report)
// Threads: one; those that a run makes have ended when it returns
// SPDX-License-Identifier: MIT

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "report.h"
#include "run.h"

static int run(const selftest_options *options)
{
    selftest_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        (void)fputs("serve: memory is out\n", stderr);
        return 1;
    }
    (void)printf("self-test: %u s, seed %llu\n", options->seconds,
                 (unsigned long long)options->seed);
    (void)fflush(stdout);
    selftest_run(options, result);
    selftest_report_print(stdout, options, result);
    bool is_good = selftest_findings_total(&result->findings) == 0;
    if (options->json_path != NULL && !selftest_report_json(options->json_path, options, result)) {
        (void)fprintf(stderr, "serve: %s cannot be written\n", options->json_path);
        is_good = false;
    }
    free(result);
    return is_good ? 0 : 1;
}

static void interrupt(int number)
{
    (void)number;
    selftest_run_interrupt();
}

int main(int count, char **words)
{
    selftest_options options;
    // What follows an interruption is in order: the server ends, and files go.
    const struct sigaction action = {.sa_handler = interrupt};
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    switch (selftest_options_read(count, words, &options)) {
    case SELFTEST_OPTIONS_RUN:
        return run(&options);
    case SELFTEST_OPTIONS_HELP:
        return 0;
    case SELFTEST_OPTIONS_BAD:
    default:
        return 2;
    }
}
