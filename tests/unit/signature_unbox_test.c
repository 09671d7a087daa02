// Unboxing: which values a typed function's parameters take, and what becomes of its returns.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "signature_values.h"
#include "value/signature.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int tensor_a;
static kw_kernel some_kernel;
static const kw_keyset no_keys = {.bits = 0};

static kw_status invoke(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)keys;
    (void)frame;
    return KW_INTERNAL;
}

static void refuse(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    (void)self;
    (void)frame;
    (void)sentence;
}

static kwi_signature *create(const char *code)
{
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_signature_create(code, invoke, refuse, &signature, &err), KW_OK, "%s",
                 err.text);
    cr_expect_str_eq(kwi_signature_code(signature), code);
    return signature;
}

static int typed_runs;

// Ignores whatever arguments and out pointers it is called with, as calling conventions allow.
static kw_status ignore_all(const kw_kernel *self, kw_keyset keys)
{
    (void)self;
    (void)keys;
    typed_runs++;
    return KW_OK;
}

Test(signature_unbox, every_letter_takes_its_values_only)
{
    static const fit_row rows[] = {
        {"t", "+-----+-------------"},  {"i", "--+----------!------"},
        {"d", "--++----------------"},  {"b", "-+------------------"},
        {"c", "------------+-------"},  {"e", "----+---------------"},
        {"y", "--+----------+------"},  {"s", "+----+--------------"},
        {"g", "+----------+--------"},  {"n", "++++--------+++-----"},
        {"v", "++++++++++++++++++++"},  {"T", "-------+------------"},
        {"I", "--------+------!----"},  {"D", "---------+----------"},
        {"B", "----------+---------"},  {"Y", "--------+------+----"},
        {"V", "----------------+---"},  {"?i", "+-+----------!------"},
        {"?d", "+-++----------------"}, {"?b", "++------------------"},
        {"?c", "+-----------+-------"}, {"?e", "+---+---------------"},
        {"?y", "+-+----------+------"}, {"?T", "+------+------------"},
        {"?I", "+-------+------!----"}, {"?D", "+--------+----------"},
        {"?B", "+---------+---------"}, {"?Y", "+-------+------+----"},
        {"?V", "+---------------+---"},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        char code[8];
        snprintf(code, sizeof code, "%s>", rows[row].letter);
        kwi_signature *signature = create(code);
        for (size_t index = 0; index < TAG_COUNT; index++) {
            kw_value args[] = {one_of_each(index)};
            kw_frame frame = {args, NULL, 1, 0};
            kw_error err = KW_ERROR_INIT;
            char mark = rows[row].fits[index];
            bool fits = mark == '+';
            kw_status wrong = mark == '!' ? KW_SYMBOLIC_VALUE : KW_WRONG_VALUE;
            typed_runs = 0;
            kw_status status = kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all,
                                                   no_keys, &frame, &err);
            cr_expect_eq(status, fits ? KW_OK : wrong, "%s %zu", code, index);
            cr_expect_eq(typed_runs, fits ? 1 : 0);
            cr_expect_eq(strncmp(err.text, "argument 1 ", fits ? 0 : 11), 0, "%s", err.text);
        }
        kwi_signature_destroy(signature);
    }
}

Test(signature_unbox, unknown_tag_is_refused)
{
    kwi_signature *signature = create("i>");
    kw_value args[] = {kw_value_int(1)};
    kw_frame frame = {args, NULL, 1, 0};
    kw_error err = KW_ERROR_INIT;
    args[0].tag = 77;
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys,
                                     &frame, &err),
                 KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 1 is unknown, but the schema says int");
    kwi_signature_destroy(signature);
}

static double seen_number;
static double seen_optional;

static kw_status take_floats(const kw_kernel *self, kw_keyset keys, double number,
                             const double *optional, double *out)
{
    (void)self;
    (void)keys;
    seen_number = number;
    seen_optional = optional != NULL ? *optional : -1;
    *out = number + 1;
    return KW_OK;
}

