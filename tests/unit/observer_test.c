// Observers: what is recorded, in which order, what callbacks and kernels see.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/call.h>
#include <keyway/observer.h>
#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(observer, .init = kwt_begin, .fini = kwt_end);

// One letter and sign for each callback: "a+" for the start of observer a, "a-" for its end.
#define LOG_BYTES 4096
static char seen[LOG_BYTES];
static size_t seen_length;

typedef struct watcher {
    char letter;
    kw_observation last; // as the end had it
    unsigned starts;
    unsigned ends;
    unsigned destroyed;
    const kw_operator *calls; // called by the start
    void *wrong_word;
} watcher;

static void note(char letter, char sign)
{
    seen_length +=
        (size_t)snprintf(seen + seen_length, sizeof seen - seen_length, "%c%c ", letter, sign);
    cr_assert_lt(seen_length, sizeof seen);
}

static void expect_seen(const char *text)
{
    cr_expect_str_eq(seen, text);
    seen_length = 0;
    seen[0] = '\0';
}

static void *start(const kw_observation *observation, void *context)
{
    watcher *to = context;
    cr_assert_eq(observation->struct_size, sizeof *observation);
    cr_assert_eq(observation->status, KW_OK);
    cr_assert_null(observation->returns);
    note(to->letter, '+');
    to->starts++;
    if (to->calls != NULL) {
        kw_status status = kwt_call_t_i(to->calls, NULL, &(int64_t){0});
        cr_expect_neq(status, KW_OK, "it has no kernel for that");
    }
    return &to->starts;
}

static void end(const kw_observation *observation, void *word, void *context)
{
    watcher *to = context;
    note(to->letter, '-');
    to->ends++;
    to->last = *observation;
    to->wrong_word = word == &to->starts ? NULL : word;
    if (to->calls != NULL) {
        kw_status status = kwt_call_t_i(to->calls, NULL, &(int64_t){0});
        cr_expect_neq(status, KW_OK, "it has no kernel for that");
    }
}

static void destroy(void *context)
{
    ((watcher *)context)->destroyed++;
}

static kw_observer describe(watcher *to, char letter)
{
    to->letter = letter;
    return (kw_observer){.struct_size = sizeof(kw_observer),
                         .start = start,
                         .end = end,
                         .context = to,
                         .destroy = destroy};
}

static uint64_t attach(kw_dispatcher *dispatcher, const kw_observer *observer)
{
    uint64_t number = 0;
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_observer_add(dispatcher, observer, &number, &err));
    return number;
}

static uint64_t watch(kw_dispatcher *dispatcher, watcher *to, char letter)
{
    const kw_observer observer = describe(to, letter);
    return attach(dispatcher, &observer);
}

static void forget(kw_dispatcher *dispatcher, uint64_t number)
{
    KWT_OK(kw_observer_remove(dispatcher, number, NULL));
}

typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    const kw_operator *f; // a CPU kernel with the number 7
    kwt_tensor x;
} scene;

static scene make_scene(void)
{
    scene made = {.dispatcher = kwt_dispatcher()};
    made.library = kwt_library(made.dispatcher, "a");
    (void)kwt_define(made.library, "t::f(Tensor x) -> int");
    (void)kwt_impl(made.library, "t::f", KW_KEY_CPU, KWT_T_I(7));
    made.f = kwt_find(made.dispatcher, "t::f");
    made.x = kwt_make_tensor("CPU, AutogradCPU");
    return made;
}

// S90 S92 S93
Test(observer, typed_and_boxed_calls_are_observed_and_answer_the_same)
{
    scene s = make_scene();
    static watcher a;
    cr_expect_eq(kwt_result_t_i(s.f, &s.x), 7);
    kwt_step before = kwt_trace[0];
    expect_seen("");
    uint64_t number = watch(s.dispatcher, &a, 'a');
    kwt_trace_clear();
    cr_expect_eq(kwt_result_t_i(s.f, &s.x), 7);
    expect_seen("a+ a- ");
    cr_expect_eq(kwt_trace_count, 1);
    cr_expect_eq(kwt_trace[0].keys.bits, before.keys.bits);
    cr_expect_eq(kwt_trace[0].op, before.op, "the kernel sees its own record");
    cr_expect_null(a.wrong_word);
    cr_expect_eq(a.last.op, s.f);
    cr_expect_str_eq(a.last.name, "t::f");
    cr_expect_eq(a.last.keys.bits, before.keys.bits);
    cr_expect_eq(a.last.scope, KW_SCOPE_CALL);
    cr_expect_null(a.last.args, "nobody asked for them");
    cr_expect_null(a.last.returns);
    int64_t result = 0;
    kw_value args[] = {kw_value_tensor(&s.x)};
    KWT_OK(kwt_call_frame(s.f, args, 1, &result));
    cr_expect_eq(result, 7);
    expect_seen("a+ a- ");
    forget(s.dispatcher, number);
    cr_expect_eq(a.destroyed, 1);
    cr_expect_eq(kwt_result_t_i(s.f, &s.x), 7);
    expect_seen("");
}

