// GET /v1/operators and .../NAME/table: what the dispatcher would call, and what has been called.
//
// Layer:   example (uses keyway/inspect.h, watch)
// Threads: any
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/inspect.h>
#include <keyway/snapshot.h>

#include "routes.h"
#include "server.h"

static json_t *key_json(unsigned slot_plus_one)
{
    return slot_plus_one == 0
               ? json_null()
               : serve_json_text(kw_key_name(kw_key_of_slot((int)slot_plus_one - 1)));
}

static unsigned last_slot(serve_server *server, size_t op)
{
    return atomic_load_explicit(&server->watch.last_slots[op], memory_order_relaxed);
}

static json_t *describe_operator(serve_server *server, size_t op)
{
    char schema[512];
    uint64_t calls = 0;
    (void)kw_operator_schema(server->network.ops[op], schema, sizeof schema);
    for (size_t slot = 0; slot < KW_SLOT_COUNT; slot++) {
        calls += atomic_load_explicit(&server->watch.calls[op][slot], memory_order_relaxed);
    }
    return json_pack("{s:o, s:o, s:o, s:I}", "name",
                     serve_json_text(kw_operator_name(server->network.ops[op])), "schema",
                     serve_json_text(schema), "last", key_json(last_slot(server, op)), "calls",
                     (json_int_t)calls);
}

enum MHD_Result serve_operators_route(serve_exchange *exchange)
{
    json_t *operators = json_array();
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        serve_json_append(&operators, describe_operator(exchange->server, i));
    }
    return serve_http_send(
        exchange, serve_answer_ok(json_pack("{s:I, s:o}", "version", (json_int_t)kw_version(),
                                            "operators", operators)));
}

typedef struct table {
    serve_server *server;
    size_t op;
    bool wants_all; // rows that nothing serves too
    json_t *rows;
} table;

// Rows of error kernels and of fallthroughs are no places that a call ends in.
static void add_row(const kw_table_row *row, void *context)
{
    table *into = context;
    const int slot = kw_key_slot(row->key);
    if (slot < 0 || (!into->wants_all && (row->library == NULL || row->is_fallthrough))) {
        return;
    }
    char serves[SERVE_LABEL_BYTES];
    serve_origins_label_slot(&into->server->origins, into->server->network.ops[into->op],
                             (unsigned)slot, serves);
    const uint64_t calls =
        atomic_load_explicit(&into->server->watch.calls[into->op][slot], memory_order_relaxed);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:s, s:s, s:b, s:I, s:b}", "key",
        serve_json_text(kw_key_name(row->key)), "kernel", serve_json_text(row->kernel), "library",
        row->library != NULL ? serve_json_text(row->library) : json_null(), "serves",
        serve_json_text(serves), "file", serve_json_text(row->file), "line", (json_int_t)row->line,
        "rule", row->rule, "reason", row->reason, "sentence", row->sentence, "fallthrough",
        (int)row->is_fallthrough, "calls", (json_int_t)calls, "last",
        last_slot(into->server, into->op) == (unsigned)slot + 1);
    serve_json_append(&into->rows, json);
}

static serve_answer describe_table(serve_server *server, size_t op, bool wants_all)
{
    table made = {.server = server, .op = op, .wants_all = wants_all, .rows = json_array()};
    kw_snapshot snapshot;
    if (kw_snapshot_open(&snapshot) != KW_OK) {
        json_decref(made.rows);
        return serve_answer_error(503, "no snapshot could be opened");
    }
    const uint64_t version = snapshot.version;
    const kw_status status = kw_operator_visit_table(server->network.ops[op], add_row, &made);
    const kw_status closed = kw_snapshot_close(&snapshot);
    if (status != KW_OK || closed != KW_OK) {
        json_decref(made.rows);
        return serve_answer_error(500, "the table cannot be read");
    }
    return serve_answer_ok(json_pack("{s:o, s:I, s:o}", "operator",
                                     serve_json_text(kw_operator_name(server->network.ops[op])),
                                     "version", (json_int_t)version, "rows", made.rows));
}

// Route: /v1/operators/NAME/table[?all=1].
enum MHD_Result serve_operator_table_route(serve_exchange *exchange)
{
    serve_server *server = exchange->server;
    uint64_t wants_all = 0;
    if (!serve_http_query_number(exchange, "all", 1, 0, &wants_all)) {
        return serve_http_send(exchange, serve_answer_error(400, "all is 0 or 1"));
    }
    const char *end = strrchr(exchange->rest, '/');
    if (end != NULL && strcmp(end, "/table") == 0) {
        for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
            const char *name = kw_operator_name(server->network.ops[i]);
            const size_t length = (size_t)(end - exchange->rest);
            if (strlen(name) == length && strncmp(name, exchange->rest, length) == 0) {
                return serve_http_send(exchange, describe_table(server, i, wants_all == 1));
            }
        }
    }
    return serve_http_send(
        exchange, serve_answer_error(404, "the network has no operator %s", exchange->rest));
}
