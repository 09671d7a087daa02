// Key sets in a known place: boxed calls that read them there do what calls do that ask for them.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "semantics_fixture.h"

TestSuite(keys_at, .init = kwt_begin, .fini = kws_end);

// The place of the key set is neither the first nor the last member.
typedef struct placed {
    int64_t before;
    kw_keyset keys;
    int64_t after;
} placed;

static unsigned asked; // calls of the function

static kw_keyset ask(const void *tensor)
{
    asked++;
    return ((const placed *)tensor)->keys;
}

static kw_keyset ask_generator(const void *generator)
{
    return *(const kw_keyset *)generator;
}

static kw_tensor_type type_with(size_t keys_at)
{
    const kw_tensor_type type = {
        .struct_size = sizeof type,
        .name = "placed",
        .keys = ask,
        .generator_keys = ask_generator,
        .keys_at = keys_at,
    };
    return type;
}

static kw_dispatcher *dispatcher; // of the last library

static kw_library *make_library(size_t keys_at)
{
    const kw_tensor_type type = type_with(keys_at);
    dispatcher = kws_dispatcher(&type);
    return kws_block(dispatcher, KW_LIBRARY_KIND_FRAGMENT, "t", KW_KEY_Undefined, 1);
}

// An operator with kernels that tell CPU, CUDA and nothing apart. `schema` lacks the name; NULL: no
// definition.
static const kw_operator *make(kw_library *library, const char *name, const char *schema)
{
    char text[128];
    if (schema != NULL) {
        (void)snprintf(text, sizeof text, "%s%s", name, schema);
        (void)kwt_define(library, text);
    }
    (void)kwt_impl(library, name, KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_impl(library, name, KW_KEY_CUDA, KWT_BOXED(2));
    (void)kwt_impl(library, name, KW_KEY_CompositeExplicitAutograd, KWT_BOXED(3));
    (void)snprintf(text, sizeof text, "t::%s", name);
    return kwt_find(dispatcher, text);
}

#define LIST_COUNT 2
#define ARGS_MAX 4

static placed cpu;
static placed cuda;
static kw_keyset generator; // CUDA's
static void *const list[LIST_COUNT] = {NULL, &cuda};

static void prepare(void)
{
    cpu = (placed){-1, kwt_keyset("CPU"), -1};
    cuda = (placed){-1, kwt_keyset("CUDA"), -1};
    generator = kwt_keyset("CUDA");
}

// One argument for each letter: c and d a tensor of CPU and CUDA, l a list, g a generator, i an
// int,
// - None.
static kw_value argument(char letter)
{
    switch (letter) {
    case 'c':
        return kw_value_tensor(&cpu);
    case 'd':
        return kw_value_tensor(&cuda);
    case 'l':
        return kw_value_tensors((kw_tensor_list){list, LIST_COUNT});
    case 'g':
        return kw_value_generator(&generator);
    case 'i':
        return kw_value_int(7);
    default:
        return kw_value_none();
    }
}

typedef struct call_row {
    const char *schema; // without the name; NULL: no definition
    const char *args;
    uint32_t return_count;
    kw_status status;
    int64_t number; // of the kernel that runs
} call_row;

static const call_row rows[] = {
    {"(Tensor x) -> int", "c", 1, KW_OK, 1},
    {"(Tensor x, Tensor y) -> int", "cd", 1, KW_OK, 2},
    {"(int n, Tensor x, int m, Tensor? y) -> int", "icid", 1, KW_OK, 2},
    {"(int n, Tensor x, int m, Tensor? y) -> int", "ici-", 1, KW_OK, 1},
    {"(Tensor? x) -> int", "-", 1, KW_OK, 3},
    {"(int n) -> int", "i", 1, KW_OK, 3},
    {"() -> int", "", 1, KW_OK, 3},
    {"(Any a) -> int", "c", 1, KW_OK, 3}, // a tensor, but not a tensor argument
    {"(Tensor x, Tensor[] l) -> int", "cl", 1, KW_OK, 2},
    {"(Tensor?[] l) -> int", "l", 1, KW_OK, 2},
    {"(Tensor x, Generator g) -> int", "cg", 1, KW_OK, 2},
    {"(Tensor x, Generator? g) -> int", "c-", 1, KW_OK, 1},
    {"(Tensor x, ...) -> int", "cd", 1, KW_OK, 1},
    {"(Tensor x, ...) -> int", "", 1, KW_WRONG_VALUE, 0},
    {"(Tensor x) -> int", "cc", 1, KW_WRONG_VALUE, 0},
    {"(Tensor x) -> int", "", 1, KW_WRONG_VALUE, 0},
    {"(Tensor x) -> int", "c", 2, KW_WRONG_VALUE, 0},
    {"(Tensor x) -> int", "c", 0, KW_WRONG_VALUE, 0},
    {NULL, "c", 1, KW_OK, 3},
    {NULL, "", 1, KW_OK, 3},
    {NULL, "", 0, KW_OK, 3},
};

static void call(const kw_operator *op, const call_row *row, bool is_in_place)
{
    kw_value args[ARGS_MAX];
    kw_value returns[2] = {kw_value_int(-1), kw_value_int(-1)};
    kw_frame frame = {args, returns, 0, row->return_count};
    for (const char *letter = row->args; *letter != '\0'; letter++) {
        args[frame.arg_count++] = argument(*letter);
    }
    asked = 0;
    KWT_STATUS(row->status, kw_call_boxed(op, &frame));
    if (row->status == KW_OK && row->return_count > 0) {
        cr_expect_eq(returns[0].as.as_int, row->number, "%s with %s runs %lld", row->schema,
                     row->args, (long long)returns[0].as.as_int);
    }
    for (uint32_t i = 0; row->status != KW_OK && i < row->return_count; i++) {
        cr_expect_eq(returns[i].tag, KW_TAG_NONE, "a call that fails leaves None");
    }
    bool has_tensor = row->number == 1 || row->number == 2;
    cr_expect_eq(asked > 0, !is_in_place && has_tensor, "%s with %s asked %u times", row->schema,
                 row->args, asked);
}

static void call_all(size_t keys_at)
{
    kw_library *library = make_library(keys_at);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "f%zu", i);
        call(make(library, name, rows[i].schema), &rows[i], keys_at != 0);
    }
}

