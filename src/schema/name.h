// Operator names: "namespace::name.overload", their rules and their parts.
//
// Layer:   schema
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#ifndef KWI_SCHEMA_NAME_H
#define KWI_SCHEMA_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

// The longest whole name, without its terminating zero.
#define KWI_NAME_MAX 255

// A piece of a text that somebody else owns. Absent: both are 0.
typedef struct kwi_span {
    uint32_t offset;
    uint32_t length;
} kwi_span;

// The parts of a valid name; an absent namespace or overload is an absent span.
typedef struct kwi_name {
    kwi_span ns;
    kwi_span base;
    kwi_span overload;
} kwi_name;

// Accepts "ns::name.overload", "ns::name", "name.overload" and "name", written without blanks: the
// one spelling under which an operator is found. Otherwise KW_MALFORMED_NAME, with the byte.
KW_NODISCARD kw_status kwi_name_check(const char *name, kw_error *err);

// The same, and splits the name.
KW_NODISCARD kw_status kwi_name_parse(const char *name, kwi_name *out_parts, kw_error *err);

// Splits a name that kwi_name_check() accepted.
kwi_name kwi_name_split(const char *name);

// Accepts an identifier that is no word of the language: a namespace, such as a library's.
bool kwi_name_is_identifier(const char *text, size_t length);

// Says what is wrong with an overload name, or NULL. "default" means the absent overload, and
// names with two leading underscores are kept for the binding's own attributes.
const char *kwi_name_overload_problem(const char *text, size_t length);

// Is one of the words that can name nothing, such as "if" and "None".
bool kwi_name_is_keyword(const char *text, size_t length);

// Identifiers are ASCII: a letter or an underscore, then also digits. Of each byte: whether one may
// begin with it, and whether one may go on with it. A table, since names are read byte by byte.
#define KWI_NAME_STARTS 1
#define KWI_NAME_CONTINUES 2
extern const uint8_t kwi_name_bytes[256];

static inline bool kwi_name_starts_with(char c)
{
    return (kwi_name_bytes[(unsigned char)c] & KWI_NAME_STARTS) != 0;
}

static inline bool kwi_name_continues_with(char c)
{
    return (kwi_name_bytes[(unsigned char)c] & KWI_NAME_CONTINUES) != 0;
}

#endif // KWI_SCHEMA_NAME_H
