// Report as JSON: what a run has found out, for programs.
//
// Layer:   example (uses run; needs jansson)
// Threads: one
// SPDX-License-Identifier: MIT

#include <jansson.h>
#include <unistd.h>

#include "report.h"

static json_t *whole(uint64_t number)
{
    return json_integer((json_int_t)number);
}

static json_t *phase_of(const selftest_figures *figures)
{
    const double seconds = (double)figures->ns / 1e9;
    const fashion_histogram *latency = &figures->latency_ns;
    return json_pack("{s:f, s:o, s:f, s:f, s:f, s:f}", "seconds", seconds, "requests",
                     whole(figures->answered), "requests_per_second",
                     seconds > 0 ? (double)figures->answered / seconds : 0.0, "p50_ms",
                     (double)fashion_histogram_quantile(latency, 0.5) / 1e6, "p99_ms",
                     (double)fashion_histogram_quantile(latency, 0.99) / 1e6, "p999_ms",
                     (double)fashion_histogram_quantile(latency, 0.999) / 1e6);
}

static json_t *int8_of(const selftest_totals *totals)
{
    return json_pack("{s:o, s:o, s:f, s:f, s:f, s:f}", "answers", whole(totals->int8), "agree",
                     whole(totals->int8_agree), "agreement", selftest_int8_agreement(totals),
                     "least_agreement", SELFTEST_INT8_AGREEMENT, "largest_distance",
                     (double)totals->int8_distance, "allowed_distance",
                     (double)SELFTEST_INT8_DISTANCE);
}

static json_t *swaps_of(const selftest_result *result)
{
    const selftest_swaps_totals *swaps = &result->swaps;
    json_t *json = json_object();
    json_t *loadings = json_object();
    for (unsigned i = 0; i < SELFTEST_SWAP_COUNT; i++) {
        (void)json_object_set_new(json, selftest_swap_name((selftest_swap)i),
                                  whole(swaps->counts[i]));
    }
    for (size_t i = 0; i < result->plugin_count; i++) {
        (void)json_object_set_new(loadings, result->plugins[i].text, whole(swaps->by_plugin[i]));
    }
    (void)json_object_set_new(json, "longest_ms", json_real((double)swaps->longest_ns / 1e6));
    (void)json_object_set_new(json, "loadings", loadings);
    return json;
}