Test(signature_unbox, float_parameter_takes_an_int)
{
    kwi_signature *signature = create("d?d>d");
    kw_value args[] = {kw_value_int(-3), kw_value_int(INT64_C(1) << 60)};
    kw_value returns[1];
    kw_frame frame = {args, returns, 2, 1};
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)take_floats, no_keys,
                                     &frame, NULL),
                 KW_OK);
    cr_expect_eq(seen_number, -3.0);
    cr_expect_eq(seen_optional, 0x1p60);
    cr_expect_eq(returns[0].tag, KW_TAG_FLOAT);
    cr_expect_eq(returns[0].as.as_float, -2.0);
    cr_expect_eq(args[0].tag, KW_TAG_INT, "the frame's value is left as it is");
    kwi_signature_destroy(signature);
}

static kw_status typed_answer;
static bool typed_writes;

static kw_status return_all(const kw_kernel *self, kw_keyset keys, void **tensor, int64_t *integer,
                            double *number, bool *truth)
{
    (void)self;
    (void)keys;
    if (typed_writes) {
        *tensor = &tensor_a;
        *integer = INT64_MIN;
        *number = 0.125;
        *truth = true;
    }
    return typed_answer;
}

Test(signature_unbox, returns_are_boxed)
{
    kwi_signature *signature = create(">tidb");
    kw_value returns[4];
    kw_frame frame = {NULL, returns, 0, 4};
    typed_writes = true;
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_all, no_keys,
                                     &frame, NULL),
                 KW_OK);
    const kw_value expected[] = {kw_value_tensor(&tensor_a), kw_value_int(INT64_MIN),
                                 kw_value_float(0.125), kw_value_bool(true)};
    cr_expect_eq(memcmp(returns, expected, sizeof expected), 0);
    kwi_signature_destroy(signature);
}

Test(signature_unbox, returns_that_were_not_written_are_zero)
{
    kwi_signature *signature = create(">tidb");
    kw_value returns[4];
    kw_frame frame = {NULL, returns, 0, 4};
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_all, no_keys,
                                     &frame, NULL),
                 KW_OK);
    const kw_value expected[] = {kw_value_none(), kw_value_int(0), kw_value_float(0),
                                 kw_value_bool(false)};
    cr_expect_eq(memcmp(returns, expected, sizeof expected), 0);
    kwi_signature_destroy(signature);
}

static void expect_none(const kw_value *values, size_t count)
{
    const kw_value none = kw_value_none();
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(memcmp(&values[i], &none, sizeof none), 0);
    }
}

Test(signature_unbox, failure_leaves_none_and_the_error_alone)
{
    static const kw_status statuses[] = {KW_KERNEL_FAILED, KW_STATUS_USER + 1, -1, INT32_MIN};
    kwi_signature *signature = create(">tidb");
    kw_value returns[4];
    kw_frame frame = {NULL, returns, 0, 4};
    typed_writes = true;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        kw_error err = KW_ERROR_INIT;
        memset(returns, 0xff, sizeof returns);
        typed_answer = statuses[i];
        cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_all, no_keys,
                                         &frame, &err),
                     statuses[i]);
        expect_none(returns, 4);
        cr_expect_eq(err.status, KW_OK);
        cr_expect_str_eq(err.text, "");
    }
    kwi_signature_destroy(signature);
}

Test(signature_unbox, wrong_argument_leaves_none_and_says_which)
{
    kwi_signature *signature = create("tti?i>t");
    kw_value args[] = {kw_value_tensor(&tensor_a), kw_value_none(), kw_value_float(1),
                       kw_value_none()};
    kw_value returns[1];
    kw_frame frame = {args, returns, 4, 1};
    kw_error err = KW_ERROR_INIT;
    memset(returns, 0xff, sizeof returns);
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys,
                                     &frame, &err),
                 KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 3 is float, but the schema says int");
    expect_none(returns, 1);
    args[2] = kw_value_int(1);
    args[3] = kw_value_bool(true);
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys,
                                     &frame, &err),
                 KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 4 is bool, but the schema says int or None");
    cr_expect_eq(typed_runs, 0);
    kwi_signature_destroy(signature);
}

