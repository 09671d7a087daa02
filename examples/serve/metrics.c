// GET /metrics: figures of server, dispatcher, tensors and plugins in Prometheus' text format.
//
// Layer:   example (uses server)
// Threads: any; figures are read while others count
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "routes.h"
#include "server.h"

static void head(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "gauge", help);
    (void)fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", help);
    (void)fprintf(out, "%s %" PRIu64 "\n", name, value);
}

// How a histogram is shown: a bucket for each power of two in a range, values divided by a unit.
typedef struct scale {
    unsigned first;
    unsigned last;
    double unit;
} scale;

static const scale time_scale = {.first = 10, .last = 34, .unit = 1e9}; // a microsecond to 17 s
static const scale image_scale = {.first = 1, .last = 7, .unit = 1};

// One series; `label` is empty, or like `operator="nn::relu"`.
static void series(FILE *out, const char *name, const char *label, serve_histogram *histogram,
                   const scale *shown)
{
    serve_histogram_picture picture;
    serve_histogram_read(histogram, &picture);
    const char *comma = label[0] != '\0' ? "," : "";
    uint64_t count = 0;
    unsigned bucket = 0;
    for (unsigned power = shown->first; power <= shown->last; power++) {
        const uint64_t bound = (UINT64_C(1) << power) - 1; // the last value below the power
        while (bucket < SERVE_HISTOGRAM_BUCKETS && serve_histogram_bound(bucket) <= bound) {
            count += picture.counts[bucket++];
        }
        (void)fprintf(out, "%s_bucket{%s%sle=\"%.9g\"} %" PRIu64 "\n", name, label, comma,
                      (double)bound / shown->unit, count);
    }
    (void)fprintf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, label, comma,
                  picture.total);
    const char *open = label[0] != '\0' ? "{" : "";
    const char *close = label[0] != '\0' ? "}" : "";
    (void)fprintf(out, "%s_sum%s%s%s %.9g\n", name, open, label, close,
                  (double)picture.sum / shown->unit);
    (void)fprintf(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, picture.total);
}

static void seconds(FILE *out, const char *name, const char *label, serve_histogram *histogram)
{
    series(out, name, label, histogram, &time_scale);
}

static void write_routes(FILE *out, const char *port, serve_http *http)
{
    static const char *const classes[] = {"broken off", "1xx", "2xx", "3xx", "4xx", "5xx"};
    const serve_route *routes = serve_http_routes(http);
    serve_http_figures *figures = serve_http_figures_of(http);
    for (size_t i = 0; i <= SERVE_HTTP_ROUTES_MAX; i++) {
        const bool is_none = i == SERVE_HTTP_ROUTES_MAX;
        for (size_t code = 0; code < 6; code++) {
            const uint64_t count =
                atomic_load_explicit(&figures->codes[i][code], memory_order_relaxed);
            if (count > 0) {
                (void)fprintf(out,
                              "serve_requests_total{port=\"%s\",method=\"%s\",route=\"%s\","
                              "code=\"%s\"} %" PRIu64 "\n",
                              port, is_none ? "" : routes[i].method, is_none ? "" : routes[i].path,
                              classes[code], count);
            }
        }
    }
}

static void write_server(FILE *out, serve_server *server)
{
    serve_batcher_figures *batches = serve_batcher_figures_of(server->batcher);
    head(out, "serve_requests_total", "counter", "Requests by route and class of status.");
    write_routes(out, "public", server->public_http);
    write_routes(out, "admin", server->admin_http);
    head(out, "serve_predict_seconds", "histogram", "A prediction, from header to answer.");
    seconds(out, "serve_predict_seconds", "", &server->predict_ns);
    head(out, "serve_wait_seconds", "histogram", "From a request's queueing to its batch.");
    seconds(out, "serve_wait_seconds", "", &batches->wait_ns);
    head(out, "serve_batch_images", "histogram", "Images in a batch.");
    series(out, "serve_batch_images", "", &batches->batch_sizes, &image_scale);
    gauge(out, "serve_waiting_requests", "Requests that wait for a batch.",
          serve_batcher_waiting(server->batcher));
    gauge(out, "serve_event_listeners", "Open event streams.",
          serve_events_client_count(server->events));
    gauge(out, "serve_canary_percent", "Share of requests that the canary serves.",
          atomic_load(&server->canary_percent));
}

