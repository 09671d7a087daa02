// Generated thunks refuse what the library refuses, with the same texts: every value in every
// place.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/local.h>
#include <keyway/object.h>

#include "gen/fixture.h"

TestSuite(gen_refusal, .init = kwt_begin, .fini = kwt_end);

// One value of each kind, borrowed.
#define SAMPLE_COUNT 24
static kw_value samples[SAMPLE_COUNT];
static void *const sample_tensors[] = {&gen_tensor_1, NULL};
static const int64_t sample_ints[] = {1, 2};
static const int64_t low_ints[] = {1, INT64_MIN};
static const double sample_floats[] = {0.5};
static const bool sample_bools[] = {true};
static const kw_complex sample_complex = {1, 2};
static const kw_device sample_device = {1, 0};
static kw_symint sample_symints[2];
static kw_symint concrete_symints[2];
static kw_symint invalid_symints[2];
static kw_value sample_values[2];
static kw_object *sample_object;

static void make_samples(void)
{
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "thing"};
    KWT_OK(kw_object_create(&options, &sample_object, NULL));
    sample_symints[0] = kw_symint_int(1);
    sample_symints[1] = gen_node();
    concrete_symints[0] = concrete_symints[1] = kw_symint_int(3);
    invalid_symints[0] = kw_symint_int(3);
    invalid_symints[1].word = KW_SYMINT_INVALID;
    sample_values[0] = kw_value_int(1);
    sample_values[1] = kw_value_string("x");
    const kw_value made[SAMPLE_COUNT] = {
        kw_value_none(),
        kw_value_bool(true),
        kw_value_int(5),
        kw_value_int(INT64_MIN),
        kw_value_float(0.5),
        kw_value_device(sample_device),
        kw_value_string("word"),
        kw_value_tensor(&gen_tensor_1),
        kw_value_tensors((kw_tensor_list){sample_tensors, 2}),
        kw_value_ints((kw_int_list){sample_ints, 2}),
        kw_value_ints((kw_int_list){low_ints, 2}),
        kw_value_floats((kw_float_list){sample_floats, 1}),
        kw_value_bools((kw_bool_list){sample_bools, 1}),
        kw_value_generator(&gen_generator),
        kw_value_complex(&sample_complex),
        kw_value_symint(gen_node()),
        kw_value_symints((kw_symint_list){sample_symints, 2}),
        kw_value_symints((kw_symint_list){concrete_symints, 2}),
        kw_value_symints((kw_symint_list){invalid_symints, 2}),
        kw_value_values((kw_value_list){sample_values, 2}),
        kw_value_tuple((kw_value_list){sample_values, 2}),
        kw_value_dict((kw_value_list){sample_values, 2}),
        kw_value_object(sample_object),
        {.tag = 77},
    };
    memcpy(samples, made, sizeof samples);
}

static void end_samples(void)
{
    kw_object_release(sample_object);
    gen_node_end();
}

// A value that fits a letter of a code, and what of it is left.
static const char *fitting(const char *code, kw_value *out_value)
{
    static const struct {
        char letter;
        unsigned sample;
    } fits[] = {{'t', 7}, {'i', 2},  {'d', 4},  {'b', 1},  {'c', 14}, {'e', 5},
                {'y', 2}, {'s', 6},  {'g', 13}, {'n', 4},  {'v', 5},  {'T', 8},
                {'I', 9}, {'D', 11}, {'B', 12}, {'Y', 17}, {'V', 19}, {'?', 0}};
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        if (fits[i].letter == code[0]) {
            *out_value = samples[fits[i].sample];
        }
    }
    return code + (code[0] == '?' ? 2 : 1);
}

static uint32_t fill(const char *code, kw_value *args, uint32_t *out_returns)
{
    uint32_t count = 0;
    while (*code != '>') {
        code = fitting(code, &args[count++]);
    }
    *out_returns = (uint32_t)strlen(code + 1);
    return count;
}

