// Report: the figures of a run, for people and for programs.
//
// Layer:     example (uses run)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "report.h"

#include <inttypes.h>

void fashion_report_plan(FILE *file, const fashion_options *options, const fashion_dataset *dataset)
{
    (void)fprintf(file,
                  "Fashion-MNIST: %zu images from %s, %" PRIu64 " threads, up to %" PRIu64
                  " changes of kernels a second, seed %" PRIu64 "\n",
                  dataset->count, fashion_source_text(dataset->source), options->thread_count,
                  options->swaps_per_second, options->seed);
    if (dataset->source == FASHION_SOURCE_SAMPLE) {
        (void)fputs("For all 10,000 test images: apt-get install dataset-fashion-mnist\n", file);
    }
    if (options->image_count > 0) {
        (void)fprintf(file, "Classifies %" PRIu64 " of them and stops.\n\n", options->image_count);
    } else {
        (void)fprintf(file,
                      "Classifies them again and again for %" PRIu64
                      " seconds, then finishes the pass that is under way.\n\n",
                      options->seconds);
    }
}

static double microseconds(const fashion_histogram *histogram, double q)
{
    return (double)fashion_histogram_quantile(histogram, q) / 1000.0;
}

static void print_phase(FILE *file, const char *name, const fashion_histogram *latency,
                        double seconds)
{
    if (latency->total_count == 0) {
        return;
    }
    (void)fprintf(file, "  %-10s %8.0f us %8.0f us %10.0f\n", name, microseconds(latency, 0.5),
                  microseconds(latency, 0.99), (double)latency->total_count / seconds);
}

static void print_answers(FILE *file, const fashion_dataset *dataset, const fashion_result *result)
{
    const fashion_figures *figures = &result->figures;
    const double images = (double)figures->image_count;
    (void)fprintf(file, "images         %" PRIu64 " in %.1f s: %.0f images/s, %.2f passes\n",
                  figures->image_count, result->seconds, images / result->seconds,
                  images / (double)dataset->count);
    (void)fprintf(file, "accuracy       %.4f (%" PRIu64 " have the class of their label)\n",
                  images > 0 ? (double)figures->correct_count / images : 0.0,
                  figures->correct_count);
    (void)fprintf(file,
                  "wrong answers  %" PRIu64
                  " (another class than recorded, or a logit more than %g off)\n",
                  figures->wrong_count, (double)FASHION_TOLERANCE);
    (void)fprintf(file, "failed calls   %" PRIu64 "\n\n", figures->failed_count);
}

static void print_swaps(FILE *file, const fashion_result *result)
{
    const uint64_t *counts = result->swap_counts;
    (void)fprintf(file,
                  "commits        %" PRIu64 ", refused %" PRIu64 "\n"
                  "  single       %" PRIu64 " overrides, %" PRIu64 " uncovered, %" PRIu64
                  " removed and restored at once\n"
                  "  layers       %" PRIu64 " added, %" PRIu64 " removed; %" PRIu64
                  " calls traced, %" PRIu64 " seen by autograd\n"
                  "  libraries    %" PRIu64 " times closed and replaced at once\n",
                  result->commit_count, result->refused_count, counts[FASHION_SWAP_OVERRIDE],
                  counts[FASHION_SWAP_UNCOVER], counts[FASHION_SWAP_RESTORE],
                  counts[FASHION_SWAP_LAYER], counts[FASHION_SWAP_UNLAYER], result->traced_count,
                  result->autograd_count, counts[FASHION_SWAP_LIBRARY]);
}

static void print_plugins(FILE *file, const fashion_result *result)
{
    const fashion_plugins_result *plugins = &result->plugins;
    const uint64_t *counts = plugins->counts;
    (void)fprintf(file,
                  "commits        %" PRIu64 ", refused %" PRIu64 "\n"
                  "  plugins      %" PRIu64 " loaded, %" PRIu64 " replaced, %" PRIu64
                  " rolled back, %" PRIu64 " unloaded\n"
                  "  versions     %" PRIu64 " served, %" PRIu64 " unmapped, %" PRIu64
                  " retained%s%s\n",
                  result->commit_count, result->refused_count, counts[FASHION_PLUGIN_LOAD],
                  counts[FASHION_PLUGIN_REPLACE], counts[FASHION_PLUGIN_ROLL_BACK],
                  counts[FASHION_PLUGIN_UNLOAD], plugins->served_count, plugins->unmapped_count,
                  plugins->retained_count, plugins->why[0] != '\0' ? ": " : "", plugins->why);
    (void)fprintf(file,
                  "  Keyway's     %" PRIu64 " bytes and %" PRIu64
                  " kernels before the first, %" PRIu64 " and %" PRIu64 " after the last\n",
                  plugins->before.bytes, plugins->before.kernels, plugins->after.bytes,
                  plugins->after.kernels);
}

