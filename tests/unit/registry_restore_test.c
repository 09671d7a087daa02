// Covering and uncovering: the newest kernel of a key serves, and what it covered comes back.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(registry_restore, .init = kwt_begin, .fini = kwt_end);

#define MISSING (-1)

// Which kernel a CPU call runs; MISSING if there is none.
static int64_t serving(const kw_operator *op)
{
    kwt_tensor cpu = kwt_make_tensor("CPU, AutogradCPU");
    int64_t number = 0;
    kw_status status = kwt_call_t_i(op, &cpu, &number);
    if (status == KW_NO_KERNEL) {
        return MISSING;
    }
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    return number;
}

// Three libraries with a kernel each for one key, newest last.
typedef struct three {
    const kw_operator *op;
    kw_library *libraries[3];
} three;

static three make_three(void)
{
    three made;
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library(dispatcher, "definer"), "t::f(Tensor x) -> int");
    made.op = kwt_find(dispatcher, "t::f");
    for (int i = 0; i < 3; i++) {
        made.libraries[i] = kwt_library(dispatcher, "k");
        (void)kwt_impl(made.libraries[i], "t::f", KW_KEY_CPU, KWT_T_I(i + 1));
        cr_assert_eq(serving(made.op), i + 1);
    }
    return made;
}

Test(registry_restore, closing_the_middle_then_the_newest_then_the_oldest)
{
    three made = make_three();
    kwt_end_library(made.libraries[1]);
    cr_expect_eq(serving(made.op), 3);
    kwt_end_library(made.libraries[2]);
    cr_expect_eq(serving(made.op), 1);
    kwt_end_library(made.libraries[0]);
    cr_expect_eq(serving(made.op), MISSING);
}

Test(registry_restore, closing_the_oldest_then_the_newest_then_the_middle)
{
    three made = make_three();
    kwt_end_library(made.libraries[0]);
    cr_expect_eq(serving(made.op), 3);
    kwt_end_library(made.libraries[2]);
    cr_expect_eq(serving(made.op), 2);
    kwt_end_library(made.libraries[1]);
    cr_expect_eq(serving(made.op), MISSING);
}

static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

// The newest of those that are left.
static int64_t newest_left(const bool *gone)
{
    for (int i = 2; i >= 0; i--) {
        if (!gone[i]) {
            return i + 1;
        }
    }
    return MISSING;
}

Test(registry_restore, every_order_of_closing_leaves_the_newest_of_the_rest)
{
    for (size_t order = 0; order < 6; order++) {
        three made = make_three();
        bool gone[3] = {false};
        for (size_t i = 0; i < 3; i++) {
            int which = orders[order][i];
            kwt_end_library(made.libraries[which]);
            gone[which] = true;
            cr_assert_eq(serving(made.op), newest_left(gone), "order %zu, step %zu", order, i);
        }
    }
}

Test(registry_restore, every_order_of_removing_leaves_the_newest_of_the_rest)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    for (size_t order = 0; order < 6; order++) {
        kw_registration made[3];
        for (int i = 0; i < 3; i++) {
            made[i] = kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(i + 1));
        }
        bool gone[3] = {false};
        for (size_t i = 0; i < 3; i++) {
            int which = orders[order][i];
            kwt_remove(library, made[which]);
            gone[which] = true;
            cr_assert_eq(serving(op), newest_left(gone), "order %zu, step %zu", order, i);
        }
    }
}

Test(registry_restore, removal_of_a_covered_kernel_changes_no_table)
{
    three made = make_three();
    const char *before = kwt_dump_table(made.op);
    int destroyed = 0;
    kw_library *library = made.libraries[2];
    kw_registration covered =
        kwt_impl(library, "t::f", KW_KEY_CUDA, kwt_with(KWT_T_I(0), &destroyed, kwt_count_destroy));
    kw_registration newest = kwt_impl(library, "t::f", KW_KEY_CUDA, KWT_T_I(9));
    cr_expect_eq(destroyed, 0);
    kwt_remove(library, covered);
    cr_expect_eq(destroyed, 1, "no table names it");
    kwt_remove(library, newest);
    cr_expect_str_eq(kwt_dump_table(made.op), before);
}

