// Symbolic operators: which kernels an operator with SymInt arguments takes, and with which values
// each of them runs.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

TestSuite(symbolic, .init = kwt_begin, .fini = kwt_end);

#define SYMBOLIC "t::f(Tensor x, SymInt n) -> int"
#define PLAIN "t::f(Tensor x, int n) -> int"

KWT_TYPED(ty_i, kwt_keys(x), (void *x, kw_symint n, int64_t *out_0), (x, n, out_0))
KWT_TYPED(tY_i, kwt_keys(x), (void *x, kw_symint_list n, int64_t *out_0), (x, n, out_0))

// Each adds what it was given to its number.

static kw_status plain_kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0)
{
    (void)x;
    kwt_trace_add(self, self->op, keys);
    *out_0 = kwt_trace[kwt_trace_count - 1].number + n;
    return KW_OK;
}

static kw_status symbolic_kernel(const kw_kernel *self, kw_keyset keys, void *x, kw_symint n,
                                 int64_t *out_0)
{
    (void)x;
    kwt_trace_add(self, self->op, keys);
    int64_t value = kw_symint_is_int(n) ? (int64_t)n.word : -1000;
    *out_0 = kwt_trace[kwt_trace_count - 1].number + value;
    return KW_OK;
}

static kw_status plain_list_kernel(const kw_kernel *self, kw_keyset keys, void *x, kw_int_list n,
                                   int64_t *out_0)
{
    (void)x;
    kwt_trace_add(self, self->op, keys);
    *out_0 = 0;
    for (size_t i = 0; i < n.count; i++) {
        *out_0 += n.data[i];
    }
    return KW_OK;
}

// What a generator would print: the check, then the plain kernel.
static unsigned checks;

static kw_status checked(const kw_kernel *self, kw_keyset keys, void *x, kw_symint n,
                         int64_t *out_0)
{
    int64_t integer = 0;
    checks++;
    kw_status status = kw_symint_expect_int(n, "argument 2 `n`", &integer);
    return status == KW_OK ? plain_kernel(self, keys, x, integer, out_0) : status;
}

#define PLAIN_KERNEL(number) kwt_numbered(KW_UNBOXED("ti>i", plain_kernel), (number))
#define SYMBOLIC_KERNEL(number) kwt_numbered(KW_UNBOXED("ty>i", symbolic_kernel), (number))

static const kw_operator *find_symbolic(kw_dispatcher *dispatcher)
{
    const kw_operator *op = NULL;
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "ty>i", &op, NULL));
    return op;
}

static int64_t call(const kw_operator *op, const char *keys, kw_symint n)
{
    kwt_tensor x = kwt_make_tensor(keys);
    int64_t number = 0;
    KWT_OK(kwt_call_ty_i(op, &x, n, &number));
    return number;
}

// A symbolic value reaches a plain kernel: the call says what to do, and the outputs are untouched.
static void expect_refused(const kw_operator *op, const char *keys)
{
    kwt_tensor x = kwt_make_tensor(keys);
    kw_object *node = NULL;
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    KWT_OK(kw_object_create(&options, &node, NULL));
    int64_t number = 44;
    kwt_trace_clear();
    KWT_STATUS(KW_SYMBOLIC_VALUE, kwt_call_ty_i(op, &x, kw_symint_node(node), &number));
    KWT_HAS(kw_call_error(), "argument 2");
    KWT_HAS(kw_call_error(), "`t::f`");
    kw_value args[2] = {kw_value_tensor(&x), kw_value_symint(kw_symint_node(node))};
    KWT_STATUS(KW_SYMBOLIC_VALUE, kwt_call_frame(op, args, 2, &number));
    KWT_HAS(kw_call_error(), "argument 2");
    cr_expect_eq(number, 44);
    cr_expect_eq(kwt_trace_count, 0, "the kernel did not run");
    kw_object_release(node);
}

// S79
Test(symbolic, plain_kernel_serves_integers_and_refuses_nodes)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, SYMBOLIC);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    const kw_operator *op = find_symbolic(dispatcher);
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
    cr_expect_eq(call(op, "CPU", kw_symint_int(-7)), 93);
    expect_refused(op, "CPU");

    kwt_tensor x = kwt_make_tensor("CPU");
    kw_value args[2] = {kw_value_tensor(&x), kw_value_int(INT64_MIN)};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, INT64_MIN + 100, "a boxed call has all integers");
}

