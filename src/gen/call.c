// Calls and redispatches, in the form of Note [Typed wrappers] (keyway/inline/call.h).
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/part.h"

void gen_add_parameters(gen_words *words, gen_unit *unit, const gen_operator *op, gen_kind kind)
{
    const char *type = unit->options.tensor_type;
    for (uint32_t i = 0; i < op->arg_count; i++) {
        gen_argument arg = op->args[i];
        arg.form = kind == GEN_PLAIN ? gen_form_plain(arg.form) : arg.form;
        gen_word_add(words, gen_parameter(&unit->arena, &arg, type, arg.name));
    }
    for (uint32_t i = 0; i < op->return_count; i++) {
        const gen_argument *result = &op->returns[i];
        gen_word_add(words, gen_out_parameter(&unit->arena, result, type, result->name));
    }
}

void gen_add_names(gen_words *words, const gen_operator *op)
{
    for (uint32_t i = 0; i < op->arg_count; i++) {
        gen_word_add(words, op->args[i].name);
    }
    for (uint32_t i = 0; i < op->return_count; i++) {
        gen_word_add(words, op->returns[i].name);
    }
}

// What a function's own parameters come after.
typedef enum leading {
    NOTHING = 0,
    OP = 1,
    KEYS = 2,
    OP_AND_KEYS = OP | KEYS
} leading;

// "static inline ... id_suffix(leading, parameters)" up to the opening brace.
static void add_head(gen_text *out, gen_unit *unit, const gen_operator *op, const char *suffix,
                     leading first, gen_kind kind)
{
    gen_words words = {.count = 0};
    if ((first & OP) != 0) {
        gen_word_add(&words, "const kw_operator *op");
    }
    if ((first & KEYS) != 0) {
        gen_word_add(&words, "kw_keyset keys");
    }
    gen_add_parameters(&words, unit, op, kind);
    if (words.count == 0) {
        gen_word_add(&words, "void");
    }
    gen_add_definition(out, "static inline KW_NODISCARD kw_status",
                       gen_format(&unit->arena, "%s_%s", op->id, suffix), &words);
}

// What a function passes on: `first`, `second` if it is not NULL, and its own parameters.
static gen_words passed(const gen_operator *op, const char *first, const char *second)
{
    gen_words words = {.count = 0};
    gen_word_add(&words, first);
    if (second != NULL) {
        gen_word_add(&words, second);
    }
    gen_add_names(&words, op);
    return words;
}

// The call of the entry's kernel.
static void add_kernel_call(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    gen_words words = {.count = 0};
    gen_word_add(&words, "entry->kernel");
    gen_word_add(&words, "keys");
    gen_add_names(&words, op);
    gen_add_cast_call(out, "kw_status status =", gen_format(&unit->arena, "%s_kernel", op->id),
                      "entry->function", &words);
}

static void add_begin(gen_text *out)
{
    gen_add(out, "    kw_call call = kw_call_begin(op);\n"
                 "    if (KW_UNLIKELY(call.table == NULL)) {\n"
                 "        return kw_call_refused(op);\n"
                 "    }\n"
                 "    uint32_t depth = kw_call_depth(call);\n");
}

#define RETURN_STATUS                                                                              \
    "    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);\n}\n"

static void add_call_on(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    add_head(out, unit, op, "call_on", OP, GEN_OWN);
    add_begin(out);
    gen_add_argument_keys(out, unit, op);
    gen_add(out, "    kw_keyset keys;\n"
                 "    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);\n");
    add_kernel_call(out, unit, op);
    gen_add(out, "    kw_call_end(call, depth);\n" RETURN_STATUS);
}

static void add_redispatch_on(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    add_head(out, unit, op, "redispatch_on", OP_AND_KEYS, GEN_OWN);
    gen_add(out, "    const kw_table *table = kw_redispatch_table(op);\n"
                 "    if (KW_UNLIKELY(table == NULL)) {\n");
    const gen_words words = passed(op, "op", "keys");
    gen_add_inner_call(out, "return", gen_format(&unit->arena, "%s_redispatch_outside", op->id),
                       &words);
    gen_add(out, "    }\n"
                 "    const kw_entry *entry = kw_redispatch_select(table, keys);\n");
    add_kernel_call(out, unit, op);
    gen_add(out, RETURN_STATUS);
}

