// Signatures: creation, the boxing entry's answers, unboxing's checks.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "value/signature.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int tensor_a;
static int tensor_b;
static kw_kernel some_kernel;
static const kw_keyset no_keys = {.bits = 0};

// What the boxed side answers, and what it saw.
static kw_status answer;
static kw_value answered[KW_FRAME_RETURNS_MAX];
static kw_value seen_returns[KW_FRAME_RETURNS_MAX]; // before they are set
static uint32_t seen_args;
static int invocations;

// What `refuse` saw.
static int refusals;
static char refused[160];
static uint32_t refused_args;
static int released;

static kw_status invoke(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)keys;
    invocations++;
    seen_args = frame->arg_count;
    memcpy(seen_returns, frame->returns, frame->return_count * sizeof(kw_value));
    memcpy(frame->returns, answered, frame->return_count * sizeof(kw_value));
    return answer;
}

static void refuse(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    cr_expect_eq(self, &some_kernel);
    refusals++;
    refused_args = frame->arg_count;
    snprintf(refused, sizeof refused, "%s", sentence);
    for (uint32_t i = 0; i < frame->return_count; i++) {
        released += frame->returns[i].tag == KW_TAG_TENSOR ? 1 : 0;
    }
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

Test(signature, malformed_code_is_rejected)
{
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_signature_create("tx>", invoke, refuse, &signature, &err),
                 KW_INVALID_ARGUMENT);
    cr_expect(strstr(err.text, "at byte 1") != NULL, "%s", err.text);
    cr_expect_null(signature);
    kwi_signature_destroy(NULL);
}

Test(signature, failed_allocation_leaves_nothing)
{
    uint64_t bytes = kwi_memory_bytes();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        kwi_signature *signature = NULL;
        kw_error err = KW_ERROR_INIT;
        kwi_memory_fail_at(nth, false);
        cr_expect_eq(kwi_signature_create("t>t", invoke, refuse, &signature, &err), KW_NO_MEMORY);
        cr_expect_eq(err.status, KW_NO_MEMORY);
        cr_expect_null(signature);
        kwi_memory_fail_at(0, false);
        cr_expect_eq(kwi_memory_bytes(), bytes);
    }
    kwi_signature_destroy(create("t>t"));
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(signature, calls_allocate_nothing)
{
    kwi_signature *signature = create("t>t");
    kw_status (*entry)(const kw_kernel *, kw_keyset, void *, void **) =
        (kw_status(*)(const kw_kernel *, kw_keyset, void *, void **))kwi_signature_box(signature);
    kw_value args[] = {kw_value_tensor(&tensor_a)};
    kw_value returns[1];
    kw_frame frame = {args, returns, 1, 1};
    void *out = NULL;
    uint64_t count = kwi_memory_count();
    kwi_memory_fail_at(1, true);
    answered[0] = kw_value_tensor(&tensor_b);
    cr_expect_eq(entry(&some_kernel, no_keys, &tensor_a, &out), KW_OK);
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, kwi_signature_box(signature), no_keys,
                                     &frame, NULL),
                 KW_OK);
    kwi_memory_fail_at(0, false);
    cr_expect_eq(kwi_memory_count(), count);
    cr_expect_eq(out, &tensor_b);
    cr_expect_eq(returns[0].as.as_tensor, &tensor_b);
    kwi_signature_destroy(signature);
}

typedef kw_status (*nothing_entry)(const kw_kernel *, kw_keyset);
typedef kw_status (*pair_entry)(const kw_kernel *, kw_keyset, int64_t, void **, int64_t *);

Test(signature, no_arguments_and_no_returns_work)
{
    kwi_signature *signature = create(">");
    nothing_entry entry = (nothing_entry)kwi_signature_box(signature);
    cr_expect_eq(entry(&some_kernel, no_keys), KW_OK);
    cr_expect_eq(invocations, 1);
    cr_expect_eq(seen_args, 0);
    kwi_signature_destroy(signature);
}

Test(signature_box, returns_are_none_before_the_kernel_runs)
{
    kwi_signature *signature = create("i>ti");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    void *tensor = NULL;
    int64_t integer = 0;
    answered[0] = kw_value_tensor(&tensor_a);
    answered[1] = kw_value_int(7);
    memset(seen_returns, 0xff, sizeof seen_returns);
    cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, &integer), KW_OK);
    cr_expect_eq(seen_returns[0].tag, KW_TAG_NONE);
    cr_expect_eq(seen_returns[1].tag, KW_TAG_NONE);
    cr_expect_eq(tensor, &tensor_a);
    cr_expect_eq(integer, 7);
    kwi_signature_destroy(signature);
}

