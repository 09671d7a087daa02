// Arguments for the embedder's operator, made from its schema.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT
//
// Four sets: ordinary values, zeros and nothings, negatives, and the schema's own defaults where it
// has them. All are views of memory that lives as long as the program.
//
// The recursion goes down the type, whose levels the parser of schemas bounds, and DEPTH_MOST here.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/user.h"

#define ORDINARY 0
#define ZEROS 1
#define NEGATIVES 2
#define DEFAULTS 3

#define LIST_DEFAULT 2 // elements, where the schema says no number
#define LIST_MOST 16
#define DEPTH_MOST 6

typedef struct maker {
    unsigned variant;
    unsigned depth;
    unsigned tensor_count;
} maker;

static bool make(maker *with, const kw_type *type, kw_value *out_value);

// Memory that is never given back: a few pieces a run.
static void *keep(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        stress_give_up("there is no memory for arguments");
    }
    return memory;
}

static int64_t integer(const maker *with)
{
    static const int64_t integers[USER_VARIANTS] = {3, 0, -2, 1};
    return integers[with->variant];
}

static double number(const maker *with)
{
    static const double numbers[USER_VARIANTS] = {1.5, 0, -2.5, 1};
    return numbers[with->variant];
}

static kw_value complex_number(const maker *with)
{
    kw_complex *made = keep(sizeof *made);
    *made = (kw_complex){number(with), 1};
    return kw_value_complex(made);
}

static uint32_t length_of(const maker *with, const kw_type *list)
{
    if (kw_type_is_sized(list)) {
        uint32_t size = kw_type_list_size(list);
        return size < LIST_MOST ? size : LIST_MOST;
    }
    return with->variant == ZEROS ? 0 : LIST_DEFAULT;
}

