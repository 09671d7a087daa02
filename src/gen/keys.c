// The keys of a call's arguments.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "gen/part.h"

// Whether some operator has an argument whose keys come from this.
static bool is_needed(const gen_unit *unit, gen_key_source source)
{
    for (size_t i = 0; i < unit->op_count; i++) {
        const gen_operator *op = &unit->ops[i];
        for (uint32_t k = 0; op->signature != NULL && k < op->arg_count; k++) {
            if (op->args[k].form->keys == source) {
                return true;
            }
        }
    }
    return false;
}

void gen_add_key_functions(gen_text *out, const gen_unit *unit)
{
    const gen_options *options = &unit->options;
    bool has_lists =
        is_needed(unit, GEN_KEYS_TENSOR_LIST) || is_needed(unit, GEN_KEYS_OPTIONAL_TENSOR_LIST);
    if (options->tensor_keys == NULL || !(has_lists || is_needed(unit, GEN_KEYS_TENSOR))) {
        return;
    }
    bool is_void = strcmp(options->tensor_type, "void") == 0;
    gen_add(out, "\n// The keys of a tensor. An absent one has none.\n");
    gen_add(out, "static inline kw_keyset %s_tensor_keys(const %s *tensor)\n{\n", options->stem,
            options->tensor_type);
    gen_add(out, "    return tensor != NULL ? %s(tensor) : kw_keyset_empty();\n}\n",
            options->tensor_keys);
    if (!has_lists) {
        return;
    }
    gen_add(out, "\nstatic inline kw_keyset %s_tensor_list_keys(kw_tensor_list tensors)\n{\n",
            options->stem);
    gen_add(out, "    kw_keyset keys = kw_keyset_empty();\n"
                 "    for (size_t i = 0; i < tensors.count; i++) {\n");
    if (is_void) {
        gen_add(out, "        const void *tensor = tensors.data[i];\n");
    } else {
        gen_add(out, "        const %s *tensor = (const %s *)tensors.data[i];\n",
                options->tensor_type, options->tensor_type);
    }
    gen_add(out, "        keys = kw_keyset_union(keys, %s_tensor_keys(tensor));\n", options->stem);
    gen_add(out, "    }\n    return keys;\n}\n");
}

// "kw_tensor_keys(op, a)"; NULL: the argument has no keys.
static const char *expression(gen_unit *unit, const gen_argument *arg)
{
    gen_arena *arena = &unit->arena;
    const char *stem = unit->options.stem;
    bool is_own = unit->options.tensor_keys != NULL;
    switch (arg->form->keys) {
    case GEN_KEYS_TENSOR:
        return is_own ? gen_format(arena, "%s_tensor_keys(%s)", stem, arg->name)
                      : gen_format(arena, "kw_tensor_keys(op, %s)", arg->name);
    case GEN_KEYS_TENSOR_LIST:
        return is_own ? gen_format(arena, "%s_tensor_list_keys(%s)", stem, arg->name)
                      : gen_format(arena, "kw_tensor_list_keys(op, %s)", arg->name);
    case GEN_KEYS_OPTIONAL_TENSOR_LIST:
        return is_own ? gen_format(arena, "%s_tensor_list_keys(*%s)", stem, arg->name)
                      : gen_format(arena, "kw_tensor_list_keys(op, *%s)", arg->name);
    case GEN_KEYS_GENERATOR:
        return gen_format(arena, "kw_generator_keys(op, %s)", arg->name);
    case GEN_KEYS_NONE:
        break;
    }
    return NULL;
}

void gen_add_argument_keys(gen_text *out, gen_unit *unit, const gen_operator *op)
{
    bool is_first = true;
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const gen_argument *arg = &op->args[i];
        const char *keys = expression(unit, arg);
        bool is_optional = arg->form->keys == GEN_KEYS_OPTIONAL_TENSOR_LIST;
        if (keys == NULL) {
            continue;
        }
        if (is_first && !is_optional) {
            gen_add(out, "    kw_keyset argument_keys = %s;\n", keys);
        } else if (is_first) {
            gen_add(out, "    kw_keyset argument_keys = kw_keyset_empty();\n");
        }
        if (is_optional) {
            gen_add(out, "    if (%s != NULL) {\n    ", arg->name);
        }
        if (!is_first || is_optional) {
            gen_add(out, "    argument_keys = kw_keyset_union(argument_keys, %s);\n", keys);
        }
        gen_add(out, "%s", is_optional ? "    }\n" : "");
        is_first = false;
    }
    gen_add(out, "%s", is_first ? "    kw_keyset argument_keys = kw_keyset_empty();\n" : "");
}