// S79
Test(symbolic, symbolic_kernel_serves_both)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, SYMBOLIC);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, SYMBOLIC_KERNEL(100));
    const kw_operator *op = find_symbolic(dispatcher);
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
    kw_object *node = NULL;
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    KWT_OK(kw_object_create(&options, &node, NULL));
    cr_expect_eq(call(op, "CPU", kw_symint_node(node)), -900);
    kwt_tensor x = kwt_make_tensor("CPU");
    kw_value args[2] = {kw_value_tensor(&x), kw_value_symint(kw_symint_node(node))};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, -900);
    args[1] = kw_value_int(7);
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 107);
    kw_object_release(node);
}

// S79
Test(symbolic, kernels_of_both_forms_serve_one_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, SYMBOLIC);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, SYMBOLIC_KERNEL(200));
    const kw_operator *op = find_symbolic(dispatcher);
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
    cr_expect_eq(call(op, "CUDA", kw_symint_int(7)), 207);
}

// S79
Test(symbolic, checking_function_of_a_plain_kernel_is_what_is_called)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_kernel_descriptor kernel = PLAIN_KERNEL(100);
    kernel.symbolic = (kw_function)checked;
    (void)kwt_define(library, SYMBOLIC);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel);
    const kw_operator *op = find_symbolic(dispatcher);
    checks = 0;
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
    cr_expect_eq(checks, 1);
    expect_refused(op, "CPU");
    cr_expect_eq(checks, 2, "the boxed call unboxes");
}

// S79
Test(symbolic, lists_follow_their_elements)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::g(Tensor x, SymInt[] n) -> int");
    (void)kwt_impl(library, "t::g", KW_KEY_CPU, KW_UNBOXED("tI>i", plain_list_kernel));
    const kw_operator *op = kwt_find(dispatcher, "t::g");
    kwt_tensor x = kwt_make_tensor("CPU");
    kw_symint sizes[3] = {kw_symint_int(1), kw_symint_int(20), kw_symint_int(300)};
    int64_t number = 0;
    KWT_OK(kwt_call_tY_i(op, &x, (kw_symint_list){sizes, 3}, &number));
    cr_expect_eq(number, 321);
    kw_object *node = NULL;
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    KWT_OK(kw_object_create(&options, &node, NULL));
    sizes[1] = kw_symint_node(node);
    KWT_STATUS(KW_SYMBOLIC_VALUE, kwt_call_tY_i(op, &x, (kw_symint_list){sizes, 3}, &number));
    KWT_HAS(kw_call_error(), "argument 2");
    cr_expect_eq(number, 321);
    kw_object_release(node);
}

// S79
Test(symbolic, plain_kernel_may_come_before_the_definition)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    (void)kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_BOXED(200));
    const kw_operator *early = kwt_find(dispatcher, "t::f");
    (void)kwt_define(library, SYMBOLIC);
    const kw_operator *op = find_symbolic(dispatcher);
    cr_expect_eq(op, early, "no typed caller knew the entry");
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
    cr_expect_eq(call(op, "CUDA", kw_symint_int(7)), 200);
    expect_refused(op, "CPU");
}

