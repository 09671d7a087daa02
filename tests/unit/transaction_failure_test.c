// Failing transactions: whichever change fails, at whichever place, nothing has happened.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(transaction_failure, .init = kwt_begin, .fini = kwt_end);

// A registry with something of everything, and a transaction that touches all of it.
typedef struct scene {
    kw_dispatcher *dispatcher;
    kw_library *a;
    kw_library *b;
    kw_library *c;
    kw_registration defined_f;
    kw_registration defined_g;
    kw_registration impl_f;
    kw_registration covered_f;
    kw_registration fallback;
    int destroyed; // counts destructors of the kernels that the scene starts with
} scene;

static void set_scene(scene *s)
{
    *s = (scene){.dispatcher = kwt_dispatcher()};
    s->a = kwt_library(s->dispatcher, "a");
    s->b = kwt_library(s->dispatcher, "b");
    s->c = kwt_library(s->dispatcher, "c");
    s->defined_f = kwt_define(s->a, "t::f(Tensor x) -> int");
    s->defined_g = kwt_define(s->b, "t::g(Tensor x) -> int");
    (void)kwt_define(s->c, "t::h(Tensor x) -> int");
    kw_kernel_descriptor counted = kwt_with(KWT_T_I(1), &s->destroyed, kwt_count_destroy);
    s->covered_f = kwt_impl(s->a, "t::f", KW_KEY_CPU, counted);
    s->impl_f = kwt_impl(s->b, "t::f", KW_KEY_CPU, counted);
    (void)kwt_impl(s->c, "t::f", KW_KEY_CUDA, counted);
    (void)kwt_impl(s->b, "t::g", KW_KEY_CompositeImplicitAutograd, counted);
    s->fallback = kwt_fallback(s->a, KW_KEY_Tracer, KWT_BOXED(9));
    (void)kwt_fallback(s->b, KW_KEY_AutogradCPU, KWT_BOXED(8));
    // Entries that the transaction would add are known already, so that memory can be compared.
    kw_library *gone = kwt_library(s->dispatcher, "gone");
    (void)kwt_define(gone, "t::new(Tensor x) -> int");
    kwt_end_library(gone);
}