void gen_add_redispatch_outside(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    gen_words words = {.count = 0};
    gen_word_add(&words, "const kw_operator *op");
    gen_word_add(&words, "kw_keyset keys");
    gen_add_parameters(&words, unit, op, GEN_OWN);
    gen_add(out, "\n");
    gen_add_definition(out, "kw_status", gen_format(&unit->arena, "%s_redispatch_outside", op->id),
                       &words);
    add_begin(out);
    gen_add(out, "    const kw_entry *entry = kw_redispatch_select(call.table, keys);\n");
    add_kernel_call(out, unit, op);
    gen_add(out, "    kw_call_end(call, depth);\n" RETURN_STATUS);
}

// The function that finds the default dispatcher's operator and passes on to `suffix`_on.
static void add_default(gen_text *out, gen_unit *unit, const gen_operator *op, const char *suffix,
                        const char *keys, gen_kind kind)
{
    add_head(out, unit, op, suffix, keys != NULL ? KEYS : NOTHING, kind);
    gen_words cached = {.count = 0};
    gen_word_add(&cached, gen_format(&unit->arena, "&%s_cached", op->id));
    gen_add_call(out, "kw_handle_answer found =", "kw_handle_get", &cached);
    gen_add(out, "    if (KW_UNLIKELY(found.op == NULL)) {\n"
                 "        return found.status;\n"
                 "    }\n");
    const gen_words words = passed(op, "found.op", keys);
    gen_add_call(out, "return", gen_format(&unit->arena, "%s_%s_on", op->id, suffix), &words);
    gen_add(out, "}\n");
}

void gen_add_calls(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    gen_add(out, "\n");
    gen_add_description(out, unit, op);
    add_call_on(out, unit, op);
    gen_add(out, "\n/// The same on the default dispatcher.\n");
    add_default(out, unit, op, "call", NULL, GEN_OWN);
    gen_add(out, "\n");
    gen_add_comment(out, "///",
                    "Goes on from a kernel, whose self->op is `op`: runs the kernel for `keys`, as "
                    "given, in the call that the thread is inside.");
    add_redispatch_on(out, unit, op);
    gen_add(out, "\n/// The same on the default dispatcher.\n");
    add_default(out, unit, op, "redispatch", "keys", GEN_OWN);
}

// Makes a symbolic value of each plain one that has to become one.
static void add_conversions(gen_text *out, const gen_operator *op)
{
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const gen_argument *arg = &op->args[i];
        if (gen_form_plain(arg->form) == arg->form) {
            continue;
        }
        unsigned index = i;
        bool is_optional = arg->form->letter[0] == '?';
        gen_add(out, "    %ssymbolic_%u;\n", arg->form->type, index);
        if (is_optional) {
            gen_add(out, "    %ssymbolic_%u_value;\n", gen_form_base(arg->form)->type, index);
        }
        gen_words words = {.count = 0};
        gen_arena arena = {.chunks = NULL};
        gen_word_add(&words, arg->name);
        gen_word_add(&words, gen_format(&arena, "%u", index));
        if (is_optional) {
            gen_word_add(&words, gen_format(&arena, "&symbolic_%u_value", index));
        }
        gen_word_add(&words, gen_format(&arena, "&symbolic_%u", index));
        gen_add_try(out, gen_format(&arena, "kw_plain_to_%s", arg->form->word), &words);
        gen_arena_fini(&arena);
    }
}

static void add_call_plain_on(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    add_head(out, unit, op, "call_plain_on", OP, GEN_PLAIN);
    add_conversions(out, op);
    gen_words words = {.count = 0};
    gen_word_add(&words, "op");
    for (uint32_t i = 0; i < op->arg_count; i++) {
        bool is_plain = gen_form_plain(op->args[i].form) == op->args[i].form;
        gen_word_add(&words, is_plain ? op->args[i].name
                                      : gen_format(&unit->arena, "symbolic_%u", (unsigned)i));
    }
    for (uint32_t i = 0; i < op->return_count; i++) {
        gen_word_add(&words, op->returns[i].name);
    }
    gen_add_call(out, "return", gen_format(&unit->arena, "%s_call_on", op->id), &words);
    gen_add(out, "}\n");
}

void gen_add_plain_calls(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    gen_add(out, "\n");
    gen_add_comment(out, "///",
                    gen_format(&unit->arena,
                               "%s_call_on() for callers with plain integers. One below "
                               "KW_SYMINT_MIN has no symbolic form and is refused.",
                               op->id));
    add_call_plain_on(out, unit, op);
    gen_add(out, "\n/// The same on the default dispatcher.\n");
    add_default(out, unit, op, "call_plain", NULL, GEN_PLAIN);
}