Test(keys_at, tensors_are_not_asked_and_all_else_is_the_same)
{
    prepare();
    call_all(KW_KEYS_AT(placed, keys));
    call_all(0);
}

Test(keys_at, place_at_the_start_of_a_tensor_is_a_place)
{
    const kw_operator *op =
        make(make_library(KW_KEYS_AT(kwt_tensor, keys)), "f", "(Tensor x) -> int");
    kwt_tensor tensor = kwt_make_tensor("CUDA");
    kw_value arg = kw_value_tensor(&tensor);
    int64_t number = 0;
    asked = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 2);
    cr_expect_eq(asked, 0);
}

Test(keys_at, place_comes_with_the_library_that_names_the_type)
{
    dispatcher = kws_dispatcher(NULL);
    kw_library *first = kws_block(dispatcher, KW_LIBRARY_KIND_FRAGMENT, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(first, "f(Tensor x) -> int");
    (void)kwt_impl(first, "f", KW_KEY_CPU, KWT_BOXED(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    prepare();
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_STATUS(KW_NOT_SUPPORTED, kwt_call_frame(op, &arg, 1, &number));
    const kw_tensor_type type = type_with(KW_KEYS_AT(placed, keys));
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .tensor_type = &type};
    kw_library *second = NULL;
    KWT_OK(kw_library_create(&options, &second, NULL));
    asked = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 1);
    cr_expect_eq(asked, 0);
    kwt_end_library(second);
}
