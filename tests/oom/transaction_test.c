// Registering without memory: each change, and several at once, happens wholly or not at all.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "base/memory.h"
#include "support/failing.h"

TestSuite(transaction, .init = kwt_begin, .fini = kwt_end);

// So that entries, signatures and lists are there already, and bytes can be compared.
static void know_names(kwt_scene *scene)
{
    kw_library *gone = kwt_library(scene->dispatcher, "gone");
    (void)kwt_define(gone, "t::f(Tensor x) -> int");
    (void)kwt_define(gone, "t::g(Tensor x) -> int");
    kwt_end_library(gone);
    kwt_remove(scene->library, kwt_define(scene->library, "t::g(Tensor x) -> int"));
    kwt_remove(scene->other, kwt_define(scene->other, "t::g(Tensor x) -> int"));
}

static void define_f(kwt_scene *scene)
{
    know_names(scene);
    (void)kwt_define(scene->other, "t::f(Tensor x) -> int");
}

static kw_status step_define(kwt_scene *scene)
{
    const kw_definition definition = KW_DEFINE("t::f(Tensor x) -> int");
    return kw_library_define(scene->library, &definition, NULL, NULL);
}

static void clean_define(kwt_scene *scene)
{
    cr_assert(kwt_is_visible(scene->dispatcher, "t::f"));
}

Test(transaction, define)
{
    const kwt_step_plan plan = {know_names, step_define, clean_define, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 8);
}

static kw_status step_impl(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    return kw_library_impl(scene->library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL);
}

static void clean_impl(kwt_scene *scene)
{
    cr_assert(kw_operator_has_kernel(kwt_find(scene->dispatcher, "t::f"), KW_KEY_CPU));
    cr_assert_eq(scene->destroyed, 0);
}

