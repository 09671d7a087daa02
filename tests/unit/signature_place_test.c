// Boxing and unboxing: each letter in each place an argument can be passed in.
//
// A typed call goes through the boxing entry into a frame, and from there through unboxing into a
// typed function; both ends compare. The places: registers; behind arguments that leave one integer
// register on x86-64, which a list of two words must not be split over; and the stack.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "value/signature.h"

static const int64_t ints[] = {5, -6, 7};
static const double floats[] = {0.5, -0.25};
static const bool bools[] = {true, false, true, true};
static int tensor_a;
static int tensor_b;
static void *const tensors[] = {&tensor_a, NULL, &tensor_b};
static const int64_t one_int = INT64_MIN + 3;
static const double one_float = -1e300;
static const bool one_bool = true;
static const kw_complex one_complex = {0.25, -8};
static const kw_device one_device = {1, 3};
static const kw_symint one_symint = {(uint64_t)KW_SYMINT_MIN};
static const kw_symint symints[] = {{1}, {(uint64_t)-2}, {UINT64_C(0x8000000000001230)}};
static const kw_value values[] = {{KW_TAG_INT, 0, 0, {.as_int = 3}}, {KW_TAG_NONE, 0, 0, {0}}};
static const kw_tensor_list tensor_view = {tensors, 3};
static const kw_int_list int_view = {ints, 3};
static const kw_float_list float_view = {floats, 2};
static const kw_bool_list bool_view = {bools, 4};
static const kw_symint_list symint_view = {symints, 3};
static const kw_value_list value_view = {values, 2};

static const kw_keyset some_keys = {.bits = UINT64_C(0x8123456789abcdef) >> 1};
static kw_kernel some_kernel;

// Each letter: its code, its C type, a value, and the same value boxed.
#define LETTERS(X)                                                                                 \
    X(tensor, "t", void *, &tensor_a, kw_value_tensor(&tensor_a))                                  \
    X(absent_tensor, "t", void *, NULL, kw_value_none())                                           \
    X(integer, "i", int64_t, INT64_MIN + 1, kw_value_int(INT64_MIN + 1))                           \
    X(number, "d", double, 1.0 / 3, kw_value_float(1.0 / 3))                                       \
    X(truth, "b", bool, true, kw_value_bool(true))                                                 \
    X(untruth, "b", bool, false, kw_value_bool(false))                                             \
    X(string, "s", const char *, "text", kw_value_string("text"))                                  \
    X(absent_string, "s", const char *, NULL, kw_value_none())                                     \
    X(tensor_list, "T", kw_tensor_list, {tensors COMMA 3},                                         \
      kw_value_tensors((kw_tensor_list){tensors, 3}))                                              \
    X(int_list, "I", kw_int_list, {ints COMMA 3}, kw_value_ints((kw_int_list){ints, 3}))           \
    X(float_list, "D", kw_float_list, {floats COMMA 2},                                            \
      kw_value_floats((kw_float_list){floats, 2}))                                                 \
    X(bool_list, "B", kw_bool_list, {bools COMMA 4}, kw_value_bools((kw_bool_list){bools, 4}))     \
    X(empty_list, "I", kw_int_list, {NULL COMMA 0}, kw_value_ints((kw_int_list){NULL, 0}))         \
    X(generator, "g", void *, &tensor_b, kw_value_generator(&tensor_b))                            \
    X(absent_generator, "g", void *, NULL, kw_value_none())                                        \
    X(optional_int, "?i", const int64_t *, &one_int, kw_value_int(one_int))                        \
    X(absent_int, "?i", const int64_t *, NULL, kw_value_none())                                    \
    X(optional_float, "?d", const double *, &one_float, kw_value_float(one_float))                 \
    X(absent_float, "?d", const double *, NULL, kw_value_none())                                   \
    X(optional_bool, "?b", const bool *, &one_bool, kw_value_bool(one_bool))                       \
    X(absent_bool, "?b", const bool *, NULL, kw_value_none())                                      \
    X(complex, "c", kw_complex, {0.25 COMMA - 8}, kw_value_complex(&one_complex))                  \
    X(device, "e", kw_device, {1 COMMA - 1}, kw_value_device((kw_device){1, -1}))                  \
    X(symint, "y", kw_symint, {(uint64_t)-7}, kw_value_int(-7))                                    \
    X(symint_least, "y", kw_symint, {(uint64_t)KW_SYMINT_MIN}, kw_value_int(KW_SYMINT_MIN))        \
    X(scalar, "n", kw_value, {KW_TAG_FLOAT COMMA 0 COMMA 0 COMMA{.as_float = 0.5}},                \
      kw_value_float(0.5))                                                                         \
    X(absent_scalar, "n", kw_value, {0}, kw_value_none())                                          \
    X(value, "v", kw_value, {KW_TAG_TUPLE COMMA 0 COMMA 2 COMMA{.as_values = values}},             \
      kw_value_tuple((kw_value_list){values, 2}))                                                  \
    X(absent_value, "v", kw_value, {0}, kw_value_none())                                           \
    X(symint_list, "Y", kw_symint_list, {symints COMMA 3},                                         \
      kw_value_symints((kw_symint_list){symints, 3}))                                              \
    X(value_list, "V", kw_value_list, {values COMMA 2},                                            \
      kw_value_values((kw_value_list){values, 2}))                                                 \
    X(optional_complex, "?c", const kw_complex *, &one_complex, kw_value_complex(&one_complex))    \
    X(absent_complex, "?c", const kw_complex *, NULL, kw_value_none())                             \
    X(optional_device, "?e", const kw_device *, &one_device, kw_value_device(one_device))          \
    X(absent_device, "?e", const kw_device *, NULL, kw_value_none())                               \
    X(optional_symint, "?y", const kw_symint *, &one_symint, kw_value_int(KW_SYMINT_MIN))          \
    X(absent_symint, "?y", const kw_symint *, NULL, kw_value_none())                               \
    X(optional_tensors, "?T", const kw_tensor_list *, &tensor_view, kw_value_tensors(tensor_view)) \
    X(optional_ints, "?I", const kw_int_list *, &int_view, kw_value_ints(int_view))                \
    X(optional_floats, "?D", const kw_float_list *, &float_view, kw_value_floats(float_view))      \
    X(optional_bools, "?B", const kw_bool_list *, &bool_view, kw_value_bools(bool_view))           \
    X(optional_symints, "?Y", const kw_symint_list *, &symint_view, kw_value_symints(symint_view)) \
    X(optional_values, "?V", const kw_value_list *, &value_view, kw_value_values(value_view))      \
    X(absent_list, "?T", const kw_tensor_list *, NULL, kw_value_none())                            \
    X(absent_values, "?V", const kw_value_list *, NULL, kw_value_none())
