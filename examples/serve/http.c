// HTTP: one port, its routes and its limits; requests are gathered whole before a route sees them.
//
// Layer:   example (needs libmicrohttpd, jansson)
// Threads: routes are called by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"

enum {
    TIMEOUT_SECONDS = 30,
    // A body that says no length and grows past its limit is read on up to here, so that its sender
    // gets the answer; then the connection is closed.
    DISCARD_MAX = 1 << 20
};

struct serve_http {
    serve_http_options options;
    struct MHD_Daemon *daemon;
    MHD_socket listener; // once it is quiet: to be closed at the end
    _Atomic uint16_t port;
    atomic_bool is_quiet;
    atomic_size_t in_flight;
    char origins[2][64]; // pages that may make requests; "": none
    serve_http_figures figures;
};

static bool fits(const serve_route *route, const char *path, const char **out_rest)
{
    const size_t length = strlen(route->path);
    if (length > 0 && route->path[length - 1] == '*') {
        *out_rest = path + length - 1;
        return strncmp(route->path, path, length - 1) == 0;
    }
    *out_rest = "";
    return strcmp(route->path, path) == 0;
}

static void find_route(serve_exchange *exchange)
{
    for (const serve_route *route = exchange->http->options.routes; route->method != NULL;
         route++) {
        if (fits(route, exchange->path, &exchange->rest) &&
            strcmp(route->method, exchange->method) == 0) {
            exchange->route = route;
            return;
        }
    }
}

// The methods that the path knows, for an answer to another one; "" for a path that no route fits.
static void allowed_methods(const serve_exchange *exchange, size_t size, char *out_methods)
{
    const char *rest = NULL;
    size_t used = 0;
    out_methods[0] = '\0';
    for (const serve_route *route = exchange->http->options.routes; route->method != NULL;
         route++) {
        if (fits(route, exchange->path, &rest) && used < size) {
            used += (size_t)snprintf(out_methods + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     route->method);
        }
    }
}

static const char *header(const serve_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

// The origin of a page that may make requests; NULL: there is none, or it may not.
static const char *allowed_origin(const serve_exchange *exchange)
{
    const char *origin = header(exchange, "Origin");
    for (size_t i = 0; origin != NULL && i < 2; i++) {
        if (exchange->http->origins[i][0] != '\0' &&
            strcmp(origin, exchange->http->origins[i]) == 0) {
            return origin;
        }
    }
    return NULL;
}

// Whether a name of the Host header, with a port or without, is the loopback's. A page of elsewhere
// whose name was made to lead here is refused by it.
static bool is_loopback(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':')) {
            return true;
        }
    }
    return false;
}

// Whether a page of another server makes the request. Requests of programs have no Origin.
static bool is_foreign(const serve_exchange *exchange)
{
    const char *host = header(exchange, "Host");
    const char *origin = header(exchange, "Origin");
    if (host != NULL && !is_loopback(host)) {
        return true;
    }
    if (origin == NULL || allowed_origin(exchange) != NULL) {
        return false;
    }
    const char *name = strstr(origin, "://");
    return name == NULL || host == NULL || strcmp(name + 3, host) != 0;
}

// From here on a stop waits for the request: it has come in whole, or is refused. One that is still
// being sent may never end, so it is not waited for.
static void count_in(serve_exchange *exchange)
{
    if (!exchange->is_counted && (exchange->route == NULL || !exchange->route->is_stream)) {
        exchange->is_counted = true;
        atomic_fetch_add(&exchange->http->in_flight, 1);
    }
}

enum MHD_Result serve_http_queue(serve_exchange *exchange, unsigned code,
                                 struct MHD_Response *take_response)
{
    if (take_response == NULL) {
        return MHD_NO; // closes the connection: memory is out
    }
    const char *origin = allowed_origin(exchange);
    if (origin != NULL) {
        (void)MHD_add_response_header(take_response, "Access-Control-Allow-Origin", origin);
        (void)MHD_add_response_header(take_response, "Vary", "Origin");
    }
    if (atomic_load(&exchange->http->is_quiet)) {
        (void)MHD_add_response_header(take_response, "Connection", "close");
    }
    (void)MHD_add_response_header(take_response, "X-Content-Type-Options", "nosniff");
    exchange->code = code;
    count_in(exchange);
    const enum MHD_Result result = MHD_queue_response(exchange->connection, code, take_response);
    MHD_destroy_response(take_response);
    return result;
}

enum MHD_Result serve_http_send(serve_exchange *exchange, serve_answer take_answer)
{
    static char no_memory[] = "{\"error\":\"memory is out\"}";
    size_t bytes = 0;
    char *text = serve_json_dump(take_answer.json, &bytes);
    json_decref(take_answer.json);
    struct MHD_Response *response =
        text != NULL ? MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE)
                     : MHD_create_response_from_buffer(sizeof no_memory - 1, no_memory,
                                                       MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    const unsigned code = text != NULL ? take_answer.code : 503;
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    if (code == 503) {
        (void)MHD_add_response_header(response, "Retry-After", "1");
    }
    return serve_http_queue(exchange, code, response);
}

