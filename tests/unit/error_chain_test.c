// The thread's text: what a kernel reports, and the operators that the failure came through.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "support/registry.h"

TestSuite(error_chain, .init = kwt_begin, .fini = kwt_end);

// A kernel that does what its user data says: fail, call another operator, or forgive.
typedef struct step {
    kw_status status;        // returned when nothing else decides
    const char *sentence;    // NULL: no kw_fail()
    const kw_operator *next; // called first, if there is one
    bool forgives;           // a failure of `next`
} step;

static kw_status run_step(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)keys;
    const step *does = self->user_data;
    if (does->next != NULL) {
        kw_status status = kwt_call_i_i(does->next, a, out_0);
        if (status != KW_OK && !does->forgives) {
            return status;
        }
    }
    *out_0 = a;
    return does->sentence != NULL ? kw_fail(does->status, "%s", does->sentence) : does->status;
}

static kw_status run_step_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame)
{
    (void)op;
    int64_t number = 0;
    kw_status status = run_step(self, keys, frame->args[0].as.as_int, &number);
    frame->returns[0] = kw_value_int(number);
    return status;
}

static const kw_operator *make(kw_dispatcher *dispatcher, const char *name, step *does, bool boxed)
{
    kw_library *library = kwt_library(dispatcher, name);
    char schema[64];
    (void)snprintf(schema, sizeof schema, "%s(int a) -> int", name);
    (void)kwt_define(library, schema);
    kw_kernel_descriptor kernel = boxed ? KW_BOXED(run_step_boxed) : KW_UNBOXED("i>i", run_step);
    (void)kwt_impl(library, name, KW_KEY_CompositeExplicitAutograd, kwt_with(kernel, does, NULL));
    return kwt_find(dispatcher, name);
}

static void expect_failure(const kw_operator *op, kw_status wanted, const char *text)
{
    int64_t number = 0;
    KWT_STATUS(wanted, kwt_call_i_i(op, 1, &number));
    cr_expect_str_eq(kw_call_error(), text);
    kw_value arg = kw_value_int(1);
    KWT_STATUS(wanted, kwt_call_frame(op, &arg, 1, &number));
    cr_expect_str_eq(kw_call_error(), text);
}

Test(error_chain, kernels_sentence_and_operator)
{
    for (int boxed = 0; boxed < 2; boxed++) {
        step does = {.status = KW_KERNEL_FAILED, .sentence = "the size is odd"};
        const kw_operator *op = make(kwt_dispatcher(), "t::f", &does, boxed != 0);
        expect_failure(op, KW_KERNEL_FAILED, "the size is odd; in `t::f`");
    }
}

Test(error_chain, users_statuses_pass_through)
{
    step does = {.status = KW_STATUS_USER + 234, .sentence = "ours"};
    const kw_operator *op = make(kwt_dispatcher(), "t::f", &does, false);
    expect_failure(op, KW_STATUS_USER + 234, "ours; in `t::f`");
    does.status = INT32_MAX;
    expect_failure(op, INT32_MAX, "ours; in `t::f`");
}

Test(error_chain, status_without_a_sentence_gets_one)
{
    step does = {.status = KW_KERNEL_FAILED};
    const kw_operator *op = make(kwt_dispatcher(), "t::f", &does, false);
    int64_t number = 0;
    KWT_STATUS(KW_KERNEL_FAILED, kwt_call_i_i(op, 1, &number));
    KWT_HAS(kw_call_error(), kw_status_message(KW_KERNEL_FAILED));
    KWT_HAS(kw_call_error(), "(32)");
    KWT_HAS(kw_call_error(), "; in `t::f`");
}

Test(error_chain, operators_are_listed_innermost_first)
{
    for (int boxed = 0; boxed < 8; boxed++) {
        kw_dispatcher *dispatcher = kwt_dispatcher();
        step inner = {.status = KW_STATUS_USER, .sentence = "no"};
        step middle = {0};
        step outer = {0};
        middle.next = make(dispatcher, "t::inner", &inner, (boxed & 1) != 0);
        outer.next = make(dispatcher, "t::middle", &middle, (boxed & 2) != 0);
        const kw_operator *op = make(dispatcher, "t::outer", &outer, (boxed & 4) != 0);
        expect_failure(op, KW_STATUS_USER, "no; in `t::inner`, in `t::middle`, in `t::outer`");
    }
}

Test(error_chain, next_failure_starts_anew)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    step one = {.status = KW_STATUS_USER, .sentence = "first"};
    step two = {.status = KW_STATUS_USER}; // the same status, no sentence
    const kw_operator *first = make(dispatcher, "t::first", &one, false);
    const kw_operator *second = make(dispatcher, "t::second", &two, false);
    expect_failure(first, KW_STATUS_USER, "first; in `t::first`");
    int64_t number = 0;
    KWT_STATUS(KW_STATUS_USER, kwt_call_i_i(second, 1, &number));
    KWT_LACKS(kw_call_error(), "first");
    KWT_HAS(kw_call_error(), "in `t::second`");
}