static void print_held(FILE *file, const fashion_result *result)
{
    (void)fprintf(file,
                  "still held     %" PRIu64 " replaced tables, %" PRIu64
                  " replaced kernels (%" PRIu64 " are registered)\n",
                  result->retired_count, result->held_count, result->registered_count);
    (void)fprintf(file,
                  "kernel data    %" PRIu64 " made, %" PRIu64 " destroyed, %" PRIu64
                  " of them under a running kernel\n\n",
                  result->ledger.created_count, result->ledger.destroyed_count,
                  result->ledger.early_count);
}

void fashion_report_print(FILE *file, const fashion_options *options,
                          const fashion_dataset *dataset, const fashion_result *result)
{
    print_answers(file, dataset, result);
    if (options->uses_plugins) {
        print_plugins(file, result);
    } else {
        print_swaps(file, result);
    }
    print_held(file, result);
    (void)fputs("latency             p50         p99   images/s\n", file);
    print_phase(file, "quiet", &result->latency[FASHION_PHASE_QUIET],
                result->phase_seconds[FASHION_PHASE_QUIET]);
    print_phase(file, "swapping", &result->latency[FASHION_PHASE_SWAPPING],
                result->phase_seconds[FASHION_PHASE_SWAPPING]);
    if (options->breaks_kernel || options->breaks_lifetime) {
        (void)fputs("\nThis was a self-check: it has to fail.\n", file);
    }
    if (result->first_problem.text[0] != '\0') {
        (void)fprintf(file, "\nfirst problem: %s\n", result->first_problem.text);
    }
}

// The latency with changes. A run without any, or one too short for a whole phase, has another.
static const fashion_histogram *json_latency(const fashion_result *result)
{
    static const fashion_phase order[] = {FASHION_PHASE_SWAPPING, FASHION_PHASE_QUIET};
    for (size_t i = 0; i < 2; i++) {
        if (result->latency[order[i]].total_count > 0) {
            return &result->latency[order[i]];
        }
    }
    return &result->latency[FASHION_PHASE_BETWEEN];
}

// The fields that only a run with plugins has.
static bool json_plugins(FILE *file, const fashion_plugins_result *plugins)
{
    const uint64_t *counts = plugins->counts;
    return fprintf(file,
                   ",\"loads\":%" PRIu64 ",\"replaces\":%" PRIu64 ",\"rollbacks\":%" PRIu64
                   ",\"unloads\":%" PRIu64 ",\"unmapped\":%" PRIu64 ",\"retained\":%" PRIu64
                   ",\"grown_bytes\":%" PRId64 ",\"grown_kernels\":%" PRId64,
                   counts[FASHION_PLUGIN_LOAD], counts[FASHION_PLUGIN_REPLACE],
                   counts[FASHION_PLUGIN_ROLL_BACK], counts[FASHION_PLUGIN_UNLOAD],
                   plugins->unmapped_count, plugins->retained_count,
                   (int64_t)(plugins->after.bytes - plugins->before.bytes),
                   (int64_t)(plugins->after.kernels - plugins->before.kernels)) > 0;
}

bool fashion_report_json(FILE *file, const fashion_options *options, const fashion_result *result)
{
    const fashion_histogram *latency = json_latency(result);
    const bool is_begun =
        fprintf(file,
                "{\"images\":%" PRIu64 ",\"correct\":%" PRIu64 ",\"wrong\":%" PRIu64
                ",\"failed\":%" PRIu64 ",\"commits\":%" PRIu64
                ",\"seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f",
                result->figures.image_count, result->figures.correct_count,
                result->figures.wrong_count, fashion_result_failed_count(result),
                result->commit_count, result->seconds, microseconds(latency, 0.5),
                microseconds(latency, 0.99)) > 0;
    return is_begun && (!options->uses_plugins || json_plugins(file, &result->plugins)) &&
           fputs("}\n", file) >= 0;
}