#define COMMA ,

static const kwi_signature *signature;
static kw_function kernel;
static kw_value expected; // boxed, of the letter
static uint32_t position; // of the letter
static int kernel_runs;

static void refuse(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    (void)self;
    (void)frame;
    cr_assert_fail("%s", sentence);
}

static kw_status invoke(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    cr_expect_eq(self, &some_kernel);
    cr_expect_eq(keys.bits, some_keys.bits);
    const kw_value *value = &frame->args[position];
    bool is_view = value->tag == KW_TAG_STRING || value->tag == KW_TAG_COMPLEX;
    cr_expect(is_view ? kw_value_equal(value, &expected)
                      : memcmp(value, &expected, sizeof expected) == 0);
    kw_error err = KW_ERROR_INIT;
    kw_status status = kwi_signature_unbox(signature, self, kernel, keys, frame, &err);
    cr_expect_eq(status, KW_OK, "%s", err.text);
    return status;
}

// Runs a check with a signature at hand.
static kwi_signature *begin(const char *code, kw_function function, kw_value value, uint32_t index)
{
    kwi_signature *created = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_signature_create(code, invoke, refuse, &created, &err), KW_OK, "%s", err.text);
    signature = created;
    kernel = function;
    expected = value;
    position = index;
    kernel_runs = 0;
    return created;
}

static void end(kwi_signature *created)
{
    cr_expect_eq(kernel_runs, 1);
    kwi_signature_destroy(created);
}

// Bytes of what an optional's pointer leads to.
static size_t pointee_bytes(char letter)
{
    if (letter == 'b') {
        return sizeof(bool);
    }
    return strchr("cTIDBYV", letter) != NULL ? 16 : 8;
}

// A pointer of an optional leads into the frame, so what it points to is compared; `size` is that
// of the parameter. Strings and tensors keep their pointers.
static void expect_same(const char *code, const void *seen, const void *sent, size_t size)
{
    if (code[0] != '?') {
        cr_expect_eq(memcmp(seen, sent, size), 0, "%s", code);
        return;
    }
    const void *seen_pointer = *(const void *const *)seen;
    const void *sent_pointer = *(const void *const *)sent;
    cr_expect_eq(seen_pointer == NULL, sent_pointer == NULL, "%s", code);
    if (sent_pointer != NULL) {
        cr_expect_eq(memcmp(seen_pointer, sent_pointer, pointee_bytes(code[1])), 0, "%s", code);
    }
}

static void expect_leading(const kw_kernel *self, kw_keyset keys)
{
    cr_expect_eq(self, &some_kernel);
    cr_expect_eq(keys.bits, some_keys.bits);
    kernel_runs++;
}

