// Layout: where lines break, so that clang-format with the project's settings would change nothing.
//
// clang-format gives each line break a penalty and takes the layout with the least. For the few
// forms of generated code it is enough to weigh two to four layouts of a list in parentheses.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/layout.h"

#include <stdbool.h>
#include <string.h>

// clang-format's penalties (version 14, LLVM style), found by comparing with what it does. The
// lines of a preprocessor directive keep two columns for the backslash.
#define INDENT ((size_t)4)
#define MACRO_COLUMNS (GEN_COLUMNS - 2)
#define OVERFLOW_PENALTY 1000000 // of each column too many
#define FIRST_BREAK_PENALTY 15   // of the first break in a pair of parentheses, or of a statement
#define COMMA_PENALTY 20
#define PAREN_PENALTY 25       // of a break behind "(" in a call
#define INNER_PAREN_PENALTY 30 // of the same in a call that is an argument
#define PARAMETER_PENALTY 79   // of one in a declaration
#define RETURN_TYPE_PENALTY 50 // of a return type on a line of its own
#define ATTRIBUTE_PENALTY 25   // in addition, if an attribute is part of it
#define ASSIGNMENT_PENALTY 2   // of a break behind "="
#define CAST_PENALTY 100       // of a break behind a cast

// One way to write "head(words)tail".
typedef struct layout {
    const char *head;    // up to the parenthesis; may hold line breaks
    bool breaks_paren;   // the words begin on a line of their own
    size_t paren_indent; // of that line
    size_t penalty;      // of the breaks in `head` and of the one behind the parenthesis
} layout;

// What all ways have in common.
typedef struct parentheses {
    const gen_words *words;
    const char *tail; // from the closing parenthesis on
    size_t columns;   // that a line may have; the last one may always have GEN_COLUMNS
} parentheses;

void gen_word_add(gen_words *list, const char *word)
{
    if (list->count < GEN_WORDS_MAX) {
        list->words[list->count++] = word;
    }
}

static size_t column_after(const char *text)
{
    const char *end = strrchr(text, '\n');
    return strlen(end != NULL ? end + 1 : text);
}

static size_t overflow(size_t column, size_t columns)
{
    return column > columns ? (column - columns) * OVERFLOW_PENALTY : 0;
}

// Moves `column` over a word and what follows it; whether the word begins a line.
static bool place(const parentheses *list, size_t index, size_t *column, size_t indent)
{
    bool is_last = index + 1 == list->words->count;
    size_t length = strlen(list->words->words[index]) + (is_last ? strcspn(list->tail, "\n") : 1);
    size_t columns = is_last ? GEN_COLUMNS : list->columns;
    bool breaks = index > 0 && *column + 1 + length > columns;
    *column = (breaks ? indent : *column + (index > 0 ? 1 : 0)) + length;
    return breaks;
}

// The penalty of the words' line breaks.
static size_t weigh_words(const parentheses *list, size_t indent)
{
    size_t penalty = 0;
    size_t column = indent;
    for (size_t i = 0; i < list->words->count; i++) {
        bool is_last = i + 1 == list->words->count;
        penalty += place(list, i, &column, indent) ? COMMA_PENALTY : 0;
        penalty += overflow(column, is_last ? GEN_COLUMNS : list->columns);
    }
    return penalty;
}

static void write_words(gen_text *out, const parentheses *list, size_t indent)
{
    size_t column = indent;
    for (size_t i = 0; i < list->words->count; i++) {
        bool breaks = place(list, i, &column, indent);
        if (i > 0) {
            gen_add(out, breaks ? ",\n%*s" : ", ", (int)indent, "");
        }
        gen_add(out, "%s", list->words->words[i]);
    }
}

static size_t weigh(const layout *way, const parentheses *list)
{
    size_t column = column_after(way->head) + 1;
    size_t indent = way->breaks_paren ? way->paren_indent : column;
    size_t penalty = overflow(column, list->columns) + weigh_words(list, indent);
    bool breaks = penalty > 0 || way->breaks_paren;
    return way->penalty + penalty + (breaks ? FIRST_BREAK_PENALTY : 0);
}

static void write(gen_text *out, const layout *way, const parentheses *list)
{
    size_t indent = way->breaks_paren ? way->paren_indent : column_after(way->head) + 1;
    gen_add(out, "%s(", way->head);
    if (way->breaks_paren) {
        gen_add(out, "\n%*s", (int)indent, "");
    }
    write_words(out, list, indent);
    gen_add(out, "%s", list->tail);
}

// Writes the lightest of several layouts; of equal ones the first.
static void write_lightest(gen_text *out, const layout *ways, size_t count, const parentheses *list)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = weigh(&ways[i], list) < weigh(&ways[best], list) ? i : best;
    }
    write(out, &ways[best], list);
}

