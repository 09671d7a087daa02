// Snapshots against every kind of change: under one, nothing that a thread can ask of its version
// moves, and what is kept for it comes back.
//
// A view is a text of all answers: look-ups, visits, schemas, tags, computed tables, and calls in
// every form. Each change is made under each sort of snapshot.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdlib.h>

#include <keyway/inspect.h>
#include <keyway/snapshot.h>

#include "base/text.h"
#include "support/registry.h"

TestSuite(snapshot_change, .init = kwt_begin, .fini = kwt_end);

typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    kw_library *other;
    kw_registration definition; // of t::f
    kw_registration kernel;     // of t::f, at CPU
    kw_registration fallback;   // at CUDA
} scene;

static scene make(void)
{
    scene made = {.dispatcher = kwt_dispatcher()};
    made.library = kwt_library(made.dispatcher, "a");
    made.other = kwt_library(made.dispatcher, "b");
    made.definition = kwt_define(made.library, "t::f(Tensor x) -> int");
    made.kernel = kwt_impl(made.library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    made.fallback = kwt_fallback(made.library, KW_KEY_CUDA, KWT_BOXED(2));
    (void)kwt_define(made.library, "t::g(Tensor x) -> int");
    (void)kwt_impl(made.library, "t::g", KW_KEY_CompositeImplicitAutograd, KWT_T_I(3));
    (void)kwt_impl(made.library, "t::loose", KW_KEY_CPU, KWT_BOXED(4));
    return made;
}

// Views -------------------------------------------------------------------------------------------

static const char *const names[] = {"t::f", "t::g", "t::loose", "t::young"};
static const char *const key_texts[] = {"CPU", "CUDA", "XLA", "AutogradCPU, CPU", ""};

static void add_status(kwi_text *view, const char *what, kw_status status, int64_t number)
{
    kwi_text_add(view, " %s %s", what, kw_status_name(status));
    if (status == KW_OK) {
        kwi_text_add(view, " %" PRId64, number);
    }
}

static void add_calls(kwi_text *view, const kw_operator *op, bool is_typed, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    kw_value arg = kw_value_tensor(&tensor);
    kw_value result = kw_value_none();
    kw_frame frame = {&arg, &result, 1, 1};
    int64_t number = 0;
    kwi_text_add(view, "\n  [%s]", keys);
    if (is_typed) {
        kw_status status = kwt_call_t_i(op, &tensor, &number);
        add_status(view, "typed", status, number);
        status = kwt_redispatch_t_i(op, tensor.keys, &tensor, &number);
        add_status(view, "redispatched", status, number);
    }
    kw_status status = kwt_call_frame(op, &arg, 1, &number);
    add_status(view, "boxed", status, number);
    status = kw_call_boxed_for_key(op, KW_KEY_CUDA, &frame);
    add_status(view, "exact", status, result.as.as_int);
    kwt_trace_clear();
}

static void count_row(const kw_table_row *row, void *context)
{
    kwi_text_add(context, "%s", row->library != NULL ? row->library : "");
}

static void add_operator(kwi_text *view, kw_dispatcher *dispatcher, const char *name)
{
    const kw_operator *op = NULL;
    const kw_operator *typed = NULL;
    kw_status status = kw_operator_find(dispatcher, name, &op, NULL);
    kwi_text_add(view, "\n%s: %s %p", name, kw_status_name(status), (const void *)op);
    status = kw_operator_find_typed(dispatcher, name, "t>i", &typed, NULL);
    kwi_text_add(view, " %s", kw_status_name(status));
    status = kw_operator_find_schema(dispatcher, name, &typed, NULL);
    kwi_text_add(view, " %s", kw_status_name(status));
    if (op == NULL) {
        return;
    }
    kwi_text_add(view, " `%s` %" PRIu64 "\n%s", kwt_schema(op), kw_operator_tags(op),
                 kwt_dump_table(op));
    status = kw_operator_visit_table(op, count_row, view);
    kwi_text_add(view, " %s", kw_status_name(status));
    for (size_t i = 0; i < sizeof key_texts / sizeof *key_texts; i++) {
        add_calls(view, op, typed == op, key_texts[i]);
    }
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_XLA, KW_KEY_AutogradCPU};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        kw_kernel_handle handle = {.op = NULL};
        bool has = kw_operator_has_computed_kernel(op, keys[i]);
        status = kw_operator_computed_kernel(op, keys[i], &handle, NULL);
        kwi_text_add(view, " %d/%s/%" PRIu64, has, kw_status_name(status), handle.registration);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct visited {
    const char *names[16];
    size_t count;
} visited;

static void note_visit(const kw_operator *op, void *context)
{
    visited *so_far = context;
    cr_assert_lt(so_far->count, 16);
    so_far->names[so_far->count++] = kw_operator_name(op);
}

static void add_visit(kwi_text *view, visited *seen)
{
    qsort(seen->names, seen->count, sizeof *seen->names, compare_names);
    for (size_t i = 0; i < seen->count; i++) {
        kwi_text_add(view, "%s,", seen->names[i]);
    }
}

#define VIEW_BYTES 65536
typedef char view_text[VIEW_BYTES];

static void take_view(kw_dispatcher *dispatcher, view_text buffer)
{
    kwi_text view;
    kwi_text_init(&view, buffer, VIEW_BYTES);
    visited all = {.count = 0};
    visited dangling = {.count = 0};
    KWT_OK(kw_dispatcher_visit(dispatcher, note_visit, &all));
    KWT_OK(kw_dispatcher_visit_dangling(dispatcher, note_visit, &dangling));
    add_visit(&view, &all);
    kwi_text_add(&view, " dangling ");
    add_visit(&view, &dangling);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        add_operator(&view, dispatcher, names[i]);
    }
    cr_assert_lt(view.wanted, VIEW_BYTES);
}

