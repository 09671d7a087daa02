// The boxing entry: what it hands to the boxed side, and what it answers.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "signature_values.h"
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

// Nobody counts the tensors here.
static const kw_tensor_type no_type = {.struct_size = sizeof no_type, .name = "test"};

static kw_value owned_of_each(size_t index)
{
    kw_value borrowed = one_of_each(index);
    kw_value owned;
    cr_assert_eq(kw_value_own(&borrowed, &no_type, &owned, NULL), KW_OK);
    return owned;
}

typedef kw_status (*pair_entry)(const kw_kernel *, kw_keyset, int64_t, void **, int64_t *);

typedef kw_status (*nothing_entry)(const kw_kernel *, kw_keyset);

Test(signature_box, no_arguments_and_no_returns_work)
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

Test(signature_box, wrong_return_is_refused_before_any_is_written)
{
    static const fit_row rows[] = {
        {"t", "+-----+-------------"}, {"i", "--+-----------------"}, {"d", "---+----------------"},
        {"b", "-+------------------"}, {"y", "--+----------+------"}, {"e", "----+---------------"},
        {"n", "++++--------+++-----"}, {"v", "++++++++++++++++++++"}, {"c", "------------+-------"},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        for (size_t index = 0; index < TAG_COUNT; index++) {
            char code[8];
            snprintf(code, sizeof code, "i>t%s", rows[row].letter);
            kwi_signature *signature = create(code);
            pair_entry entry = (pair_entry)kwi_signature_box(signature);
            void *tensor = &tensor_b;
            int64_t second[2] = {-1, -1}; // room for every return letter
            answered[0] = kw_value_tensor(&tensor_a);
            answered[1] = owned_of_each(index);
            refusals = 0;
            released = 0;
            bool fits = rows[row].fits[index] == '+';
            kw_status status = entry(&some_kernel, no_keys, 1, &tensor, second);
            cr_expect_eq(status, fits ? KW_OK : KW_WRONG_VALUE, "%s %zu", code, index);
            cr_expect_eq(refusals, fits ? 0 : 1);
            cr_expect_eq(tensor, fits ? &tensor_a : &tensor_b);
            cr_expect_eq(second[0] == -1, !fits, "%s %zu", code, index);
            if (!fits) {
                cr_expect_eq(released, answered[1].tag == KW_TAG_TENSOR ? 2 : 1);
                cr_expect_eq(strncmp(refused, "return 2 is ", 12), 0, "%s", refused);
                cr_expect(strstr(refused, kw_tag_name(answered[1].tag)) != NULL, "%s", refused);
            }
            if (!fits || rows[row].letter[0] == 'n' || rows[row].letter[0] == 'v') {
                kw_value_release(&answered[1], NULL);
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

typedef kw_status (*value_entry)(const kw_kernel *, kw_keyset, kw_value *);
typedef kw_status (*several_entry)(const kw_kernel *, kw_keyset, kw_complex *, kw_device *,
                                   kw_symint *, kw_value *, kw_value *);

Test(signature_box, returns_of_each_sort_are_handed_on)
{
    kwi_signature *signature = create(">ceynv");
    several_entry entry = (several_entry)kwi_signature_box(signature);
    const kw_complex number = {1, -2};
    kw_value view = kw_value_complex(&number);
    kw_value text = kw_value_string("text");
    cr_assert_eq(kw_value_own(&view, NULL, &answered[0], NULL), KW_OK);
    answered[1] = kw_value_device((kw_device){1, 2});
    answered[2] = kw_value_int(-4);
    answered[3] = kw_value_float(0.5);
    cr_assert_eq(kw_value_own(&text, NULL, &answered[4], NULL), KW_OK);
    uint64_t bytes = kwi_memory_bytes();
    kw_complex complex_number = {0, 0};
    kw_device device = {0, 0};
    kw_symint symint = {0};
    kw_value scalar = kw_value_none();
    kw_value value = kw_value_none();
    cr_expect_eq(entry(&some_kernel, no_keys, &complex_number, &device, &symint, &scalar, &value),
                 KW_OK);
    cr_expect(complex_number.real == 1 && complex_number.imaginary == -2);
    cr_expect(device.type == 1 && device.index == 2);
    cr_expect_eq(symint.word, (uint64_t)-4);
    cr_expect_eq(scalar.as.as_float, 0.5);
    cr_expect_str_eq(value.as.as_string, "text");
    cr_expect_lt(kwi_memory_bytes(), bytes, "the complex value was copied and released");
    kw_value_release(&value, NULL);
    kwi_signature_destroy(signature);
}

Test(signature_box, node_is_handed_on_with_its_reference)
{
    kwi_signature *signature = create("i>ty");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    void *tensor = NULL;
    kw_symint symint = {0};
    answered[0] = kw_value_none();
    answered[1] = owned_of_each(13);
    cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, (int64_t *)&symint.word), KW_OK);
    cr_expect_eq(kw_symint_object(symint), answered[1].as.as_object);
    kw_symint_release(symint);
    kwi_signature_destroy(signature);
}

Test(signature_box, borrowed_return_is_refused)
{
    kwi_signature *signature = create(">v");
    value_entry entry = (value_entry)kwi_signature_box(signature);
    int views = 0;
    for (size_t index = 0; index < TAG_COUNT; index++) {
        kw_value out = kw_value_int(31);
        answered[0] = one_of_each(index);
        bool is_node = index >= 13 && index <= 14;
        bool is_view = (index == 5 || index >= 7) && index != 11 && index != 19 && !is_node;
        refusals = 0;
        cr_expect_eq(entry(&some_kernel, no_keys, &out), is_view ? KW_WRONG_VALUE : KW_OK, "%zu",
                     index);
        cr_expect_eq(refusals, is_view ? 1 : 0);
        cr_expect_eq(out.as.bits, is_view ? 31 : answered[0].as.bits);
        views += is_view ? 1 : 0;
    }
    cr_expect_eq(views, 10);
    answered[0] = one_of_each(16);
    kw_value out;
    cr_expect_eq(entry(&some_kernel, no_keys, &out), KW_WRONG_VALUE);
    cr_expect_str_eq(refused, "return 1 is a borrowed list; return an owned one, kw_value_own()");
    answered[0] = one_of_each(19);
    answered[0].flags = 0;
    cr_expect_eq(entry(&some_kernel, no_keys, &out), KW_WRONG_VALUE);
    cr_expect_str_eq(refused, "return 1 is a borrowed object; return an owned one, kw_value_own()");
    kwi_signature_destroy(signature);
}

Test(signature_box, symbolic_integers_without_a_form_are_refused)
{
    kwi_signature *signature = create("?yy>");
    kw_status (*entry)(const kw_kernel *, kw_keyset, const kw_symint *, kw_symint) = (kw_status(*)(
        const kw_kernel *, kw_keyset, const kw_symint *, kw_symint))kwi_signature_box(signature);
    const kw_symint invalid = kw_symint_int(INT64_MIN);
    cr_expect_eq(entry(&some_kernel, no_keys, NULL, kw_symint_int(1)), KW_OK);
    cr_expect_eq(entry(&some_kernel, no_keys, &invalid, kw_symint_int(1)), KW_WRONG_VALUE);
    cr_expect_str_eq(refused, "argument 1 is an invalid symbolic integer: integers below -2^62 "
                              "have no symbolic form");
    cr_expect_eq(entry(&some_kernel, no_keys, NULL, invalid), KW_WRONG_VALUE);
    cr_expect_eq(strncmp(refused, "argument 2 is an invalid", 24), 0, "%s", refused);
    cr_expect_eq(invocations, 1);
    kwi_signature_destroy(signature);
}

Test(signature_box, integer_return_without_a_symbolic_form_is_refused)
{
    kwi_signature *signature = create("i>ty");
    pair_entry entry = (pair_entry)kwi_signature_box(signature);
    void *tensor = &tensor_b;
    int64_t symint = 5;
    answered[0] = kw_value_tensor(&tensor_a);
    answered[1] = kw_value_int(INT64_MIN);
    cr_expect_eq(entry(&some_kernel, no_keys, 1, &tensor, &symint), KW_WRONG_VALUE);
    cr_expect_str_eq(refused, "return 2 is an integer below -2^62, which has no symbolic form");
    cr_expect_eq(released, 1);
    cr_expect_eq(tensor, &tensor_b);
    cr_expect_eq(symint, 5);
    kwi_signature_destroy(signature);
}