// S93
Test(observer, results_are_owned_as_without)
{
    scene s = make_scene();
    (void)kwt_define(s.library, "t::same(Tensor x) -> Tensor");
    (void)kwt_impl(s.library, "t::same", KW_KEY_CPU, KW_UNBOXED("t>t", kwt_kernel_t_t));
    const kw_operator *same = kwt_find(s.dispatcher, "t::same");
    int32_t before = s.x.reference_count;
    static watcher a;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    void *out = NULL;
    KWT_OK(kwt_call_t_t(same, &s.x, &out));
    cr_expect_eq(out, &s.x);
    cr_expect_eq(s.x.reference_count, before + 1, "one for the caller");
    expect_seen("a+ a- ");
    forget(s.dispatcher, number);
}

static int64_t shown_arg;
static int64_t shown_return;

static void *show_start(const kw_observation *observation, void *context)
{
    (void)context;
    cr_assert_eq(observation->arg_count, 2);
    shown_arg = observation->args[1].as.as_int;
    return NULL;
}

static void show_end(const kw_observation *observation, void *word, void *context)
{
    (void)context;
    cr_assert_null(word);
    cr_assert_eq(observation->return_count, 1);
    shown_return = observation->returns[0].as.as_int;
}

// S92
Test(observer, inputs_and_outputs_are_shown_where_they_are_wanted)
{
    scene s = make_scene();
    (void)kwt_define(s.library, "t::g(Tensor x, int n) -> int");
    (void)kwt_impl(s.library, "t::g", KW_KEY_CPU, KWT_TI_I(40));
    const kw_operator *g = kwt_find(s.dispatcher, "t::g");
    const kw_observer observer = {.struct_size = sizeof observer,
                                  .start = show_start,
                                  .end = show_end,
                                  .wants_inputs = true,
                                  .wants_outputs = true};
    uint64_t number = attach(s.dispatcher, &observer);
    int64_t result = 0;
    KWT_OK(kwt_call_ti_i(g, &s.x, 2, &result));
    cr_expect_eq(shown_arg, 2);
    cr_expect_eq(shown_return, result);
    forget(s.dispatcher, number);
}

// S90
Test(observer, redispatch_is_no_call_of_its_own)
{
    scene s = make_scene();
    static kwt_layer layer = {.number = 1, .key = KW_KEY_AutogradCPU};
    (void)kwt_impl(s.library, "t::f", KW_KEY_AutogradCPU,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &layer, NULL));
    static watcher a;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    kwt_trace_clear();
    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(kwt_result_t_i(s.f, &s.x), 7);
        expect_seen("a+ a- ");
    }
    cr_expect_eq(kwt_trace_count, 6, "layer and kernel ran each time");
    kw_value args[] = {kw_value_tensor(&s.x)};
    KWT_OK(kwt_call_frame(s.f, args, 1, &(int64_t){0}));
    expect_seen("a+ a- ");
    forget(s.dispatcher, number);
}

static const kw_operator *inner_op;

static kw_status calls_inner(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    return kwt_call_t_i(inner_op, x, out_0);
}

// S90
Test(observer, nested_calls_are_recorded_on_their_own)
{
    scene s = make_scene();
    (void)kwt_define(s.library, "t::outer(Tensor x) -> int");
    (void)kwt_impl(s.library, "t::outer", KW_KEY_CPU, KW_UNBOXED("t>i", calls_inner));
    inner_op = s.f;
    const kw_operator *outer = kwt_find(s.dispatcher, "t::outer");
    static watcher a;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    cr_expect_eq(kwt_result_t_i(outer, &s.x), 7);
    expect_seen("a+ a+ a- a- ");
    cr_expect_str_eq(a.last.name, "t::outer");
    forget(s.dispatcher, number);
}

