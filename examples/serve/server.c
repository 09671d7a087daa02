// Server: how everything that one server has starts and ends.
//
// Layer:   example (uses all of the example)
// Threads: one starts and ends it
// SPDX-License-Identifier: MIT
//
// Note [The order of a stop]
//
// Ports stop listening and requests in flight are answered first; then nobody calls any more, and
// the workers end. Event streams end before the ports close, since libmicrohttpd cannot close a
// connection that sleeps. Plugins leave before the built-in library, and the dispatcher goes last.
// Each step may assume that those before it are over. A step that runs code of a plugin may last
// for ever; the deadline ends the process then, and frees nothing.

#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <keyway/inspect.h>

#include "builtin.h"
#include "clock.h"
#include "error.h"
#include "routes.h"

static const uint64_t ns_per_ms = UINT64_C(1000000);

// Tells of each kernel that a commit changes. In the thread that commits, so it only notes.
static void heard(const kw_event *event, void *context)
{
    serve_server *server = context;
    if (event->kind == KW_EVENT_KERNEL || event->kind == KW_EVENT_FALLBACK) {
        serve_origins_note(&server->origins, event->current_registration);
        serve_events_publish(
            server->events, "commit",
            json_pack("{s:I, s:o, s:o, s:o, s:o}", "version", (json_int_t)event->version,
                      "operator", event->op != NULL ? serve_json_text(event->op) : json_null(),
                      "key", serve_json_text(kw_key_name(event->key)), "previous",
                      event->previous != NULL ? serve_json_text(event->previous) : json_null(),
                      "current",
                      event->current != NULL ? serve_json_text(event->current) : json_null()));
    }
}

static kw_status load_files(serve_server *server, fashion_weights *out_weights, kw_error *err)
{
    char path[4096];
    fashion_error error;
    const char *folder = server->options.data_folder;
    (void)snprintf(path, sizeof path, "%s/weights.bin", folder);
    if (!fashion_dataset_load(server->options.package_folder, folder, &server->dataset, &error) ||
        !fashion_weights_load(path, out_weights, &error)) {
        return serve_error_set(err, KW_FILE_NOT_READABLE, "%s", error.text);
    }
    return KW_OK;
}

static kw_status start_listening(serve_server *server, kw_error *err)
{
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = heard, .context = server};
    return kw_dispatcher_listen(server->dispatcher, &listener, &server->listener, err);
}

// The dispatcher with its operators and the kernels that are always there.
static kw_status start_registry(serve_server *server, kw_error *err)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    kw_status status = kw_backend_rename(KW_BACKEND_PrivateUse2, "Canary", err);
    if (status == KW_OK) {
        status = kw_dispatcher_create(&options, &server->dispatcher, err);
    }
    if (status == KW_OK) {
        status = start_listening(server, err);
    }
    if (status == KW_OK) {
        status = serve_builtin_create(server->dispatcher, &server->builtin, err);
    }
    return status;
}

static kw_status start_calls(serve_server *server, kw_error *err)
{
    const serve_batcher_options options = {
        .worker_count = server->options.worker_count,
        .batch_max = server->options.batch_max,
        .wait_ns = (uint64_t)server->options.wait_us * UINT64_C(1000),
        .queue_max = server->options.queue_max,
    };
    fashion_weights weights;
    kw_status status = load_files(server, &weights, err);
    if (status != KW_OK) {
        return status;
    }
    status = serve_network_init(&server->network, server->dispatcher, &weights, err);
    fashion_weights_fini(&weights);
    if (status == KW_OK) {
        status = serve_watch_start(&server->watch, server->dispatcher, &server->network, err);
    }
    return status == KW_OK ? serve_batcher_create(&options, &server->network, &server->origins,
                                                  &server->batcher, err)
                           : status;
}

