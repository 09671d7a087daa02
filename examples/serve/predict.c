// POST /v1/predict: an image in, a class out, and what served it.
//
// Layer:   example (uses http, batcher)
// Threads: a request's thread does not wait: its connection sleeps until a worker wakes it
// SPDX-License-Identifier: MIT

#include <fashion/reference.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clock.h"
#include "routes.h"
#include "server.h"

// What a request has while its connection sleeps; the job comes first, so that it leads back.
typedef struct prediction {
    serve_job job;
    struct MHD_Connection *connection;
    bool is_refused; // there was no room for it
} prediction;

static serve_answer read_raw(const serve_exchange *exchange, uint8_t *out_pixels)
{
    if (exchange->body_bytes != FASHION_IMAGE_PIXELS) {
        return serve_answer_error(400, "an image has %d bytes, not %zu", FASHION_IMAGE_PIXELS,
                                  exchange->body_bytes);
    }
    memcpy(out_pixels, exchange->body, FASHION_IMAGE_PIXELS);
    return (serve_answer){.code = 0};
}

static serve_answer read_array(const json_t *array, uint8_t *out_pixels)
{
    if (!json_is_array(array) || json_array_size(array) != FASHION_IMAGE_PIXELS) {
        return serve_answer_error(400, "an image is an array of %d numbers", FASHION_IMAGE_PIXELS);
    }
    for (size_t i = 0; i < FASHION_IMAGE_PIXELS; i++) {
        const json_t *number = json_array_get(array, i);
        const double value = json_is_number(number) ? json_number_value(number) : -1;
        if (!(value >= 0 && value <= 255) || value != floor(value)) {
            return serve_answer_error(400, "number %zu of the image is no whole one from 0 to 255",
                                      i);
        }
        out_pixels[i] = (uint8_t)value;
    }
    return (serve_answer){.code = 0};
}

static serve_answer read_json(const serve_exchange *exchange, uint8_t *out_pixels)
{
    json_error_t error;
    json_t *array =
        json_loadb(exchange->body != NULL ? exchange->body : "", exchange->body_bytes, 0, &error);
    if (array == NULL) {
        return serve_answer_error(400, "the body is no JSON: %s at byte %d", error.text,
                                  error.position);
    }
    const serve_answer answer = read_array(array, out_pixels);
    json_decref(array);
    return answer;
}

static const char *header(const serve_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

// Whether a Content-Type is this type, whatever its parameters are.
static bool is_type(const char *header, const char *type)
{
    const size_t length = strlen(type);
    return header != NULL && strncasecmp(header, type, length) == 0 &&
           strchr("; \t", header[length]) != NULL; // or the end, which strchr() finds too
}

// Reads the image; a code other than 0 is the answer to what cannot be read.
static serve_answer read_image(const serve_exchange *exchange, uint8_t *out_pixels)
{
    const char *type = header(exchange, "Content-Type");
    if (is_type(type, "application/json")) {
        return read_json(exchange, out_pixels);
    }
    if (is_type(type, "application/octet-stream")) {
        return read_raw(exchange, out_pixels);
    }
    return serve_answer_error(415, "an image is application/octet-stream or application/json");
}

// Spreads the percentage evenly: 61 has no factor in common with 100.
static bool is_canary_turn(serve_server *server)
{
    const unsigned percent = atomic_load(&server->canary_percent);
    return percent > 0 && atomic_fetch_add(&server->canary_turn, 1) * 61U % 100U < percent;
}

static serve_answer choose_lane(const serve_exchange *exchange, serve_lane *out_lane)
{
    const char *backend = header(exchange, "X-Keyway-Backend");
    if (backend == NULL) {
        *out_lane = is_canary_turn(exchange->server) ? SERVE_LANE_CANARY : SERVE_LANE_PLAIN;
    } else if (strcmp(backend, "default") == 0) {
        *out_lane = SERVE_LANE_PLAIN;
    } else if (strcmp(backend, "canary") != 0) {
        return serve_answer_error(400, "X-Keyway-Backend is default or canary");
    } else if (!serve_network_has_canary(&exchange->server->network)) {
        return serve_answer_error(409, "no plugin with kernels for the canary is loaded");
    } else {
        *out_lane = SERVE_LANE_CANARY;
    }
    return (serve_answer){.code = 0};
}

// In a worker. The connection's thread may end the request as soon as it runs again.
static void wake(serve_job *job)
{
    MHD_resume_connection(((prediction *)job)->connection);
}

static enum MHD_Result finish(serve_exchange *exchange, serve_answer answer)
{
    atomic_fetch_add_explicit(answer.code == 200 ? &exchange->server->answered_count
                                                 : &exchange->server->failed_count,
                              1, memory_order_relaxed);
    serve_histogram_record(&exchange->server->predict_ns, serve_now_ns() - exchange->started_ns);
    return serve_http_send(exchange, answer);
}

static enum MHD_Result submit(serve_exchange *exchange)
{
    prediction *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return finish(exchange, serve_answer_error(503, "memory is out"));
    }
    exchange->state = made;
    serve_answer answer = read_image(exchange, made->job.pixels);
    if (answer.code == 0) {
        answer = choose_lane(exchange, &made->job.lane);
    }
    if (answer.code != 0) {
        return finish(exchange, answer);
    }
    made->connection = exchange->connection;
    made->job.done = wake;
    // Asleep before it is queued: a worker may wake it at once.
    MHD_suspend_connection(exchange->connection);
    if (!serve_batcher_submit(exchange->server->batcher, &made->job)) {
        made->is_refused = true;
        MHD_resume_connection(exchange->connection);
    }
    return MHD_YES;
}

static json_t *numbers(const float *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        serve_json_append(&array, json_real((double)values[i]));
    }
    return array;
}

static json_t *served(const serve_server *server, const serve_job *job)
{
    json_t *operators = json_object();
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        serve_json_set(&operators, kw_operator_name(server->network.ops[i]),
                       serve_json_text(job->served[i]));
    }
    return operators;
}

// JSON has no infinity and no NaN, and neither is a right answer.
static bool is_finite(const float *values)
{
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static serve_answer tell(const serve_server *server, const prediction *made)
{
    const serve_job *job = &made->job;
    if (made->is_refused) {
        return serve_answer_error(503, "too many requests wait, or the server is stopping");
    }
    if (job->status != KW_OK) {
        return serve_answer_error(500, "%s", job->error);
    }
    if (!is_finite(job->logits) || !is_finite(job->probabilities)) {
        return serve_answer_error(500, "a kernel answered with numbers that are not finite");
    }
    const size_t class_index = fashion_argmax(FASHION_CLASSES, job->logits);
    return serve_answer_ok(
        json_pack("{s:I, s:s, s:o, s:o, s:I, s:I, s:s, s:o}", "class", (json_int_t)class_index,
                  "label", fashion_class_name(class_index), "probabilities",
                  numbers(job->probabilities, FASHION_CLASSES), "logits",
                  numbers(job->logits, FASHION_CLASSES), "version", (json_int_t)job->version,
                  "batch", (json_int_t)job->batch, "backend", job->is_canary ? "canary" : "default",
                  "operators", served(server, job)));
}

enum MHD_Result serve_predict_route(serve_exchange *exchange)
{
    const prediction *made = exchange->state;
    return made == NULL ? submit(exchange) : finish(exchange, tell(exchange->server, made));
}
