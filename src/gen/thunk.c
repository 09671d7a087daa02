// Thunks: boxing, unboxing and checking functions, each once for all operators of a signature.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/frame.h>

#include "gen/part.h"

// A code, taken apart.
typedef struct signature {
    const char *code;
    const char *mangled;
    const char *tensor_type;
    const gen_form *args[KW_FRAME_ARGS_MAX];
    const gen_form *returns[KW_FRAME_RETURNS_MAX];
    unsigned arg_count;
    unsigned return_count;
} signature;

static signature take_apart(gen_unit *unit, const char *code)
{
    signature made = {.code = code,
                      .mangled = gen_mangled(&unit->arena, code),
                      .tensor_type = unit->options.tensor_type};
    bool is_return = false;
    for (const char *at = code; *at != '\0';) {
        const gen_form *form = *at == '>' ? NULL : gen_form_find(at);
        if (form == NULL) {
            is_return = true;
        } else if (is_return) {
            made.returns[made.return_count++] = form;
        } else {
            made.args[made.arg_count++] = form;
        }
        at += form != NULL ? strlen(form->letter) : 1;
    }
    return made;
}

// "const kw_kernel *self, kw_keyset keys, ..." with arg_0 and out_0 as names.
static void add_parameters(gen_words *words, gen_arena *arena, const signature *s)
{
    gen_word_add(words, "const kw_kernel *self");
    gen_word_add(words, "kw_keyset keys");
    for (unsigned i = 0; i < s->arg_count; i++) {
        const gen_argument arg = {.form = s->args[i]};
        gen_word_add(words,
                     gen_parameter(arena, &arg, s->tensor_type, gen_format(arena, "arg_%u", i)));
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        const gen_argument result = {.form = s->returns[i]};
        gen_word_add(words, gen_out_parameter(arena, &result, s->tensor_type,
                                              gen_format(arena, "out_%u", i)));
    }
}

static void add_type(gen_text *out, gen_arena *arena, const signature *s)
{
    gen_words words = {.count = 0};
    add_parameters(&words, arena, s);
    gen_add_typedef(out, gen_format(arena, "function_%s", s->mangled), &words);
}

static void add_boxed_argument(gen_text *out, const gen_form *form, unsigned index)
{
    switch (form->boxing) {
    case GEN_BOX_COPY:
        gen_add(out, "    args[%u] = arg_%u;\n", index, index);
        break;
    case GEN_BOX_VALUE:
        gen_add(out, "    args[%u] = kw_value_%s(arg_%u);\n", index, form->word, index);
        break;
    case GEN_BOX_ADDRESS:
        gen_add(out, "    args[%u] = kw_value_%s(&arg_%u);\n", index, form->word, index);
        break;
    case GEN_BOX_CHECKED:
        gen_add(out, "    KW_THUNK_TRY(kw_box_%s(self, &frame, %u, arg_%u));\n", form->word, index,
                index);
        break;
    }
}

// "(my_tensor *)" where a tensor comes out of a value; "" if no cast is needed.
static const char *tensor_cast(gen_arena *arena, const signature *s, const gen_form *form)
{
    bool is_needed = form->type == NULL && strcmp(s->tensor_type, "void") != 0;
    return is_needed ? gen_format(arena, "(%s *)", s->tensor_type) : "";
}

static void add_box(gen_text *out, gen_arena *arena, const signature *s)
{
    gen_words words = {.count = 0};
    add_parameters(&words, arena, s);
    gen_add(out, "\n// %s\n", s->code);
    gen_add_definition(out, "static kw_status", gen_format(arena, "box_%s", s->mangled), &words);
    gen_add(out, "    kw_value args[%u];\n    kw_value returns[%u];\n",
            s->arg_count > 0 ? s->arg_count : 1, s->return_count > 0 ? s->return_count : 1);
    gen_add(out, "    kw_frame frame = kw_box_frame(args, %u, returns, %u);\n", s->arg_count,
            s->return_count);
    for (unsigned i = 0; i < s->arg_count; i++) {
        add_boxed_argument(out, s->args[i], i);
    }
    gen_add(out, "    KW_THUNK_TRY(kw_box_run(self, keys, &frame));\n");
    for (unsigned i = 0; i < s->return_count; i++) {
        gen_add(out, "    KW_THUNK_TRY(kw_box_expect_%s(self, &frame, %u));\n", s->returns[i]->word,
                i);
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        gen_add(out, "    *out_%u = %skw_box_take_%s(&returns[%u]);\n", i,
                tensor_cast(arena, s, s->returns[i]), s->returns[i]->word, i);
    }
    gen_add(out, "    return KW_OK;\n}\n");
}

