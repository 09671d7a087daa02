// linear: records histories of the library on several threads, and looks for an order that explains
// them.
//
// Layer:   test
// Threads: the main thread; worker.h has the others.
// SPDX-License-Identifier: MIT

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linear/rounds.h"

#define HANG_SECONDS 120 // beyond the time of a run

// A signal handler may use no more than write().
static void say(const char *text)
{
    ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
    (void)ignored;
}

static void end_at_signal(int number)
{
    say(number == SIGALRM   ? "violation (hang): an operation does not end\n"
        : number == SIGABRT ? "violation (assertion): see above\n"
                            : "violation (crash): memory was used that is gone\n");
    _exit(1);
}

// Where a sanitizer reports crashes, its report says more.
static void catch_signals(const linear_options *options)
{
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    (void)signal(SIGSEGV, end_at_signal);
    (void)signal(SIGBUS, end_at_signal);
    (void)signal(SIGABRT, end_at_signal);
#endif
    (void)signal(SIGALRM, end_at_signal);
    (void)alarm((unsigned)options->seconds + HANG_SECONDS);
}

// Before the run too: a crash says no more.
static void print_run(const linear_options *options)
{
    (void)printf("linear --seconds %g --threads %u --seed %u --delay %u", options->seconds,
                 options->thread_count, options->seed, options->delay_one_in);
    if (options->fault != KWI_FAULT_NONE) {
        (void)printf(" --fault %s", linear_fault_name(options->fault));
    }
    (void)printf("\n");
}

static void print_totals(const linear_totals *totals)
{
    (void)printf("histories %llu, operations %llu (%llu changed something), answers under "
                 "snapshots %llu\n",
                 (unsigned long long)totals->windows, (unsigned long long)totals->operations,
                 (unsigned long long)totals->changes, (unsigned long long)totals->answers);
    (void)printf("overlapping pairs %llu, of which one changed something %llu\n",
                 (unsigned long long)totals->overlaps, (unsigned long long)totals->conflicts);
    (void)printf("states searched %llu, operations tried %llu, most states after a history %u\n",
                 (unsigned long long)totals->effort.pairs,
                 (unsigned long long)totals->effort.applied, totals->effort.widest);
    (void)printf("not decided %llu\n", (unsigned long long)totals->undecided);
}

static int run(const linear_options *options)
{
    linear_totals totals;
    print_run(options);
    bool holds = linear_rounds_run(options, &totals);
    print_totals(&totals);
    (void)printf("repeat: ");
    print_run(options);
    if (!holds) {
        return 1;
    }
    return totals.undecided > 0 ? 3 : 0;
}

static int check(const linear_options *options)
{
    linear_verdict verdict = linear_rounds_check(options);
    if (verdict == LINEAR_YES) {
        (void)printf("the history has an order\n");
    } else if (verdict == LINEAR_NOT_DECIDED) {
        (void)printf("not decided\n");
    }
    return verdict == LINEAR_YES ? 0 : (verdict == LINEAR_NO ? 1 : 3);
}

int main(int argc, char **argv)
{
    linear_options options;
    switch (linear_options_parse(argc, argv, &options)) {
    case LINEAR_OPTIONS_READY:
        break;
    case LINEAR_OPTIONS_DONE:
        return 0;
    case LINEAR_OPTIONS_REFUSED:
        return 2;
    }
    catch_signals(&options);
    if (options.check != NULL) {
        return check(&options);
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0); // a crash loses nothing
    kwi_yield_set(options.delay_one_in);
    kwi_fault_set(options.fault);
    return run(&options);
}