// Calls with a frame; writes down the status, what the kernel saw, and what came out or the text.
static void call_frame(const kw_operator *op, const kw_value *args, uint32_t arg_count,
                       uint32_t return_count, char *text, size_t size)
{
    kw_value copies[KW_FRAME_ARGS_MAX], returns[KW_FRAME_RETURNS_MAX];
    memcpy(copies, args, sizeof copies);
    kw_frame frame = {copies, returns, arg_count, return_count};
    seen_clear();
    kw_status status = kw_call_boxed(op, &frame);
    seen(" | %s", kw_status_name(status));
    for (uint32_t i = 0; i < return_count; i++) {
        seen_value(&returns[i]);
    }
    (void)snprintf(text, size, "%s: %s", seen_text(), status != KW_OK ? kw_call_error() : "");
    kw_frame_release_returns(&frame, &kwt_tensor_type);
}

static const char *code_of(const char *schema, char *buffer, size_t size)
{
    kw_schema *parsed = NULL;
    KWT_OK(kw_schema_parse(schema, &parsed, NULL));
    (void)kw_schema_c_signature(parsed, buffer, size);
    kw_schema_destroy(parsed);
    return buffer;
}

Test(gen_refusal, unboxing_takes_and_refuses_what_the_library_does)
{
    char code[200], ours[2048], theirs[2048];
    unsigned refused = 0;
    make_samples();
    gen_make_tensors();
    kw_dispatcher *by_thunks = gen_dispatcher();
    kw_dispatcher *by_library = gen_dispatcher_without_thunks();
    for (size_t i = 0; i < GEN_CASE_COUNT; i++) {
        const kw_operator *op = kwt_find(by_thunks, gen_cases[i].name);
        const kw_operator *other = kwt_find(by_library, gen_cases[i].name);
        kw_value args[KW_FRAME_ARGS_MAX];
        uint32_t return_count = 0;
        memset(args, 0, sizeof args);
        uint32_t count = fill(code_of(gen_cases[i].schema, code, sizeof code), args, &return_count);
        for (uint32_t k = 0; k < count * SAMPLE_COUNT; k++) {
            const kw_value good = args[k / SAMPLE_COUNT];
            args[k / SAMPLE_COUNT] = samples[k % SAMPLE_COUNT];
            call_frame(op, args, count, return_count, ours, sizeof ours);
            call_frame(other, args, count, return_count, theirs, sizeof theirs);
            cr_assert_str_eq(ours, theirs);
            refused += strstr(ours, "KW_OK") == NULL ? 1 : 0;
            args[k / SAMPLE_COUNT] = good;
        }
    }
    cr_assert_gt(refused, 500u);
    cr_assert_eq(gen_tensor_1.reference_count, 0);
    end_samples();
}

// A boxed kernel that returns what it is told to.
static kw_value lie;
static uint32_t lie_index;

static kw_status liar(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    const char *code = strchr(GEN_RETURNS_SIGNATURE, '>') + 1;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        kw_value value = kw_value_none();
        (void)fitting(code + i, &value);
        kw_status status = kw_value_own(&value, &kwt_tensor_type, &frame->returns[i], NULL);
        if (status != KW_OK) {
            return status;
        }
    }
    kw_value_release(&frame->returns[lie_index], &kwt_tensor_type);
    frame->returns[lie_index] = lie;
    return KW_OK;
}

// One typed call; writes down status, text and what came out.
static void call_typed(const kw_operator *op, char *text, size_t size)
{
    kwt_tensor *t = &gen_tensor_2;
    int64_t i = -7;
    double d = -7;
    bool b = true;
    kw_complex c = {-7, -7};
    kw_device e = {-7, -7};
    kw_symint y = kw_symint_int(-7);
    kw_value n = kw_value_int(-7), v = n, s = n;
    kw_status status =
        gen_returns_call_on(op, &gen_tensor_1, &t, &i, &d, &b, &c, &e, &y, &n, &v, &s);
    seen_clear();
    seen("%s %d %d %g %d %g %d", kw_status_name(status), t == &gen_tensor_2, (int)i, d, (int)b,
         c.real, (int)e.type);
    seen_symint(y);
    seen_value(&n);
    seen_value(&v);
    seen_value(&s);
    (void)snprintf(text, size, "%s: %s", seen_text(), status != KW_OK ? kw_call_error() : "");
    if (status == KW_OK) {
        gen_tensor_1.reference_count -= t != NULL ? 1 : 0;
        kw_symint_release(y);
        kw_value_release(&n, NULL);
        kw_value_release(&v, &kwt_tensor_type);
        kw_value_release(&s, &kwt_tensor_type);
    }
}

