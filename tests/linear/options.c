// Options of the program `linear`.
//
// Layer:   test
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "linear/options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/worker.h"

#define DEFAULT_SECONDS 10
#define DEFAULT_THREADS 4
#define DEFAULT_DELAY 64
#define DEFAULT_PAIRS 1000000 // some seconds, and hundreds of megabytes at the worst

static const char *const fault_names[] = {
#define FAULT_NAME(name, text) text,
    KWI_FAULT_LIST(FAULT_NAME)
#undef FAULT_NAME
};

const char *linear_fault_name(kwi_fault fault)
{
    return fault_names[fault];
}

static void print_help(void)
{
    (void)printf(
        "usage: linear [options]\n"
        "\n"
        "Records what several threads ask the library, and looks for an order in which one "
        "thread\nwould have got these answers.\n"
        "\n"
        "  --seconds N   how long (default: %d)\n"
        "  --threads N   threads, 1 to %d (default: %d)\n"
        "  --seed N      decides what threads do (default: 1)\n"
        "  --delay N     one schedule point in N waits (default: %d; 0: none)\n"
        "  --pairs N     the limit of one search (default: %d)\n"
        "  --fault NAME  switches a seeded fault on, which should then be found\n"
        "  --dump FILE   where a history that has no order is written\n"
        "  --check FILE  checks such a history instead\n"
        "\n"
        "Exit status: 0 all histories have an order, 1 one has none, 2 bad options, 3 not "
        "all are\ndecided.\n",
        DEFAULT_SECONDS, LINEAR_MOST_THREADS, DEFAULT_THREADS, DEFAULT_DELAY, DEFAULT_PAIRS);
}

static bool parse_number(const char *text, unsigned long least, unsigned long most,
                         unsigned long *out_number)
{
    char *end = NULL;
    *out_number = strtoul(text, &end, 10);
    bool is_good =
        *text >= '0' && *text <= '9' && *end == '\0' && *out_number >= least && *out_number <= most;
    if (!is_good) {
        (void)fprintf(stderr, "linear: %s: a number from %lu to %lu is wanted\n", text, least,
                      most);
    }
    return is_good;
}

static bool parse_seconds(const char *text, double *out_seconds)
{
    char *end = NULL;
    *out_seconds = strtod(text, &end);
    bool is_good = end != text && *end == '\0' && *out_seconds > 0 && *out_seconds < 1e6;
    if (!is_good) {
        (void)fprintf(stderr, "linear: %s: a positive number of seconds is wanted\n", text);
    }
    return is_good;
}

static bool parse_fault(const char *text, kwi_fault *out_fault)
{
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++) {
        if (strcmp(text, fault_names[i]) == 0) {
            *out_fault = (kwi_fault)i;
            return true;
        }
    }
    (void)fprintf(stderr, "linear: %s: there is no such fault\n", text);
    return false;
}

static bool parse_option(int letter, const char *text, linear_options *options)
{
    unsigned long number = 0;
    bool is_good = true;
    switch (letter) {
    case 's':
        return parse_seconds(text, &options->seconds);
    case 't':
        is_good = parse_number(text, 1, LINEAR_MOST_THREADS, &number);
        options->thread_count = (unsigned)number;
        return is_good;
    case 'r':
        is_good = parse_number(text, 0, UINT32_MAX, &number);
        options->seed = (uint32_t)number;
        return is_good;
    case 'd':
        is_good = parse_number(text, 0, UINT32_MAX, &number);
        options->delay_one_in = (uint32_t)number;
        return is_good;
    case 'p':
        is_good = parse_number(text, 1, UINT32_MAX, &number);
        options->pair_limit = number;
        return is_good;
    case 'f':
        return parse_fault(text, &options->fault);
    case 'u':
        options->dump = text;
        return true;
    case 'c':
        options->check = text;
        return true;
    default:
        return false;
    }
}

linear_parse_result linear_options_parse(int argc, char **argv, linear_options *out_options)
{
    static const struct option long_options[] = {
        {"seconds", required_argument, NULL, 's'}, {"threads", required_argument, NULL, 't'},
        {"seed", required_argument, NULL, 'r'},    {"delay", required_argument, NULL, 'd'},
        {"pairs", required_argument, NULL, 'p'},   {"fault", required_argument, NULL, 'f'},
        {"dump", required_argument, NULL, 'u'},    {"check", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    linear_options options = {.seconds = DEFAULT_SECONDS,
                              .thread_count = DEFAULT_THREADS,
                              .seed = 1,
                              .delay_one_in = DEFAULT_DELAY,
                              .pair_limit = DEFAULT_PAIRS};
    int letter;
    // The main thread parses before it starts others. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            return LINEAR_OPTIONS_DONE;
        }
        if (!parse_option(letter, optarg, &options)) {
            return LINEAR_OPTIONS_REFUSED;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "linear: %s: no such option; see --help\n", argv[optind]);
        return LINEAR_OPTIONS_REFUSED;
    }
    *out_options = options;
    return LINEAR_OPTIONS_READY;
}
