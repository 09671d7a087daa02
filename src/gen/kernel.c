// Registering: kernels and definitions of an operator.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/part.h"

// A function that registers and the macro that calls it with the source place.
typedef struct registering {
    const char *suffix; // of the macro; the function has "_at" behind it
    const char *type;
    bool has_target; // it stages: transaction and library come first
    bool has_key;    // and the key
    bool has_kernel; // and the kernel, with its name
    bool has_error;  // the function takes an error, the macro does not
} registering;

static const registering define = {"define", "KW_NODISCARD kw_status", true, false, false, true};
static const registering impl = {"impl", "KW_NODISCARD kw_status", true, true, true, false};
static const registering unboxed = {"unboxed", "kw_kernel_descriptor", false, false, true, false};

static const char *prefix(gen_kind kind)
{
    return kind == GEN_PLAIN ? "plain_" : "";
}

static void add_function_words(gen_words *words, gen_unit *unit, const gen_operator *op,
                               const registering *what, gen_kind kind)
{
    if (what->has_target) {
        gen_word_add(words, "kw_transaction *tx");
        gen_word_add(words, "kw_library *library");
    }
    if (what->has_key) {
        gen_word_add(words, "kw_key key");
    }
    if (what->has_kernel) {
        gen_word_add(words, gen_format(&unit->arena, "%s_%skernel function", op->id, prefix(kind)));
        gen_word_add(words, "const char *name");
    }
    gen_word_add(words, "const char *file");
    gen_word_add(words, "uint32_t line");
    if (what->has_error) {
        gen_word_add(words, "kw_error *err");
    }
}

static void add_macro(gen_text *out, gen_unit *unit, const gen_operator *op,
                      const registering *what, gen_kind kind)
{
    gen_words parameters = {.count = 0};
    gen_words arguments = {.count = 0};
    if (what->has_target) {
        gen_word_add(&parameters, "tx");
        gen_word_add(&parameters, "library");
        gen_word_add(&arguments, "(tx)");
        gen_word_add(&arguments, "(library)");
    }
    if (what->has_key) {
        gen_word_add(&parameters, "key");
        gen_word_add(&arguments, "(key)");
    }
    if (what->has_kernel) {
        gen_word_add(&parameters, "function");
        gen_word_add(&arguments, "(function)");
        gen_word_add(&arguments, "#function");
    }
    gen_word_add(&arguments, "__FILE__");
    gen_word_add(&arguments, "__LINE__");
    if (what->has_error) {
        gen_word_add(&arguments, "NULL");
    }
    gen_add_macro_call(out, gen_format(&unit->arena, "%s_%s%s", op->id, prefix(kind), what->suffix),
                       &parameters, &arguments);
}

static const char *function_name(gen_unit *unit, const gen_operator *op, const registering *what,
                                 gen_kind kind)
{
    return gen_format(&unit->arena, "%s_%s%s_at", op->id, prefix(kind), what->suffix);
}

static void add_declaration(gen_text *out, gen_unit *unit, const gen_operator *op,
                            const registering *what, gen_kind kind)
{
    gen_words words = {.count = 0};
    add_function_words(&words, unit, op, what, kind);
    gen_add_declaration(out, what->type, function_name(unit, op, what, kind), &words);
}

static void add_head(gen_text *out, gen_unit *unit, const gen_operator *op, const registering *what,
                     gen_kind kind)
{
    gen_words words = {.count = 0};
    bool is_status = what->has_target;
    add_function_words(&words, unit, op, what, kind);
    gen_add(out, "\n");
    gen_add_definition(out, is_status ? "kw_status" : what->type,
                       function_name(unit, op, what, kind), &words);
}

static void add_kernels(gen_text *out, gen_unit *unit, const gen_operator *op, gen_kind kind)
{
    gen_add(out, "\n");
    gen_add_comment(out, "///",
                    kind == GEN_PLAIN
                        ? "The same for kernels that take plain integers for symbolic ones."
                        : "Stages a kernel, and describes one for kw_transaction_impl(). The "
                          "function's type is checked; name and source place are recorded.");
    add_macro(out, unit, op, &impl, kind);
    add_macro(out, unit, op, &unboxed, kind);
    add_declaration(out, unit, op, &impl, kind);
    add_declaration(out, unit, op, &unboxed, kind);
}

void gen_add_registering(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    gen_add(out, "\n/// Stages the definition. kw_transaction_error() says why it could not be.\n");
    add_macro(out, unit, op, &define, GEN_OWN);
    add_declaration(out, unit, op, &define, GEN_OWN);
    if (op->signature != NULL) {
        add_kernels(out, unit, op, GEN_OWN);
    }
    if (op->plain_signature != NULL) {
        add_kernels(out, unit, op, GEN_PLAIN);
    }
}

static void add_define_function(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    add_head(out, unit, op, &define, GEN_OWN);
    gen_words words = {.count = 0};
    gen_word_add(&words, gen_format(&unit->arena, "%s_SCHEMA", op->macro));
    gen_word_add(&words, "file");
    gen_word_add(&words, "line");
    gen_add_call(out, "kw_definition definition =", "kwi_definition_make", &words);
    if (op->signature != NULL) {
        gen_add(out, "    definition.box = (kw_function)box_%s;\n", op->mangled);
    }
    gen_add(out, "    return kw_transaction_define(tx, library, &definition, NULL, err);\n}\n");
}

static void add_kernel_functions(gen_text *out, gen_unit *unit, const gen_operator *op,
                                 gen_kind kind)
{
    bool is_plain = kind == GEN_PLAIN;
    add_head(out, unit, op, &unboxed, kind);
    gen_words words = {.count = 0};
    gen_word_add(&words,
                 gen_format(&unit->arena, "%s_%sSIGNATURE", op->macro, is_plain ? "PLAIN_" : ""));
    gen_word_add(&words, "(kw_function)function");
    gen_word_add(&words, "name");
    gen_word_add(&words, "file");
    gen_word_add(&words, "line");
    gen_add_call(out, "kw_kernel_descriptor kernel =", "kwi_kernel_unboxed", &words);
    gen_add(out, "    kernel.boxed = unbox_%s;\n", is_plain ? op->plain_mangled : op->mangled);
    if (is_plain) {
        gen_add(out, "    kernel.symbolic = (kw_function)check_%s;\n", op->mangled);
    }
    gen_add(out, "    return kernel;\n}\n");

    add_head(out, unit, op, &impl, kind);
    gen_words described = {.count = 0};
    gen_word_add(&described, "function");
    gen_word_add(&described, "name");
    gen_word_add(&described, "file");
    gen_word_add(&described, "line");
    gen_add_call(out, "kw_kernel_descriptor kernel =", function_name(unit, op, &unboxed, kind),
                 &described);
    gen_words staged = {.count = 0};
    gen_word_add(&staged, "tx");
    gen_word_add(&staged, "library");
    gen_word_add(&staged, gen_format(&unit->arena, "%s_NAME", op->macro));
    gen_word_add(&staged, "key");
    gen_word_add(&staged, "&kernel");
    gen_word_add(&staged, "NULL");
    gen_word_add(&staged, "NULL");
    gen_add_call(out, "return", "kw_transaction_impl", &staged);
    gen_add(out, "}\n");
}

void gen_add_registering_functions(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    add_define_function(out, unit, op);
    if (op->signature != NULL) {
        add_kernel_functions(out, unit, op, GEN_OWN);
    }
    if (op->plain_signature != NULL) {
        add_kernel_functions(out, unit, op, GEN_PLAIN);
    }
}
