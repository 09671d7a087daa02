// Answers: an HTTP status and a JSON value, before they are sent.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <jansson.h>
#include <stddef.h>

#include <keyway/export.h>
#include <keyway/status.h>

typedef struct serve_answer {
    unsigned code; // of HTTP
    json_t *json;  // owned by whoever sends it; NULL if memory was out
} serve_answer;

serve_answer serve_answer_ok(json_t *take_json);

/// {"error": sentence}
serve_answer serve_answer_error(unsigned code, const char *format, ...) KW_PRINTF(2, 3);

/// The same for a failure that Keyway explains, with the HTTP status that fits its own.
serve_answer serve_answer_failure(kw_status status, const char *sentence);

/// A text as JSON; NULL is "". Where it is no UTF-8, as names of files and paths of requests may
/// be, bytes that are not ASCII become '?', and it is cut after a thousand.
json_t *serve_json_text(const char *text);

// Each adds to an array or object. One that cannot grow is ended, and `*json` is NULL from then on:
// an answer is whole, or there is none. Both take `take_json`, which may be NULL for the same
// reason.
void serve_json_append(json_t **json, json_t *take_json);
void serve_json_set(json_t **json, const char *name, json_t *take_json);

/// Returns JSON as text in one line, without a zero at its end; the caller frees it. Real numbers
/// have 9 digits, so that a float is read back as it is. NULL: no memory, or no JSON.
char *serve_json_dump(const json_t *json, size_t *out_bytes);

#endif // SERVE_ANSWER_H