static kw_status load_plugins(serve_server *server, kw_error *err)
{
    for (size_t i = 0; i < server->options.load_count; i++) {
        const serve_answer answer = serve_plugins_change(&server->plugins, SERVE_CHANGE_LOAD,
                                                         server->options.loads[i], NULL, 0);
        if (answer.code != 200) {
            const char *why = json_string_value(json_object_get(answer.json, "error"));
            (void)serve_error_set(err, KW_PLUGIN_REFUSED, "%s",
                                  why != NULL ? why : "memory is out");
        }
        json_decref(answer.json);
        if (answer.code != 200) {
            return err->status;
        }
    }
    return KW_OK;
}

static kw_status start_ports(serve_server *server, kw_error *err)
{
    const serve_http_options admin = {.port = server->options.admin_port,
                                      .connection_max = 64,
                                      .routes = serve_admin_routes,
                                      .server = server};
    const serve_http_options open = {.port = server->options.port,
                                     .thread_count = server->options.http_threads,
                                     .connection_max = server->options.connection_max,
                                     .routes = serve_public_routes,
                                     .server = server};
    // A request of one port may ask for the other: none is read before both are there.
    kw_status status = serve_http_create(&admin, &server->admin_http, err);
    if (status == KW_OK) {
        status = serve_http_create(&open, &server->public_http, err);
    }
    if (status == KW_OK) {
        status = serve_http_start(server->public_http, err);
    }
    if (status == KW_OK) {
        serve_http_allow(server->admin_http, serve_http_port(server->public_http));
        status = serve_http_start(server->admin_http, err);
    }
    return status;
}

// A stop goes from step to step, unless the deadline holds it up to look.
static void begin_step(serve_server *server, const char *step)
{
    (void)pthread_mutex_lock(&server->step_mutex);
    server->step = step;
    (void)pthread_mutex_unlock(&server->step_mutex);
}

static void say_holder(const kw_holder *holder, void *context)
{
    (void)context;
    if (holder->kind == KW_HOLDER_CALL) {
        (void)fprintf(stderr, "serve: thread %u is in a call of %s\n", (unsigned)holder->thread_id,
                      holder->op);
    }
}

static void say_plugin(const kw_plugin_info *info, void *context)
{
    (void)context;
    (void)fprintf(stderr, "serve: plugin %s %s is %s%s%s\n", info->name, info->version,
                  kw_plugin_state_name(info->state), info->held_by[0] != '\0' ? ": " : "",
                  info->held_by);
}

// In the deadline's thread. The mutex is never given back: nothing is taken down any more.
static void say_what_lasts(void *context)
{
    serve_server *server = context;
    kw_error err = KW_ERROR_INIT;
    (void)pthread_mutex_lock(&server->step_mutex);
    (void)fprintf(stderr, "serve: the stop does not end: %s\n", server->step);
    if (server->builtin != NULL) { // every operator is its, so each call that lasts holds it
        (void)!kw_library_holders(server->builtin, say_holder, NULL);
    }
    (void)!kw_plugin_list(say_plugin, NULL, &err);
}

kw_status serve_server_start(serve_server *server, const serve_options *options, kw_error *err)
{
    server->options = *options;
    serve_origins_init(&server->origins);
    serve_plugins_init(&server->plugins, &server->network, &server->origins,
                       options->plugin_folder);
    server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&server->step_mutex, NULL);
    server->deadline = serve_deadline_create(say_what_lasts, server);
    server->events = serve_events_create();
    kw_status status = KW_OK;
    if (server->stop_fd < 0 || server->events == NULL || server->deadline == NULL) {
        status = serve_error_set(err, KW_NO_MEMORY, "no memory for the server");
    }
    if (status == KW_OK) {
        status = start_registry(server, err);
    }
    if (status == KW_OK) {
        server->plugins.dispatcher = server->dispatcher;
        status = start_calls(server, err);
    }
    if (status == KW_OK) {
        status = load_plugins(server, err);
    }
    if (status == KW_OK) {
        status = serve_pulse_create(server, &server->pulse, err);
    }
    if (status == KW_OK) {
        status = start_ports(server, err);
    }
    if (status != KW_OK) {
        kw_error ignored = KW_ERROR_INIT; // `err` has what matters
        (void)serve_server_stop(server, &ignored);
    }
    return status;
}

