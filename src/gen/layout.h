// Layout: where lines break, so that clang-format with the project's settings would change nothing.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_LAYOUT_H
#define KWI_GEN_LAYOUT_H

#include <stddef.h>

#include "gen/text.h"

#define GEN_COLUMNS 100

// The words of a list in parentheses: parameters or arguments, without their commas. 64 arguments,
// 16 returns and what comes before them fit.
#define GEN_WORDS_MAX 96

typedef struct gen_words {
    const char *words[GEN_WORDS_MAX]; // borrowed
    size_t count;
} gen_words;

void gen_word_add(gen_words *list, const char *word);

// "type name(words)" and then, for a definition, the opening brace on a line of its own, for a
// declaration a semicolon.
void gen_add_definition(gen_text *out, const char *type, const char *name, const gen_words *words);
void gen_add_declaration(gen_text *out, const char *type, const char *name, const gen_words *words);

// "typedef kw_status (*name)(words);"
void gen_add_typedef(gen_text *out, const char *name, const gen_words *words);

// A statement inside a function: "head callee(words);". `head` is "return" or "type name =" or
// "name =".
void gen_add_call(gen_text *out, const char *head, const char *callee, const gen_words *words);

// The same inside a statement with braces.
void gen_add_inner_call(gen_text *out, const char *head, const char *callee,
                        const gen_words *words);

// gen_add_call() with the callee "((type)pointer)".
void gen_add_cast_call(gen_text *out, const char *head, const char *type, const char *pointer,
                       const gen_words *words);

// An object of three values in braces: "head = {a, b, c};", or two, where `c` is NULL.
void gen_add_object(gen_text *out, const char *head, const char *a, const char *b, const char *c);

// "KW_THUNK_TRY(callee(words));", inside a function.
void gen_add_try(gen_text *out, const char *callee, const gen_words *words);

// "#define name literal", of which a string literal may be broken behind blanks, and "#define
// name(parameters) name_at(arguments)".
void gen_add_macro_text(gen_text *out, const char *name, const char *literal);
void gen_add_macro_call(gen_text *out, const char *name, const gen_words *parameters,
                        const gen_words *arguments);

// Comment lines of a paragraph, each with `prefix`, broken between words.
void gen_add_comment(gen_text *out, const char *prefix, const char *paragraph);

#endif // KWI_GEN_LAYOUT_H