Test(transaction, impl)
{
    const kwt_step_plan plan = {define_f, step_impl, clean_impl, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

Test(transaction, impl_before_definition)
{
    const kwt_step_plan plan = {know_names, step_impl, clean_impl, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

static kw_status step_impl_boxed(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_BOXED(0), scene);
    return kw_library_impl(scene->library, "t::f", KW_KEY_CPU, &kernel, NULL, NULL);
}

Test(transaction, impl_boxed)
{
    const kwt_step_plan plan = {define_f, step_impl_boxed, clean_impl, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

static void implement_boxed_f(kwt_scene *scene)
{
    know_names(scene);
    (void)kwt_impl(scene->other, "t::unsigned", KW_KEY_CUDA, KWT_BOXED(0));
}

static kw_status step_define_unsigned(kwt_scene *scene)
{
    const kw_definition definition = KW_DEFINE("t::unsigned(Tensor x) -> int");
    return kw_library_define(scene->library, &definition, NULL, NULL);
}

// The definition is the first to say what the operator's C signature is.
Test(transaction, define_after_a_boxed_kernel)
{
    const kwt_step_plan plan = {implement_boxed_f, step_define_unsigned, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 6);
}

static void implement_plain_s(kwt_scene *scene)
{
    know_names(scene);
    (void)kwt_impl(scene->other, "t::s", KW_KEY_CUDA, KWT_TI_I(0));
}

static kw_status step_define_symbolic(kwt_scene *scene)
{
    const kw_definition definition = KW_DEFINE("t::s(Tensor x, SymInt n) -> int");
    return kw_library_define(scene->library, &definition, NULL, NULL);
}

// The entry goes from the plain form of its signature to the symbolic one.
Test(transaction, define_symbolic_after_a_plain_kernel)
{
    const kwt_step_plan plan = {implement_plain_s, step_define_symbolic, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 10);
}

static kw_library *mapped_library;

static void make_mapped(kwt_scene *scene)
{
    know_names(scene);
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = scene->dispatcher,
        .ns = "written",
        .ns_as = "t",
    };
    KWT_OK(kw_library_create(&options, &mapped_library, NULL));
    kwt_remove(mapped_library, kwt_define(mapped_library, "written::g(Tensor x) -> int"));
}

static kw_status step_mapped(kwt_scene *scene)
{
    const kw_definition definition = KW_DEFINE("written::f(Tensor x) -> int");
    kw_kernel_descriptor kernel = KWT_T_I(0);
    kernel.schema = "written::f(Tensor x) -> int";
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(scene->dispatcher, &tx, NULL);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_define(tx, mapped_library, &definition, NULL, NULL);
    if (status == KW_OK) {
        status =
            kw_transaction_impl(tx, mapped_library, "written::f", KW_KEY_CPU, &kernel, NULL, NULL);
    }
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, NULL);
}

static void end_mapped(kwt_scene *scene)
{
    cr_assert(kwt_is_visible(scene->dispatcher, "t::f"));
    kwt_end_library(mapped_library);
}

// Names and schemas of a library whose namespace stands for another one.
Test(transaction, mapped_namespace)
{
    const kwt_step_plan plan = {make_mapped, step_mapped, end_mapped, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 20);
}

static void define_symbolic_s(kwt_scene *scene)
{
    know_names(scene);
    (void)kwt_define(scene->other, "t::s(Tensor x, SymInt n) -> int");
}

static kw_status step_impl_plain(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_TI_I(0), scene);
    return kw_library_impl(scene->library, "t::s", KW_KEY_CPU, &kernel, NULL, NULL);
}

// The kernel brings no unboxing thunk, so the entry learns its plain signature.
Test(transaction, impl_plain_of_a_symbolic_operator)
{
    const kwt_step_plan plan = {define_symbolic_s, step_impl_plain, NULL, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

static kw_status step_fallback(kwt_scene *scene)
{
    const kw_kernel_descriptor kernel = kwt_counted(KWT_BOXED(0), scene);
    return kw_library_fallback(scene->library, KW_KEY_Tracer, &kernel, NULL, NULL);
}

static void define_many(kwt_scene *scene)
{
    define_f(scene);
    (void)kwt_define(scene->other, "t::g(Tensor x) -> int");
    (void)kwt_define(scene->other, "t::h(Tensor x) -> int");
}

Test(transaction, fallback)
{
    const kwt_step_plan plan = {define_many, step_fallback, NULL, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

static void implement_f(kwt_scene *scene)
{
    define_f(scene);
    (void)kwt_impl(scene->other, "t::f", KW_KEY_CPU, KWT_T_I(0));
    scene->registration =
        kwt_impl(scene->library, "t::f", KW_KEY_CPU, kwt_counted(KWT_T_I(0), scene));
}

static kw_status step_remove(kwt_scene *scene)
{
    return kw_library_remove(scene->library, scene->registration, NULL);
}

static void clean_removed(kwt_scene *scene)
{
    KWT_STATUS(KW_NOT_FOUND, step_remove(scene));
    KWT_OK(kw_reclaim());
    cr_assert_eq(scene->destroyed, 1);
}

static void clean_removed_by_other(kwt_scene *scene)
{
    clean_removed(scene);
    cr_assert(kw_operator_has_kernel(kwt_find(scene->dispatcher, "t::f"), KW_KEY_CPU));
}

Test(transaction, remove_kernel)
{
    const kwt_step_plan plan = {implement_f, step_remove, clean_removed, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 3);
}

static kw_status step_replace(kwt_scene *scene)
{
    kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    kernel.duplicates = KW_DUPLICATE_REPLACE;
    return kw_library_impl(scene->other, "t::f", KW_KEY_CPU, &kernel, NULL, NULL);
}

static void ignore_event(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

static void implement_and_listen(kwt_scene *scene)
{
    implement_f(scene);
    const kw_listener listener = {.struct_size = sizeof listener, .event = ignore_event};
    uint64_t id;
    KWT_OK(kw_dispatcher_listen(scene->dispatcher, &listener, &id, NULL));
}

// Two kernels of two libraries go, and one comes; somebody listens.
Test(transaction, replace)
{
    const kwt_step_plan plan = {implement_and_listen, step_replace, clean_removed_by_other, 2,
                                NULL};
    cr_expect_gt(kwt_fail_each(&plan), 8);
}

static void define_to_remove(kwt_scene *scene)
{
    know_names(scene);
    (void)kwt_impl(scene->other, "t::f", KW_KEY_CPU, KWT_T_I(0));
    scene->registration = kwt_define(scene->library, "t::f(Tensor x) -> int");
}

Test(transaction, remove_definition)
{
    const kwt_step_plan plan = {define_to_remove, step_remove, NULL, 0, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 3);
}

static void fall_back(kwt_scene *scene)
{
    define_many(scene);
    scene->registration =
        kwt_fallback(scene->library, KW_KEY_Tracer, kwt_counted(KWT_BOXED(0), scene));
}

Test(transaction, remove_fallback)
{
    const kwt_step_plan plan = {fall_back, step_remove, clean_removed, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 3);
}

static void register_all_kinds(kwt_scene *scene)
{
    define_many(scene);
    (void)kwt_define(scene->library, "t::own(Tensor x) -> int");
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, kwt_counted(KWT_T_I(0), scene));
    (void)kwt_impl(scene->library, "t::f", KW_KEY_CPU, kwt_counted(KWT_T_I(0), scene));
    (void)kwt_impl(scene->other, "t::f", KW_KEY_CPU, KWT_T_I(0));
    (void)kwt_impl(scene->library, "t::f", KW_KEY_Autograd, kwt_counted(KWT_T_I(0), scene));
    (void)kwt_fallback(scene->library, KW_KEY_Tracer, kwt_counted(KWT_BOXED(0), scene));
}

static kw_status step_close(kwt_scene *scene)
{
    return kw_library_close(scene->library, NULL);
}

static void clean_closed(kwt_scene *scene)
{
    KWT_OK(kw_library_drain(scene->library, 0, NULL));
    cr_assert_eq(scene->destroyed, 4);
    cr_assert_not(kwt_is_visible(scene->dispatcher, "t::own"));
}

Test(transaction, close)
{
    const kwt_step_plan plan = {register_all_kinds, step_close, clean_closed, 4, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 5);
}

// Enough operators for a commit to share layouts, which it can do without.
static void implement_many(kwt_scene *scene)
{
    for (int i = 0; i < 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "t::op%d", i);
        (void)kwt_impl(scene->library, name, KW_KEY_CPU, KWT_T_I(i));
    }
}

Test(transaction, fallback_over_many)
{
    const kwt_step_plan plan = {implement_many, step_fallback, NULL, 1, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 40);
}

// A transaction of every kind of change. A staging step that fails aborts it.
static kw_status stage_mixed(kwt_scene *scene, kw_transaction *tx)
{
    const kw_definition definition = KW_DEFINE("t::own(Tensor renamed) -> int");
    const kw_definition fresh = KW_DEFINE("t::g.x(Tensor x) -> int");
    const kw_kernel_descriptor kernel = kwt_counted(KWT_T_I(0), scene);
    const kw_kernel_descriptor boxed = kwt_counted(KWT_BOXED(0), scene);
    kw_status status = kw_transaction_close(tx, scene->other, NULL);
    if (status == KW_OK) {
        status = kw_transaction_remove(tx, scene->library, scene->registration, NULL);
    }
    if (status == KW_OK) {
        status = kw_transaction_define(tx, scene->library, &definition, NULL, NULL);
    }
    if (status == KW_OK) {
        status = kw_transaction_define(tx, scene->library, &fresh, NULL, NULL);
    }
    if (status == KW_OK) {
        status = kw_transaction_impl(tx, scene->library, "t::own", KW_KEY_CPU, &kernel, NULL, NULL);
    }
    return status == KW_OK
               ? kw_transaction_fallback(tx, scene->library, KW_KEY_Conjugate, &boxed, NULL, NULL)
               : status;
}

static kw_status step_mixed(kwt_scene *scene)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(scene->dispatcher, &tx, NULL);
    if (status != KW_OK) {
        return status;
    }
    status = stage_mixed(scene, tx);
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, NULL);
}

static void prepare_mixed(kwt_scene *scene)
{
    kwt_remove(scene->library, kwt_define(scene->library, "t::g.x(Tensor x) -> int"));
    know_names(scene);
    (void)kwt_define(scene->other, "t::f(Tensor x) -> int");
    (void)kwt_impl(scene->other, "t::own", KW_KEY_CPU, KWT_T_I(0));
    (void)kwt_fallback(scene->other, KW_KEY_Tracer, KWT_BOXED(0));
    scene->registration = kwt_define(scene->library, "t::own(Tensor x) -> int");
    // The list of the library has room for what the transaction adds.
    kw_registration made[8];
    for (int i = 0; i < 8; i++) {
        made[i] = kwt_impl(scene->library, "t::own", KW_KEY_XLA, KWT_T_I(0));
    }
    for (int i = 0; i < 8; i++) {
        kwt_remove(scene->library, made[i]);
    }
}

static void clean_mixed(kwt_scene *scene)
{
    cr_assert_str_eq(kwt_schema(kwt_find(scene->dispatcher, "t::own")),
                     "t::own(Tensor renamed) -> int");
    cr_assert(kwt_is_visible(scene->dispatcher, "t::g.x"));
    cr_assert_not(kwt_is_visible(scene->dispatcher, "t::f"));
}

Test(transaction, mixed)
{
    const kwt_step_plan plan = {prepare_mixed, step_mixed, clean_mixed, 2, NULL};
    cr_expect_gt(kwt_fail_each(&plan), 25);
}

// A new name: what a failure leaves is its invisible entry, and no second one.

static kw_status define_new_name(kw_library *library, uint64_t nth)
{
    const kw_definition definition = KW_DEFINE("t::new(Tensor x, int[] sizes) -> int");
    kwi_memory_fail_at(nth, false);
    kw_status status = kw_library_define(library, &definition, NULL, NULL);
    kwi_memory_fail_at(0, false);
    return status;
}

Test(transaction, new_name_leaves_at_most_one_invisible_entry)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    uint64_t most[4] = {0}; // live bytes, by round
    for (int round = 0; round < 4; round++) {
        uint64_t nth = 1;
        kw_status status;
        while ((status = define_new_name(library, nth++)) == KW_NO_MEMORY) {
            cr_assert_not(kwt_is_visible(dispatcher, "t::new"));
            cr_assert_eq(kwt_statistics().operator_count, 0);
            most[round] = kwt_live_bytes() > most[round] ? kwt_live_bytes() : most[round];
        }
        KWT_OK(status);
        cr_assert_gt(nth, 6);
        cr_assert(kwt_is_visible(dispatcher, "t::new"));
        kw_library *next = kwt_library(dispatcher, "a");
        kwt_end_library(library);
        library = next;
    }
    cr_expect_leq(most[2], most[1]);
    cr_expect_leq(most[3], most[1]);
}