// "type name(words)tail": a function is declared in one way, whatever follows.
static void add_function(gen_text *out, const char *type, const char *name, const parentheses *list)
{
    gen_arena arena = {.chunks = NULL};
    const char *line = gen_format(&arena, "%s %s", type, name);
    const char *broken = gen_format(&arena, "%s\n%s", type, name);
    bool has_attribute = strstr(type, "KW_") != NULL;
    size_t own_line = RETURN_TYPE_PENALTY + (has_attribute ? ATTRIBUTE_PENALTY : 0);
    const layout ways[] = {
        {line, false, 0, 0},
        {line, true, INDENT, PARAMETER_PENALTY},
        {broken, false, 0, own_line},
        {broken, true, INDENT, own_line + PARAMETER_PENALTY},
    };
    write_lightest(out, ways, 4, list);
    gen_arena_fini(&arena);
}

void gen_add_definition(gen_text *out, const char *type, const char *name, const gen_words *words)
{
    add_function(out, type, name, &(parentheses){words, ")\n{\n", GEN_COLUMNS});
}

void gen_add_declaration(gen_text *out, const char *type, const char *name, const gen_words *words)
{
    add_function(out, type, name, &(parentheses){words, ");\n", GEN_COLUMNS});
}

void gen_add_typedef(gen_text *out, const char *name, const gen_words *words)
{
    gen_arena arena = {.chunks = NULL};
    const char *line = gen_format(&arena, "typedef kw_status (*%s)", name);
    const layout ways[] = {{line, false, 0, 0}, {line, true, INDENT, PARAMETER_PENALTY}};
    write_lightest(out, ways, 2, &(parentheses){words, ");\n", GEN_COLUMNS});
    gen_arena_fini(&arena);
}

// A statement, which may break behind "=" if `head` has one. `split`, if not NULL, is the callee
// with a line break in it.
static void add_statement(gen_text *out, size_t indent, const char *head, const char *callee,
                          const char *split, const gen_words *words)
{
    gen_arena arena = {.chunks = NULL};
    bool assigns = head[strlen(head) - 1] == '=';
    const char *blanks = gen_format(&arena, "%*s", (int)indent, "");
    const char *line = gen_format(&arena, "%s%s %s", blanks, head, callee);
    const char *broken = gen_format(&arena, "%s%s\n    %s%s", blanks, head, blanks, callee);
    const char *twice =
        gen_format(&arena, "%s%s\n    %s%s", blanks, head, blanks, split != NULL ? split : "");
    size_t own_line = ASSIGNMENT_PENALTY + FIRST_BREAK_PENALTY;
    const layout ways[] = {
        {line, false, 0, 0},
        {line, true, indent + INDENT, PAREN_PENALTY},
        {broken, false, 0, own_line},
        {broken, true, indent + 2 * INDENT, own_line + PAREN_PENALTY},
        {twice, false, 0, own_line + CAST_PENALTY},
    };
    size_t count = !assigns ? 2 : split == NULL ? 4 : 5;
    write_lightest(out, ways, count, &(parentheses){words, ");\n", GEN_COLUMNS});
    gen_arena_fini(&arena);
}

void gen_add_call(gen_text *out, const char *head, const char *callee, const gen_words *words)
{
    add_statement(out, INDENT, head, callee, NULL, words);
}

void gen_add_inner_call(gen_text *out, const char *head, const char *callee, const gen_words *words)
{
    add_statement(out, 2 * INDENT, head, callee, NULL, words);
}

void gen_add_cast_call(gen_text *out, const char *head, const char *type, const char *pointer,
                       const gen_words *words)
{
    gen_arena arena = {.chunks = NULL};
    const char *callee = gen_format(&arena, "((%s)%s)", type, pointer);
    const char *split = gen_format(&arena, "((%s)\n             %s)", type, pointer);
    add_statement(out, INDENT, head, callee, split, words);
    gen_arena_fini(&arena);
}

void gen_add_object(gen_text *out, const char *head, const char *a, const char *b, const char *c)
{
    gen_arena arena = {.chunks = NULL};
    const char *last = c != NULL ? gen_format(&arena, ", %s", c) : "";
    size_t column = strlen(head) + strlen(" = {");
    size_t length = strlen(a) + strlen(", ") + strlen(b) + strlen(last) + strlen("};");
    if (column + length <= GEN_COLUMNS) {
        gen_add(out, "%s = {%s, %s%s};\n", head, a, b, last);
    } else if (c == NULL && column + strlen(a) + 1 <= GEN_COLUMNS) {
        gen_add(out, "%s = {%s,\n%*s%s};\n", head, a, (int)column, "", b);
    } else if (INDENT + length <= GEN_COLUMNS) {
        gen_add(out, "%s = {\n    %s, %s%s};\n", head, a, b, last);
    } else {
        gen_add(out, "%s = {\n    %s,\n    %s%s%s};\n", head, a, b, c != NULL ? ",\n    " : "",
                c != NULL ? c : "");
    }
    gen_arena_fini(&arena);
}

