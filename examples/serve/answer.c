// Answers: an HTTP status and a JSON value, before they are sent.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

json_t *serve_json_text(const char *text)
{
    json_t *json = json_string(text != NULL ? text : "");
    if (json != NULL) {
        return json;
    }
    char ascii[KW_ERROR_BYTES + 256];
    (void)snprintf(ascii, sizeof ascii, "%s", text != NULL ? text : "");
    for (char *at = ascii; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    }
    return json_string(ascii);
}

static void keep_whole(json_t **json, int status)
{
    if (status != 0) {
        json_decref(*json);
        *json = NULL;
    }
}

void serve_json_append(json_t **json, json_t *take_json)
{
    keep_whole(json, json_array_append_new(*json, take_json));
}

void serve_json_set(json_t **json, const char *name, json_t *take_json)
{
    keep_whole(json, json_object_set_new(*json, name, take_json));
}

// Not json_dumps(): where memory runs out, jansson 2.14 leaves names of members out of its text.
char *serve_json_dump(const json_t *json, size_t *out_bytes)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9);
    size_t room = 4096; // most answers fit
    char *text = malloc(room);
    size_t bytes = text != NULL ? json_dumpb(json, text, room, flags) : 0;
    if (bytes > room) {
        room = bytes;
        free(text);
        text = malloc(room);
        bytes = text != NULL ? json_dumpb(json, text, room, flags) : 0;
    }
    if (bytes == 0 || bytes > room) {
        free(text);
        return NULL;
    }
    *out_bytes = bytes;
    return text;
}

serve_answer serve_answer_ok(json_t *take_json)
{
    return (serve_answer){.code = 200, .json = take_json};
}

serve_answer serve_answer_error(unsigned code, const char *format, ...)
{
    char sentence[KW_ERROR_BYTES + 256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return (serve_answer){.code = code,
                          .json = json_pack("{s:o}", "error", serve_json_text(sentence))};
}

serve_answer serve_answer_failure(kw_status status, const char *sentence)
{
    unsigned code = 422; // a plugin that cannot be used, or a start that failed
    if (status == KW_FILE_NOT_READABLE) {
        code = 404;
    } else if (status == KW_BUSY || status == KW_PLUGIN_PINNED || status == KW_PLUGIN_STALE ||
               status == KW_LIBRARY_CLOSED) {
        code = 409;
    } else if (status == KW_NO_MEMORY || status == KW_BACKLOG_FULL) {
        code = 503;
    } else if (status == KW_INTERNAL) {
        code = 500;
    }
    return serve_answer_error(code, "%s", sentence);
}
