// Options of the stress driver.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "driver/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/scenario.h"

// Few enough that calls stay fast, enough that rare orders are met within seconds.
#define DEFAULT_DELAY_ONE_IN 256
#define DEFAULT_SECONDS 30
#define LEAST_THREADS 4
#define MOST_THREADS 64

static const char *const fault_names[] = {
#define FAULT_NAME(name, text) text,
    KWI_FAULT_LIST(FAULT_NAME)
#undef FAULT_NAME
};

const char *stress_fault_name(kwi_fault fault)
{
    return fault_names[fault];
}

static void print_help(void)
{
    (void)printf(
        "usage: keyway-stress [options]\n"
        "\n"
        "Tries to break Keyway: operators and kernels come and go while calls run, and "
        "each answer is\nchecked against what was legal while its call ran.\n"
        "\n"
        "  --scenario NAME  one of --list, or all (the default)\n"
        "  --threads N      threads that call, %d to %d (default: half of the processors, at "
        "least %d)\n"
        "  --seconds N      how long the scenarios run together (default: %d)\n"
        "  --seed N         repeats a run's choices (default: from the clock)\n"
        "  --delay N        one schedule point in N waits (default: %d; 0: none)\n"
        "  --json FILE      writes the result as JSON too\n"
        "  --fault NAME     switches a seeded fault on, which should then be caught\n"
        "  --faults         proves that each seeded fault is caught, within --seconds each; "
        "with\n"
        "                   --fault, that one only\n"
        "  --runs N         with --faults: so many seeds each, and the median of the times\n"
        "  --markdown       with --faults: the table as documents have it\n"
        "  --plugin FILE    your own plugin, under all of it: the scenario user\n"
        "  --op NAME        its operator; a whole declaration if the plugin does not define it\n"
        "  --keys SET       the keys to call it with (default: CPU)\n"
        "  --varies         it may answer differently each time\n"
        "  --list           lists scenarios and faults\n"
        "  --help           prints this\n"
        "\n"
        "Exit status: 0 nothing found, 1 a violation (with --faults: a fault that was not "
        "caught),\n2 bad options.\n",
        1, MOST_THREADS, LEAST_THREADS, DEFAULT_SECONDS, DEFAULT_DELAY_ONE_IN);
}

static void print_list(void)
{
    (void)printf("scenarios:\n");
    for (const stress_scenario *each = stress_scenarios; each->name != NULL; each++) {
        (void)printf("  %-8s %s\n", each->name, each->summary);
    }
    (void)printf("faults:\n");
    for (size_t i = 1; i < sizeof fault_names / sizeof *fault_names; i++) {
        (void)printf("  %s\n", fault_names[i]);
    }
}

static bool refuse(const char *option, const char *value, const char *wanted)
{
    (void)fprintf(stderr, "keyway-stress: %s%s %s: %s\n", *option != '\0' ? "--" : "", option,
                  value, wanted);
    return false;
}

static bool parse_number(const char *option, const char *text, unsigned long most,
                         unsigned long *out_number)
{
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number > most) {
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "a number up to %lu is wanted", most);
        return refuse(option, text, wanted);
    }
    *out_number = number;
    return true;
}

static bool parse_seconds(const char *text, double *out_seconds)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e7) {
        return refuse("seconds", text, "a positive number is wanted");
    }
    *out_seconds = seconds;
    return true;
}

static bool parse_scenario(const char *text, const char **out_scenario)
{
    if (strcmp(text, "all") != 0 && stress_scenario_find(text) == NULL) {
        return refuse("scenario", text, "there is no such scenario; --list lists them");
    }
    *out_scenario = text;
    return true;
}

static bool parse_fault(const char *text, kwi_fault *out_fault)
{
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++) {
        if (strcmp(text, fault_names[i]) == 0) {
            *out_fault = (kwi_fault)i;
            return true;
        }
    }
    return refuse("fault", text, "there is no such fault; --list lists them");
}