void gen_add_try(gen_text *out, const char *callee, const gen_words *words)
{
    gen_arena arena = {.chunks = NULL};
    const char *line = gen_format(&arena, "    KW_THUNK_TRY(%s", callee);
    const char *broken = gen_format(&arena, "    KW_THUNK_TRY(\n        %s", callee);
    const layout ways[] = {
        {line, false, 0, 0},
        {broken, false, 0, FIRST_BREAK_PENALTY},
        {line, true, 2 * INDENT, INNER_PAREN_PENALTY},
    };
    write_lightest(out, ways, 3, &(parentheses){words, "));\n", GEN_COLUMNS});
    gen_arena_fini(&arena);
}

// Writes the lines of a macro, with the backslashes in the last column.
static void add_macro_lines(gen_text *out, const char *lines)
{
    for (const char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_last = line[length] == '\0';
        gen_add(out, "%.*s", (int)length, line);
        if (!is_last) {
            size_t blanks = length + 1 < GEN_COLUMNS ? GEN_COLUMNS - 1 - length : 1;
            gen_add(out, "%*s\\", (int)blanks, "");
        }
        gen_add(out, "\n");
        line += length + (is_last ? 0 : 1);
    }
}

// The length of the longest part of a string literal's inside that fits `room` and ends behind a
// blank; all of it if it fits. A part without a blank is longer.
static size_t part_length(const char *inside, size_t length, size_t room)
{
    if (length <= room) {
        return length;
    }
    size_t best = 0;
    for (size_t i = 0; i < length && (i < room || best == 0); i++) {
        best = inside[i] == ' ' ? i + 1 : best;
    }
    return best > 0 ? best : length;
}

void gen_add_macro_text(gen_text *out, const char *name, const char *literal)
{
    gen_text lines = {.data = NULL};
    const size_t room = MACRO_COLUMNS - INDENT - strlen("\"\"");
    const char *inside = literal + 1;
    size_t left = strlen(literal) - strlen("\"\"");
    gen_add(&lines, "#define %s", name);
    if (lines.length + 1 + strlen(literal) <= GEN_COLUMNS) {
        gen_add(&lines, " %s", literal);
        left = 0;
    } else if (literal[0] != '"') {
        gen_add(&lines, "\n    %s", literal);
        left = 0;
    }
    while (left > 0) {
        size_t length = part_length(inside, left, room);
        gen_add(&lines, "\n    \"%.*s\"", (int)length, inside);
        left -= length;
        inside += length;
    }
    add_macro_lines(out, lines.data);
    gen_text_fini(&lines);
}

void gen_add_macro_call(gen_text *out, const char *name, const gen_words *parameters,
                        const gen_words *arguments)
{
    gen_arena arena = {.chunks = NULL};
    gen_text head = {.data = NULL};
    gen_text lines = {.data = NULL};
    const layout plain = {gen_format(&arena, "#define %s", name), false, 0, 0};
    write(&head, &plain, &(parentheses){parameters, ")", MACRO_COLUMNS});
    const parentheses list = {arguments, ")", MACRO_COLUMNS};
    const layout line = {gen_format(&arena, "%s %s_at", head.data, name), false, 0, 0};
    const char *broken = gen_format(&arena, "%s\n    %s_at", head.data, name);
    const layout ways[] = {{broken, false, 0, 0}, {broken, true, 2 * INDENT, PAREN_PENALTY}};
    if (weigh(&line, &list) == 0) {
        write(&lines, &line, &list);
    } else {
        write_lightest(&lines, ways, 2, &list);
    }
    add_macro_lines(out, lines.data);
    gen_text_fini(&head);
    gen_text_fini(&lines);
    gen_arena_fini(&arena);
}

void gen_add_comment(gen_text *out, const char *prefix, const char *paragraph)
{
    size_t column = 0;
    for (const char *word = paragraph; *word != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        if (column > 0 && column + 1 + length > GEN_COLUMNS) {
            gen_add(out, "\n");
            column = 0;
        }
        if (column == 0) {
            gen_add(out, "%s", prefix);
            column = strlen(prefix);
        }
        // A backslash at the end of a line would make the next one part of the comment.
        bool is_escape = length > 0 && word[length - 1] == '\\';
        gen_add(out, " %.*s%s", (int)(length - (is_escape ? 1 : 0)), word, is_escape ? "/" : "");
        column += 1 + length;
        word += length;
    }
    gen_add(out, "\n");
}