Test(signature_box, failure_is_passed_on_and_outs_stay_untouched)
{
    static const kw_status statuses[] = {KW_KERNEL_FAILED, KW_NO_KERNEL, KW_STATUS_USER + 5, -3,
                                         INT32_MIN,        INT32_MAX};
    kwi_signature *signature = create("i>ti");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    answered[0] = kw_value_tensor(&tensor_a);
    answered[1] = kw_value_int(7);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        void *tensor = &tensor_b;
        int64_t integer = 3;
        answer = statuses[i];
        cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, &integer), statuses[i]);
        cr_expect_eq(tensor, &tensor_b);
        cr_expect_eq(integer, 3);
    }
    cr_expect_eq(refusals, 0);
    kwi_signature_destroy(signature);
}

// One value for each tag.
static kw_value one_of_each(size_t index)
{
    static const int64_t integer = 1;
    static const double number = 1;
    static const bool truth = true;
    static void *const tensor = &tensor_a;
    const kw_value values[] = {
        kw_value_none(),
        kw_value_bool(true),
        kw_value_int(3),
        kw_value_float(2.5),
        kw_value_string("x"),
        kw_value_tensor(&tensor_a),
        kw_value_tensors((kw_tensor_list){&tensor, 1}),
        kw_value_ints((kw_int_list){&integer, 1}),
        kw_value_floats((kw_float_list){&number, 1}),
        kw_value_bools((kw_bool_list){&truth, 1}),
    };
    return values[index];
}

enum {
    TAG_COUNT = 10
};

// For each return letter, which values of one_of_each() it takes.
typedef struct fit_row {
    const char *letter;
    const char *fits; // '+' or '-' for each
} fit_row;

Test(signature_box, wrong_return_is_refused_before_any_is_written)
{
    static const fit_row rows[] = {
        {"t", "+----+----"}, {"i", "--+-------"}, {"d", "---+------"}, {"b", "-+--------"}};
    for (size_t row = 0; row < COUNT(rows); row++) {
        for (size_t index = 0; index < TAG_COUNT; index++) {
            char code[8];
            snprintf(code, sizeof code, "i>t%s", rows[row].letter);
            kwi_signature *signature = create(code);
            pair_entry entry = (pair_entry)kwi_signature_box(signature);
            void *tensor = &tensor_b;
            int64_t second = -1; // room for every return letter
            answered[0] = kw_value_tensor(&tensor_a);
            answered[1] = one_of_each(index);
            refusals = 0;
            released = 0;
            bool fits = rows[row].fits[index] == '+';
            kw_status status = entry(&some_kernel, no_keys, 1, &tensor, &second);
            cr_expect_eq(status, fits ? KW_OK : KW_WRONG_VALUE, "%s %zu", code, index);
            cr_expect_eq(refusals, fits ? 0 : 1);
            cr_expect_eq(tensor, fits ? &tensor_a : &tensor_b);
            cr_expect_eq(second == -1, !fits, "%s %zu", code, index);
            if (!fits) {
                cr_expect_eq(released, answered[1].tag == KW_TAG_TENSOR ? 2 : 1);
                cr_expect_eq(strncmp(refused, "return 2 is ", 12), 0, "%s", refused);
                cr_expect(strstr(refused, kw_tag_name(answered[1].tag)) != NULL, "%s", refused);
            }
            kwi_signature_destroy(signature);
        }
    }
}

Test(signature_box, refusal_names_both_types)
{
    kwi_signature *signature = create("i>ti");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    void *tensor = NULL;
    int64_t integer = 0;
    answered[0] = kw_value_float(1);
    answered[1] = kw_value_int(7);
    cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, &integer), KW_WRONG_VALUE);
    cr_expect_str_eq(refused, "return 1 is float, but the schema says Tensor");
    kwi_signature_destroy(signature);
}

Test(signature_box, absent_tensor_is_returned_as_null)
{
    kwi_signature *signature = create("i>ti");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    void *tensor = &tensor_b;
    int64_t integer = 0;
    answered[0] = kw_value_none();
    answered[1] = kw_value_int(7);
    cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, &integer), KW_OK);
    cr_expect_null(tensor);
    kwi_signature_destroy(signature);
}

Test(signature_box, list_longer_than_a_value_counts_is_refused)
{
    kwi_signature *signature = create("tID>");
    kw_status (*entry)(const kw_kernel *, kw_keyset, void *, kw_int_list, kw_float_list) =
        (kw_status(*)(const kw_kernel *, kw_keyset, void *, kw_int_list,
                      kw_float_list))kwi_signature_box(signature);
    int64_t element = 0;
    kw_int_list list = {&element, (size_t)UINT32_MAX + 1};
    kw_status status = entry(&some_kernel, no_keys, &tensor_a, list, (kw_float_list){NULL, 0});
    cr_expect_eq(status, KW_WRONG_VALUE);
    cr_expect_eq(invocations, 0);
    cr_expect_eq(refused_args, 1, "only what was boxed");
    cr_expect_eq(strncmp(refused, "argument 2 has more than ", 25), 0, "%s", refused);
    kwi_signature_destroy(signature);
}

