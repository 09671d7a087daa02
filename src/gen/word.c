// Words that a parameter cannot have as its name.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/word.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

// C11, and C++ up to 20.
static const char *const keywords[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "requires",
    "reinterpret_cast",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Imaginary",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
};

// Macros of standard headers and of compilers, and what generated functions call their own.
static const char *const others[] = {
    "NULL",          "EOF",    "I",        "INFINITY", "NAN",    "assert",   "complex",
    "errno",         "linux",  "offsetof", "stderr",   "stdin",  "stdout",   "unix",
    "argument_keys", "call",   "depth",    "entry",    "found",  "keys",     "op",
    "self",          "status", "table",    "int64_t",  "size_t", "uint32_t", "uint64_t",
};

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool gen_word_is_keyword(const char *word)
{
    return is_among(word, keywords, sizeof keywords / sizeof keywords[0]);
}

bool gen_word_is_identifier(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') {
        return false;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') {
            return false;
        }
    }
    return !gen_word_is_keyword(text);
}

static bool begins_with(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

bool gen_word_is_taken(const char *word, const char *tensor_type, const char *tensor_keys)
{
    static const char *const prefixes[] = {"kw_", "kwi_", "KW_", "KWI_", "symbolic_", "__"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (begins_with(word, prefixes[i])) {
            return true;
        }
    }
    return gen_word_is_keyword(word) || is_among(word, others, sizeof others / sizeof others[0]) ||
           strcmp(word, tensor_type) == 0 ||
           (tensor_keys != NULL && strcmp(word, tensor_keys) == 0);
}