enum MHD_Result serve_http_send_text(serve_exchange *exchange, const char *type, const void *text,
                                     size_t bytes, bool is_static)
{
    // The buffer is only read: libmicrohttpd has no const in its signature.
    struct MHD_Response *response = MHD_create_response_from_buffer(
        bytes, (void *)(uintptr_t)text, is_static ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", type);
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    return serve_http_queue(exchange, MHD_HTTP_OK, response);
}

bool serve_http_query_number(serve_exchange *exchange, const char *name, uint64_t most,
                             uint64_t otherwise, uint64_t *out_number)
{
    const char *text =
        MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, name);
    *out_number = otherwise;
    if (text == NULL) {
        return true;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    *out_number = number;
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= most;
}

static enum MHD_Result refuse(serve_exchange *exchange)
{
    char methods[64];
    allowed_methods(exchange, sizeof methods, methods);
    if (methods[0] == '\0') {
        return serve_http_send(exchange, serve_answer_error(404, "there is no %s", exchange->path));
    }
    char text[512];
    const int length =
        snprintf(text, sizeof text, "{\"error\":\"this path answers to %s\"}", methods);
    struct MHD_Response *response =
        MHD_create_response_from_buffer((size_t)length, text, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    (void)MHD_add_response_header(response, "Allow", methods);
    return serve_http_queue(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

static enum MHD_Result send_too_large(serve_exchange *exchange)
{
    return serve_http_send(exchange, serve_answer_error(413, "the body has more than %zu bytes",
                                                        exchange->route->body_max));
}

// What a browser asks before a page of another port may make a request.
static enum MHD_Result preflight(serve_exchange *exchange)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
    (void)MHD_add_response_header(response, "Access-Control-Allow-Headers", "Content-Type");
    (void)MHD_add_response_header(response, "Access-Control-Max-Age", "600");
    return serve_http_queue(exchange, MHD_HTTP_NO_CONTENT, response);
}

static serve_exchange *begin(serve_http *http, struct MHD_Connection *connection, const char *path,
                             const char *method)
{
    serve_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return NULL;
    }
    exchange->http = http;
    exchange->server = http->options.server;
    exchange->connection = connection;
    exchange->method = method;
    exchange->started_ns = serve_now_ns();
    (void)snprintf(exchange->path, sizeof exchange->path, "%s", path);
    find_route(exchange);
    return exchange;
}

// Answers what needs no body; otherwise only lets the body come.
static enum MHD_Result answer_early(serve_exchange *exchange)
{
    const char *length = header(exchange, "Content-Length");
    if (is_foreign(exchange)) {
        return serve_http_send(
            exchange, serve_answer_error(403, "only pages of this server may make requests"));
    }
    if (atomic_load(&exchange->http->is_quiet)) {
        return serve_http_send(exchange, serve_answer_error(503, "the server is stopping"));
    }
    if (strcmp(exchange->method, "OPTIONS") == 0 && allowed_origin(exchange) != NULL) {
        return preflight(exchange);
    }
    if (exchange->route == NULL) {
        return refuse(exchange);
    }
    if (length != NULL && strtoull(length, NULL, 10) > exchange->route->body_max) {
        return send_too_large(exchange);
    }
    return MHD_YES;
}

// Adds a piece of the body. False: the connection is better closed.
static bool gather(serve_exchange *exchange, const char *piece, size_t bytes)
{
    const size_t body_max = exchange->route->body_max;
    if (exchange->is_too_large || exchange->body_bytes + bytes > body_max) {
        exchange->is_too_large = true;
        exchange->body_bytes += bytes;
        return exchange->body_bytes <= DISCARD_MAX;
    }
    if (exchange->body_bytes + bytes + 1 > exchange->body_room) {
        const size_t doubled = 2 * (exchange->body_bytes + bytes) + 1;
        const size_t room = doubled < body_max + 1 ? doubled : body_max + 1;
        char *body = realloc(exchange->body, room);
        if (body == NULL) {
            return false;
        }
        exchange->body = body;
        exchange->body_room = room;
    }
    memcpy(exchange->body + exchange->body_bytes, piece, bytes);
    exchange->body_bytes += bytes;
    exchange->body[exchange->body_bytes] = '\0';
    return true;
}

// Called for the header, for each piece of the body, for its end, and after each resumption.
// NOLINTNEXTLINE(readability-function-size): libmicrohttpd says how many parameters there are
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *protocol, const char *piece,
                              size_t *piece_bytes, void **state)
{
    (void)protocol;
    serve_exchange *exchange = *state;
    if (exchange == NULL) {
        exchange = begin(context, connection, path, method);
        *state = exchange;
        if (exchange == NULL) {
            return MHD_NO;
        }
        return answer_early(exchange);
    }
    if (*piece_bytes > 0) {
        const bool is_gathered = gather(exchange, piece, *piece_bytes);
        *piece_bytes = 0;
        return is_gathered ? MHD_YES : MHD_NO;
    }
    if (exchange->is_too_large) {
        return send_too_large(exchange);
    }
    count_in(exchange);
    return exchange->route->answer(exchange);
}

static void complete(void *context, struct MHD_Connection *connection, void **state,
                     enum MHD_RequestTerminationCode reason)
{
    (void)connection;
    (void)reason;
    serve_http *http = context;
    serve_exchange *exchange = *state;
    if (exchange == NULL) {
        return;
    }
    const size_t route = exchange->route != NULL ? (size_t)(exchange->route - http->options.routes)
                                                 : SERVE_HTTP_ROUTES_MAX;
    const size_t hundreds = exchange->code / 100; // 0: it was broken off
    atomic_fetch_add_explicit(&http->figures.codes[route][hundreds < 6 ? hundreds : 0], 1,
                              memory_order_relaxed);
    if (exchange->is_counted) {
        atomic_fetch_sub(&http->in_flight, 1);
    }
    free(exchange->body);
    free(exchange->state);
    free(exchange);
    *state = NULL;
}

static struct MHD_Daemon *start_daemon(serve_http *http)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(http->options.port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const unsigned threads = http->options.thread_count;
    // Not epoll: in libmicrohttpd 0.9.75 it misses the end of a connection that closes in the
    // middle of a request, and keeps it until it times out.
    const unsigned how = threads > 0 ? (unsigned)MHD_USE_POLL_INTERNAL_THREAD
                                     : (unsigned)MHD_USE_THREAD_PER_CONNECTION |
                                           (unsigned)MHD_USE_POLL_INTERNAL_THREAD;
    const unsigned flags =
        how | (unsigned)MHD_USE_ITC | (threads > 0 ? (unsigned)MHD_ALLOW_SUSPEND_RESUME : 0U);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handle, http, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0U, MHD_OPTION_CONNECTION_LIMIT,
        http->options.connection_max, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
        MHD_OPTION_NOTIFY_COMPLETED, complete, http, MHD_OPTION_END);
}