// Unboxing.

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
    // None bool int float str Tensor Tensor[] int[] float[] bool[]
    static const fit_row rows[] = {
        {"t", "+----+----"}, {"i", "--+-------"},  {"d", "--++------"},  {"b", "-+--------"},
        {"s", "+---+-----"}, {"T", "------+---"},  {"I", "-------+--"},  {"D", "--------+-"},
        {"B", "---------+"}, {"?i", "+-+-------"}, {"?d", "+-++------"}, {"?b", "++--------"},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        char code[8];
        snprintf(code, sizeof code, "%s>", rows[row].letter);
        kwi_signature *signature = create(code);
        for (size_t index = 0; index < TAG_COUNT; index++) {
            kw_value args[] = {one_of_each(index)};
            kw_frame frame = {args, NULL, 1, 0};
            kw_error err = KW_ERROR_INIT;
            bool fits = rows[row].fits[index] == '+';
            typed_runs = 0;
            kw_status status = kwi_signature_unbox(signature, &some_kernel, (kw_function)ignore_all,
                                                   no_keys, &frame, &err);
            cr_expect_eq(status, fits ? KW_OK : KW_WRONG_VALUE, "%s %zu", code, index);
            cr_expect_eq(typed_runs, fits ? 1 : 0);
            cr_expect_eq(strncmp(err.text, "argument 1 is ", fits ? 0 : 14), 0, "%s", err.text);
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

// The most arguments there can be.

#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define SIXTEEN(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define SIXTY_FOUR(X) SIXTEEN(X, 0) SIXTEEN(X, 1) SIXTEEN(X, 2) SIXTEEN(X, 3)
#define PARAMETER(n) , int64_t a##n
#define STORE(n) seen[count++] = a##n;
#define PASS(n) , 3 * (INT64_C(1##n) - INT64_C(1000))

static int64_t seen[64];
static const kwi_signature *many_signature;

static kw_status take_many(const kw_kernel *self, kw_keyset keys SIXTY_FOUR(PARAMETER),
                           int64_t *out)
{
    int count = 0;
    cr_expect_eq(self, &some_kernel);
    cr_expect_eq(keys.bits, 0);
    SIXTY_FOUR(STORE)
    *out = count;
    return KW_OK;
}

static kw_status invoke_many(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    return kwi_signature_unbox(many_signature, self, (kw_function)take_many, keys, frame, NULL);
}

Test(signature, sixty_four_arguments_round_trip)
{
    char code[80];
    memset(code, 'i', 64);
    strcpy(code + 64, ">i");
    kwi_signature *signature = NULL;
    cr_assert_eq(kwi_signature_create(code, invoke_many, refuse, &signature, NULL), KW_OK);
    many_signature = signature;
    __typeof__(&take_many) entry = (__typeof__(&take_many))kwi_signature_box(signature);
    int64_t out = 0;
    cr_expect_eq(entry(&some_kernel, no_keys SIXTY_FOUR(PASS), &out), KW_OK);
    cr_expect_eq(out, 64);
    for (int64_t i = 0; i < 64; i++) {
        cr_expect_eq(seen[i], 3 * (i / 16 * 100 + i % 16 / 4 * 10 + i % 4));
    }
    kwi_signature_destroy(signature);
}

Test(signature, sixty_five_arguments_are_too_many)
{
    char code[80];
    memset(code, 'i', 65);
    strcpy(code + 65, ">");
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_signature_create(code, invoke, refuse, &signature, &err),
                 KW_TOO_MANY_ARGUMENTS);
    cr_expect_null(signature);
}

Test(signature, many_signatures_live_side_by_side)
{
    enum {
        COUNT_OF_SIGNATURES = 300
    };
    kwi_signature *signatures[COUNT_OF_SIGNATURES];
    for (int i = 0; i < COUNT_OF_SIGNATURES; i++) {
        signatures[i] = create(">");
    }
    for (int i = 0; i < COUNT_OF_SIGNATURES; i += 2) {
        kwi_signature_destroy(signatures[i]);
    }
    for (int i = 1; i < COUNT_OF_SIGNATURES; i += 2) {
        nothing_entry entry = (nothing_entry)kwi_signature_box(signatures[i]);
        cr_expect_eq(entry(&some_kernel, no_keys), KW_OK);
        kwi_signature_destroy(signatures[i]);
    }
    cr_expect_eq(invocations, COUNT_OF_SIGNATURES / 2);
}
