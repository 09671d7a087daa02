// Arguments: a frame for an operator, made from the text of its schema.
//
// The text has been parsed by the library, so it is well-formed; this reads what matters here: how
// many arguments and returns there are, and the word and brackets of each argument's type.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

static bool is_letter(char letter)
{
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
}

static const char *skip_blanks(const char *next)
{
    return next + strspn(next, " \t\r\n\v\f");
}

// Steps over a string, from its opening quote to behind the closing one.
static const char *skip_string(const char *next)
{
    char quote = *next++;
    while (*next != '\0' && *next != quote) {
        next += *next == '\\' && next[1] != '\0' ? 2 : 1;
    }
    return *next != '\0' ? next + 1 : next;
}

// Finds the ',' or ')' that ends an item of a list in parentheses.
static const char *item_end(const char *next)
{
    unsigned depth = 0;
    while (*next != '\0' && (depth > 0 || (*next != ',' && *next != ')'))) {
        if (*next == '"' || *next == '\'') {
            next = skip_string(next);
            continue;
        }
        if (strchr("([{", *next) != NULL) {
            depth++;
        } else if (strchr(")]}", *next) != NULL) {
            depth--;
        }
        next++;
    }
    return next;
}

// The type of an argument, as far as a value needs it.
typedef struct type {
    const char *word;
    size_t length;
    bool is_list;
    size_t list_count; // of elements that a value of it gets
} type;

static type read_type(const char *text)
{
    type read = {.word = text, .list_count = 1};
    const char *next = text;
    while (is_letter(*next)) {
        next++;
    }
    read.length = (size_t)(next - text);
    for (next = skip_blanks(next); *next != '\0' && !is_letter(*next); next = skip_blanks(next)) {
        if (*next == '(') {
            next = item_end(next + 1); // an alias annotation
        } else if (*next == '[') {
            const char *size = skip_blanks(next + 1);
            read.is_list = true;
            if (*size != ']') {
                unsigned long count = strtoul(size, NULL, 10);
                read.list_count = count < CLI_LIST_MAX ? count : CLI_LIST_MAX;
                next = size;
            }
            next += strcspn(next, "]");
        }
        next += *next != '\0' ? 1 : 0;
    }
    return read;
}

static bool is_word(const type *found, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == found->length && memcmp(*words, found->word, found->length) == 0) {
            return true;
        }
    }
    return false;
}

static const char *const tensor_words[] = {"Tensor", NULL};
static const char *const int_words[] = {"int",    "SymInt",       "Scalar",      "ScalarType",
                                        "Layout", "MemoryFormat", "DeviceIndex", NULL};
static const char *const float_words[] = {"float", NULL};
static const char *const bool_words[] = {"bool", "SymBool", NULL};
static const char *const string_words[] = {"str", "Dimname", NULL};

static kw_value make_list(cli_arguments *arguments, const type *wanted)
{
    size_t count = wanted->list_count;
    if (is_word(wanted, tensor_words)) {
        return kw_value_tensors((kw_tensor_list){arguments->tensors, count});
    }
    if (is_word(wanted, int_words)) {
        return kw_value_ints((kw_int_list){arguments->ints, count});
    }
    if (is_word(wanted, float_words)) {
        return kw_value_floats((kw_float_list){arguments->floats, count});
    }
    if (is_word(wanted, bool_words)) {
        return kw_value_bools((kw_bool_list){arguments->bools, count});
    }
    return kw_value_none();
}

// None stands for what the library has no value of, such as a generator.
static kw_value make_value(cli_arguments *arguments, const type *wanted)
{
    if (wanted->is_list) {
        return make_list(arguments, wanted);
    }
    if (is_word(wanted, tensor_words)) {
        return kw_value_tensor(&arguments->tensor);
    }
    if (is_word(wanted, int_words)) {
        return kw_value_int(1);
    }
    if (is_word(wanted, float_words)) {
        return kw_value_float(1.0);
    }
    if (is_word(wanted, bool_words)) {
        return kw_value_bool(true);
    }
    return is_word(wanted, string_words) ? kw_value_string("text") : kw_value_none();
}

// Reads the arguments behind '(' and returns what follows their ')'.
static const char *read_arguments(cli_arguments *arguments, const char *next)
{
    for (;;) {
        next = skip_blanks(next);
        bool is_argument = is_letter(*next); // else '*', "..." or the end
        if (is_argument && arguments->frame.arg_count < KW_FRAME_ARGS_MAX) {
            const type wanted = read_type(next);
            arguments->args[arguments->frame.arg_count++] = make_value(arguments, &wanted);
        }
        next = item_end(next);
        if (*next != ',') {
            return *next == ')' ? next + 1 : next;
        }
        next++;
    }
}

static uint32_t count_returns(const char *next)
{
    uint32_t count = 0;
    next = skip_blanks(next);
    if (*next != '(') {
        return is_letter(*next) ? 1 : 0; // else "..."
    }
    do {
        next = skip_blanks(next + 1);
        count += is_letter(*next) ? 1 : 0;
        next = item_end(next);
    } while (*next == ',');
    return count < KW_FRAME_RETURNS_MAX ? count : KW_FRAME_RETURNS_MAX;
}

static void read_schema(cli_arguments *arguments, const char *schema)
{
    const char *next = strchr(schema, '(');
    if (next == NULL) {
        return;
    }
    next = read_arguments(arguments, next + 1);
    const char *arrow = strstr(next, "->");
    if (arrow != NULL) {
        arguments->frame.return_count = count_returns(arrow + 2);
    }
}

void cli_arguments_make(cli_arguments *arguments, const kw_operator *op, kw_keyset keys)
{
    *arguments = (cli_arguments){.tensor = {keys}};
    arguments->frame.args = arguments->args;
    arguments->frame.returns = arguments->returns;
    for (size_t i = 0; i < CLI_LIST_MAX; i++) {
        arguments->tensors[i] = &arguments->tensor;
        arguments->ints[i] = 1;
        arguments->floats[i] = 1.0;
        arguments->bools[i] = true;
    }
    size_t length = kw_operator_schema(op, NULL, 0);
    char *schema = cli_allocate(length + 1);
    (void)kw_operator_schema(op, schema, length + 1);
    read_schema(arguments, schema);
    free(schema);
}
