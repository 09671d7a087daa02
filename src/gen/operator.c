// Operators as the generator sees them: a schema, and the C names that come of it.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/operator.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cli/schema.h"
#include "gen/word.h"

// Bytes of a mangled code that stay readable; a longer one is cut here.
#define MANGLED_MAX 40

const char *gen_identifier(gen_arena *arena, const char *text)
{
    char *name = gen_format(arena, "%s%s", isdigit((unsigned char)text[0]) ? "_" : "", text);
    for (char *c = name; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    return name;
}

static const char *view_copy(gen_arena *arena, kw_text_view view)
{
    return gen_copy(arena, view.data, view.length);
}

static const char *make_id(gen_arena *arena, const kw_schema *schema)
{
    const char *ns = view_copy(arena, kw_schema_namespace(schema));
    const char *base = view_copy(arena, kw_schema_base_name(schema));
    const char *overload = view_copy(arena, kw_schema_overload(schema));
    return gen_identifier(
        arena, gen_format(arena, "%s_%s%s%s", ns, base, overload[0] != '\0' ? "_" : "", overload));
}

const char *gen_plain_code(gen_arena *arena, const char *code)
{
    gen_text plain = {.data = NULL};
    const char *at = code;
    while (*at != '>') {
        const gen_form *form = gen_form_find(at);
        gen_add(&plain, "%s", gen_form_plain(form)->letter);
        at += strlen(form->letter);
    }
    gen_add(&plain, "%s", at);
    const char *found = strcmp(plain.data, code) != 0 ? gen_format(arena, "%s", plain.data) : NULL;
    gen_text_fini(&plain);
    return found;
}

// FNV-1a.
static uint32_t hash(const char *text)
{
    uint32_t sum = 2166136261u;
    for (; *text != '\0'; text++) {
        sum = (sum ^ (unsigned char)*text) * 16777619u;
    }
    return sum;
}

const char *gen_mangled(gen_arena *arena, const char *code)
{
    gen_text name = {.data = NULL};
    const char *end = strchr(code, '>');
    gen_add(&name, "%s", code[0] == '>' ? "0" : ""); // two "_" in a row are C++'s
    for (const char *at = code; *at != '\0';) {
        const gen_form *form = at == end ? NULL : gen_form_find(at);
        gen_add(&name, "%s", form != NULL ? form->mangled : "_");
        at += form != NULL ? strlen(form->letter) : 1;
    }
    gen_add(&name, "%s", end[1] == '\0' ? "0" : "");
    const char *mangled =
        name.length <= MANGLED_MAX
            ? gen_format(arena, "%s", name.data)
            : gen_format(arena, "%.*s_%08" PRIx32, MANGLED_MAX - 9, name.data, hash(code));
    gen_text_fini(&name);
    return mangled;
}

static void read_codes(gen_operator *op, gen_arena *arena)
{
    size_t length = kw_schema_c_signature(op->schema, NULL, 0);
    if (length == 0) {
        return;
    }
    char *code = gen_allocate(arena, length + 1);
    (void)kw_schema_c_signature(op->schema, code, length + 1);
    op->signature = code;
    op->mangled = gen_mangled(arena, code);
    op->plain_signature = gen_plain_code(arena, code);
    op->plain_mangled =
        op->plain_signature != NULL ? gen_mangled(arena, op->plain_signature) : NULL;
}

// Reads the forms of the arguments, or of the returns, off the code; returns what is left of it.
static const char *read_forms(const char *code, gen_argument *args, uint32_t count)
{
    for (uint32_t i = 0; code != NULL && i < count; i++) {
        args[i].form = gen_form_find(code);
        code += strlen(args[i].form->letter);
    }
    return code;
}

static void read_arguments(gen_operator *op, gen_arena *arena)
{
    op->arg_count = kw_schema_arg_count(op->schema);
    op->return_count = kw_schema_return_count(op->schema);
    op->args = gen_allocate(arena, op->arg_count * sizeof *op->args);
    op->returns = gen_allocate(arena, op->return_count * sizeof *op->returns);
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const kw_argument arg = kw_schema_arg(op->schema, i);
        op->args[i].word = view_copy(arena, arg.name);
        op->args[i].is_written = arg.written;
    }
    for (uint32_t i = 0; i < op->return_count; i++) {
        op->returns[i].word = view_copy(arena, kw_schema_return(op->schema, i).name);
    }
    const char *code = read_forms(op->signature, op->args, op->arg_count);
    (void)read_forms(code != NULL ? code + 1 : NULL, op->returns, op->return_count);
}

// Whether one of the parameters before `end` has the name.
static bool is_used(const gen_operator *op, const gen_argument *end, const char *name)
{
    for (uint32_t i = 0; i < op->arg_count; i++) {
        if (&op->args[i] == end) {
            return false;
        }
        if (strcmp(op->args[i].name, name) == 0) {
            return true;
        }
    }
    for (const gen_argument *result = op->returns; result != end; result++) {
        if (strcmp(result->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void name_parameters(gen_operator *op, gen_arena *arena, const gen_taken *taken)
{
    for (uint32_t i = 0; i < op->arg_count + op->return_count; i++) {
        bool is_return = i >= op->arg_count;
        gen_argument *arg = is_return ? &op->returns[i - op->arg_count] : &op->args[i];
        const char *name = arg->word;
        if (is_return) {
            name = name[0] != '\0' ? gen_format(arena, "out_%s", name)
                                   : gen_format(arena, "out_%u", (unsigned)(i - op->arg_count));
        }
        bool is_taken =
            !is_return && gen_word_is_taken(name, taken->tensor_type, taken->tensor_keys);
        name = is_taken ? gen_format(arena, "%s_", name) : name;
        while (is_used(op, arg, name)) {
            name = gen_format(arena, "%s_", name);
        }
        arg->name = name;
    }
}

void gen_operator_init(gen_operator *op, gen_arena *arena, kw_schema *take_schema,
                       const gen_taken *taken)
{
    *op = (gen_operator){.schema = take_schema, .comment = ""};
    op->name = kw_schema_name(take_schema);
    size_t length = kw_schema_format(take_schema, NULL, 0);
    char *text = gen_allocate(arena, length + 1);
    (void)kw_schema_format(take_schema, text, length + 1);
    op->text = text;
    op->id = make_id(arena, take_schema);
    op->macro = gen_upper(arena, op->id);
    read_codes(op, arena);
    read_arguments(op, arena);
    name_parameters(op, arena, taken);
}

void gen_operator_fini(gen_operator *op)
{
    kw_schema_destroy(op->schema);
    op->schema = NULL;
}

const char *gen_parameter(gen_arena *arena, const gen_argument *arg, const char *tensor_type,
                          const char *name)
{
    if (arg->form->type == NULL) {
        return gen_format(arena, "%s *%s", tensor_type, name);
    }
    return gen_format(arena, "%s%s", arg->form->type, name);
}

const char *gen_out_parameter(gen_arena *arena, const gen_argument *result, const char *tensor_type,
                              const char *name)
{
    return gen_parameter(arena, result, tensor_type, gen_format(arena, "*%s", name));
}
