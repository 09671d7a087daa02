// Text: sentences built in memory of a fixed size, cut visibly and never overrun.
//
// Layer:   base
// Threads: a builder belongs to one thread.
// SPDX-License-Identifier: MIT

#include "base/text.h"

#include <stdio.h>
#include <string.h>

void kwi_text_init(kwi_text *text, char *buffer, size_t size)
{
    *text = (kwi_text){.buffer = buffer, .size = size};
    if (size > 0) {
        buffer[0] = '\0';
    }
}

static void mark_cut(kwi_text *text)
{
    static const char dots[] = "...";
    if (text->size >= sizeof dots) {
        memcpy(text->buffer + text->size - sizeof dots, dots, sizeof dots);
    }
    text->length = text->size > 0 ? text->size - 1 : 0;
}

// Counts what was written behind the text, as far as there was room.
static void count_added(kwi_text *text, size_t length)
{
    text->wanted += length;
    if (text->wanted < text->size) {
        text->length += length;
    } else {
        mark_cut(text);
    }
}

void kwi_text_add_list(kwi_text *text, const char *format, va_list arguments)
{
    size_t room = text->size - text->length;
    char *end = text->size > 0 ? text->buffer + text->length : NULL;
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the caller has started it
    int length = vsnprintf(end, room, format, arguments);
    if (length >= 0) { // an encoding error adds nothing
        count_added(text, (size_t)length);
    }
}

void kwi_text_add(kwi_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    kwi_text_add_list(text, format, arguments);
    va_end(arguments);
}

void kwi_text_add_bytes(kwi_text *text, const char *bytes, size_t length)
{
    size_t room = text->size - text->length; // with the terminating zero; 0 without a buffer
    if (room > 0) {
        size_t fitting = length < room ? length : room - 1;
        memcpy(text->buffer + text->length, bytes, fitting);
        text->buffer[text->length + fitting] = '\0';
    }
    count_added(text, length);
}

void kwi_text_add_string(kwi_text *text, const char *string)
{
    kwi_text_add_bytes(text, string, strlen(string));
}

// Bytes for the sentence; an error of an older header has no position, or less text.
static size_t sentence_size(const kw_error *err)
{
    if (err == NULL || err->struct_size <= offsetof(kw_error, text)) {
        return 0;
    }
    size_t size = err->struct_size - offsetof(kw_error, text);
    return size < KW_ERROR_BYTES ? size : KW_ERROR_BYTES;
}

void kwi_fail_place(kw_error *err, uint32_t position)
{
    if (err != NULL && err->struct_size >= offsetof(kw_error, position) + sizeof err->position) {
        err->position = position;
    }
}

static KW_PRINTF(3, 0) void fail_list(kw_error *err, kw_status status, const char *format,
                                      va_list arguments)
{
    size_t size = sentence_size(err);
    if (size == 0) {
        return;
    }
    kwi_text text;
    kwi_text_init(&text, err->text, size);
    err->status = status;
    kwi_fail_place(err, KW_NO_POSITION);
    kwi_text_add_list(&text, format, arguments);
}

kw_status kwi_fail(kw_error *err, kw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, status, format, arguments);
    va_end(arguments);
    return status;
}

kw_status kw_error_set(kw_error *err, kw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, status, format, arguments);
    va_end(arguments);
    return status;
}

void kwi_fail_more(kw_error *err, const char *format, ...)
{
    size_t size = sentence_size(err);
    size_t length = size > 0 ? strnlen(err->text, size) : 0;
    if (length == size) {
        return; // nothing to write to, or not terminated: no text of ours
    }
    kwi_text more;
    kwi_text_init(&more, err->text + length, size - length);
    va_list arguments;
    va_start(arguments, format);
    kwi_text_add_list(&more, format, arguments);
    va_end(arguments);
}

kw_status kwi_fail_memory(kw_error *err)
{
    return kwi_fail(err, KW_NO_MEMORY, "memory could not be allocated; nothing was changed");
}