// S91
Test(observer, order_is_of_addition_and_threads_come_last)
{
    scene s = make_scene();
    static watcher a;
    static watcher b;
    static watcher c;
    static watcher d;
    kw_observer mine = describe(&a, 'a');
    mine.this_thread = true;
    uint64_t numbers[4];
    numbers[0] = attach(s.dispatcher, &mine);
    numbers[1] = watch(s.dispatcher, &b, 'b');
    mine = describe(&c, 'c');
    mine.this_thread = true;
    numbers[2] = attach(s.dispatcher, &mine);
    numbers[3] = watch(s.dispatcher, &d, 'd');
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("b+ d+ a+ c+ b- d- a- c- ");
    KWT_OK(kw_observer_enable(s.dispatcher, numbers[3], false, NULL));
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("b+ a+ c+ b- a- c- ");
    forget(s.dispatcher, numbers[1]);
    KWT_OK(kw_observer_enable(s.dispatcher, numbers[3], true, NULL));
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("d+ a+ c+ d- a- c- ");
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(kw_observer_remove(s.dispatcher, numbers[i], NULL),
                     i == 1 ? KW_NOT_FOUND : KW_OK);
        cr_expect(i == 0 || numbers[i] > numbers[i - 1], "numbers only grow");
    }
}

static kw_status fails(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    (void)out_0;
    return kw_fail(KW_KERNEL_FAILED, "the kernel's own words");
}

// S91 S93 S98
Test(observer, end_runs_after_a_failure_and_the_text_stays)
{
    scene s = make_scene();
    (void)kwt_define(s.library, "t::bad(Tensor x) -> int");
    (void)kwt_impl(s.library, "t::bad", KW_KEY_CPU, KW_UNBOXED("t>i", fails));
    const kw_operator *bad = kwt_find(s.dispatcher, "t::bad");
    static watcher a;
    a.calls = s.f;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    int64_t result = 0;
    cr_expect_eq(kwt_call_t_i(bad, &s.x, &result), KW_KERNEL_FAILED);
    expect_seen("a+ a- ");
    cr_expect_eq(a.last.status, KW_KERNEL_FAILED);
    cr_expect_str_eq(kw_call_error(), "the kernel's own words; in `t::bad`");
    kwt_tensor sparse = kwt_make_tensor("SparseCPU");
    cr_expect_eq(kwt_call_t_i(bad, &sparse, &result), KW_NO_KERNEL_FOR_KEY);
    cr_expect_eq(a.last.status, KW_NO_KERNEL_FOR_KEY, "a refusal is the end of a call too");
    KWT_HAS(kw_call_error(), "`t::bad` has no kernel for SparseCPU");
    KWT_HAS(kw_call_error(), "fails");
    forget(s.dispatcher, number);
}

// S94
Test(observer, filters_choose_operators_by_name)
{
    scene s = make_scene();
    static const char *const names[] = {"t::f.x", "t::g", "u::f", "aten::size"};
    const kw_operator *ops[4];
    for (unsigned i = 0; i < 4; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x) -> int", names[i]);
        (void)kwt_define(s.library, schema);
        (void)kwt_impl(s.library, names[i], KW_KEY_CPU, KWT_T_I(1));
        ops[i] = kwt_find(s.dispatcher, names[i]);
    }
    static const struct {
        const char *only;
        const char *except;
        const char *calls; // t::f and the four
    } cases[] = {
        {NULL, NULL, "11110"},         {"t::f", NULL, "11000"},    {"t::f.x", NULL, "01000"},
        {"t::*", NULL, "11100"},       {NULL, "t::*", "00010"},    {"*", "t::f", "00110"},
        {"aten::size", NULL, "00001"}, {"aten::*", NULL, "00000"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static watcher a;
        kw_observer observer = describe(&a, 'a');
        observer.only = &cases[i].only;
        observer.only_count = cases[i].only != NULL;
        observer.except = &cases[i].except;
        observer.except_count = cases[i].except != NULL;
        uint64_t number = attach(s.dispatcher, &observer);
        for (unsigned op = 0; op < 5; op++) {
            a.ends = 0;
            (void)kwt_result_t_i(op == 0 ? s.f : ops[op - 1], &s.x);
            cr_expect_eq(a.ends, (unsigned)(cases[i].calls[op] - '0'), "case %u, operator %u", i,
                         op);
        }
        forget(s.dispatcher, number);
    }
    seen_length = 0;
}

