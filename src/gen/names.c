// Names: whether two operators would give something in C the same one.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"
#include "gen/constant.h"
#include "gen/unit.h"

typedef struct named {
    const char *text;
    const gen_operator *op; // NULL: of the whole unit
} named;

typedef struct name_set {
    named *list;
    size_t count;
    size_t capacity;
} name_set;

static void add_name(name_set *names, const gen_operator *op, const char *text)
{
    if (names->count == names->capacity) {
        size_t capacity = 2 * names->capacity + 64;
        named *list = cli_allocate(capacity * sizeof *list);
        if (names->count > 0) {
            memcpy(list, names->list, names->count * sizeof *list);
        }
        free(names->list);
        names->list = list;
        names->capacity = capacity;
    }
    names->list[names->count++] = (named){text, op};
}

// All that the outputs define for one operator.
static void add_names(name_set *names, gen_arena *arena, const gen_operator *op)
{
    static const char *const plain[] = {"call_plain",      "call_plain_on", "plain_impl",
                                        "plain_kernel",    "plain_impl_at", "plain_unboxed",
                                        "plain_unboxed_at"};
    static const char *const typed[] = {"call",
                                        "call_on",
                                        "cached",
                                        "find",
                                        "handle",
                                        "impl",
                                        "kernel",
                                        "impl_at",
                                        "redispatch",
                                        "redispatch_on",
                                        "redispatch_outside",
                                        "unboxed",
                                        "unboxed_at"};
    size_t typed_count = op->signature != NULL ? sizeof typed / sizeof typed[0] : 0;
    size_t plain_count = op->plain_signature != NULL ? sizeof plain / sizeof plain[0] : 0;
    for (size_t i = 0; i < typed_count; i++) {
        add_name(names, op, gen_format(arena, "%s_%s", op->id, typed[i]));
    }
    for (size_t i = 0; i < plain_count; i++) {
        add_name(names, op, gen_format(arena, "%s_%s", op->id, plain[i]));
    }
    add_name(names, op, gen_format(arena, "%s_define", op->id));
    add_name(names, op, gen_format(arena, "%s_define_at", op->id));
    static const char *const constants[] = {"NAME", "SCHEMA", "SIGNATURE", "PLAIN_SIGNATURE"};
    for (size_t i = 0; i < 4; i++) {
        add_name(names, op, gen_format(arena, "%s_%s", op->macro, constants[i]));
    }
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const char *constant = gen_constant_name(arena, op, i);
        if (constant != NULL) {
            add_name(names, op, constant);
        }
    }
}

static uint32_t line_of(const named *name)
{
    return name->op != NULL ? name->op->line : 0;
}

// Equal names come together, in the order of the lines.
static int compare(const void *a, const void *b)
{
    const named *first = a;
    const named *second = b;
    int order = strcmp(first->text, second->text);
    uint32_t line_a = line_of(first);
    uint32_t line_b = line_of(second);
    return order != 0 ? order : line_a < line_b ? -1 : line_a > line_b ? 1 : 0;
}

// The first name of each operator that one before it has too, as an index; 0: there is none. The
// operators are numbered as in the unit.
static void find_clashes(const name_set *names, const gen_unit *unit, size_t *clashes)
{
    for (size_t i = 1; i < names->count; i++) {
        const named *found = &names->list[i];
        if (strcmp(found->text, found[-1].text) == 0 && clashes[found->op - unit->ops] == 0) {
            clashes[found->op - unit->ops] = i;
        }
    }
}

static void tell(gen_unit *unit, const gen_operator *op, const named *clash)
{
    const gen_operator *other = clash[-1].op;
    if (other == NULL) {
        gen_unit_fail(unit, op->line, op->column,
                      "`%s` would give `%s` a second meaning; choose another --name", op->name,
                      clash->text);
    } else if (strcmp(other->name, op->name) == 0) {
        gen_unit_fail(unit, op->line, op->column, "`%s` is there already, at line %" PRIu32,
                      op->name, other->line);
    } else {
        gen_unit_fail(unit, op->line, op->column,
                      "`%s` would give `%s` a second meaning, beside that of `%s` at line %" PRIu32,
                      op->name, clash->text, other->name, other->line);
    }
}

void gen_unit_check_names(gen_unit *unit)
{
    static const char *const words[] = {"define", "tensor_keys", "tensor_list_keys"};
    name_set names = {.list = NULL};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        add_name(&names, NULL, gen_format(&unit->arena, "%s_%s", unit->options.stem, words[i]));
    }
    for (size_t i = 0; i < unit->op_count; i++) {
        add_names(&names, &unit->arena, &unit->ops[i]);
    }
    qsort(names.list, names.count, sizeof *names.list, compare);
    size_t *clashes = gen_allocate(&unit->arena, unit->op_count * sizeof *clashes);
    find_clashes(&names, unit, clashes);
    for (size_t i = 0; i < unit->op_count; i++) {
        if (clashes[i] > 0) {
            tell(unit, &unit->ops[i], &names.list[clashes[i]]);
        }
    }
    free(names.list);
}
