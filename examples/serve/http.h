// HTTP: one port, its routes and its limits; requests are gathered whole before a route sees them.
//
// Layer:   example (needs libmicrohttpd, jansson)
// Threads: routes are called by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

#include "answer.h"
#include "histogram.h"

typedef struct serve_http serve_http; // opaque
struct serve_server;

typedef struct serve_exchange serve_exchange;

/// A route. `path` ends with '*' if it is a prefix; then the rest is the exchange's `rest`.
typedef struct serve_route {
    const char *method;
    const char *path;
    size_t body_max; // bytes; a larger body is answered with 413
    /// Queues a response, or suspends the connection and is called again when it is resumed.
    enum MHD_Result (*answer)(serve_exchange *exchange);
    bool is_stream; // its requests last as long as the client wants: a stop does not wait for them
} serve_route;

/// One request, from its header to its end.
struct serve_exchange {
    serve_http *http;
    struct serve_server *server;
    struct MHD_Connection *connection;
    const serve_route *route; // NULL: none fits
    char path[256];           // as requested, cut
    const char *rest;         // what a prefix left of it
    const char *method;       // borrowed; as long as the request
    char *body;               // owned; body_bytes of them and a zero
    size_t body_bytes;
    size_t body_room;
    bool is_too_large;
    bool is_counted; // among the requests in flight
    uint64_t started_ns;
    unsigned code; // of the response; 0: none yet
    void *state;   // the route's; ended by free() with the exchange
};

typedef struct serve_http_options {
    uint16_t port;         // of 127.0.0.1; 0: one that is free
    unsigned thread_count; // 0: a thread for each connection, for routes that wait
    unsigned connection_max;
    const serve_route *routes; // ends with one without a method; borrowed
    struct serve_server *server;
} serve_http_options;

enum {
    SERVE_HTTP_ROUTES_MAX = 24
};

// What has been answered, by route.
typedef struct serve_http_figures {
    atomic_uint_fast64_t codes[SERVE_HTTP_ROUTES_MAX + 1][6]; // by hundreds; the last for no route
} serve_http_figures;

/// Makes a port that does not listen yet.
kw_status serve_http_create(const serve_http_options *options, serve_http **out_http,
                            kw_error *err);

/// Begins to listen.
kw_status serve_http_start(serve_http *http, kw_error *err);

/// The port that it listens on; 0 before it is started.
uint16_t serve_http_port(const serve_http *http);

/// Allows pages of this other port of the loopback to make requests. Before it is started.
void serve_http_allow(serve_http *http, uint16_t page_port);

// Each of the following does nothing for NULL, or for a port that was not started.

/// Stops listening. Requests on connections that are open get 503 from here on.
void serve_http_quiesce(serve_http *http);

/// How many requests have come in and are not answered yet, streams apart.
size_t serve_http_in_flight(serve_http *http);

/// Closes what is left. No connection may be suspended.
void serve_http_stop(serve_http *http);

/// Frees a port that is stopped, or was not started.
void serve_http_destroy(serve_http *http);

serve_http_figures *serve_http_figures_of(serve_http *http);
const serve_route *serve_http_routes(const serve_http *http);

/// Send an answer: JSON, which is taken, and 503 for NULL; or a text, which is copied if
/// `is_static` is false.
enum MHD_Result serve_http_send(serve_exchange *exchange, serve_answer take_answer);
enum MHD_Result serve_http_send_text(serve_exchange *exchange, const char *type, const void *text,
                                     size_t bytes, bool is_static);

/// Queues any response, which is taken, with the headers that all have.
enum MHD_Result serve_http_queue(serve_exchange *exchange, unsigned code,
                                 struct MHD_Response *take_response);

/// Reads a whole number from the query; `otherwise` where it is not given. False: it is none, or
/// outside of its range.
bool serve_http_query_number(serve_exchange *exchange, const char *name, uint64_t most,
                             uint64_t otherwise, uint64_t *out_number);

#endif // SERVE_HTTP_H
