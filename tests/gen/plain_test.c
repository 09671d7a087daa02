// Plain kernels of symbolic operators, and callers with plain integers.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "gen/fixture.h"

TestSuite(gen_plain, .init = kwt_begin, .fini = kwt_end);

static const int64_t two[] = {2, -3};
static const int64_t seven = 7;
static const int64_t low = KW_SYMINT_MIN - 1;
static const int64_t low_list[] = {1, KW_SYMINT_MIN - 1};

// An operator with a plain kernel, as the generator registers it, or without any thunk.
static const kw_operator *with_plain_kernel(bool has_thunks)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "plain");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(gen_symbolic_define(tx, library));
    if (has_thunks) {
        KWT_OK(gen_symbolic_plain_impl(tx, library, KW_KEY_CPU, kernel_symbolic_plain));
    } else {
        kw_kernel_descriptor kernel = gen_symbolic_plain_unboxed(kernel_symbolic_plain);
        kernel.boxed = NULL;
        kernel.symbolic = NULL;
        KWT_OK(
            kw_transaction_impl(tx, library, GEN_SYMBOLIC_NAME, KW_KEY_CPU, &kernel, NULL, NULL));
    }
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    return kwt_find(dispatcher, GEN_SYMBOLIC_NAME);
}

// A typed call whose symbolic integers are these; writes down all that comes of it.
static kw_status call(const kw_operator *op, kw_symint y, kw_symint *oy, kw_symint element)
{
    const kw_symint elements[] = {kw_symint_int(4), element};
    const kw_symint_list list = {elements, 2};
    kw_symint out = kw_symint_int(0);
    seen_clear();
    kw_status status = gen_symbolic_call_on(op, &gen_tensor_1, y, oy, list, &list, NULL, &out);
    seen(" | %s", kw_status_name(status));
    seen_symint(out);
    seen("%s", status != KW_OK ? kw_call_error() : "");
    return status;
}

Test(gen_plain, a_plain_kernel_gets_concrete_values)
{
    gen_make_tensors();
    const kw_operator *op = with_plain_kernel(true);
    kw_symint five = kw_symint_int(5);
    KWT_OK(call(op, kw_symint_int(-6), &five, kw_symint_int(KW_SYMINT_MIN)));
    cr_assert_str_eq(seen_text(), "symbolic t1 -6 5 [ 4 -4611686018427387904 ] "
                                  "[ 4 -4611686018427387904 ] None | KW_OK -6");
}

Test(gen_plain, a_plain_kernel_is_not_called_with_symbolic_values)
{
    char text[2048];
    gen_make_tensors();
    const kw_operator *op = with_plain_kernel(true);
    const kw_operator *other = with_plain_kernel(false);
    const kw_symint plain = kw_symint_int(1);
    const kw_symint node = gen_node();
    const kw_symint invalid = {KW_SYMINT_INVALID};
    const kw_symint tried[][3] = {{node, plain, plain},    {plain, node, plain},
                                  {plain, plain, node},    {invalid, plain, plain},
                                  {plain, invalid, plain}, {plain, plain, invalid}};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        kw_symint oy = tried[i][1];
        kw_status status = call(op, tried[i][0], &oy, tried[i][2]);
        cr_assert_eq(status, i < 3 ? KW_SYMBOLIC_VALUE : KW_WRONG_VALUE);
        KWT_LACKS(seen_text(), "symbolic t1");
        (void)snprintf(text, sizeof text, "%s", seen_text());
        cr_assert_eq(call(other, tried[i][0], &oy, tried[i][2]), status);
        if (i < 3) { // where the frame holds it; an invalid one cannot even be boxed
            cr_assert_str_eq(text, seen_text());
        }
    }
    gen_node_end();
}

Test(gen_plain, a_boxed_call_of_a_plain_kernel_is_checked)
{
    gen_make_tensors();
    const kw_operator *op = with_plain_kernel(true);
    const kw_symint symints[] = {kw_symint_int(8), kw_symint_int(9)};
    kw_value args[] = {kw_value_tensor(&gen_tensor_1),
                       kw_value_int(1),
                       kw_value_none(),
                       kw_value_symints((kw_symint_list){symints, 2}),
                       kw_value_none(),
                       kw_value_ints((kw_int_list){two, 2})};
    kw_value out = kw_value_none();
    kw_frame frame = {args, &out, 6, 1};
    seen_clear();
    KWT_OK(kw_call_boxed(op, &frame));
    cr_assert_str_eq(seen_text(), "symbolic t1 1 None [ 8 9 ] None [ 2 -3 ]");
    args[1] = kw_value_symint(gen_node());
    KWT_STATUS(KW_SYMBOLIC_VALUE, kw_call_boxed(op, &frame));
    KWT_HAS(kw_call_error(), "argument 2 is a symbolic integer");
    gen_node_end();
}

Test(gen_plain, a_caller_with_plain_integers_is_served)
{
    gen_make_tensors();
    const kw_operator *op = with_plain_kernel(true);
    const kw_int_list list = {two, 2};
    kw_symint out = kw_symint_int(0);
    seen_clear();
    KWT_OK(gen_symbolic_call_plain_on(op, &gen_tensor_1, 6, &seven, list, &list, NULL, &out));
    cr_assert_str_eq(seen_text(), "symbolic t1 6 7 [ 2 -3 ] [ 2 -3 ] None");
    cr_assert_eq(out.word, 6u);
}

Test(gen_plain, integers_without_a_symbolic_form_are_refused)
{
    gen_make_tensors();
    const kw_operator *op = with_plain_kernel(true);
    const kw_int_list good = {two, 2};
    const kw_int_list bad = {low_list, 2};
    kw_symint out = kw_symint_int(0);
    kwt_tensor *t = &gen_tensor_1;
    seen_clear();
    KWT_STATUS(KW_WRONG_VALUE,
               gen_symbolic_call_plain_on(op, t, low, NULL, good, NULL, NULL, &out));
    KWT_HAS(kw_call_error(), "argument 2 is an integer below -2^62");
    KWT_STATUS(KW_WRONG_VALUE, gen_symbolic_call_plain_on(op, t, 1, &low, good, NULL, NULL, &out));
    KWT_HAS(kw_call_error(), "argument 3 is an integer below -2^62");
    KWT_STATUS(KW_WRONG_VALUE, gen_symbolic_call_plain_on(op, t, 1, NULL, bad, NULL, NULL, &out));
    KWT_HAS(kw_call_error(), "argument 4 holds an integer below -2^62");
    KWT_STATUS(KW_WRONG_VALUE, gen_symbolic_call_plain_on(op, t, 1, NULL, good, &bad, NULL, &out));
    KWT_HAS(kw_call_error(), "argument 5 holds an integer below -2^62");
    cr_assert_str_eq(seen_text(), "");
}