// Waits until every request that came in is answered, or the time is up.
static bool wait_for_answers(serve_server *server, uint64_t until_ns)
{
    while (serve_http_in_flight(server->public_http) + serve_http_in_flight(server->admin_http) >
           0) {
        if (serve_now_ns() > until_ns) {
            return false;
        }
        (void)usleep(1000);
    }
    return true;
}

static void stop_ports(serve_server *server, uint64_t until_ns)
{
    begin_step(server, "requests that came in are not answered");
    serve_http_quiesce(server->public_http);
    serve_http_quiesce(server->admin_http);
    serve_plugins_close(&server->plugins);
    (void)wait_for_answers(server, until_ns);
    begin_step(server, "a worker does not come back from the network");
    // Workers answer what waits still, so that no connection sleeps when the ports close.
    serve_batcher_end(server->batcher);
    if (server->events != NULL) {
        serve_events_end(server->events);
    }
    begin_step(server, "a request of the administration does not end");
    serve_http_stop(server->public_http);
    serve_http_stop(server->admin_http);
}

static kw_status stop_builtin(serve_server *server, kw_error *err)
{
    begin_step(server, "the built-in kernels do not leave");
    (void)pthread_mutex_lock(&server->step_mutex);
    kw_library *builtin = server->builtin;
    server->builtin = NULL;
    (void)pthread_mutex_unlock(&server->step_mutex);
    return serve_builtin_destroy(builtin, err);
}

// snippet: stop
static kw_status stop_registry(serve_server *server, uint64_t timeout_ns, kw_error *err)
{
    begin_step(server, "a plugin does not leave");
    kw_status status = serve_plugins_fini(&server->plugins, timeout_ns, err);
    // Nobody listens any more; what holds a plugin may commit still.
    if (server->listener != 0) {
        (void)!kw_dispatcher_unlisten(server->dispatcher, server->listener);
    }
    begin_step(server, "a call does not end");
    if (status == KW_OK) {
        status = serve_watch_stop(&server->watch, err);
    }
    serve_network_fini(&server->network);
    if (status == KW_OK) {
        status = stop_builtin(server, err);
    }
    if (status == KW_OK && server->dispatcher != NULL) {
        status = kw_dispatcher_destroy(server->dispatcher, err);
    }
    return status;
}
// end of snippet

static void free_all(serve_server *server)
{
    serve_batcher_destroy(server->batcher);
    serve_http_destroy(server->public_http);
    serve_http_destroy(server->admin_http);
    serve_events_destroy(server->events);
    fashion_dataset_fini(&server->dataset);
    serve_origins_fini(&server->origins);
    (void)pthread_mutex_destroy(&server->step_mutex);
    if (server->stop_fd >= 0) {
        (void)close(server->stop_fd);
    }
}

kw_status serve_server_stop(serve_server *server, kw_error *err)
{
    const uint64_t timeout_ns = (uint64_t)server->options.stop_ms * ns_per_ms;
    serve_deadline_arm(server->deadline, 2 * timeout_ns + 1000 * ns_per_ms);
    stop_ports(server, serve_now_ns() + timeout_ns);
    begin_step(server, "a plugin's stop does not return");
    serve_pulse_destroy(server->pulse);
    const kw_status status = stop_registry(server, timeout_ns, err);
    serve_deadline_destroy(server->deadline);
    if (status == KW_OK) { // else something may reach it still
        free_all(server);
    }
    return status;
}

void serve_server_want_stop(const serve_server *server)
{
    const uint64_t one = 1;
    // It can only fail if many stops are wanted already.
    (void)!write(server->stop_fd, &one, sizeof one);
}