// S94
Test(observer, operators_that_come_later_are_observed)
{
    scene s = make_scene();
    static watcher a;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    (void)kwt_define(s.library, "t::later(Tensor x) -> int");
    (void)kwt_impl(s.library, "t::later", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_result_t_i(kwt_find(s.dispatcher, "t::later"), &s.x);
    expect_seen("a+ a- ");
    KWT_HAS(kwt_dump_table(s.f), "CPU: kwt_kernel_t_i in a");
    cr_expect_null(kwt_wrong_table(s.dispatcher));
    forget(s.dispatcher, number);
}

// S95
Test(observer, probability_is_that_of_a_call_to_be_observed)
{
    scene s = make_scene();
    static const double wanted[] = {0.5, 0.0625, 0.002, 0.01};
    static watcher watchers[4];
    uint64_t numbers[4];
    for (unsigned i = 0; i < 4; i++) {
        kw_observer observer = describe(&watchers[i], (char)('a' + i));
        observer.probability = wanted[i];
        observer.start = NULL;
        observer.end = end;
        numbers[i] = attach(s.dispatcher, &observer);
    }
    const double calls = 200000;
    for (unsigned i = 0; i < (unsigned)calls; i++) {
        (void)kwt_result_t_i(s.f, &s.x);
        seen_length = 0;
        kwt_trace_clear();
    }
    for (unsigned i = 0; i < 4; i++) {
        double expected = calls * wanted[i];
        double off = (watchers[i].ends - expected) / expected;
        // Six standard deviations: off by chance once in 5e8 runs.
        double bound = 36 * (1 - wanted[i]) / expected;
        cr_expect_lt(off * off, bound, "%u of %g calls at %g", watchers[i].ends, calls, wanted[i]);
        cr_expect_neq(watchers[i].ends, 0);
        forget(s.dispatcher, numbers[i]);
    }
    kw_observer bad = describe(&watchers[0], 'a');
    bad.probability = 1.5;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_observer_add(s.dispatcher, &bad, &numbers[0], NULL));
    bad.probability = 1e-9;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_observer_add(s.dispatcher, &bad, &numbers[0], NULL));
}

static kw_dispatcher *removing_from;
static uint64_t removing;

static kw_status removes_observer(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = 3;
    return kw_observer_remove(removing_from, removing, NULL);
}

// S96
Test(observer, removal_inside_its_own_call_still_brings_the_end)
{
    scene s = make_scene();
    (void)kwt_define(s.library, "t::remover(Tensor x) -> int");
    (void)kwt_impl(s.library, "t::remover", KW_KEY_CPU, KW_UNBOXED("t>i", removes_observer));
    const kw_operator *remover = kwt_find(s.dispatcher, "t::remover");
    static watcher a;
    removing_from = s.dispatcher;
    removing = watch(s.dispatcher, &a, 'a');
    cr_expect_eq(kwt_result_t_i(remover, &s.x), 3);
    expect_seen("a+ a- ");
    cr_expect_eq(a.destroyed, 0, "the call held it");
    KWT_OK(kw_reclaim());
    cr_expect_eq(a.destroyed, 1);
    KWT_STATUS(KW_NOT_FOUND, kw_observer_remove(s.dispatcher, removing, NULL));
}

// S96
Test(observer, snapshot_keeps_the_observers_of_its_version)
{
    scene s = make_scene();
    static watcher a;
    static watcher b;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    forget(s.dispatcher, number);
    number = watch(s.dispatcher, &b, 'b');
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("a+ a- ");
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_reclaim());
    cr_expect_eq(a.destroyed, 1);
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("b+ b- ");
    forget(s.dispatcher, number);
}