static bool parse_option(int letter, const char *text, stress_options *options)
{
    unsigned long number = 0;
    bool parsed = false;
    switch (letter) {
    case 's':
        return parse_scenario(text, &options->scenario);
    case 't':
        parsed = parse_number("threads", text, MOST_THREADS, &number);
        options->thread_count = (unsigned)number;
        return parsed && (number > 0 || refuse("threads", text, "at least one is needed"));
    case 'n':
        return parse_seconds(text, &options->seconds);
    case 'r':
        parsed = parse_number("seed", text, UINT32_MAX, &number);
        options->seed = (uint32_t)number;
        return parsed;
    case 'd':
        parsed = parse_number("delay", text, UINT32_MAX, &number);
        options->delay_one_in = (uint32_t)number;
        return parsed;
    case 'f':
        return parse_fault(text, &options->fault);
    case 'j':
        options->json = text;
        return true;
    case 'F':
        options->proves_faults = true;
        return true;
    case 'm':
        options->is_markdown = true;
        return true;
    case 'u':
        parsed = parse_number("runs", text, STRESS_RUN_LIMIT, &number);
        options->run_count = (unsigned)number;
        return parsed && (number > 0 || refuse("runs", text, "at least one is needed"));
    case 'p':
        options->plugin = text;
        return true;
    case 'o':
        options->op = text;
        return true;
    case 'k':
        options->keys = text;
        return true;
    case 'v':
        options->varies = true;
        return true;
    default:
        return false;
    }
}

static stress_options defaults(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    // Half of the processors read, and the writers have the others; never fewer than meet each
    // other, however few processors there are.
    long half = processors / 2;
    unsigned threads = half > LEAST_THREADS ? (unsigned)half : LEAST_THREADS;
    return (stress_options){
        .keys = "CPU",
        .seconds = DEFAULT_SECONDS,
        .thread_count = threads < MOST_THREADS ? threads : MOST_THREADS,
        .seed = (uint32_t)time(NULL),
        .delay_one_in = DEFAULT_DELAY_ONE_IN,
        .run_count = 1,
    };
}

stress_parse_result stress_options_parse(int argc, char **argv, stress_options *out_options)
{
    static const struct option long_options[] = {
        {"scenario", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'},
        {"seconds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 'r'},
        {"delay", required_argument, NULL, 'd'},
        {"fault", required_argument, NULL, 'f'},
        {"json", required_argument, NULL, 'j'},
        {"faults", no_argument, NULL, 'F'},
        {"markdown", no_argument, NULL, 'm'},
        {"runs", required_argument, NULL, 'u'},
        {"plugin", required_argument, NULL, 'p'},
        {"op", required_argument, NULL, 'o'},
        {"keys", required_argument, NULL, 'k'},
        {"varies", no_argument, NULL, 'v'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    stress_options options = defaults();
    int letter;
    // The main thread parses before it starts others. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (letter == 'h' || letter == 'l') {
            (letter == 'h' ? print_help : print_list)();
            return STRESS_OPTIONS_DONE;
        }
        if (!parse_option(letter, optarg, &options)) {
            (void)fprintf(stderr, "keyway-stress --help lists the options\n");
            return STRESS_OPTIONS_REFUSED;
        }
    }
    if (optind < argc) {
        (void)refuse("", argv[optind], "no option begins like this");
        return STRESS_OPTIONS_REFUSED;
    }
    if (options.scenario == NULL) {
        options.scenario = options.plugin != NULL ? "user" : "all";
    }
    *out_options = options;
    return STRESS_OPTIONS_PARSED;
}

void stress_options_print(const stress_options *options, const char *scenario, FILE *file)
{
    (void)fprintf(
        file, "keyway-stress --scenario %s --threads %u --seconds %g --seed %u --delay %u",
        scenario, options->thread_count, options->seconds, options->seed, options->delay_one_in);
    if (options->fault != KWI_FAULT_NONE) {
        (void)fprintf(file, " --fault %s", stress_fault_name(options->fault));
    }
    if (options->plugin != NULL) {
        (void)fprintf(file, " --plugin '%s' --keys '%s'%s", options->plugin, options->keys,
                      options->varies ? " --varies" : "");
    }
    if (options->plugin != NULL && options->op != NULL) {
        (void)fprintf(file, " --op '%s'", options->op);
    }
    (void)fputc('\n', file);
}