// S79
Test(symbolic, forms_of_kernels_alone_may_come_in_any_order)
{
    static const char *const schemas[2] = {SYMBOLIC, PLAIN};
    for (int symbolic_first = 0; symbolic_first < 2; symbolic_first++) {
        kw_dispatcher *dispatcher = kwt_dispatcher();
        kw_library *library = kwt_library(dispatcher, "a");
        if (symbolic_first) {
            (void)kwt_impl(library, "t::f", KW_KEY_CUDA, SYMBOLIC_KERNEL(200));
            (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
        } else {
            (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
            (void)kwt_impl(library, "t::f", KW_KEY_CUDA, SYMBOLIC_KERNEL(200));
        }
        (void)kwt_refuse_define(library, schemas[1], KW_SIGNATURE_MISMATCH);
        (void)kwt_define(library, schemas[0]);
        cr_expect_eq(call(find_symbolic(dispatcher), "CPU", kw_symint_int(7)), 107);
        cr_expect_eq(call(find_symbolic(dispatcher), "CUDA", kw_symint_int(7)), 207);
    }
}

// S79
Test(symbolic, plain_definition_serves_once_the_symbolic_kernel_is_gone)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    kw_registration made = kwt_impl(library, "t::f", KW_KEY_CUDA, SYMBOLIC_KERNEL(200));
    kwt_remove(library, made);
    (void)kwt_define(library, PLAIN);
    kwt_tensor x = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(kwt_call_ti_i(kwt_find(dispatcher, "t::f"), &x, 7, &number));
    cr_expect_eq(number, 107);
}

// S79, S28
Test(symbolic, symbolic_kernel_does_not_serve_a_plain_operator)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, PLAIN);
    const char *text =
        kwt_refuse_impl(library, "t::f", KW_KEY_CPU, SYMBOLIC_KERNEL(1), KW_SIGNATURE_MISMATCH);
    KWT_HAS(text, "`ti>i`");
    KWT_HAS(text, "`ty>i`");
    KWT_HAS(text, "int64_t");
    KWT_HAS(text, "kw_symint");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
}

// S28: a handle keeps its signature though the other form of it comes to the name.
Test(symbolic, handle_of_the_plain_form_never_meets_the_symbolic_one)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration made = kwt_define(library, PLAIN);
    kw_registration kernel = kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    const kw_operator *old = kwt_find(dispatcher, "t::f");
    kwt_remove(library, made);
    const char *text = kwt_refuse_define(library, SYMBOLIC, KW_SIGNATURE_MISMATCH);
    KWT_HAS(text, "plain_kernel");
    kwt_remove(library, kernel);
    (void)kwt_define(library, SYMBOLIC);
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    const kw_operator *op = find_symbolic(dispatcher);
    cr_expect_neq(op, old);
    kwt_tensor x = kwt_make_tensor("CPU");
    int64_t number = 44;
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_ti_i(old, &x, 7, &number));
    cr_expect_eq(number, 44);
    cr_expect_eq(call(op, "CPU", kw_symint_int(7)), 107);
}

// A commit that fails after it has brought the entry to the other form leaves it as it was.
Test(symbolic, failed_commit_restores_the_form)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, PLAIN_KERNEL(100));
    uint64_t bytes = kwt_live_bytes();
    const kw_definition definition = KW_DEFINE(SYMBOLIC);
    const kw_kernel_descriptor other = SYMBOLIC_KERNEL(200);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_impl(tx, library, "t::f", KW_KEY_CUDA, &other, NULL, NULL));
    KWT_OK(kw_transaction_define(tx, library, &definition, NULL, NULL));
    KWT_OK(kw_transaction_remove(tx, library, UINT64_MAX, NULL));
    KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_eq(kwt_live_bytes(), bytes);
    (void)kwt_define(library, PLAIN);
    kwt_tensor x = kwt_make_tensor("CPU");
    int64_t number = 0;
    KWT_OK(kwt_call_ti_i(kwt_find(dispatcher, "t::f"), &x, 7, &number));
    cr_expect_eq(number, 107);
}

// The text of a failed staging is kept for callers that pass no error.
Test(symbolic, transaction_keeps_the_text_of_a_failed_staging)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_transaction *tx = kwt_transaction(dispatcher);
    cr_expect_eq(kw_transaction_error(tx)->status, KW_OK);
    const kw_definition bad = KW_DEFINE("t::f(Foo x) -> int");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_MALFORMED_SCHEMA, kw_transaction_define(tx, library, &bad, NULL, NULL));
    cr_expect_eq(kw_transaction_error(tx)->status, KW_MALFORMED_SCHEMA);
    KWT_HAS(kw_transaction_error(tx)->text, "at byte 5");
    KWT_STATUS(KW_MALFORMED_SCHEMA, kw_transaction_define(tx, library, &bad, NULL, &err));
    cr_expect_str_eq(err.text, kw_transaction_error(tx)->text);
    cr_expect_eq(err.position, 5);
    kw_transaction_abort(tx);
}