Test(error_chain, forgiven_failure_is_forgotten_by_the_next_sentence)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    step inner = {.status = KW_STATUS_USER, .sentence = "forgiven"};
    step outer = {.forgives = true};
    outer.next = make(dispatcher, "t::inner", &inner, false);
    const kw_operator *op = make(dispatcher, "t::outer", &outer, false);
    cr_expect_eq(kwt_result_i_i(op, 5), 5);
    outer.status = KW_STATUS_USER;
    outer.sentence = "a reason of its own";
    expect_failure(op, KW_STATUS_USER, "a reason of its own; in `t::outer`");
}

Test(error_chain, forgiven_failure_is_no_reason_of_a_later_one)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    step inner = {.status = KW_STATUS_USER, .sentence = "forgiven"};
    step outer = {.forgives = true};
    step later = {.status = KW_STATUS_USER}; // the same status, no sentence
    outer.next = make(dispatcher, "t::inner", &inner, false);
    const kw_operator *op = make(dispatcher, "t::outer", &outer, false);
    const kw_operator *other = make(dispatcher, "t::later", &later, false);
    cr_expect_eq(kwt_result_i_i(op, 5), 5);
    int64_t number = 0;
    KWT_STATUS(KW_STATUS_USER, kwt_call_i_i(other, 1, &number));
    KWT_LACKS(kw_call_error(), "forgiven");
    KWT_HAS(kw_call_error(), "; in `t::later`");
}

Test(error_chain, another_status_on_the_way_up_replaces_the_sentence)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    step inner = {.status = KW_STATUS_USER, .sentence = "inner"};
    step outer = {.forgives = true, .status = KW_STATUS_USER + 1};
    outer.next = make(dispatcher, "t::inner", &inner, false);
    const kw_operator *op = make(dispatcher, "t::outer", &outer, false);
    int64_t number = 0;
    KWT_STATUS(KW_STATUS_USER + 1, kwt_call_i_i(op, 1, &number));
    KWT_LACKS(kw_call_error(), "inner");
    KWT_HAS(kw_call_error(), "`t::outer`");
}

Test(error_chain, refusal_of_an_inner_call_comes_up_with_its_chain)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::hole(int a) -> int");
    step outer = {.next = kwt_find(dispatcher, "t::hole")};
    const kw_operator *op = make(dispatcher, "t::outer", &outer, false);
    int64_t number = 0;
    KWT_STATUS(KW_NO_KERNEL, kwt_call_i_i(op, 1, &number));
    KWT_HAS(kw_call_error(), "`t::hole` is defined but has no kernel at all");
    KWT_HAS(kw_call_error(), "; in `t::hole`, in `t::outer`");
    kwt_end_library(library);
    KWT_STATUS(KW_OPERATOR_REMOVED, kwt_call_i_i(op, 1, &number));
    KWT_HAS(kw_call_error(), "operator `t::hole` has no definition");
    KWT_HAS(kw_call_error(), "in `t::outer`");
}

Test(error_chain, long_chain_is_cut_visibly)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static step steps[60];
    steps[0] = (step){.status = KW_STATUS_USER, .sentence = "deep down"};
    const kw_operator *op = NULL;
    for (int i = 0; i < 60; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "t::an_operator_with_a_long_name_number_%d", i);
        steps[i].next = op;
        op = make(dispatcher, name, &steps[i], false);
    }
    int64_t number = 0;
    KWT_STATUS(KW_STATUS_USER, kwt_call_i_i(op, 1, &number));
    cr_expect_eq(strncmp(kw_call_error(), "deep down; in ", 14), 0);
    size_t length = strlen(kw_call_error());
    cr_expect_lt(length, 1600);
    cr_expect_str_eq(kw_call_error() + length - 3, "...");
}

Test(error_chain, redispatch_names_its_operator_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    static kwt_layer layer = {1, KW_KEY_Tracer};
    step does = {.status = KW_STATUS_USER, .sentence = "no"};
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kwt_with(KW_BOXED(run_step_boxed), &does, NULL));
    kwt_tensor cpu = kwt_make_tensor("CPU, Tracer");
    int64_t number = 0;
    KWT_STATUS(KW_STATUS_USER, kwt_call_t_i(kwt_find(dispatcher, "t::f"), &cpu, &number));
    cr_expect_str_eq(kw_call_error(), "no; in `t::f`");
}

Test(error_chain, text_of_a_thread_that_never_failed_is_empty)
{
    cr_expect_not_null(kw_call_error());
    step does = {0};
    cr_expect_eq(kwt_result_i_i(make(kwt_dispatcher(), "t::f", &does, false), 3), 3);
    cr_expect_str_eq(kw_call_error(), "");
}

Test(error_chain, fail_outside_a_call_keeps_the_text)
{
    (void)kwt_dispatcher();
    KWT_OK(kw_thread_attach());
    KWT_STATUS(KW_STATUS_USER, kw_fail(KW_STATUS_USER, "number %d", 5));
    cr_expect_str_eq(kw_call_error(), "number 5");
    KWT_STATUS(KW_STATUS_USER, kw_fail(KW_STATUS_USER, NULL));
    cr_expect_str_eq(kw_call_error(), "");
}