Test(signature_unbox, frame_of_another_size_is_refused)
{
    kwi_signature *signature = create("i>i");
    kw_value args[] = {kw_value_int(1), kw_value_int(2)};
    kw_value returns[2];
    const kw_frame frames[] = {
        {args, returns, 2, 1}, {args, returns, 0, 1}, {args, returns, 1, 0}, {args, returns, 1, 2}};
    for (size_t i = 0; i < COUNT(frames); i++) {
        kw_frame frame = frames[i];
        kw_error err = KW_ERROR_INIT;
        memset(returns, 0xff, sizeof returns);
        cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys,
                                         &frame, &err),
                     KW_WRONG_VALUE);
        expect_none(returns, frame.return_count);
        cr_expect(strstr(err.text, "the C signature 1 and 1") != NULL, "%s", err.text);
    }
    cr_expect_eq(typed_runs, 0);
    kwi_signature_destroy(signature);
}

static kw_status unbox_one(const char *code, kw_value value, kw_error *err)
{
    kwi_signature *signature = create(code);
    kw_frame frame = {&value, NULL, 1, 0};
    kw_status status =
        kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys, &frame, err);
    kwi_signature_destroy(signature);
    return status;
}

Test(signature_unbox, node_is_refused_by_a_plain_kernel)
{
    kw_error err = KW_ERROR_INIT;
    kw_value node = one_of_each(13);
    cr_expect_eq(unbox_one("?i>", node, &err), KW_SYMBOLIC_VALUE);
    cr_expect_str_eq(err.text,
                     "argument 1 is a symbolic integer, but the kernel takes plain integers; "
                     "register a kernel with the symbolic signature, or resolve the value before "
                     "the call");
    kw_symint symints[] = {kw_symint_int(1), kw_symint_int(-2), kw_symint_int(3)};
    kw_value list = kw_value_symints((kw_symint_list){symints, 3});
    cr_expect_eq(unbox_one("I>", list, &err), KW_OK);
    cr_expect_eq(unbox_one("?I>", list, &err), KW_OK);
    symints[2] = kw_symint_node(node.as.as_object);
    cr_expect_eq(unbox_one("I>", list, &err), KW_SYMBOLIC_VALUE);
    cr_expect_not_null(strstr(err.text, "argument 1 holds a symbolic integer"), "%s", err.text);
    symints[2] = kw_symint_int(INT64_MIN);
    cr_expect_eq(unbox_one("?I>", list, &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 1 holds an invalid symbolic integer");
    cr_expect_eq(typed_runs, 2);
}

Test(signature_unbox, integer_without_a_symbolic_form_is_refused)
{
    kw_error err = KW_ERROR_INIT;
    const int64_t ints[] = {1, KW_SYMINT_MIN - 1};
    cr_expect_eq(unbox_one("y>", kw_value_int(KW_SYMINT_MIN), &err), KW_OK);
    cr_expect_eq(unbox_one("Y>", kw_value_ints((kw_int_list){ints, 1}), &err), KW_OK);
    cr_expect_eq(unbox_one("i>", kw_value_int(INT64_MIN), &err), KW_OK);
    cr_expect_eq(typed_runs, 3);
    cr_expect_eq(unbox_one("y>", kw_value_int(KW_SYMINT_MIN - 1), &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 1 is an integer below -2^62, which has no symbolic form");
    cr_expect_eq(unbox_one("?y>", kw_value_int(INT64_MIN), &err), KW_WRONG_VALUE);
    cr_expect_eq(unbox_one("?Y>", kw_value_ints((kw_int_list){ints, 2}), &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text,
                     "argument 1 holds an integer below -2^62, which has no symbolic form");
    cr_expect_eq(typed_runs, 3);
}

// The returns that more than a register or an object of the frame's own may be behind.

static kw_value typed_number;
static kw_value typed_value;
static kw_symint typed_symint;

static kw_status return_more(const kw_kernel *self, kw_keyset keys, kw_complex *complex_number,
                             kw_device *device, kw_symint *symint, kw_value *number,
                             kw_value *value)
{
    (void)self;
    (void)keys;
    typed_runs++;
    if (typed_writes) {
        *complex_number = (kw_complex){1, -2};
        *device = (kw_device){1, 2};
        *symint = typed_symint;
        *number = typed_number;
        *value = typed_value;
    }
    return typed_answer;
}

Test(signature_unbox, complex_and_tagged_returns_are_owned)
{
    uint64_t bytes = kwi_memory_bytes();
    kwi_signature *signature = create(">ceynv");
    kw_value returns[5];
    kw_frame frame = {NULL, returns, 0, 5};
    const kw_complex expected = {1, -2};
    const kw_value text = kw_value_string("text");
    typed_writes = true;
    typed_number = kw_value_float(0.5);
    typed_symint = kw_symint_int(-4);
    cr_assert_eq(kw_value_own(&text, NULL, &typed_value, NULL), KW_OK);
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_more, no_keys,
                                     &frame, NULL),
                 KW_OK);
    const kw_value wanted[] = {kw_value_complex(&expected), kw_value_device((kw_device){1, 2}),
                               kw_value_int(-4), kw_value_float(0.5), text};
    for (size_t i = 0; i < 5; i++) {
        cr_expect(kw_value_equal(&returns[i], &wanted[i]), "return %zu", i);
    }
    cr_expect_eq(returns[0].flags, KW_VALUE_COUNTED);
    kwi_signature_destroy(signature);
    kw_frame_release_returns(&frame, NULL);
    expect_none(returns, 5);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(signature_unbox, tagged_returns_that_were_not_written_are_zero_and_none)
{
    kwi_signature *signature = create(">ceynv");
    kw_value returns[5];
    kw_frame frame = {NULL, returns, 0, 5};
    const kw_complex zero = {0, 0};
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_more, no_keys,
                                     &frame, NULL),
                 KW_OK);
    const kw_value wanted[] = {kw_value_complex(&zero), kw_value_device((kw_device){0, 0}),
                               kw_value_int(0), kw_value_none(), kw_value_none()};
    for (size_t i = 0; i < 5; i++) {
        cr_expect(kw_value_equal(&returns[i], &wanted[i]), "return %zu", i);
    }
    kw_frame_release_returns(&frame, NULL);
    kwi_signature_destroy(signature);
}

Test(signature_unbox, complex_return_of_a_failure_leaves_nothing)
{
    kwi_signature *signature = create(">ceynv");
    uint64_t bytes = kwi_memory_bytes();
    kw_value returns[5];
    kw_frame frame = {NULL, returns, 0, 5};
    kw_error err = KW_ERROR_INIT;
    typed_answer = KW_KERNEL_FAILED;
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_more, no_keys,
                                     &frame, &err),
                 KW_KERNEL_FAILED);
    expect_none(returns, 5);
    cr_expect_eq(kwi_memory_bytes(), bytes);
    kwi_signature_destroy(signature);
}

