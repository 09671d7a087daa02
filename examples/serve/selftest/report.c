// Report: what a run has found out, for people.
//
// Layer:   example (uses run)
// Threads: one
// SPDX-License-Identifier: MIT

#include "report.h"

#include <inttypes.h>

static double milliseconds(const selftest_figures *figures, double q)
{
    return (double)fashion_histogram_quantile(&figures->latency_ns, q) / 1e6;
}

static double per_second(const selftest_figures *figures)
{
    return figures->ns > 0 ? (double)figures->answered * 1e9 / (double)figures->ns : 0;
}

static void print_phase(FILE *out, const char *name, const selftest_figures *figures)
{
    (void)fprintf(out, "  %-14s %8.1f s %9" PRIu64 " %9.0f %9.2f %9.2f %9.2f\n", name,
                  (double)figures->ns / 1e9, figures->answered, per_second(figures),
                  milliseconds(figures, 0.5), milliseconds(figures, 0.99),
                  milliseconds(figures, 0.999));
}

static void print_requests(FILE *out, selftest_result *result)
{
    const selftest_totals *totals = &result->totals;
    (void)fprintf(
        out, "requests: %" PRIu64 ", answered %" PRIu64 ", wrong %" PRIu64 ", failed %" PRIu64 "\n",
        result->requests, totals->answered,
        selftest_findings_count(&result->findings, SELFTEST_WRONG),
        selftest_findings_count(&result->findings, SELFTEST_FAILED));
    (void)fprintf(out,
                  "  by the canary %" PRIu64 "; asked for it while there was none, and refused "
                  "%" PRIu64 "\n",
                  totals->canary, totals->canary_refused);
    (void)fprintf(out, "  different images %" PRIu64 "; float logits off by %.2g at most\n",
                  totals->images, (double)totals->float_distance);
    if (totals->int8 > 0) {
        (void)fprintf(out,
                      "  by int8 %" PRIu64 ", class as the reference %.2f of 100 (at least %.0f), "
                      "logits off by %.2f at most (%.2f allowed)\n",
                      totals->int8, 100 * selftest_int8_agreement(totals),
                      100 * SELFTEST_INT8_AGREEMENT, (double)totals->int8_distance,
                      (double)SELFTEST_INT8_DISTANCE);
    } else {
        (void)fprintf(out, "  by int8 none\n");
    }
    (void)fprintf(out, "  what served was compared at %zu versions and backends\n", result->pairs);
    (void)fprintf(out, "  %-14s %10s %9s %9s %9s %9s %9s\n", "", "", "requests", "/s", "p50 ms",
                  "p99 ms", "p99.9 ms");
    print_phase(out, "with swaps", &result->figures[SELFTEST_PHASE_SWAPS]);
    print_phase(out, "without", &result->figures[SELFTEST_PHASE_QUIET]);
}

static void print_swaps(FILE *out, const selftest_result *result)
{
    const selftest_swaps_totals *swaps = &result->swaps;
    uint64_t total = 0;
    (void)fprintf(out, "swaps:");
    for (unsigned i = 0; i < SELFTEST_SWAP_COUNT; i++) {
        total += swaps->counts[i];
        (void)fprintf(out, " %s %" PRIu64 ",", selftest_swap_name((selftest_swap)i),
                      swaps->counts[i]);
    }
    (void)fprintf(out, " in all %" PRIu64 "; the longest took %.1f ms\n ", total,
                  (double)swaps->longest_ns / 1e6);
    for (size_t i = 0; i < result->plugin_count; i++) {
        (void)fprintf(out, " %s %" PRIu64, result->plugins[i].text, swaps->by_plugin[i]);
    }
    (void)fprintf(out,
                  " loadings\n  unloaded: %" PRIu64 " unmapped at once, %" PRIu64
                  " retained, %" PRIu64 " drained later\n",
                  swaps->unmapped, swaps->retained, swaps->draining);
    if (!result->has_last) {
        return;
    }
    (void)fprintf(out,
                  "  at the end: versions loaded %" PRIu64 ", unmapped %" PRIu64
                  ", retained %" PRIu64 ", leaving %" PRIu64 "\n",
                  result->last.loaded, result->last.unmapped, result->last.retained,
                  result->last.leaving);
    for (size_t i = 0; i < result->last.reason_count; i++) {
        (void)fprintf(out, "  retained: %s, %" PRIu64 " times: %s\n", result->last.reasons[i].name,
                      result->last.reasons[i].count, result->last.reasons[i].reason);
    }
}

