// UTF-8: where a character ends.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_UTF8_H
#define KWI_SCHEMA_UTF8_H

#include <stddef.h>
#include <stdint.h>

// The bytes of the character that `text`, of `length` bytes, begins with; 0 if that is none: too
// short, longer than need be, half of a pair of surrogates, or beyond U+10FFFF.
uint32_t kwi_utf8_length(const char *text, size_t length);

#endif // KWI_SCHEMA_UTF8_H