// S96
Test(observer, tables_without_observers_are_as_before)
{
    scene s = make_scene();
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 3; i++) {
        static watcher a;
        forget(s.dispatcher, watch(s.dispatcher, &a, 'a'));
        cr_expect(i == 0 || kwt_live_bytes() == bytes);
        bytes = kwt_live_bytes();
    }
    static watcher more[KW_OBSERVERS_MAX + 1];
    uint64_t numbers[KW_OBSERVERS_MAX];
    for (unsigned i = 0; i < KW_OBSERVERS_MAX; i++) {
        numbers[i] = watch(s.dispatcher, &more[i], 'm');
    }
    const kw_observer one_more = describe(&more[KW_OBSERVERS_MAX], 'm');
    KWT_STATUS(KW_BUSY, kw_observer_add(s.dispatcher, &one_more, &numbers[0], NULL));
    (void)kwt_result_t_i(s.f, &s.x);
    kw_error err = KW_ERROR_INIT;
    kwt_end_library(s.library);
    KWT_STATUS(KW_BUSY, kw_dispatcher_destroy(s.dispatcher, &err));
    KWT_HAS(err.text, "32 observers");
    for (unsigned i = 0; i < KW_OBSERVERS_MAX; i++) {
        forget(s.dispatcher, numbers[i]);
        cr_expect_eq(more[i].starts, 1);
    }
}

// S97
Test(observer, scopes_of_the_host_are_observed_by_kind)
{
    scene s = make_scene();
    static watcher a;
    static watcher b;
    kw_observer observer = describe(&a, 'a');
    observer.scopes = UINT64_C(1) << KW_SCOPE_USER | UINT64_C(1) << 40;
    uint64_t number = attach(s.dispatcher, &observer);
    uint64_t other = watch(s.dispatcher, &b, 'b');
    kw_observed_scope scope;
    kw_observed_scope inner;
    KWT_OK(kw_observe_begin(s.dispatcher, KW_SCOPE_USER, "request", &scope));
    (void)kwt_result_t_i(s.f, &s.x);
    expect_seen("a+ b+ b+ b- ");
    KWT_OK(kw_observe_begin(s.dispatcher, 40, "step", &inner));
    kw_observe_end(&inner, KW_KERNEL_FAILED);
    expect_seen("a+ b+ a- b- ");
    cr_expect_eq(a.last.status, KW_KERNEL_FAILED);
    cr_expect_str_eq(a.last.name, "step");
    cr_expect_eq(a.last.scope, 40);
    forget(s.dispatcher, number);
    cr_expect_eq(a.destroyed, 0, "the open scope holds it");
    KWT_OK(kw_observe_begin(s.dispatcher, 41, "later", &inner));
    kw_observe_end(&inner, KW_OK);
    expect_seen("b+ b- ");
    kw_observe_end(&scope, KW_OK);
    expect_seen("a- b- ");
    cr_expect_eq(a.destroyed, 1);
    forget(s.dispatcher, other);
    KWT_OK(kw_observe_begin(s.dispatcher, KW_SCOPE_USER, "nobody", &scope));
    kw_observe_end(&scope, KW_OK);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_observe_begin(s.dispatcher, KW_SCOPE_CALL, "call", &scope));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_observe_begin(s.dispatcher, 64, "large", &scope));
}

// S98
Test(observer, calls_that_a_callback_makes_are_not_observed)
{
    scene s = make_scene();
    static watcher a;
    a.calls = s.f; // with an undefined tensor, which it refuses
    uint64_t number = watch(s.dispatcher, &a, 'a');
    cr_expect_eq(kwt_result_t_i(s.f, &s.x), 7);
    expect_seen("a+ a- ");
    forget(s.dispatcher, number);
}

// S90
Test(observer, exact_calls_and_handles_are_calls)
{
    scene s = make_scene();
    (void)kwt_fallback(s.library, KW_KEY_Tracer, KWT_BOXED(9));
    static watcher a;
    uint64_t number = watch(s.dispatcher, &a, 'a');
    for (unsigned i = 0; i < 2; i++) {
        KW_FRAME(frame, 1, 1);
        frame.args[0] = kw_value_tensor(&s.x);
        KWT_OK(kw_call_boxed_for_key(s.f, i == 0 ? KW_KEY_CPU : KW_KEY_Tracer, &frame));
        cr_expect_eq(frame.returns[0].as.as_int, i == 0 ? 7 : 9);
        expect_seen("a+ a- ");
    }
    kw_kernel_handle handle;
    KWT_OK(kw_operator_computed_kernel(s.f, KW_KEY_CPU, &handle, NULL));
    KW_FRAME(frame, 1, 1);
    frame.args[0] = kw_value_tensor(&s.x);
    KWT_OK(kw_kernel_call_boxed(&handle, kw_keyset_from_key(KW_KEY_CPU), &frame));
    expect_seen("a+ a- ");
    forget(s.dispatcher, number);
    KWT_OK(kw_kernel_call_boxed(&handle, kw_keyset_from_key(KW_KEY_CPU), &frame));
}