// The variable that a typed kernel writes a return to.
static void add_return_variable(gen_text *out, const signature *s, unsigned index)
{
    const gen_form *form = s->returns[index];
    switch (form->letter[0]) {
    case 't':
        gen_add(out, "    %s *out_%u = NULL;\n", s->tensor_type, index);
        break;
    case 'c':
        gen_add(out, "    kw_complex *out_%u;\n", index);
        break;
    case 'b':
        gen_add(out, "    bool out_%u = false;\n", index);
        break;
    case 'i':
    case 'd':
        gen_add(out, "    %sout_%u = 0;\n", form->type, index);
        break;
    default:
        gen_add(out, "    %sout_%u = kw_unbox_zero_%s();\n", form->type, index, form->word);
        break;
    }
}

// The variables of an unboxing function.
static void add_variables(gen_text *out, const signature *s)
{
    for (unsigned i = 0; i < s->arg_count; i++) {
        const gen_form *form = s->args[i];
        gen_add(out, "    %sarg_%u;\n", form->type != NULL ? form->type : "void *", i);
        if (form->letter[0] == '?') {
            gen_add(out, "    %sarg_%u_value;\n", gen_form_base(form)->type, i);
        }
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        add_return_variable(out, s, i);
    }
}

static void add_unboxed_call(gen_text *out, gen_arena *arena, const signature *s)
{
    gen_words words = {.count = 0};
    gen_word_add(&words, "self");
    gen_word_add(&words, "keys");
    for (unsigned i = 0; i < s->arg_count; i++) {
        gen_word_add(&words, gen_format(arena, "%sarg_%u", tensor_cast(arena, s, s->args[i]), i));
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        bool is_place = s->returns[i]->letter[0] == 'c';
        gen_word_add(&words, gen_format(arena, is_place ? "out_%u" : "&out_%u", i));
    }
    gen_add_cast_call(out, "kw_status status =", gen_format(arena, "function_%s", s->mangled),
                      "self->unboxed", &words);
    gen_add(out, "    if (KW_UNLIKELY(status != KW_OK)) {\n        return status;\n    }\n");
}

static void add_boxed_returns(gen_text *out, const signature *s)
{
    for (unsigned i = 0; i < s->return_count; i++) {
        const char letter = s->returns[i]->letter[0];
        if (letter == 'n' || letter == 'v') {
            gen_add(out, "    frame->returns[%u] = out_%u;\n", i, i);
        } else if (letter != 'c') { // which lies there already
            gen_add(out, "    frame->returns[%u] = kw_value_%s(out_%u);\n", i, s->returns[i]->word,
                    i);
        }
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        if (strchr("nvy", s->returns[i]->letter[0]) != NULL) {
            gen_add(out, "    KW_THUNK_TRY(kw_unbox_expect_%s(frame, %u));\n", s->returns[i]->word,
                    i);
        }
    }
}

static void add_unbox(gen_text *out, gen_arena *arena, const signature *s)
{
    gen_words words = {.count = 0};
    gen_word_add(&words, "const kw_kernel *self");
    gen_word_add(&words, "const kw_operator *op");
    gen_word_add(&words, "kw_keyset keys");
    gen_word_add(&words, "kw_frame *frame");
    gen_add(out, "\n// %s\n", s->code);
    gen_add_definition(out, "static kw_status", gen_format(arena, "unbox_%s", s->mangled), &words);
    gen_add(out, "    (void)op;\n");
    add_variables(out, s);
    gen_add(out, "    KW_THUNK_TRY(kw_unbox_begin(frame, %u, %u));\n", s->arg_count,
            s->return_count);
    for (unsigned i = 0; i < s->arg_count; i++) {
        const char *word = s->args[i]->word;
        if (s->args[i]->letter[0] == '?') {
            gen_add(out, "    KW_THUNK_TRY(kw_unbox_%s(frame, %u, &arg_%u_value, &arg_%u));\n",
                    word, i, i, i);
        } else {
            gen_add(out, "    KW_THUNK_TRY(kw_unbox_%s(frame, %u, &arg_%u));\n", word, i, i);
        }
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        if (s->returns[i]->letter[0] == 'c') {
            gen_add(out, "    KW_THUNK_TRY(kw_unbox_complex_return(frame, %u, &out_%u));\n", i, i);
        }
    }
    add_unboxed_call(out, arena, s);
    add_boxed_returns(out, s);
    gen_add(out, "    return KW_OK;\n}\n");
}