static size_t count_routes(const serve_route *routes)
{
    size_t count = 0;
    while (routes[count].method != NULL) {
        count++;
    }
    return count;
}

kw_status serve_http_create(const serve_http_options *options, serve_http **out_http, kw_error *err)
{
    if (count_routes(options->routes) > SERVE_HTTP_ROUTES_MAX) {
        return serve_error_set(err, KW_INTERNAL, "a port has more routes than it counts");
    }
    serve_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return serve_error_set(err, KW_NO_MEMORY, "no memory for a port");
    }
    http->options = *options;
    http->listener = MHD_INVALID_SOCKET;
    *out_http = http;
    return KW_OK;
}

kw_status serve_http_start(serve_http *http, kw_error *err)
{
    errno = 0;
    http->daemon = start_daemon(http);
    if (http->daemon == NULL) {
        return serve_error_set(err, KW_NOT_SUPPORTED, "127.0.0.1:%u cannot be listened on: %s",
                               (unsigned)http->options.port,
                               errno != 0 ? strerrordesc_np(errno) : "libmicrohttpd did not start");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    atomic_store(&http->port, info != NULL ? info->port : http->options.port);
    return KW_OK;
}

uint16_t serve_http_port(const serve_http *http)
{
    return atomic_load(&http->port);
}

void serve_http_allow(serve_http *http, uint16_t page_port)
{
    (void)snprintf(http->origins[0], sizeof http->origins[0], "http://127.0.0.1:%u",
                   (unsigned)page_port);
    (void)snprintf(http->origins[1], sizeof http->origins[1], "http://localhost:%u",
                   (unsigned)page_port);
}

void serve_http_quiesce(serve_http *http)
{
    if (http == NULL || http->daemon == NULL) {
        return;
    }
    atomic_store(&http->is_quiet, true);
    // Threads may be waiting on the socket still. Closed under them, it would go on taking
    // connections that nobody accepts, or its number would become another file's; shut down, it
    // refuses, and it is closed when they have ended.
    http->listener = MHD_quiesce_daemon(http->daemon);
    if (http->listener != MHD_INVALID_SOCKET) {
        (void)shutdown(http->listener, SHUT_RDWR);
    }
}

size_t serve_http_in_flight(serve_http *http)
{
    return http != NULL ? atomic_load(&http->in_flight) : 0;
}

void serve_http_stop(serve_http *http)
{
    if (http != NULL && http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
        http->daemon = NULL;
        if (http->listener != MHD_INVALID_SOCKET) {
            (void)close(http->listener);
        }
    }
}

void serve_http_destroy(serve_http *http)
{
    free(http);
}

serve_http_figures *serve_http_figures_of(serve_http *http)
{
    return &http->figures;
}

const serve_route *serve_http_routes(const serve_http *http)
{
    return http->options.routes;
}
