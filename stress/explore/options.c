// Options of keyway-explore.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "explore/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/cases.h"
#include "explore/search.h"

#define MOST_BOUND 100

static const char *const fault_names[] = {
#define FAULT_NAME(name, text) text,
    KWI_FAULT_LIST(FAULT_NAME)
#undef FAULT_NAME
};

const char *explore_fault_name(kwi_fault fault)
{
    return fault_names[fault];
}

kwi_fault explore_fault_count(void)
{
    return (kwi_fault)(sizeof fault_names / sizeof *fault_names);
}

static void print_help(void)
{
    (void)printf(
        "usage: keyway-explore [options]\n"
        "\n"
        "Runs small cases of concurrent use through every order of their steps, one thread at a\n"
        "time, on the library's own code.\n"
        "\n"
        "  --case NAME      one of --list, or all (the default)\n"
        "  --bound N        at most N preemptions in an execution, or `none`: every order\n"
        "                   (default: what the case says)\n"
        "  --fault NAME     switches a seeded fault on, which should then be found\n"
        "  --faults         explores with each fault, or that of --fault, until a case finds it\n"
        "  --schedule LIST  runs one order of one case and prints its steps: a3,b12,a1 lets the\n"
        "                   first thread make three steps, the second twelve, and so on; h is a\n"
        "                   signal handler. Behind the list, whoever runs goes on\n"
        "  --unpruned       searches on from states that were reached before, which must lead to "
        "no\n"
        "                   other ones\n"
        "  --seconds N      stops a case after so long (default: no limit)\n"
        "  --json FILE      writes the results as JSON too\n"
        "  --list           lists cases and faults\n"
        "  --help           prints this\n"
        "\n"
        "Exit status: 0 nothing found, 1 a violation (with --faults: a fault that was not found),\n"
        "2 bad options.\n");
}

static void print_list(void)
{
    (void)printf("cases:\n");
    for (const explore_case *const *each = explore_cases; *each != NULL; each++) {
        (void)printf("  %-12s %s\n", (*each)->name, (*each)->summary);
    }
    (void)printf("faults:\n");
    for (size_t i = 1; i < sizeof fault_names / sizeof *fault_names; i++) {
        (void)printf("  %s\n", fault_names[i]);
    }
}

static bool refuse(const char *option, const char *value, const char *wanted)
{
    (void)fprintf(stderr, "keyway-explore: %s%s %s: %s\n", *option != '\0' ? "--" : "", option,
                  value, wanted);
    return false;
}

static bool parse_case(const char *text, explore_options *options)
{
    if (strcmp(text, "all") != 0 && explore_case_find(text) == NULL) {
        return refuse("case", text, "there is no such case; --list lists them");
    }
    options->name = text;
    return true;
}

static bool parse_bound(const char *text, explore_options *options)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (strcmp(text, "none") == 0) {
        options->bound = EXPLORE_UNBOUNDED;
        return true;
    }
    if (*text < '0' || *text > '9' || *end != '\0' || number > MOST_BOUND) {
        return refuse("bound", text, "a number up to 100 is wanted, or none");
    }
    options->bound = (int)number;
    return true;
}

static bool parse_fault(const char *text, explore_options *options)
{
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++) {
        if (strcmp(text, fault_names[i]) == 0) {
            options->fault = (kwi_fault)i;
            return true;
        }
    }
    return refuse("fault", text, "there is no such fault; --list lists them");
}

static bool parse_seconds(const char *text, explore_options *options)
{
    char *end = NULL;
    options->seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(options->seconds > 0) || options->seconds > 1e7) {
        return refuse("seconds", text, "a positive number is wanted");
    }
    return true;
}

static bool parse_schedule(const char *text, explore_options *options)
{
    options->schedule = text;
    return explore_search_repeat(text) ||
           refuse("schedule", text, "letters with numbers are wanted, such as a3,b12,a1");
}

static bool parse_option(int letter, const char *text, explore_options *options)
{
    switch (letter) {
    case 'c':
        return parse_case(text, options);
    case 'b':
        return parse_bound(text, options);
    case 'f':
        return parse_fault(text, options);
    case 's':
        return parse_schedule(text, options);
    case 'n':
        return parse_seconds(text, options);
    case 'F':
        options->proves_faults = true;
        return true;
    case 'u':
        options->goes_over = true;
        return true;
    case 'j':
        options->json = text;
        return true;
    default:
        return false;
    }
}

static bool check_together(const explore_options *options)
{
    return options->schedule == NULL || strcmp(options->name, "all") != 0 ||
           refuse("schedule", options->schedule, "it is of one case; name that with --case");
}

explore_parsed explore_options_parse(int argc, char **argv, explore_options *out_options)
{
    static const struct option long_options[] = {
        {"case", required_argument, NULL, 'c'},
        {"bound", required_argument, NULL, 'b'},
        {"fault", required_argument, NULL, 'f'},
        {"schedule", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 'n'},
        {"json", required_argument, NULL, 'j'},
        {"faults", no_argument, NULL, 'F'},
        {"unpruned", no_argument, NULL, 'u'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    explore_options options = {.name = "all", .bound = EXPLORE_DEFAULT_BOUND};
    int letter;
    // The main thread parses before it starts others. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (letter == 'h' || letter == 'l') {
            (letter == 'h' ? print_help : print_list)();
            return EXPLORE_DONE;
        }
        if (!parse_option(letter, optarg, &options)) {
            (void)fprintf(stderr, "keyway-explore --help lists the options\n");
            return EXPLORE_REFUSED;
        }
    }
    if (optind < argc) {
        (void)refuse("", argv[optind], "no option begins like this");
        return EXPLORE_REFUSED;
    }
    if (!check_together(&options)) {
        return EXPLORE_REFUSED;
    }
    *out_options = options;
    return EXPLORE_PARSED;
}
