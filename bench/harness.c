// Harness: several variants of one question, timed in interleaved rounds in one process.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include "harness.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VARIANTS_MAX 32

// Samples of each variant: nanoseconds an iteration, and ratio to the floor of the same round.
typedef struct samples {
    double ns[BENCH_ROUNDS_MAX];
    double ratio[BENCH_ROUNDS_MAX];
} samples;

static volatile uint64_t sink; // keeps results from being optimised away

static bool read_number(const char *text, uint64_t limit, uint64_t *out_number)
{
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0' || number == 0 || number > limit) {
        return false;
    }
    *out_number = number;
    return true;
}

static bool read_option(bench_options *options, const char *name, const char *value)
{
    uint64_t number = 0;
    if (strcmp(name, "--iterations") == 0 && read_number(value, UINT64_MAX / 2, &number)) {
        options->iterations = number;
        return true;
    }
    if (strcmp(name, "--rounds") == 0 && read_number(value, BENCH_ROUNDS_MAX, &number)) {
        options->rounds = (unsigned)number;
        return true;
    }
    if (strcmp(name, "--json") == 0) {
        options->json = value;
        return true;
    }
    if (strcmp(name, "--only") == 0) {
        options->only = value;
        return true;
    }
    return false;
}

bool bench_options_read(bench_options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!read_option(options, argv[i], value)) {
            fprintf(stderr,
                    "%s: cannot take `%s %s`; options are --iterations N, --rounds N (up to %d), "
                    "--json FILE, --only VARIANT\n",
                    argv[0], argv[i], value, BENCH_ROUNDS_MAX);
            return false;
        }
    }
    return true;
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, unsigned count, double q)
{
    return sorted[(unsigned)(q * (double)(count - 1) + 0.5)];
}

static void pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    int cpu = sched_getcpu();
    if (cpu >= 0) {
        CPU_SET((size_t)cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one); // where it is not allowed, it is not pinned
    }
}

static void measure(const bench_variant *variants, unsigned count, unsigned floor,
                    const bench_options *options, samples *all)
{
    for (unsigned i = 0; i < count; i++) {
        sink += variants[i].run(options->iterations); // warm-up
    }
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned i = 0; i < count; i++) {
            double begun = now_ns();
            sink += variants[i].run(options->iterations);
            all[i].ns[round] = (now_ns() - begun) / (double)options->iterations;
        }
        for (unsigned i = 0; i < count; i++) {
            all[i].ratio[round] = all[i].ns[round] / all[floor].ns[round];
        }
    }
    for (unsigned i = 0; i < count; i++) {
        qsort(all[i].ns, options->rounds, sizeof(double), compare);
        qsort(all[i].ratio, options->rounds, sizeof(double), compare);
    }
}

static void print_table(const char *question, const bench_variant *variants, unsigned count,
                        unsigned floor, const bench_options *options, const samples *all)
{
    printf("%s: %u rounds of %llu, compiler %s\n", question, options->rounds,
           (unsigned long long)options->iterations, __VERSION__);
    printf("%-40s %8s %8s %8s %8s   ratio to %s\n", "ns an iteration", "least", "lower", "median",
           "upper", variants[floor].name);
    for (unsigned i = 0; i < count; i++) {
        unsigned rounds = options->rounds;
        printf("%-40s %8.2f %8.2f %8.2f %8.2f   %.2f\n", variants[i].name, all[i].ns[0],
               quantile(all[i].ns, rounds, 0.25), quantile(all[i].ns, rounds, 0.5),
               quantile(all[i].ns, rounds, 0.75), quantile(all[i].ratio, rounds, 0.5));
    }
}

static bool write_json(const char *question, const bench_variant *variants, unsigned count,
                       const bench_options *options, const samples *all)
{
    FILE *file = fopen(options->json, "w");
    if (file == NULL) {
        fprintf(stderr, "cannot write %s\n", options->json);
        return false;
    }
    fprintf(file, "{\"question\":\"%s\",\"compiler\":\"%s\",\"rounds\":%u,\"variants\":[", question,
            __VERSION__, options->rounds);
    for (unsigned i = 0; i < count; i++) {
        fprintf(file, "%s{\"name\":\"%s\",\"least_ns\":%.3f,\"median_ns\":%.3f,\"ratio\":%.3f}",
                i > 0 ? "," : "", variants[i].name, all[i].ns[0],
                quantile(all[i].ns, options->rounds, 0.5),
                quantile(all[i].ratio, options->rounds, 0.5));
    }
    fprintf(file, "]}\n");
    return fclose(file) == 0;
}

static int run_only(const bench_variant *variants, unsigned count, const bench_options *options)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(variants[i].name, options->only) == 0) {
            sink += variants[i].run(options->iterations);
            return 0;
        }
    }
    fprintf(stderr, "there is no variant `%s`\n", options->only);
    return 2;
}

int bench_run(const char *question, const bench_variant *variants, unsigned count, unsigned floor,
              const bench_options *options)
{
    static samples all[VARIANTS_MAX];
    if (options->only != NULL) {
        return run_only(variants, count, options);
    }
    pin();
    measure(variants, count, floor, options, all);
    print_table(question, variants, count, floor, options, all);
    if (options->json != NULL && !write_json(question, variants, count, options, all)) {
        return 1;
    }
    return 0;
}
