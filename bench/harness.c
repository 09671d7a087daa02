// The harness itself: options, warm-up, rounds, quartiles.
//
// Layer:   bench
// Threads: one; an idle second one, so that the C library does not leave lock prefixes out.
// SPDX-License-Identifier: MIT

#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness_part.h"

// Samples of one variant: nanoseconds for one, and the ratio to its floor in the same round.
typedef struct samples {
    double ns[BENCH_ROUNDS_MAX];
    double ratio[BENCH_ROUNDS_MAX];
} samples;

static volatile uint64_t sink;

void bench_keep(uint64_t result)
{
    sink = sink + result;
}

double bench_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void bench_pin(unsigned index)
{
    static cpu_set_t allowed;
    static bool is_known;
    if (!is_known) { // first called by the main thread, before any other is bound
        is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    }
    unsigned count = is_known ? (unsigned)CPU_COUNT(&allowed) : 0;
    if (count == 0) {
        return;
    }
    index %= count;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && index-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

unsigned bench_find(const bench_question *question, const char *name)
{
    unsigned i = 0;
    while (i < question->count && strcmp(question->variants[i].name, name) != 0) {
        i++;
    }
    return i;
}

unsigned bench_floor_of(const bench_question *question, unsigned index)
{
    const char *name = question->variants[index].ratio_to;
    return name != NULL ? bench_find(question, name) : 0;
}

// Options -----------------------------------------------------------------------------------------

static bool read_number(const char *text, double limit, double *out_number)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(number > 0) || number > limit) {
        return false;
    }
    *out_number = number;
    return true;
}

static bool read_flag(bench_options *options, const char *name)
{
    if (strcmp(name, "--quick") == 0) {
        options->seconds = 1.5;
        options->rounds_min = 3;
        options->window_ns /= 4;
        return true;
    }
    bool *flag = strcmp(name, "--instructions") == 0 ? &options->counts
                 : strcmp(name, "--counted") == 0    ? &options->is_counted
                 : strcmp(name, "--serve") == 0      ? &options->serves
                                                     : NULL;
    if (flag != NULL) {
        *flag = true;
    }
    return flag != NULL;
}

static bool read_option(bench_options *options, const char *name, const char *value)
{
    double number = 0;
    if (strcmp(name, "--iterations") == 0 && read_number(value, 1e15, &number)) {
        options->iterations = (uint64_t)number;
        return true;
    }
    if (strcmp(name, "--rounds") == 0 && read_number(value, BENCH_ROUNDS_MAX, &number)) {
        options->rounds = (unsigned)number;
        return true;
    }
    if (strcmp(name, "--seconds") == 0 && read_number(value, 1e6, &options->seconds)) {
        return true;
    }
    const char **text = strcmp(name, "--json") == 0     ? &options->json
                        : strcmp(name, "--only") == 0   ? &options->only
                        : strcmp(name, "--budget") == 0 ? &options->budget
                                                        : NULL;
    if (text == NULL || *value == '\0') {
        return false;
    }
    *text = value;
    return true;
}

bool bench_options_read(bench_options *options, const bench_question *question, int argc,
                        char **argv)
{
    *options = (bench_options){.seconds = 20,
                               .rounds_min = 5,
                               .window_ns = question->has_threads ? 20000000 : 2000000,
                               .rounds = 201,
                               .iterations = 200000};
    for (int i = 1; i < argc; i++) {
        if (read_flag(options, argv[i])) {
            continue;
        }
        if (i + 1 == argc || !read_option(options, argv[i], argv[i + 1])) {
            (void)fprintf(stderr,
                          "%s: cannot take `%s`; options are --quick, --instructions, --json FILE, "
                          "--seconds N, --rounds N (up to %d), --only VARIANT, --iterations N, "
                          "--budget FILE\n",
                          argv[0], argv[i], BENCH_ROUNDS_MAX);
            return false;
        }
        i++;
    }
    return true;
}

// Measuring ---------------------------------------------------------------------------------------

uint64_t bench_calibrate(bench_function run, uint64_t window_ns)
{
    for (uint64_t iterations = 16;; iterations *= 2) {
        double begun = bench_now_ns();
        bench_keep(run(iterations));
        double took = bench_now_ns() - begun;
        if (took * 4 > (double)window_ns) {
            uint64_t fitting = (uint64_t)((double)iterations * (double)window_ns / took);
            return fitting > 0 ? fitting : 1;
        }
    }
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, unsigned count, double q)
{
    double place = q * (double)(count - 1);
    return sorted[(unsigned)(q < 0.5 ? place : place + 0.5)]; // of few rounds, quartiles apart
}