static json_t *unloaded_of(const selftest_result *result)
{
    const selftest_plugins_seen *last = &result->last;
    json_t *reasons = json_array();
    for (size_t i = 0; i < last->reason_count; i++) {
        (void)json_array_append_new(
            reasons, json_pack("{s:s, s:s, s:o}", "plugin", last->reasons[i].name, "reason",
                               last->reasons[i].reason, "count", whole(last->reasons[i].count)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "unmapped_at_once",
                     whole(result->swaps.unmapped), "retained_at_once",
                     whole(result->swaps.retained), "drained_later", whole(result->swaps.draining),
                     "versions_loaded", whole(last->loaded), "versions_unmapped",
                     whole(last->unmapped), "versions_retained", whole(last->retained),
                     "versions_leaving", whole(last->leaving), "retained", reasons);
}

static json_t *trend_of(const selftest_trend *trend)
{
    return json_pack("{s:o, s:o, s:f, s:b, s:b}", "first", whole(trend->first), "last",
                     whole(trend->last), "per_second", trend->per_second, "judged",
                     (int)trend->is_judged, "flat", (int)trend->is_flat);
}

static json_t *memory_of(const selftest_memory *memory)
{
    json_t *rests = json_array();
    for (size_t i = 0; i < memory->count; i++) {
        const selftest_rest *rest = &memory->rests[i];
        (void)json_array_append_new(
            rests, json_pack("{s:f, s:o, s:o, s:o, s:o, s:o}", "seconds", rest->seconds,
                             "resident_bytes", whole(rest->resident_bytes), "live_bytes",
                             whole(rest->live_bytes), "tensors", whole(rest->tensors), "storages",
                             whole(rest->storages), "leases", whole(rest->leases)));
    }
    return json_pack("{s:o, s:o, s:b, s:o}", "resident_bytes", trend_of(&memory->resident),
                     "live_bytes", trend_of(&memory->live), "kept_objects",
                     (int)memory->has_kept_objects, "rests", rests);
}

static json_t *wrk_of(const selftest_wrk *wrk)
{
    if (!wrk->has_run) {
        return json_null();
    }
    return json_pack("{s:f, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f}", "seconds", wrk->seconds,
                     "right", whole(wrk->right), "wrong", whole(wrk->wrong), "refused",
                     whole(wrk->refused), "broken", whole(wrk->broken), "requests_per_second",
                     wrk->seconds > 0 ? (double)wrk->right / wrk->seconds : 0.0, "p50_ms",
                     wrk->p50_us / 1e3, "p99_ms", wrk->p99_us / 1e3, "p999_ms", wrk->p999_us / 1e3);
}

static json_t *findings_of(selftest_findings *findings)
{
    json_t *json = json_object();
    for (unsigned kind = 0; kind < SELFTEST_KIND_COUNT; kind++) {
        json_t *sentences = json_array();
        for (size_t i = 0; i < findings->sentence_counts[kind]; i++) {
            // A sentence may quote what is no UTF-8.
            json_t *text = json_string(findings->sentences[kind][i]);
            (void)json_array_append_new(sentences,
                                        text != NULL ? text : json_string("not readable"));
        }
        (void)json_object_set_new(
            json, selftest_kind_name((selftest_kind)kind),
            json_pack("{s:o, s:o}", "count",
                      whole(selftest_findings_count(findings, (selftest_kind)kind)), "sentences",
                      sentences));
    }
    return json;
}

static json_t *plugins_of(const selftest_result *result)
{
    json_t *names = json_array();
    for (size_t i = 0; i < result->plugin_count; i++) {
        (void)json_array_append_new(names, json_string(result->plugins[i].text));
    }
    return names;
}

static json_t *report_of(const selftest_options *options, selftest_result *result)
{
    const selftest_totals *totals = &result->totals;
    json_t *json = json_pack(
        "{s:b, s:f, s:o, s:o, s:o, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "passed",
        (int)(selftest_findings_total(&result->findings) == 0), "seconds", result->seconds, "seed",
        whole(options->seed), "plugins", plugins_of(result), "images", whole(result->image_count),
        "image_source", fashion_source_text(result->source), "reference_distance",
        (double)result->recorded_distance, "requests", whole(result->requests), "answered",
        whole(totals->answered), "wrong",
        whole(selftest_findings_count(&result->findings, SELFTEST_WRONG)), "failed",
        whole(selftest_findings_count(&result->findings, SELFTEST_FAILED)), "canary",
        whole(totals->canary), "canary_refused", whole(totals->canary_refused),
        "largest_float_distance", (double)totals->float_distance);
    (void)json_object_set_new(json, "int8", int8_of(totals));
    (void)json_object_set_new(json, "with_swaps", phase_of(&result->figures[SELFTEST_PHASE_SWAPS]));
    (void)json_object_set_new(json, "without_swaps",
                              phase_of(&result->figures[SELFTEST_PHASE_QUIET]));
    (void)json_object_set_new(json, "swaps", swaps_of(result));
    (void)json_object_set_new(json, "unloaded", unloaded_of(result));
    (void)json_object_set_new(json, "memory", memory_of(&result->memory));
    (void)json_object_set_new(json, "wrk", wrk_of(&result->wrk));
    (void)json_object_set_new(json, "findings", findings_of(&result->findings));
    return json;
}

bool selftest_report_json(const char *path, const selftest_options *options,
                          selftest_result *result)
{
    json_t *json = report_of(options, result);
    const bool is_written = json != NULL && json_dump_file(json, path, JSON_INDENT(2)) == 0;
    json_decref(json);
    return is_written;
}