Test(signature_unbox, no_memory_for_a_complex_return_is_known_before_the_call)
{
    kwi_signature *signature = create(">cct");
    uint64_t bytes = kwi_memory_bytes();
    kw_value returns[3];
    kw_frame frame = {NULL, returns, 0, 3};
    for (uint64_t nth = 1; nth <= 2; nth++) {
        kw_error err = KW_ERROR_INIT;
        kwi_memory_fail_at(nth, false);
        cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all, no_keys,
                                         &frame, &err),
                     KW_NO_MEMORY);
        kwi_memory_fail_at(0, false);
        cr_expect_eq(err.status, KW_NO_MEMORY);
        expect_none(returns, 3);
        cr_expect_eq(kwi_memory_bytes(), bytes);
    }
    cr_expect_eq(typed_runs, 0);
    kwi_signature_destroy(signature);
}

Test(signature_unbox, wrong_tagged_return_is_refused_with_the_rest_in_the_frame)
{
    kwi_signature *signature = create(">ceynv");
    kw_value returns[5];
    kw_frame frame = {NULL, returns, 0, 5};
    kw_error err = KW_ERROR_INIT;
    typed_writes = true;
    typed_number = kw_value_string("no number");
    typed_value = one_of_each(19);
    typed_symint = kw_symint_int(INT64_MIN);
    kw_object_retain(typed_value.as.as_object);
    uint64_t bytes = kwi_memory_bytes();
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_more, no_keys,
                                     &frame, &err),
                 KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "return 3 is invalid, but the schema says SymInt");
    cr_expect_eq(returns[4].tag, KW_TAG_OBJECT, "it is owned, and so released with the frame");
    kw_frame_release_returns(&frame, NULL);
    cr_expect_eq(kwi_memory_bytes(), bytes);
    typed_symint = kw_symint_int(1);
    typed_value = kw_value_none();
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, (kw_function)return_more, no_keys,
                                     &frame, &err),
                 KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "return 4 is str, but the schema says Scalar");
    kw_frame_release_returns(&frame, NULL);
    kwi_signature_destroy(signature);
}