static void print_trend(FILE *out, const char *name, const selftest_trend *trend)
{
    (void)fprintf(out, "  %-22s first %9.1f KiB, last %9.1f KiB, slope %+.2f KiB/s: %s\n", name,
                  (double)trend->first / 1024, (double)trend->last / 1024, trend->per_second / 1024,
                  !trend->is_judged ? "not judged"
                  : trend->is_flat  ? "flat"
                                    : "GROWS");
}

static void print_memory(FILE *out, const selftest_result *result)
{
    const selftest_memory *memory = &result->memory;
    (void)fprintf(out, "memory at %zu rests\n", memory->count);
    if (memory->count < 3) {
        return;
    }
    print_trend(out, "resident", &memory->resident);
    print_trend(out, "Keyway's live bytes", &memory->live);
    const selftest_rest *first = &memory->rests[0];
    const selftest_rest *last = &memory->rests[memory->count - 1];
    (void)fprintf(out,
                  "  tensors, storages, leases: at the start %" PRIu64 ", %" PRIu64 ", %" PRIu64
                  ", at the end %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n",
                  first->tensors, first->storages, first->leases, last->tensors, last->storages,
                  last->leases);
}

static void print_wrk(FILE *out, const selftest_options *options, const selftest_wrk *wrk)
{
    if (!wrk->has_run) {
        (void)fprintf(out, "wrk: %s\n",
                      !options->has_wrk         ? "left out"
                      : selftest_wrk_is_there() ? "did not come to its end"
                                                : "is not installed: left out");
        return;
    }
    (void)fprintf(out,
                  "wrk, with swaps: %.1f s, right %" PRIu64 ", wrong %" PRIu64 ", refused %" PRIu64
                  ", broken %" PRIu64 "\n"
                  "  %.0f requests/s, p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms\n",
                  wrk->seconds, wrk->right, wrk->wrong, wrk->refused, wrk->broken,
                  wrk->seconds > 0 ? (double)wrk->right / wrk->seconds : 0, wrk->p50_us / 1e3,
                  wrk->p99_us / 1e3, wrk->p999_us / 1e3);
}

static void print_findings(FILE *out, selftest_findings *findings)
{
    for (unsigned kind = 0; kind < SELFTEST_KIND_COUNT; kind++) {
        for (size_t i = 0; i < findings->sentence_counts[kind]; i++) {
            (void)fprintf(out, "FOUND, %s: %s\n", selftest_kind_name((selftest_kind)kind),
                          findings->sentences[kind][i]);
        }
        if (findings->counts[kind] > findings->sentence_counts[kind]) {
            (void)fprintf(out, "FOUND, %s: %" PRIu64 " in all\n",
                          selftest_kind_name((selftest_kind)kind), findings->counts[kind]);
        }
    }
}

void selftest_report_print(FILE *out, const selftest_options *options, selftest_result *result)
{
    (void)fprintf(out, "images: %zu of %s; reference in plain C, %.1f s, %.2g off the recorded\n",
                  result->image_count, fashion_source_text(result->source),
                  result->reference_seconds, (double)result->recorded_distance);
    (void)fprintf(out, "plugins:");
    for (size_t i = 0; i < result->plugin_count; i++) {
        (void)fprintf(out, " %s", result->plugins[i].text);
    }
    (void)fprintf(out, "%s\nseed: %" PRIu64 "; a change each %u ms; %u connections; %.1f s\n",
                  result->plugin_count == 0 ? " none" : "", options->seed, options->swap_ms,
                  options->connections, result->seconds);
    print_requests(out, result);
    print_swaps(out, result);
    print_memory(out, result);
    print_wrk(out, options, &result->wrk);
    (void)fprintf(out, "server: %s\n", result->end[0] != '\0' ? result->end : "said nothing");
    print_findings(out, &result->findings);
    (void)fprintf(out, "%s\n",
                  selftest_findings_total(&result->findings) == 0 ? "PASSED" : "FAILED");
}
