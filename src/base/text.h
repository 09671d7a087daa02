// Text: sentences built in memory of a fixed size, cut visibly and never overrun.
//
// Layer:   base
// Threads: a builder belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_TEXT_H
#define KWI_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

// X1  `buffer` is terminated at all times when `size` is not 0.
// X2  A text that did not fit ends in "..." and takes no more.
typedef struct kwi_text {
    char *buffer;
    size_t size;   // bytes of buffer, with the terminating zero
    size_t length; // bytes written, without it
    size_t wanted; // bytes the whole text would have had
} kwi_text;

void kwi_text_init(kwi_text *text, char *buffer, size_t size);
void kwi_text_add(kwi_text *text, const char *format, ...) KW_PRINTF(2, 3);
void kwi_text_add_list(kwi_text *text, const char *format, va_list arguments) KW_PRINTF(2, 0);

// The same without a format, for texts that are made often. No zero among the bytes.
void kwi_text_add_bytes(kwi_text *text, const char *bytes, size_t length);
void kwi_text_add_string(kwi_text *text, const char *string);

// Writes status and sentence, if `err` is not NULL, and returns the status. No allocation.
kw_status kwi_fail(kw_error *err, kw_status status, const char *format, ...) KW_PRINTF(3, 4);

// After a failure: names the byte of a parsed text that is wrong. Without it there is no position.
void kwi_fail_place(kw_error *err, uint32_t position);

// Adds to the sentence of a failure, as far as there is room.
void kwi_fail_more(kw_error *err, const char *format, ...) KW_PRINTF(2, 3);

// The sentence of a failed allocation.
kw_status kwi_fail_memory(kw_error *err);

#endif // KWI_BASE_TEXT_H