// `{operator="nn::relu",key="CPU"}` without the braces. The names are identifiers, so that nothing
// in them needs an escape.
typedef char operator_label[KW_OPERATOR_NAME_BYTES + 96];

static void set_label(serve_server *server, size_t op, size_t slot, operator_label out_label)
{
    (void)snprintf(out_label, sizeof(operator_label), "operator=\"%s\",key=\"%s\"",
                   kw_operator_name(server->network.ops[op]),
                   kw_key_name(kw_key_of_slot((int)slot)));
}

static uint64_t call_count(serve_server *server, size_t op, size_t slot)
{
    return atomic_load_explicit(&server->watch.calls[op][slot], memory_order_relaxed);
}

// Only keys that have served have series: a handful, of the hundred and more that there are.
static void write_operators(FILE *out, serve_server *server)
{
    operator_label label;
    head(out, "keyway_operator_calls_total", "counter", "Calls by operator and key that served.");
    for (size_t i = 0; i < (size_t)SERVE_OP_COUNT * KW_SLOT_COUNT; i++) {
        const uint64_t count = call_count(server, i / KW_SLOT_COUNT, i % KW_SLOT_COUNT);
        if (count > 0) {
            set_label(server, i / KW_SLOT_COUNT, i % KW_SLOT_COUNT, label);
            (void)fprintf(out, "keyway_operator_calls_total{%s} %" PRIu64 "\n", label, count);
        }
    }
    head(out, "keyway_operator_failures_total", "counter", "Calls that failed, by operator.");
    for (size_t op = 0; op < SERVE_OP_COUNT; op++) {
        (void)fprintf(
            out, "keyway_operator_failures_total{operator=\"%s\"} %" PRIu64 "\n",
            kw_operator_name(server->network.ops[op]),
            (uint64_t)atomic_load_explicit(&server->watch.failures[op], memory_order_relaxed));
    }
    head(out, "keyway_operator_seconds", "histogram", "A call, by operator and key that served.");
    for (size_t i = 0; i < (size_t)SERVE_OP_COUNT * KW_SLOT_COUNT; i++) {
        if (call_count(server, i / KW_SLOT_COUNT, i % KW_SLOT_COUNT) > 0) {
            set_label(server, i / KW_SLOT_COUNT, i % KW_SLOT_COUNT, label);
            seconds(out, "keyway_operator_seconds", label,
                    &server->watch.call_ns[i / KW_SLOT_COUNT][i % KW_SLOT_COUNT]);
        }
    }
}

static void write_dispatcher(FILE *out, serve_server *server)
{
    kw_statistics now = {.struct_size = sizeof now};
    kw_statistics_get(&now);
    counter(out, "keyway_commits_total", "Commits of the process: the newest version.",
            now.version);
    gauge(out, "keyway_memory_bytes", "Allocated by the library.", now.memory_bytes);
    gauge(out, "keyway_operators", "Visible operators.", now.operator_count);
    gauge(out, "keyway_kernels", "Kernels registered or still reachable.", now.kernel_count);
    gauge(out, "keyway_retired_tables", "Replaced tables that are not freed.", now.retired_count);
    gauge(out, "keyway_retired_bytes", "Their memory.", now.retired_bytes);
    gauge(out, "keyway_deferred_tables", "Replaced tables that no grace period was waited for.",
          now.deferred_count);
    gauge(out, "keyway_snapshots", "Threads under a snapshot.", now.snapshot_count);
    gauge(out, "keyway_held_versions", "Versions that snapshots hold.", now.held_version_count);
    gauge(out, "keyway_held_tables", "Replaced tables kept for them.", now.held_table_count);
    gauge(out, "keyway_held_bytes", "Their memory.", now.held_table_bytes);
    head(out, "keyway_oldest_snapshot_seconds", "gauge", "Age of the oldest snapshot.");
    (void)fprintf(out, "keyway_oldest_snapshot_seconds %.9g\n",
                  (double)now.oldest_snapshot_ns / 1e9);
    gauge(out, "keyway_oldest_version", "The oldest version in use.", now.oldest_version);
    gauge(out, "keyway_leases", "Objects and listeners that hold a library.", now.lease_count);
    gauge(out, "keyway_thread_blocks", "Blocks of threads.", now.thread_blocks);
    counter(out, "keyway_forced_cleanups_total", "Threads that ended inside a call.",
            now.forced_cleanups);
    counter(out, "keyway_backlog_waits_total", "Commits that waited for memory to be reclaimed.",
            now.backlog_waits);
    head(out, "keyway_reclaim_seconds", "histogram",
         "A reclaiming pass with its grace period, made twice a second.");
    seconds(out, "keyway_reclaim_seconds", "", serve_pulse_reclaim_ns(server->pulse));
}