// The lists that have a tag of their own.
static bool make_plain_list(maker *with, kw_type_kind kind, uint32_t count, kw_value *out_value)
{
    union {
        int64_t *ints;
        double *floats;
        bool *bools;
        void **tensors;
    } data = {.ints = keep(LIST_MOST * sizeof(kw_value))};
    for (uint32_t i = 0; i < count; i++) {
        if (kind == KW_TYPE_INT || kind == KW_TYPE_SYM_INT) {
            data.ints[i] = integer(with) + i;
        } else if (kind == KW_TYPE_FLOAT) {
            data.floats[i] = number(with) + i;
        } else if (kind == KW_TYPE_BOOL) {
            data.bools[i] = i % 2 == 0;
        } else {
            data.tensors[i] = user_tensor(with->tensor_count++);
        }
    }
    if (kind == KW_TYPE_INT || kind == KW_TYPE_SYM_INT) {
        *out_value = kw_value_ints((kw_int_list){data.ints, count});
    } else if (kind == KW_TYPE_FLOAT) {
        *out_value = kw_value_floats((kw_float_list){data.floats, count});
    } else if (kind == KW_TYPE_BOOL) {
        *out_value = kw_value_bools((kw_bool_list){data.bools, count});
    } else {
        *out_value = kw_value_tensors((kw_tensor_list){data.tensors, count});
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool is_tensor(const kw_type *type)
{
    kw_type_kind kind = kw_type_kind_of(type);
    return kind == KW_TYPE_TENSOR ||
           (kind == KW_TYPE_OPTIONAL && is_tensor(kw_type_child(type, 0)));
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool make_list(maker *with, const kw_type *list, kw_value *out_value)
{
    const kw_type *element = kw_type_child(list, 0);
    kw_type_kind kind = kw_type_kind_of(element);
    uint32_t count = length_of(with, list);
    if (kind == KW_TYPE_INT || kind == KW_TYPE_SYM_INT || kind == KW_TYPE_FLOAT ||
        kind == KW_TYPE_BOOL || is_tensor(element)) {
        return make_plain_list(with, is_tensor(element) ? KW_TYPE_TENSOR : kind, count, out_value);
    }
    kw_value *values = keep(LIST_MOST * sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        if (!make(with, element, &values[i])) {
            return false;
        }
    }
    *out_value = kw_value_values((kw_value_list){values, count});
    return true;
}

// A tuple's members; the one pair of a dict.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool make_members(maker *with, const kw_type *type, kw_value *out_value)
{
    uint32_t count = kw_type_child_count(type);
    kw_value *values = keep((count + 1) * sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        if (!make(with, kw_type_child(type, i), &values[i])) {
            return false;
        }
    }
    const kw_value_list list = {values, count};
    *out_value = kw_type_kind_of(type) == KW_TYPE_DICT ? kw_value_dict(list) : kw_value_tuple(list);
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool make_optional(maker *with, const kw_type *type, kw_value *out_value)
{
    *out_value = kw_value_none();
    kw_value made;
    if (with->variant != ZEROS && make(with, kw_type_child(type, 0), &made)) {
        *out_value = made; // what cannot be made is absent
    }
    return true;
}

static bool make_scalar(maker *with, const kw_type *type, kw_value *out_value)
{
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_TENSOR:
        *out_value = kw_value_tensor(user_tensor(with->tensor_count++));
        return true;
    case KW_TYPE_INT:
    case KW_TYPE_SYM_INT:
    case KW_TYPE_ANY:
    case KW_TYPE_VARIABLE:
        *out_value = kw_value_int(integer(with));
        return true;
    case KW_TYPE_SCALAR_TYPE:
    case KW_TYPE_LAYOUT:
    case KW_TYPE_MEMORY_FORMAT:
    case KW_TYPE_QSCHEME:
    case KW_TYPE_DEVICE_INDEX:
        *out_value = kw_value_int(0);
        return true;
    case KW_TYPE_FLOAT:
    case KW_TYPE_SCALAR:
        *out_value = kw_value_float(number(with));
        return true;
    case KW_TYPE_BOOL:
    case KW_TYPE_SYM_BOOL:
        *out_value = kw_value_bool(with->variant != ZEROS);
        return true;
    case KW_TYPE_STRING:
        *out_value = kw_value_string(with->variant == ZEROS ? "" : "text");
        return true;
    case KW_TYPE_COMPLEX:
        *out_value = complex_number(with);
        return true;
    case KW_TYPE_DEVICE:
        *out_value = kw_value_device((kw_device){0, -1});
        return true;
    case KW_TYPE_NONE:
        *out_value = kw_value_none();
        return true;
    default:
        return false;
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool make(maker *with, const kw_type *type, kw_value *out_value)
{
    if (++with->depth > DEPTH_MOST) {
        return false;
    }
    bool is_made;
    switch ((int)kw_type_kind_of(type)) {
    case KW_TYPE_LIST:
        is_made = make_list(with, type, out_value);
        break;
    case KW_TYPE_OPTIONAL:
        is_made = make_optional(with, type, out_value);
        break;
    case KW_TYPE_TUPLE:
    case KW_TYPE_DICT:
        is_made = make_members(with, type, out_value);
        break;
    case KW_TYPE_UNION:
        is_made = make(with, kw_type_child(type, 0), out_value);
        break;
    default:
        is_made = make_scalar(with, type, out_value);
        break;
    }
    with->depth--;
    return is_made;
}

// Texts ------------------------------------------------------------------------------------------

static void add_text(user_arguments *made, const kw_value *value)
{
    size_t used = strlen(made->text);
    size_t room = sizeof made->text - used;
    char *end = made->text + used;
    const char *comma = used > 0 ? ", " : "";
    switch (value->tag) {
    case KW_TAG_INT:
        (void)snprintf(end, room, "%s%lld", comma, (long long)value->as.as_int);
        break;
    case KW_TAG_FLOAT:
        (void)snprintf(end, room, "%s%g", comma, value->as.as_float);
        break;
    case KW_TAG_BOOL:
        (void)snprintf(end, room, "%s%s", comma, value->as.as_bool ? "True" : "False");
        break;
    case KW_TAG_STRING:
        (void)snprintf(end, room, "%s\"%s\"", comma, value->as.as_string);
        break;
    default:
        (void)snprintf(end, room, "%s%s", comma, kw_tag_name(value->tag));
        break;
    }
}

static bool refuse(const kw_argument *argument)
{
    char type[128];
    (void)kw_type_format(argument->type, type, sizeof type);
    (void)fprintf(
        stderr,
        "keyway-stress: --op %s: the argument `%.*s` is of type %s, of which no value can "
        "be made here; choose an operator of tensors, numbers, strings, and lists of them\n",
        user.op_name, (int)argument->name.length, argument->name.data, type);
    return false;
}

static bool make_variant(unsigned variant)
{
    user_arguments *made = &user.variants[variant];
    maker with = {.variant = variant};
    made->count = kw_schema_arg_count(user.schema);
    made->text[0] = '\0';
    for (uint32_t i = 0; i < made->count; i++) {
        const kw_argument argument = kw_schema_arg(user.schema, i);
        bool is_default = variant == DEFAULTS && argument.default_text.length > 0 &&
                          kw_value_default(user.schema, i, &made->args[i], NULL) == KW_OK;
        if (!is_default && !make(&with, argument.type, &made->args[i])) {
            return refuse(&argument);
        }
        add_text(made, &made->args[i]);
    }
    return true;
}

// Whether a type has a tensor in it.
// NOLINTNEXTLINE(misc-no-recursion): see the top of the file
static bool has_tensor(const kw_type *type, unsigned depth)
{
    if (kw_type_kind_of(type) == KW_TYPE_TENSOR) {
        return true;
    }
    for (uint32_t i = 0; depth < DEPTH_MOST && i < kw_type_child_count(type); i++) {
        if (has_tensor(kw_type_child(type, i), depth + 1)) {
            return true;
        }
    }
    return false;
}

bool user_arguments_make(void)
{
    for (uint32_t i = 0; i < kw_schema_arg_count(user.schema); i++) {
        user.has_tensors = user.has_tensors || has_tensor(kw_schema_arg(user.schema, i).type, 0);
    }
    for (unsigned i = 0; i < USER_VARIANTS; i++) {
        if (!make_variant(i)) {
            return false;
        }
    }
    return true;
}