Test(registry_restore, close_takes_back_everything_in_one_commit)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *base = kwt_library(dispatcher, "base");
    kw_library *over = kwt_library(dispatcher, "over");
    (void)kwt_define(base, "t::f(Tensor x) -> int");
    (void)kwt_impl(base, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const char *before = kwt_dump_table(kwt_find(dispatcher, "t::f"));
    (void)kwt_define(over, "t::g(Tensor x) -> int");
    (void)kwt_impl(over, "t::g", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(over, "t::f", KW_KEY_CPU, KWT_T_I(2));
    (void)kwt_impl(over, "t::f", KW_KEY_CPU, KWT_T_I(3));
    (void)kwt_impl(over, "t::f", KW_KEY_Autograd, KWT_T_I(4));
    (void)kwt_fallback(over, KW_KEY_Tracer, KWT_BOXED(5));
    uint64_t version = kw_version();
    kwt_close(over);
    cr_expect_eq(kw_version(), version + 1);
    cr_expect_not(kwt_is_visible(dispatcher, "t::g"));
    cr_expect_str_eq(kwt_dump_table(kwt_find(dispatcher, "t::f")), before);
}

Test(registry_restore, removed_definition_leaves_the_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_registration defined = kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_remove(library, defined);

    cr_expect(kwt_is_visible(dispatcher, "t::f"));
    cr_expect_str_eq(kwt_schema(op), "");
    KWT_HAS(kwt_dump(op), "schema: (none)\n");
    const kw_operator *typed = NULL;
    KWT_STATUS(KW_OPERATOR_UNDEFINED,
               kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    cr_expect_eq(serving(op), 1, "a handle that knows the signature still reaches them");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 2, "a boxed call sees no tensors without a schema");
}

Test(registry_restore, definition_by_another_library_takes_up_the_kernels)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *old = kwt_library(dispatcher, "old");
    kw_library *kernels = kwt_library(dispatcher, "kernels");
    kw_library *new = kwt_library(dispatcher, "new");
    (void)kwt_define(old, "t::f(Tensor x) -> int");
    (void)kwt_impl(kernels, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_end_library(old);
    // As long as a kernel is left, the signature holds.
    (void)kwt_refuse_define(new, "t::f(int x) -> int", KW_SIGNATURE_MISMATCH);
    (void)kwt_define(new, "t::f(Tensor other) -> int");
    const kw_operator *typed = NULL;
    KWT_OK(kw_operator_find_typed(dispatcher, "t::f", "t>i", &typed, NULL));
    cr_expect_eq(typed, op);
    cr_expect_eq(serving(op), 1);
}

Test(registry_restore, nothing_is_removed_twice_or_by_another_library)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "alpha");
    kw_library *b = kwt_library(dispatcher, "beta");
    (void)kwt_define(a, "t::f(Tensor x) -> int");
    kw_registration made = kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_library_remove(b, made, &err));
    KWT_HAS(err.text, "beta");
    KWT_STATUS(KW_NOT_FOUND, kw_library_remove(a, 0, &err));
    cr_expect_eq(serving(kwt_find(dispatcher, "t::f")), 1);
    kwt_remove(a, made);
    KWT_STATUS(KW_NOT_FOUND, kw_library_remove(a, made, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_remove(NULL, made, &err));
}

Test(registry_restore, fallthrough_covers_a_kernel_like_any_other)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "t::f", KW_KEY_AutogradCPU, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(serving(op), 2);
    kw_registration through = kwt_impl(library, "t::f", KW_KEY_AutogradCPU, KW_FALLTHROUGH());
    cr_expect_eq(serving(op), 1);
    kwt_remove(library, through);
    cr_expect_eq(serving(op), 2);
}