static void write_tensors(FILE *out)
{
    kw_tensor_statistics now = {.struct_size = sizeof now};
    kw_tensor_statistics_get(&now);
    gauge(out, "keyway_tensors", "Tensors alive.", now.tensor_count);
    gauge(out, "keyway_storages", "Storages alive.", now.storage_count);
    gauge(out, "keyway_storage_bytes", "Their memory.", now.storage_bytes);
}

// Versions in memory by state.
typedef struct states {
    uint64_t counts[KW_PLUGIN_RETAINED + 1];
} states;

static void count_state(const kw_plugin_info *info, void *context)
{
    states *counted = context;
    if (info->state <= KW_PLUGIN_RETAINED) {
        counted->counts[info->state]++;
    }
}

static void write_plugins(FILE *out)
{
    states counted = {.counts = {0}};
    kw_plugin_statistics now = {.struct_size = sizeof now};
    kw_error err = KW_ERROR_INIT;
    kw_plugin_statistics_get(&now);
    (void)!kw_plugin_list(count_state, &counted, &err);
    head(out, "keyway_plugins", "gauge", "Versions of plugins in memory, by state.");
    for (uint32_t state = KW_PLUGIN_LOADING; state <= KW_PLUGIN_RETAINED; state++) {
        if (state != KW_PLUGIN_UNMAPPED) {
            (void)fprintf(out, "keyway_plugins{state=\"%s\"} %" PRIu64 "\n",
                          kw_plugin_state_name(state), counted.counts[state]);
        }
    }
    counter(out, "keyway_plugins_loaded_total", "Versions that have served.", now.loaded_count);
    counter(out, "keyway_plugins_unmapped_total", "Versions that are gone.", now.unmapped_count);
}

// The second number of the file: pages in memory.
static void write_process(FILE *out)
{
    char text[128] = "";
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL) {
        return;
    }
    const char *second = fgets(text, sizeof text, statm) != NULL ? strchr(text, ' ') : NULL;
    if (second != NULL) {
        gauge(out, "process_resident_memory_bytes", "Resident memory.",
              strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE));
    }
    (void)fclose(statm);
}

enum MHD_Result serve_metrics_route(serve_exchange *exchange)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        return serve_http_send(exchange, serve_answer_error(503, "memory is out"));
    }
    write_server(out, exchange->server);
    write_operators(out, exchange->server);
    write_dispatcher(out, exchange->server);
    write_tensors(out);
    write_plugins(out);
    write_process(out);
    const bool has_failed = ferror(out) != 0; // a write for which there was no memory
    const bool is_whole = fclose(out) == 0 && !has_failed;
    const enum MHD_Result result =
        is_whole ? serve_http_send_text(exchange, "text/plain; version=0.0.4; charset=utf-8", text,
                                        bytes, false)
                 : serve_http_send(exchange, serve_answer_error(503, "memory is out"));
    free(text);
    return result;
}
