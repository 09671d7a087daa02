// Answers: an HTTP status and a JSON value, before they are sent.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#include "answer.h"

#include <stdarg.h>
#include <stdio.h>

json_t *serve_json_text(const char *text)
{
    json_t *json = json_string(text);
    return json != NULL ? json : json_string("");
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
    } else if (status == KW_BUSY || status == KW_NOT_FOUND || status == KW_PLUGIN_PINNED ||
               status == KW_PLUGIN_STALE || status == KW_LIBRARY_CLOSED) {
        code = 409;
    } else if (status == KW_NO_MEMORY || status == KW_BACKLOG_FULL) {
        code = 503;
    } else if (status == KW_INTERNAL) {
        code = 500;
    }
    return serve_answer_error(code, "%s", sentence);
}