#define TEN_INTS                                                                                   \
    int64_t i0, int64_t i1, int64_t i2, int64_t i3, int64_t i4, int64_t i5, int64_t i6,            \
        int64_t i7, int64_t i8, int64_t i9
#define TEN_FLOATS                                                                                 \
    double d0, double d1, double d2, double d3, double d4, double d5, double d6, double d7,        \
        double d8, double d9

static void expect_tens(TEN_INTS, TEN_FLOATS)
{
    const int64_t seen_ints[] = {i0, i1, i2, i3, i4, i5, i6, i7, i8, i9};
    const double seen_floats[] = {d0, d1, d2, d3, d4, d5, d6, d7, d8, d9};
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(seen_ints[i], -i - 1);
        cr_expect_eq(seen_floats[i], i + 0.5);
    }
}

#define PASS_TEN_INTS -1, -2, -3, -4, -5, -6, -7, -8, -9, -10
#define PASS_TEN_FLOATS 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5

#define DEFINE_TESTS(name, code, type, value, boxed)                                               \
    static type const name##_sent = value;                                                         \
                                                                                                   \
    static kw_status name##_first(const kw_kernel *self, kw_keyset keys, type seen, int64_t after, \
                                  int64_t *out)                                                    \
    {                                                                                              \
        expect_leading(self, keys);                                                                \
        expect_same(code, &seen, &name##_sent, sizeof seen);                                       \
        *out = after + 1;                                                                          \
        return KW_OK;                                                                              \
    }                                                                                              \
                                                                                                   \
    Test(signature_place, name##_in_registers_round_trips)                                         \
    {                                                                                              \
        kwi_signature *created = begin(code "i>i", (kw_function)name##_first, boxed, 0);           \
        __typeof__(&name##_first) entry = (__typeof__(&name##_first))kwi_signature_box(created);   \
        int64_t out = 0;                                                                           \
        cr_expect_eq(entry(&some_kernel, some_keys, name##_sent, 41, &out), KW_OK);                \
        cr_expect_eq(out, 42);                                                                     \
        end(created);                                                                              \
    }                                                                                              \
                                                                                                   \
    static kw_status name##_between(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t b,   \
                                    int64_t c, type seen, int64_t after, double last, double *out) \
    {                                                                                              \
        expect_leading(self, keys);                                                                \
        cr_expect(a == 1 && b == 2 && c == 3 && after == 4);                                       \
        expect_same(code, &seen, &name##_sent, sizeof seen);                                       \
        *out = last;                                                                               \
        return KW_OK;                                                                              \
    }                                                                                              \
                                                                                                   \
    Test(signature_place, name##_at_the_last_register_round_trips)                                 \
    {                                                                                              \
        kwi_signature *created = begin("iii" code "id>d", (kw_function)name##_between, boxed, 3);  \
        __typeof__(&name##_between) entry =                                                        \
            (__typeof__(&name##_between))kwi_signature_box(created);                               \
        double out = 0;                                                                            \
        cr_expect_eq(entry(&some_kernel, some_keys, 1, 2, 3, name##_sent, 4, 6.5, &out), KW_OK);   \
        cr_expect_eq(out, 6.5);                                                                    \
        end(created);                                                                              \
    }                                                                                              \
                                                                                                   \
    static kw_status name##_behind(const kw_kernel *self, kw_keyset keys, TEN_INTS, TEN_FLOATS,    \
                                   type seen, bool last, void **out_0, bool *out_1)                \
    {                                                                                              \
        expect_leading(self, keys);                                                                \
        expect_tens(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, d0, d1, d2, d3, d4, d5, d6, d7, d8,    \
                    d9);                                                                           \
        expect_same(code, &seen, &name##_sent, sizeof seen);                                       \
        *out_0 = &tensor_b;                                                                        \
        *out_1 = last;                                                                             \
        return KW_OK;                                                                              \
    }                                                                                              \
                                                                                                   \
    Test(signature_place, name##_on_the_stack_round_trips)                                         \
    {                                                                                              \
        kwi_signature *created = begin("iiiiiiiiii"                                                \
                                       "dddddddddd" code "b>tb",                                   \
                                       (kw_function)name##_behind, boxed, 20);                     \
        __typeof__(&name##_behind) entry = (__typeof__(&name##_behind))kwi_signature_box(created); \
        void *out_0 = NULL;                                                                        \
        bool out_1 = false;                                                                        \
        cr_expect_eq(entry(&some_kernel, some_keys, PASS_TEN_INTS, PASS_TEN_FLOATS, name##_sent,   \
                           true, &out_0, &out_1),                                                  \
                     KW_OK);                                                                       \
        cr_expect_eq(out_0, &tensor_b);                                                            \
        cr_expect(out_1);                                                                          \
        end(created);                                                                              \
    }

LETTERS(DEFINE_TESTS)
