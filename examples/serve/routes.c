// Routes: what the public port answers to, and its small ones.
//
// Layer:   example (uses http, server)
// Threads: routes are called by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#include "routes.h"

#include <stdlib.h>

#include "server.h"

static enum MHD_Result health(serve_exchange *exchange)
{
    return serve_http_send(exchange,
                           serve_answer_ok(json_pack("{s:s, s:I}", "status", "ok", "version",
                                                     (json_int_t)kw_version())));
}

// What the page has to know before it starts.
static enum MHD_Result config(serve_exchange *exchange)
{
    const serve_server *server = exchange->server;
    if (serve_http_port(server->admin_http) == 0) { // it is the second one to start
        return serve_http_send(exchange, serve_answer_error(503, "the server is starting"));
    }
    json_t *labels = json_array();
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        serve_json_append(&labels, serve_json_text(fashion_class_name(i)));
    }
    return serve_http_send(
        exchange,
        serve_answer_ok(json_pack(
            "{s:i, s:i, s:I, s:i, s:I, s:o}", "port", (int)serve_http_port(server->public_http),
            "admin_port", (int)serve_http_port(server->admin_http), "images",
            (json_int_t)server->dataset.count, "batch_max", (int)server->options.batch_max,
            "queue_max", (json_int_t)server->options.queue_max, "labels", labels)));
}

static json_t *describe_image(const fashion_dataset *dataset, size_t index)
{
    const uint8_t *bytes = fashion_dataset_image(dataset, index);
    json_t *pixels = json_array();
    for (size_t i = 0; i < FASHION_IMAGE_PIXELS; i++) {
        serve_json_append(&pixels, json_integer(bytes[i]));
    }
    const size_t class_index = dataset->labels[index];
    return json_pack("{s:I, s:I, s:s, s:o}", "index", (json_int_t)index, "class",
                     (json_int_t)class_index, "label", fashion_class_name(class_index), "pixels",
                     pixels);
}

// A step of splitmix64: the images of a seed are the same on every machine.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static enum MHD_Result images(serve_exchange *exchange)
{
    const fashion_dataset *dataset = &exchange->server->dataset;
    uint64_t count = 0;
    uint64_t seed = 0;
    if (!serve_http_query_number(exchange, "count", 64, 12, &count) ||
        !serve_http_query_number(exchange, "seed", UINT64_MAX, 0, &seed)) {
        return serve_http_send(exchange,
                               serve_answer_error(400, "count is 0 to 64, seed a whole number"));
    }
    json_t *array = json_array();
    for (uint64_t i = 0; i < count; i++) {
        const size_t index = (size_t)(next_random(&seed) % dataset->count);
        serve_json_append(&array, describe_image(dataset, index));
    }
    return serve_http_send(exchange, serve_answer_ok(json_pack("{s:o}", "images", array)));
}

static enum MHD_Result events(serve_exchange *exchange)
{
    struct MHD_Response *response =
        serve_events_listen(exchange->server->events, exchange->connection);
    if (response == NULL) {
        return serve_http_send(
            exchange, serve_answer_error(503, "%d pages listen already", SERVE_EVENT_CLIENTS_MAX));
    }
    return serve_http_queue(exchange, MHD_HTTP_OK, response);
}

static enum MHD_Result plugins(serve_exchange *exchange)
{
    return serve_http_send(exchange,
                           serve_answer_ok(serve_plugins_describe(&exchange->server->plugins)));
}

const serve_route serve_public_routes[] = {
    {.method = "POST",
     .path = "/v1/predict",
     .body_max = SERVE_PREDICT_BODY_MAX,
     .answer = serve_predict_route},
    {.method = "GET", .path = "/v1/operators", .answer = serve_operators_route},
    {.method = "GET", .path = "/v1/operators/*", .answer = serve_operator_table_route},
    {.method = "GET", .path = "/v1/plugins", .answer = plugins},
    {.method = "GET", .path = "/v1/images", .answer = images},
    {.method = "GET", .path = "/v1/config", .answer = config},
    {.method = "GET", .path = "/v1/events", .answer = events, .is_stream = true},
    {.method = "GET", .path = "/metrics", .answer = serve_metrics_route},
    {.method = "GET", .path = "/healthz", .answer = health},
    {.method = "GET", .path = "/", .answer = serve_page_route},
    {.method = "GET", .path = "/page/*", .answer = serve_page_route},
    {.method = NULL},
};
