// Pulse: a thread that sends figures to the event stream, and takes down plugins that have left.
//
// Layer:   example (uses server)
// Threads: its own
// SPDX-License-Identifier: MIT

#include "pulse.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <keyway/snapshot.h>

#include "clock.h"
#include "error.h"
#include "server.h"

static const uint64_t period_ns = UINT64_C(250000000);

struct serve_pulse {
    serve_server *server;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; // clock: monotonic
    bool is_stopping;       // guard: mutex
    serve_histogram reclaim_ns;

    // guard: thread
    serve_histogram_picture before; // of the predictions, a period ago
    uint64_t before_ns;
    uint64_t plugin_changes;
};

static void send_figures(serve_pulse *pulse)
{
    serve_server *server = pulse->server;
    serve_histogram_picture all;
    serve_histogram_read(&server->predict_ns, &all);
    serve_histogram_picture recent = all;
    serve_histogram_subtract(&recent, &pulse->before);
    const uint64_t now_ns = serve_now_ns();
    const double passed = (double)(now_ns - pulse->before_ns) / 1e9;
    pulse->before = all;
    pulse->before_ns = now_ns;
    serve_events_publish(
        server->events, "figures",
        json_pack("{s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "version", (json_int_t)kw_version(),
                  "requests_per_second", passed > 0 ? (double)recent.total / passed : 0.0, "p50_ms",
                  (double)serve_histogram_quantile(&recent, 0.5) / 1e6, "p99_ms",
                  (double)serve_histogram_quantile(&recent, 0.99) / 1e6, "answered",
                  (json_int_t)atomic_load(&server->answered_count), "failed",
                  (json_int_t)atomic_load(&server->failed_count), "waiting",
                  (json_int_t)serve_batcher_waiting(server->batcher), "canary_percent",
                  (json_int_t)atomic_load(&server->canary_percent)));
}

static void look_at_plugins(serve_pulse *pulse)
{
    serve_server *server = pulse->server;
    serve_plugins_reap(&server->plugins);
    const uint64_t changes = serve_plugins_change_count(&server->plugins);
    if (changes == pulse->plugin_changes) {
        return;
    }
    json_t *described = serve_plugins_describe(&server->plugins);
    if (described != NULL) { // else it is told when there is memory again
        pulse->plugin_changes = changes;
        serve_events_publish(server->events, "plugins", described);
    }
}

static void reclaim(serve_pulse *pulse)
{
    const uint64_t started_ns = serve_now_ns();
    if (kw_reclaim() == KW_OK) {
        serve_histogram_record(&pulse->reclaim_ns, serve_now_ns() - started_ns);
    }
}

// Waits until a moment; false: the pulse ends.
static bool wait_until(serve_pulse *pulse, uint64_t moment_ns)
{
    const struct timespec moment = serve_timespec(moment_ns);
    (void)pthread_mutex_lock(&pulse->mutex);
    while (!pulse->is_stopping && serve_now_ns() < moment_ns) {
        (void)pthread_cond_timedwait(&pulse->changed, &pulse->mutex, &moment);
    }
    const bool goes_on = !pulse->is_stopping;
    (void)pthread_mutex_unlock(&pulse->mutex);
    return goes_on;
}

static void *beat(void *argument)
{
    serve_pulse *pulse = argument;
    pulse->before_ns = serve_now_ns();
    // From the end of a turn on: one that took long is not followed by several at once.
    for (unsigned turn = 0; wait_until(pulse, serve_now_ns() + period_ns); turn++) {
        send_figures(pulse);
        look_at_plugins(pulse);
        if (turn % 2 == 0) {
            reclaim(pulse);
        }
    }
    return NULL;
}

kw_status serve_pulse_create(serve_server *server, serve_pulse **out_pulse, kw_error *err)
{
    serve_pulse *pulse = calloc(1, sizeof *pulse);
    if (pulse == NULL) {
        return serve_error_set(err, KW_NO_MEMORY, "no memory for the pulse");
    }
    serve_monotonic_init(&pulse->mutex, &pulse->changed);
    pulse->server = server;
    if (pthread_create(&pulse->thread, NULL, beat, pulse) != 0) {
        (void)pthread_cond_destroy(&pulse->changed);
        (void)pthread_mutex_destroy(&pulse->mutex);
        free(pulse);
        return serve_error_set(err, KW_NO_MEMORY, "the pulse's thread could not be started");
    }
    *out_pulse = pulse;
    return KW_OK;
}

void serve_pulse_destroy(serve_pulse *pulse)
{
    if (pulse == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&pulse->mutex);
    pulse->is_stopping = true;
    (void)pthread_cond_signal(&pulse->changed);
    (void)pthread_mutex_unlock(&pulse->mutex);
    (void)pthread_join(pulse->thread, NULL);
    (void)pthread_cond_destroy(&pulse->changed);
    (void)pthread_mutex_destroy(&pulse->mutex);
    free(pulse);
}

serve_histogram *serve_pulse_reclaim_ns(serve_pulse *pulse)
{
    return &pulse->reclaim_ns;
}