// Changes -----------------------------------------------------------------------------------------

static void define_one(scene *in)
{
    (void)kwt_define(in->other, "t::young(Tensor x) -> int");
}

static void define_what_has_kernels(scene *in)
{
    (void)kwt_define(in->other, "t::loose(Tensor x) -> int");
}

static void implement(scene *in)
{
    (void)kwt_impl(in->other, "t::f", KW_KEY_XLA, KWT_T_I(11));
}

static void implement_an_alias(scene *in)
{
    (void)kwt_impl(in->other, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(12));
}

static void cover(scene *in)
{
    (void)kwt_impl(in->other, "t::f", KW_KEY_CPU, KWT_T_I(13));
}

static void cover_with_a_boxed_one(scene *in)
{
    (void)kwt_impl(in->other, "t::f", KW_KEY_CPU, KWT_BOXED(14));
}

static void fall_through(scene *in)
{
    (void)kwt_impl(in->other, "t::g", KW_KEY_CPU, KW_FALLTHROUGH());
}

static void add_a_fallback(scene *in)
{
    (void)kwt_fallback(in->other, KW_KEY_XLA, KWT_BOXED(15));
}

static void remove_a_fallback(scene *in)
{
    kwt_remove(in->library, in->fallback);
}

static void remove_the_kernel(scene *in)
{
    kwt_remove(in->library, in->kernel);
}

static void remove_the_definition(scene *in)
{
    kwt_remove(in->library, in->definition);
}

static void define_with_another_signature(scene *in)
{
    kwt_remove(in->library, in->definition);
    kwt_remove(in->library, in->kernel);
    (void)kwt_define(in->other, "t::f(int x) -> int");
    (void)kwt_impl(in->other, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_I_I(16));
}

static void close_the_library(scene *in)
{
    kwt_close(in->library);
}

static void close_and_register_again(scene *in)
{
    kwt_close(in->library);
    (void)kwt_define(in->other, "t::f(Tensor x) -> int");
    (void)kwt_impl(in->other, "t::f", KW_KEY_CPU, KWT_T_I(17));
}