// The mixed transaction, change by change.
#define CHANGE_COUNT 10
static void stage(scene *s, kw_transaction *tx, int number, int *destroyed)
{
    kw_kernel_descriptor kernel = kwt_with(KWT_T_I(5), destroyed, kwt_count_destroy);
    const kw_kernel_descriptor boxed = kwt_with(KWT_BOXED(6), destroyed, kwt_count_destroy);
    const kw_definition fresh = KW_DEFINE("t::new(Tensor x) -> int");
    const kw_definition again = KW_DEFINE("t::g(Tensor other) -> int");
    switch (number) {
    case 0:
        KWT_OK(kw_transaction_define(tx, s->a, &fresh, NULL, NULL));
        break;
    case 1:
        KWT_OK(kw_transaction_impl(tx, s->b, "t::new", KW_KEY_CPU, &kernel, NULL, NULL));
        break;
    case 2:
        KWT_OK(kw_transaction_remove(tx, s->a, s->covered_f, NULL));
        break;
    case 3:
        KWT_OK(kw_transaction_impl(tx, s->a, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
        break;
    case 4:
        KWT_OK(kw_transaction_remove(tx, s->b, s->impl_f, NULL));
        break;
    case 5:
        KWT_OK(kw_transaction_fallback(tx, s->b, KW_KEY_AutocastCPU, &boxed, NULL, NULL));
        break;
    case 6:
        KWT_OK(kw_transaction_remove(tx, s->a, s->fallback, NULL));
        break;
    case 7:
        KWT_OK(kw_transaction_remove(tx, s->b, s->defined_g, NULL));
        break;
    case 8:
        KWT_OK(kw_transaction_define(tx, s->b, &again, NULL, NULL));
        break;
    default:
        KWT_OK(kw_transaction_close(tx, s->c, NULL));
        break;
    }
}

// The changes that fail, and how.
typedef struct failure {
    const char *what;
    kw_status status;
    void (*stage)(scene *s, kw_transaction *tx);
} failure;

static void stage_same_schema(scene *s, kw_transaction *tx)
{
    const kw_definition same = KW_DEFINE("t::f(Tensor x) -> int");
    KWT_OK(kw_transaction_define(tx, s->b, &same, NULL, NULL));
}

static void stage_other_schema(scene *s, kw_transaction *tx)
{
    const kw_definition other = KW_DEFINE("t::f(Tensor x, int n) -> int");
    KWT_OK(kw_transaction_define(tx, s->b, &other, NULL, NULL));
}

static void stage_wrong_kernel(scene *s, kw_transaction *tx)
{
    const kw_kernel_descriptor kernel = KWT_I_I(1);
    KWT_OK(kw_transaction_impl(tx, s->b, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
}

static void stage_second_fallback(scene *s, kw_transaction *tx)
{
    const kw_kernel_descriptor kernel = KWT_BOXED(1);
    KWT_OK(kw_transaction_fallback(tx, s->a, KW_KEY_AutogradCPU, &kernel, NULL, NULL));
}

static void stage_unknown_removal(scene *s, kw_transaction *tx)
{
    KWT_OK(kw_transaction_remove(tx, s->a, UINT64_MAX, NULL));
}

static void stage_foreign_removal(scene *s, kw_transaction *tx)
{
    KWT_OK(kw_transaction_remove(tx, s->b, s->defined_f, NULL)); // it is one of library a
}

static void stage_bad_signature(scene *s, kw_transaction *tx)
{
    kw_kernel_descriptor kernel = KWT_T_I(1);
    kernel.signature = "t>>";
    KWT_OK(kw_transaction_impl(tx, s->b, "t::unheard_of", KW_KEY_CPU, &kernel, NULL, NULL));
}

static const failure failures[] = {
    {"same schema", KW_ALREADY_DEFINED, stage_same_schema},
    {"other schema", KW_CONFLICTING_SCHEMA, stage_other_schema},
    {"kernel of another signature", KW_SIGNATURE_MISMATCH, stage_wrong_kernel},
    {"second fallback", KW_DUPLICATE_FALLBACK, stage_second_fallback},
    {"removal of nothing", KW_NOT_FOUND, stage_unknown_removal},
    {"removal of another library's", KW_NOT_FOUND, stage_foreign_removal},
    {"kernel with a malformed signature", KW_INVALID_ARGUMENT, stage_bad_signature},
};
#define FAILURE_COUNT (sizeof failures / sizeof failures[0])

// Commits the mixed transaction with `fails` before its change number `place`.
static void fail_at(scene *s, const failure *fails, int place)
{
    const char *before = kwt_picture(s->dispatcher);
    uint64_t bytes = kwt_live_bytes();
    int destroyed = 0;
    kw_transaction *tx = kwt_transaction(s->dispatcher);
    for (int i = 0; i < CHANGE_COUNT; i++) {
        if (i == place) {
            fails->stage(s, tx);
        }
        stage(s, tx, i, &destroyed);
    }
    if (place == CHANGE_COUNT) {
        fails->stage(s, tx);
    }
    kw_error err = KW_ERROR_INIT;
    uint64_t version = 77;
    kw_status status = kw_transaction_commit(tx, NULL, &version, &err);
    cr_assert_eq(status, fails->status, "%s at %d: %s", fails->what, place, kw_status_name(status));
    cr_assert_eq(err.status, status);
    cr_assert_gt(strlen(err.text), 20, "%s has a sentence", fails->what);
    cr_assert_eq(version, 77, "outputs are untouched");
    cr_assert_eq(destroyed, 0, "user data belongs to the caller");
    cr_assert_eq(s->destroyed, 0);
    cr_assert_str_eq(kwt_picture(s->dispatcher), before, "%s at %d", fails->what, place);
    cr_assert_eq(kwt_live_bytes(), bytes, "%s at %d", fails->what, place);
}

Test(transaction_failure, any_failing_change_at_any_place_leaves_no_trace)
{
    static scene s; // destructors of its kernels run after the test
    set_scene(&s);
    for (size_t i = 0; i < FAILURE_COUNT; i++) {
        for (int place = 0; place <= CHANGE_COUNT; place++) {
            fail_at(&s, &failures[i], place);
        }
    }
}

Test(transaction_failure, the_same_changes_without_the_failing_one_succeed)
{
    static scene s; // destructors of its kernels run after the test
    set_scene(&s);
    static int destroyed;
    kw_transaction *tx = kwt_transaction(s.dispatcher);
    for (int i = 0; i < CHANGE_COUNT; i++) {
        stage(&s, tx, i, &destroyed);
    }
    uint64_t version = kw_version();
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_eq(kw_version(), version + 1);
    cr_expect_eq(destroyed, 0, "they serve");
    cr_expect_eq(s.destroyed, 3, "the covered kernel, the covering one and the closed library's");
    cr_expect(kwt_is_visible(s.dispatcher, "t::new"));
    cr_expect_not(kwt_is_visible(s.dispatcher, "t::h"), "its library is closed");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(kwt_find(s.dispatcher, "t::f"), &cpu),
                 (int64_t)(intptr_t)&destroyed);
    cr_expect_str_eq(kwt_schema(kwt_find(s.dispatcher, "t::g")), "t::g(Tensor other) -> int");
}

Test(transaction_failure, failed_staging_leaves_the_transaction_usable)
{
    static scene s; // destructors of its kernels run after the test
    set_scene(&s);
    kw_transaction *tx = kwt_transaction(s.dispatcher);
    const kw_definition malformed = KW_DEFINE("t::bad(Tensor");
    kw_registration made = 5;
    KWT_STATUS(KW_MALFORMED_SCHEMA, kw_transaction_define(tx, s.a, &malformed, &made, NULL));
    cr_expect_eq(made, 5, "outputs are untouched");
    const kw_kernel_descriptor kernel = KWT_T_I(3);
    KWT_STATUS(KW_UNKNOWN_KEY,
               kw_transaction_impl(tx, s.a, "t::f", KW_KEY_LIMIT + 7, &kernel, &made, NULL));
    cr_expect_eq(made, 5);
    KWT_OK(kw_transaction_impl(tx, s.a, "t::f", KW_KEY_XLA, &kernel, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    kwt_tensor xla = kwt_make_tensor("XLA");
    cr_expect_eq(kwt_result_t_i(kwt_find(s.dispatcher, "t::f"), &xla), 3);
    cr_expect_not(kwt_is_visible(s.dispatcher, "t::bad"));
}

Test(transaction_failure, user_data_is_destroyed_once_when_the_last_table_is_free)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    int destroyed = 0;
    kw_registration made =
        kwt_impl(library, "t::f", KW_KEY_CPU, kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_remove(library, made);
    cr_expect_eq(destroyed, 0, "the snapshot's table names it");
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_reclaim());
    cr_expect_eq(destroyed, 1);
    kwt_end_library(library);
    cr_expect_eq(destroyed, 1);
}

Test(transaction_failure, user_data_of_a_failed_registration_stays_with_the_caller)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    int destroyed = 0;
    kw_kernel_descriptor kernel = kwt_with(KWT_I_I(1), &destroyed, kwt_count_destroy);
    KWT_STATUS(KW_SIGNATURE_MISMATCH,
               kw_library_impl(library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
    kwt_end_library(library);
    kwt_end_dispatcher(dispatcher);
    cr_expect_eq(destroyed, 0);
}
