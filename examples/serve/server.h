// Server: everything that one server has, and how it starts and ends.
//
// Layer:   example (uses all of the example)
// Threads: started and ended by one thread; in between any uses it
// SPDX-License-Identifier: MIT

#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <fashion/dataset.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "batcher.h"
#include "deadline.h"
#include "events.h"
#include "http.h"
#include "network.h"
#include "options.h"
#include "origin.h"
#include "plugins.h"
#include "pulse.h"
#include "watch.h"

typedef struct serve_server {
    serve_options options;
    fashion_dataset dataset; // what GET /v1/images shows
    kw_dispatcher *dispatcher;
    kw_library *builtin; // guard: step_mutex to set it, once the server runs
    serve_network network;
    serve_origins origins;
    serve_watch watch;
    serve_plugins plugins;
    serve_batcher *batcher;
    serve_events *events;
    serve_pulse *pulse;
    uint64_t listener;
    serve_http *public_http;
    serve_http *admin_http;
    atomic_uint canary_percent;
    atomic_uint canary_turn; // spreads the percentage over requests
    pthread_mutex_t step_mutex;
    const char *step;                    // guard: step_mutex. What a stop is doing; NULL: no stop
    serve_deadline *deadline;            // of a stop
    int stop_fd;                         // an eventfd: readable when a stop is wanted
    serve_histogram predict_ns;          // from the first byte of a request to its end
    atomic_uint_fast64_t answered_count; // predictions with status 200
    atomic_uint_fast64_t failed_count;   // predictions with another one
} serve_server;

/// Starts everything: after it, both ports answer. `server` is all zeros and stays where it is.
///
/// On failure what was started has ended.
kw_status serve_server_start(serve_server *server, const serve_options *options, kw_error *err);

/// Ends it: listeners close, requests in flight are answered, plugins leave, memory is given back.
///
/// If plugins or the library do not leave within the option's time, `err` says what holds them, and
/// memory that they may use is left alone. If code of a plugin does not return at all, this does
/// not either: after twice that time and a second it says where the stop is and what holds it, and
/// ends the process with status 1.
kw_status serve_server_stop(serve_server *server, kw_error *err);

/// Asks the thread that waits for `stop_fd` to stop the server. Async-signal-safe.
void serve_server_want_stop(const serve_server *server);

#endif // SERVE_SERVER_H