static void change_much_at_once(scene *in)
{
    kw_transaction *tx = kwt_transaction(in->dispatcher);
    const kw_definition young = KW_DEFINE("t::young(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_T_I(18);
    const kw_kernel_descriptor fallback = KWT_BOXED(19);
    KWT_OK(kw_transaction_define(tx, in->other, &young, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, in->other, "t::young", KW_KEY_CPU, &kernel, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, in->other, "t::g", KW_KEY_CUDA, &kernel, NULL, NULL));
    KWT_OK(kw_transaction_fallback(tx, in->other, KW_KEY_XLA, &fallback, NULL, NULL));
    KWT_OK(kw_transaction_remove(tx, in->library, in->kernel, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
}

static void replace_the_library(scene *in)
{
    kw_transaction *tx = kwt_transaction(in->dispatcher);
    const kw_definition f = KW_DEFINE("t::f(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_T_I(20);
    KWT_OK(kw_transaction_close(tx, in->library, NULL));
    KWT_OK(kw_transaction_define(tx, in->other, &f, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, in->other, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    KWT_OK(kw_transaction_commit(tx, &options, NULL, NULL));
}

static void (*const changes[])(scene *in) = {
    define_one,
    define_what_has_kernels,
    implement,
    implement_an_alias,
    cover,
    cover_with_a_boxed_one,
    fall_through,
    add_a_fallback,
    remove_a_fallback,
    remove_the_kernel,
    remove_the_definition,
    define_with_another_signature,
    close_the_library,
    close_and_register_again,
    change_much_at_once,
    replace_the_library,
};
#define CHANGE_COUNT (sizeof changes / sizeof *changes)

// Snapshots ---------------------------------------------------------------------------------------

typedef struct holding {
    kw_snapshot snapshots[3];
    unsigned count;
    kw_shared_snapshot *shared;
} holding;

static void hold_own(holding *held)
{
    KWT_OK(kw_snapshot_open(&held->snapshots[held->count++]));
}

static void hold_shared(holding *held)
{
    KWT_OK(kw_shared_snapshot_create(&held->shared, NULL));
    KWT_OK(kw_shared_snapshot_enter(held->shared, &held->snapshots[held->count++]));
}

static void hold_shared_that_is_released(holding *held)
{
    hold_shared(held);
    kw_shared_snapshot_release(held->shared);
    held->shared = NULL;
}

static void hold_own_in_shared(holding *held)
{
    hold_shared(held);
    hold_own(held);
}

static void hold_shared_in_own(holding *held)
{
    hold_own(held);
    KWT_OK(kw_snapshot_share(&held->snapshots[0], &held->shared, NULL));
    KWT_OK(kw_shared_snapshot_enter(held->shared, &held->snapshots[held->count++]));
    hold_own(held);
}

static void let_go(holding *held)
{
    while (held->count > 0) {
        KWT_OK(kw_snapshot_close(&held->snapshots[--held->count]));
    }
    kw_shared_snapshot_release(held->shared);
}

static view_text before;
static view_text under;
static view_text after;

// Whatever else there is, these can be registered after it.
static void change_more(scene *in)
{
    (void)kwt_impl(in->other, "t::g", KW_KEY_CPU, KWT_T_I(21));
    (void)kwt_fallback(in->other, KW_KEY_Tracer, KWT_BOXED(22));
    (void)kwt_define(in->other, "t::later(Tensor x) -> int");
}

static void expect_one_version(void (*hold)(holding *held), size_t which)
{
    scene in = make();
    KWT_OK(kw_reclaim());
    cr_assert_eq(kwt_statistics().retired_count, 0);
    take_view(in.dispatcher, before);
    holding held = {.count = 0};
    hold(&held);
    changes[which](&in);
    take_view(in.dispatcher, under);
    cr_expect_str_eq(under, before, "change %d shows", (int)which);
    change_more(&in);
    take_view(in.dispatcher, under);
    cr_expect_str_eq(under, before, "change %d and more show", (int)which);
    KWT_OK(kw_reclaim());
    kw_statistics figures = kwt_statistics();
    cr_expect_gt(figures.held_table_count, 0);
    cr_expect_eq(figures.held_table_count, figures.retired_count, "nothing else is kept");
    cr_expect_eq(figures.held_version_count, 1);
    let_go(&held);
    take_view(in.dispatcher, after);
    cr_expect_str_neq(after, before, "change %d does nothing", (int)which);
    KWT_OK(kw_reclaim());
    figures = kwt_statistics();
    cr_expect_eq(figures.retired_count, 0, "change %d leaves tables", (int)which);
    cr_expect_eq(figures.held_version_count, 0);
    kwt_end_library(in.library);
    kwt_end_library(in.other);
    kwt_end_dispatcher(in.dispatcher);
}

static void expect_one_version_of_each(void (*hold)(holding *held))
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        expect_one_version(hold, i);
    }
}

Test(snapshot_change, own_snapshot_keeps_every_answer)
{
    expect_one_version_of_each(hold_own);
}

Test(snapshot_change, shared_snapshot_keeps_every_answer)
{
    expect_one_version_of_each(hold_shared);
}

Test(snapshot_change, released_shared_snapshot_keeps_every_answer_for_who_is_inside)
{
    expect_one_version_of_each(hold_shared_that_is_released);
}

Test(snapshot_change, own_snapshot_in_a_shared_one_keeps_every_answer)
{
    expect_one_version_of_each(hold_own_in_shared);
}

Test(snapshot_change, shared_snapshot_in_an_own_one_keeps_every_answer)
{
    expect_one_version_of_each(hold_shared_in_own);
}