// A function with the operator's own signature that calls a plain kernel.
static void add_check(gen_text *out, gen_arena *arena, const signature *s, const char *plain)
{
    gen_words parameters = {.count = 0};
    gen_words words = {.count = 0};
    add_parameters(&parameters, arena, s);
    const char *code = gen_plain_code(arena, s->code);
    gen_add(out, "\n");
    gen_add_comment(out, "//", gen_format(arena, "%s for kernels of %s", s->code, code));
    gen_add_definition(out, "static kw_status", gen_format(arena, "check_%s", s->mangled),
                       &parameters);
    gen_word_add(&words, "self");
    gen_word_add(&words, "keys");
    for (unsigned i = 0; i < s->arg_count; i++) {
        const gen_form *form = s->args[i];
        const gen_form *plain_form = gen_form_plain(form);
        bool is_optional = form->letter[0] == '?';
        if (form == plain_form) {
            gen_word_add(&words, gen_format(arena, "arg_%u", i));
            continue;
        }
        gen_add(out, "    %splain_%u;\n", plain_form->type, i);
        if (is_optional) {
            gen_add(out, "    %splain_%u_value;\n", gen_form_base(plain_form)->type, i);
        }
        gen_add(out, "    KW_THUNK_TRY(kw_plain_of_%s(arg_%u, %u, ", form->word, i, i);
        gen_add(out, is_optional ? "&plain_%u_value, &plain_%u));\n" : "&plain_%u));\n", i, i);
        gen_word_add(&words, gen_format(arena, "plain_%u", i));
    }
    for (unsigned i = 0; i < s->return_count; i++) {
        gen_word_add(&words, gen_format(arena, "out_%u", i));
    }
    gen_add_cast_call(out, "return", gen_format(arena, "function_%s", plain), "self->unboxed",
                      &words);
    gen_add(out, "}\n");
}

// The different codes of a unit, in the order of their first operators.
typedef struct code_set {
    const char **list;
    size_t count;
} code_set;

static void add_code(code_set *codes, const char *code)
{
    for (size_t i = 0; code != NULL && i < codes->count; i++) {
        if (strcmp(codes->list[i], code) == 0) {
            return;
        }
    }
    if (code != NULL) {
        codes->list[codes->count++] = code;
    }
}

void gen_add_thunks(gen_text *out, gen_unit *unit)
{
    gen_arena *arena = &unit->arena;
    code_set own = {gen_allocate(arena, unit->op_count * sizeof(char *)), 0};
    code_set all = {gen_allocate(arena, 2 * unit->op_count * sizeof(char *)), 0};
    for (size_t i = 0; i < unit->op_count; i++) {
        add_code(&own, unit->ops[i].signature);
        add_code(&all, unit->ops[i].signature);
        add_code(&all, unit->ops[i].plain_signature);
    }
    gen_add(out, "%s", all.count > 0 ? "\n// Kernels, by their signatures.\n" : "");
    for (size_t i = 0; i < all.count; i++) {
        const signature s = take_apart(unit, all.list[i]);
        add_type(out, arena, &s);
    }
    gen_add(out, "%s", own.count > 0 ? "\n// Boxing: typed calls of boxed kernels.\n" : "");
    for (size_t i = 0; i < own.count; i++) {
        const signature s = take_apart(unit, own.list[i]);
        add_box(out, arena, &s);
    }
    gen_add(out, "%s", all.count > 0 ? "\n// Unboxing: boxed calls of typed kernels.\n" : "");
    for (size_t i = 0; i < all.count; i++) {
        const signature s = take_apart(unit, all.list[i]);
        add_unbox(out, arena, &s);
    }
    for (size_t i = 0; i < own.count; i++) {
        const signature s = take_apart(unit, own.list[i]);
        const char *plain = gen_plain_code(arena, own.list[i]);
        if (plain != NULL) {
            add_check(out, arena, &s, gen_mangled(arena, plain));
        }
    }
}
