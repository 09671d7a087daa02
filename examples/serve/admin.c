// Routes of the administration: plugins come and go, the canary gets its share, the server stops.
//
// Layer:   example (uses http, plugins, server)
// Threads: each connection has a thread of its own, so that a change may wait for calls to end
// SPDX-License-Identifier: MIT

#include <string.h>

#include "routes.h"
#include "server.h"

enum {
    ADMIN_BODY_MAX = 4096
};

// Reads the body as an object; no body is an empty one. NULL: `out_answer` says what is wrong.
static json_t *read_body(const serve_exchange *exchange, serve_answer *out_answer)
{
    if (exchange->body_bytes == 0) {
        return json_object();
    }
    json_error_t error;
    json_t *body = json_loadb(exchange->body, exchange->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (body == NULL) {
        *out_answer = serve_answer_error(400, "the body is no JSON: %s at byte %d", error.text,
                                         error.position);
    } else if (!json_is_object(body)) {
        json_decref(body);
        body = NULL;
        *out_answer = serve_answer_error(400, "the body is no JSON object");
    }
    return body;
}

// Whether an object has no members but those of `known`, which ends with NULL.
static bool has_only(const json_t *body, const char *const *known, serve_answer *out_answer)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)body); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)body, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            *out_answer = serve_answer_error(400, "the body has an unknown member %.40s", key);
            return false;
        }
    }
    return true;
}

// A whole number in a range, or `otherwise` where the object has no such member.
static bool read_number(const json_t *body, const char *name, json_int_t most, json_int_t otherwise,
                        json_int_t *out_number)
{
    const json_t *number = json_object_get(body, name);
    *out_number = number != NULL ? json_integer_value(number) : otherwise;
    return number == NULL || (json_is_integer(number) && *out_number >= 0 && *out_number <= most);
}

static serve_answer change_from(serve_server *server, serve_change change, const char *name,
                                const json_t *body)
{
    static const char *const known[] = {"file", "drain_ms", NULL};
    serve_answer answer = {.code = 0};
    json_int_t drain_ms = 0;
    if (!has_only(body, known, &answer)) {
        return answer;
    }
    if (!read_number(body, "drain_ms", SERVE_DRAIN_MS_MAX, SERVE_DRAIN_MS_DEFAULT, &drain_ms)) {
        return serve_answer_error(400, "drain_ms is a whole number from 0 to %d",
                                  SERVE_DRAIN_MS_MAX);
    }
    const json_t *file = json_object_get(body, "file");
    if (file != NULL && !json_is_string(file)) {
        return serve_answer_error(400, "file is a text");
    }
    return serve_plugins_change(&server->plugins, change, name, json_string_value(file),
                                (uint64_t)drain_ms * UINT64_C(1000000));
}

static bool find_change(const char *word, serve_change *out_change)
{
    static const char *const words[] = {
        [SERVE_CHANGE_LOAD] = "load",
        [SERVE_CHANGE_REPLACE] = "replace",
        [SERVE_CHANGE_ROLLBACK] = "rollback",
        [SERVE_CHANGE_UNLOAD] = "unload",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out_change = (serve_change)i;
            return true;
        }
    }
    return false;
}

// Route: /v1/plugins/NAME/WORD.
static enum MHD_Result change_plugin(serve_exchange *exchange)
{
    char name[SERVE_PLUGIN_NAME_BYTES] = "";
    const char *slash = strchr(exchange->rest, '/');
    serve_change change = SERVE_CHANGE_LOAD;
    if (slash == NULL || !find_change(slash + 1, &change) ||
        (size_t)(slash - exchange->rest) >= sizeof name) {
        return serve_http_send(
            exchange,
            serve_answer_error(
                404, "a path is /v1/plugins/NAME/ and load, replace, rollback or unload"));
    }
    memcpy(name, exchange->rest, (size_t)(slash - exchange->rest));
    serve_answer answer = {.code = 0};
    json_t *body = read_body(exchange, &answer);
    if (body != NULL) {
        answer = change_from(exchange->server, change, name, body);
        json_decref(body);
    }
    return serve_http_send(exchange, answer);
}

static enum MHD_Result list_plugins(serve_exchange *exchange)
{
    return serve_http_send(exchange,
                           serve_answer_ok(serve_plugins_describe(&exchange->server->plugins)));
}

static serve_answer set_percent(serve_server *server, const json_t *body)
{
    static const char *const known[] = {"percent", NULL};
    serve_answer answer = {.code = 0};
    json_int_t percent = 0;
    if (!has_only(body, known, &answer)) {
        return answer;
    }
    if (!read_number(body, "percent", 100, -1, &percent) || percent < 0) {
        return serve_answer_error(400, "percent is a whole number from 0 to 100");
    }
    atomic_store(&server->canary_percent, (unsigned)percent);
    return serve_answer_ok(json_pack("{s:I, s:b}", "percent", percent, "available",
                                     (int)serve_network_has_canary(&server->network)));
}

static enum MHD_Result set_canary(serve_exchange *exchange)
{
    serve_answer answer = {.code = 0};
    json_t *body = read_body(exchange, &answer);
    if (body != NULL) {
        answer = set_percent(exchange->server, body);
        json_decref(body);
    }
    return serve_http_send(exchange, answer);
}

// The answer goes out before the ports close: a stop waits for requests in flight, and this is one.
static enum MHD_Result stop(serve_exchange *exchange)
{
    serve_server_want_stop(exchange->server);
    serve_answer answer = serve_answer_ok(json_pack("{s:s}", "status", "stopping"));
    answer.code = 202;
    return serve_http_send(exchange, answer);
}

const serve_route serve_admin_routes[] = {
    {.method = "GET", .path = "/v1/plugins", .answer = list_plugins},
    {.method = "POST",
     .path = "/v1/plugins/*",
     .body_max = ADMIN_BODY_MAX,
     .answer = change_plugin},
    {.method = "POST", .path = "/v1/canary", .body_max = ADMIN_BODY_MAX, .answer = set_canary},
    {.method = "POST", .path = "/v1/stop", .body_max = ADMIN_BODY_MAX, .answer = stop},
    {.method = NULL},
};
