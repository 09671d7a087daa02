// Answers: an HTTP status and a JSON value, before they are sent.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <jansson.h>

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

/// A text as JSON, "" where it is no UTF-8: names of files may be anything.
json_t *serve_json_text(const char *text);

#endif // SERVE_ANSWER_H