static double measure_one(const bench_variant *variant, uint64_t iterations, uint64_t window_ns)
{
    if (variant->run == NULL) {
        return variant->measure(variant->argument, window_ns);
    }
    double begun = bench_now_ns();
    bench_keep(variant->run(iterations));
    return (bench_now_ns() - begun) / (double)iterations;
}

// Runs each variant once, untimed, and learns how many iterations fill its window.
static void warm_up(const bench_question *question, const bench_options *options,
                    uint64_t *iterations, bench_result *results)
{
    for (unsigned i = 0; i < question->count; i++) {
        const bench_variant *variant = &question->variants[i];
        results[i].instructions = NAN;
        results[i].is_present =
            variant->run != NULL || !isnan(variant->measure(variant->argument, options->window_ns));
        if (variant->run != NULL) {
            iterations[i] = bench_calibrate(variant->run, options->window_ns);
        }
    }
}

static unsigned make_rounds(const bench_question *question, const bench_options *options,
                            const uint64_t *iterations, const bench_result *results, samples *all)
{
    double end = bench_now_ns() + options->seconds * 1e9;
    unsigned round = 0;
    while (round < options->rounds && (round < options->rounds_min || bench_now_ns() < end)) {
        for (unsigned i = 0; i < question->count; i++) {
            all[i].ns[round] =
                results[i].is_present
                    ? measure_one(&question->variants[i], iterations[i], options->window_ns)
                    : NAN;
        }
        for (unsigned i = 0; i < question->count; i++) {
            all[i].ratio[round] = all[i].ns[round] / all[bench_floor_of(question, i)].ns[round];
        }
        round++;
    }
    return round;
}

static unsigned measure(const bench_question *question, const bench_options *options,
                        bench_result *results)
{
    static samples all[BENCH_VARIANTS_MAX];
    static uint64_t iterations[BENCH_VARIANTS_MAX];
    warm_up(question, options, iterations, results);
    unsigned rounds = make_rounds(question, options, iterations, results, all);
    for (unsigned i = 0; i < question->count; i++) {
        qsort(all[i].ns, rounds, sizeof(double), compare);
        qsort(all[i].ratio, rounds, sizeof(double), compare);
        results[i].ns = quantile(all[i].ns, rounds, 0.5);
        results[i].lower_ns = quantile(all[i].ns, rounds, 0.25);
        results[i].upper_ns = quantile(all[i].ns, rounds, 0.75);
        results[i].ratio = quantile(all[i].ratio, rounds, 0.5);
    }
    return rounds;
}

// The program -------------------------------------------------------------------------------------

static void *be_idle(void *nothing)
{
    (void)pause();
    return nothing;
}

static int run_only(const bench_question *question, const bench_options *options)
{
    unsigned i = bench_find(question, options->only);
    if (i == question->count || question->variants[i].run == NULL) {
        (void)fprintf(stderr, "there is no variant `%s` that runs alone\n", options->only);
        return 2;
    }
    bench_keep(question->variants[i].run(options->iterations));
    return 0;
}

int bench_main(const bench_question *question, int argc, char **argv)
{
    static bench_result results[BENCH_VARIANTS_MAX];
    bench_options options;
    if (question->count > BENCH_VARIANTS_MAX ||
        !bench_options_read(&options, question, argc, argv)) {
        return 2;
    }
    if (!question->set_up()) {
        return 1;
    }
    if (options.budget != NULL) {
        return bench_compare_budget(question, options.budget);
    }
    if (options.only != NULL) {
        return run_only(question, &options);
    }
    if (options.is_counted) {
        return bench_be_counted(question);
    }
    pthread_t idle;
    if (pthread_create(&idle, NULL, be_idle, NULL) != 0) {
        (void)fprintf(stderr, "no second thread\n");
        return 1;
    }
    if (!question->has_threads) {
        bench_pin(0);
    }
    if (options.serves) {
        return bench_serve(question);
    }
    unsigned rounds = measure(question, &options, results);
    if (options.counts) {
        (void)bench_count(question, results);
    }
    bench_print(question, results, rounds);
    return options.json == NULL || bench_write_json(question, results, options.json) ? 0 : 1;
}
