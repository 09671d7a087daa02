// Descriptions: the comment on an operator's main function.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "gen/part.h"

// Adds "`a`, `b` and `c`".
static void add_enumeration(gen_text *out, const gen_argument *args, uint32_t count,
                            bool written_only)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += !written_only || args[i].is_written ? 1 : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!written_only || args[i].is_written) {
            left--;
            gen_add(out, "`%s`%s", args[i].name, left > 1 ? ", " : left == 1 ? " and " : "");
        }
    }
}

static bool has_written(const gen_operator *op)
{
    for (uint32_t i = 0; i < op->arg_count; i++) {
        if (op->args[i].is_written) {
            return true;
        }
    }
    return false;
}

// What callers have to know of arguments and returns.
static void add_ownership(gen_text *out, const gen_operator *op)
{
    gen_text text = {.data = NULL};
    if (op->arg_count > 0) {
        gen_add(&text, "Arguments are borrowed for the call. ");
    }
    if (has_written(op)) {
        gen_add(&text, "It writes to ");
        add_enumeration(&text, op->args, op->arg_count, true);
        gen_add(&text, ". ");
    }
    if (op->return_count > 0) {
        gen_add(&text, "What KW_OK leaves in ");
        add_enumeration(&text, op->returns, op->return_count, false);
        gen_add(&text, " is the caller's.");
    }
    if (text.length > 0) {
        gen_add(out, "///\n");
        gen_add_comment(out, "///", text.data);
    }
    gen_text_fini(&text);
}

void gen_add_description(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    if (op->comment[0] == '\0') {
        gen_add_comment(out, "///", gen_format(&unit->arena, "Calls %s.", op->name));
    }
    for (const char *line = op->comment; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        gen_add_comment(out, "///", gen_copy(&unit->arena, line, length));
        line += length + 1;
    }
    gen_add(out, "///\n");
    gen_add_comment(out, "///    ", op->text);
    add_ownership(out, op);
    gen_add(out, "///\n/// @threads any; wait-free but for the kernel\n");
}
