// Arguments: a frame for an operator, made from its schema.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/arguments.h"

#include <stdlib.h>

#include <keyway/schema.h>

#include "cli/memory.h"

static const kw_complex one = {1, 0};

static size_t list_count(const kw_type *list)
{
    if (!kw_type_is_sized(list)) {
        return 1;
    }
    uint32_t size = kw_type_list_size(list);
    return size < CLI_LIST_MAX ? size : CLI_LIST_MAX;
}

// What a list's elements are, whether they may be None or not.
static kw_type_kind element_kind(const kw_type *list)
{
    const kw_type *element = kw_type_child(list, 0);
    bool is_tensor_or_none = kw_type_kind_of(element) == KW_TYPE_OPTIONAL &&
                             kw_type_kind_of(kw_type_child(element, 0)) == KW_TYPE_TENSOR;
    return is_tensor_or_none ? KW_TYPE_TENSOR : kw_type_kind_of(element);
}

static bool is_integer(kw_type_kind kind)
{
    return kind == KW_TYPE_INT || kind == KW_TYPE_SYM_INT || kind == KW_TYPE_SCALAR_TYPE ||
           kind == KW_TYPE_LAYOUT || kind == KW_TYPE_MEMORY_FORMAT ||
           kind == KW_TYPE_DEVICE_INDEX || kind == KW_TYPE_QSCHEME;
}

// A list whose type has no tag of its own is empty.
static kw_value make_list(cli_arguments *arguments, const kw_type *list)
{
    size_t count = list_count(list);
    kw_type_kind kind = element_kind(list);
    if (kind == KW_TYPE_TENSOR) {
        return kw_value_tensors((kw_tensor_list){arguments->tensors, count});
    }
    if (is_integer(kind)) {
        return kw_value_ints((kw_int_list){arguments->ints, count});
    }
    if (kind == KW_TYPE_FLOAT) {
        return kw_value_floats((kw_float_list){arguments->floats, count});
    }
    if (kind == KW_TYPE_BOOL) {
        return kw_value_bools((kw_bool_list){arguments->bools, count});
    }
    return kw_value_values((kw_value_list){NULL, 0});
}

// None stands for what only an embedder has, such as a generator.
static kw_value make_value(cli_arguments *arguments, const kw_type *type)
{
    if (kw_type_kind_of(type) == KW_TYPE_OPTIONAL) {
        type = kw_type_child(type, 0);
    }
    kw_type_kind kind = kw_type_kind_of(type);
    if (is_integer(kind) || kind == KW_TYPE_SCALAR) {
        return kw_value_int(1);
    }
    switch ((int)kind) {
    case KW_TYPE_TENSOR:
        return kw_value_tensor(&arguments->tensor);
    case KW_TYPE_FLOAT:
        return kw_value_float(1.0);
    case KW_TYPE_BOOL:
    case KW_TYPE_SYM_BOOL:
        return kw_value_bool(true);
    case KW_TYPE_STRING:
        return kw_value_string("text");
    case KW_TYPE_COMPLEX:
        return kw_value_complex(&one);
    case KW_TYPE_DEVICE:
        return kw_value_device((kw_device){0, -1});
    case KW_TYPE_LIST:
        return make_list(arguments, type);
    default:
        return kw_value_none();
    }
}

static void read_schema(cli_arguments *arguments, const kw_schema *schema)
{
    kw_frame *frame = &arguments->frame;
    frame->arg_count = kw_schema_arg_count(schema);
    frame->return_count = kw_schema_return_count(schema);
    for (uint32_t i = 0; i < frame->arg_count; i++) {
        frame->args[i] = make_value(arguments, kw_schema_arg(schema, i).type);
    }
}

void cli_arguments_make(cli_arguments *arguments, const kw_operator *op, kw_keyset keys)
{
    *arguments = (cli_arguments){.tensor = {keys}};
    arguments->frame = kw_frame_make(arguments->args, 0, arguments->returns, 0);
    for (size_t i = 0; i < CLI_LIST_MAX; i++) {
        arguments->tensors[i] = &arguments->tensor;
        arguments->ints[i] = 1;
        arguments->floats[i] = 1.0;
        arguments->bools[i] = true;
    }
    size_t length = kw_operator_schema(op, NULL, 0);
    char *text = cli_allocate(length + 1);
    kw_schema *schema = NULL;
    (void)kw_operator_schema(op, text, length + 1);
    if (length > 0 && kw_schema_parse(text, &schema, NULL) == KW_OK) {
        read_schema(arguments, schema);
        kw_schema_destroy(schema);
    }
    free(text);
}