// The same dispatcher with and without the boxing thunk, and the liar for every operator.
static const kw_operator *lying(kw_dispatcher *dispatcher)
{
    kwt_impl(kwt_library(dispatcher, "liar"), GEN_RETURNS_NAME, KW_KEY_CPU, KW_BOXED(liar));
    return kwt_find(dispatcher, GEN_RETURNS_NAME);
}

static void tell_lie(const kw_value *sample, bool owned)
{
    if (!owned || sample->tag == 77) {
        lie = *sample;
        lie.flags = 0;
    } else {
        KWT_OK(kw_value_own(sample, &kwt_tensor_type, &lie, NULL));
    }
}

Test(gen_refusal, boxing_takes_and_refuses_what_the_library_does)
{
    char ours[2048], theirs[2048];
    unsigned refused = 0;
    make_samples();
    gen_make_tensors();
    const kw_operator *op = lying(gen_dispatcher());
    const kw_operator *other = lying(gen_dispatcher_without_thunks());
    for (uint32_t k = 0; k < 10 * SAMPLE_COUNT * 2; k++) {
        const kw_value *sample = &samples[k / 2 % SAMPLE_COUNT];
        lie_index = k / 2 / SAMPLE_COUNT;
        bool owned = k % 2 == 0 || sample->tag == KW_TAG_TENSOR;
        tell_lie(sample, owned);
        call_typed(op, ours, sizeof ours);
        tell_lie(sample, owned);
        call_typed(other, theirs, sizeof theirs);
        cr_assert_str_eq(ours, theirs);
        refused += strstr(ours, "KW_OK") == NULL ? 1 : 0;
    }
    cr_assert_gt(refused, 250u);
    cr_assert_eq(gen_tensor_1.reference_count, 0);
    end_samples();
}

// Arguments that no value can hold. None of them is looked into.
static void call_too_long(const kw_operator *op, unsigned which, char *text, size_t size)
{
    const size_t most = (size_t)UINT32_MAX + 1;
    kw_value out = kw_value_none();
    kw_status status = gen_lists_call_on(op, (kw_tensor_list){NULL, 0}, (kw_tensor_list){NULL, 0},
                                         (kw_int_list){NULL, which == 0 ? most : 0},
                                         (kw_float_list){NULL, which == 1 ? most : 0},
                                         (kw_bool_list){NULL, which == 2 ? most : 0},
                                         (kw_value_list){NULL, which == 3 ? most : 0}, &out);
    (void)snprintf(text, size, "%s %s", kw_status_name(status), kw_call_error());
}

Test(gen_refusal, boxing_refuses_arguments_that_no_value_holds)
{
    char ours[2048], theirs[2048];
    gen_make_tensors();
    const kw_operator *op = kwt_find(gen_dispatcher(), GEN_LISTS_NAME);
    const kw_operator *other = kwt_find(gen_dispatcher_without_thunks(), GEN_LISTS_NAME);
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &guard));
    for (unsigned which = 0; which < 4; which++) {
        call_too_long(op, which, ours, sizeof ours);
        call_too_long(other, which, theirs, sizeof theirs);
        cr_assert_str_eq(ours, theirs);
        KWT_HAS(ours, "KW_WRONG_VALUE");
    }
    kw_local_restore(&guard);
}

// A kernel that fails after it has set some returns.
static kw_status failing(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                         kw_frame *frame)
{
    lie = kw_value_none();
    lie_index = 0;
    (void)liar(self, op, keys, frame);
    return KW_STATUS_USER + 3;
}

Test(gen_refusal, what_a_failing_boxed_kernel_leaves_is_released)
{
    char text[2048];
    make_samples();
    gen_make_tensors();
    kw_dispatcher *dispatcher = gen_dispatcher();
    kwt_impl(kwt_library(dispatcher, "failing"), GEN_RETURNS_NAME, KW_KEY_CPU, KW_BOXED(failing));
    call_typed(kwt_find(dispatcher, GEN_RETURNS_NAME), text, sizeof text);
    KWT_HAS(text, "KW_STATUS_USER 1 -7 -7 1 -7 -7 -7");
    cr_assert_eq(gen_tensor_1.reference_count, 0);
    end_samples();
}
