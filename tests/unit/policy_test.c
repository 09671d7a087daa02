// Policies for kernels of one operator and key: stack, refuse, replace; priorities.
// SPDX-License-Identifier: MIT

#include <limits.h>
#include <stdio.h>

#include <keyway/inspect.h>

#include "support/registry.h"

TestSuite(policy, .init = kwt_begin, .fini = kwt_end);

static kw_dispatcher *dispatcher;
static kw_library *a;
static kw_library *b;
static const kw_operator *op;

static void begin_with(kw_duplicate_policy duplicates)
{
    const kw_dispatcher_options options = {
        .struct_size = sizeof options,
        .tensor_type = &kwt_tensor_type,
        .duplicates = (uint32_t)duplicates,
    };
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    a = kwt_library(dispatcher, "a");
    b = kwt_library(dispatcher, "b");
    (void)kwt_define(a, "t::f(Tensor x) -> int");
    op = kwt_find(dispatcher, "t::f");
}

// Dispatchers that kwt_dispatcher() did not make are the test's own to end.
static void end(void)
{
    kwt_end_library(b);
    kwt_end_library(a);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

static kw_kernel_descriptor as(kw_kernel_descriptor kernel, kw_duplicate_policy duplicates)
{
    kernel.duplicates = (uint32_t)duplicates;
    return kernel;
}

static kw_kernel_descriptor at(kw_kernel_descriptor kernel, int32_t priority)
{
    kernel.priority = priority;
    return kernel;
}

static int64_t runs(void)
{
    kwt_tensor x = kwt_make_tensor("CPU");
    return kwt_result_t_i(op, &x);
}

// What a listener was told, newest last.
typedef struct told {
    unsigned count;
    kw_event events[16];
    char previous[16][128];
    char current[16][128];
} told;

static void note(const kw_event *event, void *context)
{
    told *all = context;
    if (event->kind == KW_EVENT_DEFINED) {
        return;
    }
    cr_assert_lt(all->count, 16);
    all->events[all->count] = *event;
    (void)snprintf(all->previous[all->count], 128, "%s", event->previous ? event->previous : "");
    (void)snprintf(all->current[all->count], 128, "%s", event->current ? event->current : "");
    all->count++;
}

static void listen(told *all)
{
    const kw_listener listener = {.struct_size = sizeof listener, .event = note, .context = all};
    uint64_t id;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
}

// S80
Test(policy, duplicates_stack_unless_something_else_is_said)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    kw_registration second = kwt_impl(b, "t::f", KW_KEY_CPU, KWT_T_I(2));
    cr_expect_eq(runs(), 2);
    kwt_remove(b, second);
    cr_expect_eq(runs(), 1);
    end();
}

// S80
Test(policy, refusal_names_who_is_there_and_changes_nothing)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, kwt_at(KWT_T_I(1), "first.c", 11));
    const char *before = kwt_picture(dispatcher);
    kw_kernel_descriptor second = as(kwt_at(KWT_T_I(2), "second.c", 22), KW_DUPLICATE_REFUSE);
    const char *text = kwt_refuse_impl(b, "t::f", KW_KEY_CPU, second, KW_DUPLICATE_KERNEL);
    KWT_HAS(text, "`t::f` has a kernel for CPU already");
    KWT_HAS(text, "in a at first.c:11");
    KWT_HAS(text, "in b at second.c:22");
    KWT_HAS(text, "its own policy");
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    (void)kwt_impl(b, "t::f", KW_KEY_CUDA, second); // another key
    end();
}

// S80: a kernel may come when the one that is there goes in the same commit, before it.
Test(policy, refusal_looks_at_what_is_there_at_that_step)
{
    begin_with(KW_DUPLICATE_REFUSE);
    kw_registration first = kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_kernel_descriptor second = KWT_T_I(2);
    KWT_HAS(kwt_refuse_impl(b, "t::f", KW_KEY_CPU, second, KW_DUPLICATE_KERNEL),
            "the dispatcher's policy");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_impl(tx, b, "t::f", KW_KEY_CPU, &second, NULL, NULL));
    KWT_OK(kw_transaction_remove(tx, a, first, NULL));
    KWT_STATUS(KW_DUPLICATE_KERNEL, kw_transaction_commit(tx, NULL, NULL, NULL));
    tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_remove(tx, a, first, NULL));
    KWT_OK(kw_transaction_impl(tx, b, "t::f", KW_KEY_CPU, &second, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_eq(runs(), 2);
    end();
}

// S80: a kernel's own policy wins over the dispatcher's.
Test(policy, kernel_overrules_its_dispatcher)
{
    begin_with(KW_DUPLICATE_REFUSE);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, as(KWT_T_I(2), KW_DUPLICATE_STACK));
    cr_expect_eq(runs(), 2);
    KWT_HAS(kwt_dump(op), "CPU (inactive)");
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, as(KWT_T_I(3), KW_DUPLICATE_REPLACE));
    cr_expect_eq(runs(), 3);
    KWT_LACKS(kwt_dump(op), "(inactive)");
    end();
}

// S80
Test(policy, replacement_removes_what_is_there_for_good)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    int destroyed = 0;
    kw_kernel_descriptor first = kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy);
    kw_registration replaced = kwt_impl(a, "t::f", KW_KEY_CPU, first);
    kw_kernel_descriptor second = as(KWT_T_I(2), KW_DUPLICATE_REPLACE);
    kw_registration made = kwt_impl(b, "t::f", KW_KEY_CPU, second);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(runs(), 2);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_NOT_FOUND, kw_library_remove(a, replaced, &err));
    KWT_HAS(err.text, "removed or replaced already");
    kwt_remove(b, made);
    cr_expect_not(kw_operator_has_kernel(op, KW_KEY_CPU), "nothing comes back");
    end();
}

// S80: whatever their priorities, covered ones among them.
Test(policy, replacement_leaves_one_kernel)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(1), 10));
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(2));
    (void)kwt_impl(a, "t::f", KW_KEY_CUDA, KWT_T_I(3));
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, KWT_T_I(4));
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, as(at(KWT_T_I(5), -1), KW_DUPLICATE_REPLACE));
    cr_expect_eq(runs(), 5);
    cr_expect(kw_operator_has_kernel(op, KW_KEY_CUDA));
    cr_expect_eq(kwt_statistics().kernel_count, 3, "the two, and the standard fallback");
    end();
}

// S80
Test(policy, replacement_is_told_for_each_that_goes)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    kw_registration first = kwt_impl(a, "t::f", KW_KEY_CPU, kwt_at(KWT_T_I(1), "first.c", 1));
    kw_registration second = kwt_impl(a, "t::f", KW_KEY_CPU, kwt_at(KWT_T_I(2), "second.c", 2));
    told all = {0};
    listen(&all);
    kw_kernel_descriptor third = as(kwt_at(KWT_T_I(3), "third.c", 3), KW_DUPLICATE_REPLACE);
    kw_registration made = kwt_impl(b, "t::f", KW_KEY_CPU, third);
    cr_assert_eq(all.count, 3);
    cr_expect_eq(all.events[0].kind, KW_EVENT_KERNEL);
    cr_expect_eq(all.events[0].previous_registration, second);
    cr_expect_eq(all.events[0].current_registration, made);
    for (unsigned i = 1; i < 3; i++) {
        cr_expect_eq(all.events[i].kind, KW_EVENT_REPLACED);
        cr_expect_eq(all.events[i].key, KW_KEY_CPU);
        cr_expect_eq(all.events[i].current_registration, made);
    }
    cr_expect_eq(all.events[1].previous_registration, second);
    cr_expect_eq(all.events[2].previous_registration, first);
    KWT_HAS(all.previous[2], "in a at first.c:1");
    KWT_HAS(all.current[2], "in b at third.c:3");
    end();
}

// S80: of a transaction that fails after the replacement.
Test(policy, replacement_is_undone_with_its_transaction)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    int destroyed = 0;
    kw_kernel_descriptor first = kwt_with(at(KWT_T_I(1), 3), &destroyed, kwt_count_destroy);
    kw_registration kept = kwt_impl(a, "t::f", KW_KEY_CPU, first);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, KWT_T_I(2));
    const char *before = kwt_picture(dispatcher);
    const kw_kernel_descriptor third = as(KWT_T_I(3), KW_DUPLICATE_REPLACE);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_impl(tx, b, "t::f", KW_KEY_CPU, &third, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, b, "t::f", KW_KEY_CPU, &third, NULL, NULL));
    KWT_OK(kw_transaction_remove(tx, a, kept, NULL)); // replaced by then
    KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    cr_expect_eq(destroyed, 0);
    kwt_remove(a, kept);
    cr_expect_eq(runs(), 2);
    end();
}

// S80: both ends of the same commit.
Test(policy, kernel_of_a_transaction_is_replaced_by_a_later_one_of_it)
{
    begin_with(KW_DUPLICATE_REPLACE);
    int destroyed = 0;
    const kw_kernel_descriptor first = kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy);
    const kw_kernel_descriptor second = KWT_T_I(2);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_impl(tx, a, "t::f", KW_KEY_CPU, &first, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, b, "t::f", KW_KEY_CPU, &second, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    cr_expect_eq(runs(), 2);
    cr_expect_eq(destroyed, 1);
    end();
}

// S80
Test(policy, fallbacks_have_no_policy_and_unknown_ones_are_refused)
{
    begin_with(KW_DUPLICATE_REPLACE);
    (void)kwt_fallback(a, KW_KEY_Tracer, KWT_BOXED(1));
    KWT_HAS(kwt_refuse_fallback(b, KW_KEY_Tracer, KWT_BOXED(2), KW_DUPLICATE_FALLBACK), "Tracer");
    KWT_HAS(kwt_refuse_fallback(b, KW_KEY_Conjugate, as(KWT_BOXED(2), KW_DUPLICATE_STACK),
                                KW_INVALID_ARGUMENT),
            "neither a priority nor a policy");
    KWT_HAS(kwt_refuse_fallback(b, KW_KEY_Conjugate, at(KWT_BOXED(2), 1), KW_INVALID_ARGUMENT),
            "neither a priority nor a policy");
    KWT_HAS(kwt_refuse_impl(b, "t::f", KW_KEY_CPU, as(KWT_T_I(1), (kw_duplicate_policy)4),
                            KW_INVALID_ARGUMENT),
            "unknown policy for duplicates 4");
    const kw_dispatcher_options options = {.struct_size = sizeof options, .duplicates = 4};
    kw_dispatcher *none = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_create(&options, &none, NULL));
    end();
}

// S81
Test(policy, highest_priority_is_active_then_the_newest)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    kw_registration low = kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(1), INT_MIN));
    kw_registration high = kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(2), INT_MAX));
    kw_registration middle = kwt_impl(b, "t::f", KW_KEY_CPU, KWT_T_I(3));
    kw_registration newer = kwt_impl(b, "t::f", KW_KEY_CPU, KWT_T_I(4));
    cr_expect_eq(runs(), 2);
    kwt_remove(a, high);
    cr_expect_eq(runs(), 4);
    kwt_remove(b, newer);
    cr_expect_eq(runs(), 3);
    kwt_remove(b, middle);
    cr_expect_eq(runs(), 1);
    kwt_remove(a, low);
    end();
}

static const int32_t priorities[4] = {5, 0, 5, -2};

// S81: the table is the same whatever the order of coming.
Test(policy, order_of_coming_matters_among_equals_only)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    for (unsigned order = 0; order < 24; order++) {
        unsigned left[4] = {0, 1, 2, 3};
        unsigned rest = order;
        unsigned newest_high = 0;
        kw_registration made[4];
        for (unsigned count = 4; count > 0; count--) {
            unsigned pick = rest % count;
            rest /= count;
            unsigned which = left[pick];
            left[pick] = left[count - 1];
            made[which] = kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(which), priorities[which]));
            newest_high = priorities[which] == 5 ? which : newest_high;
        }
        cr_expect_eq(runs(), newest_high, "order %u", order);
        kwt_remove(a, made[newest_high]);
        cr_expect_eq(runs(), 2 - newest_high, "order %u", order);
        cr_expect_null(kwt_wrong_table(dispatcher));
        kwt_remove(a, made[2 - newest_high]);
        kwt_remove(a, made[3]);
        cr_expect_eq(runs(), 1);
        kwt_remove(a, made[1]);
    }
    end();
}

// S81
Test(policy, kernel_below_another_is_no_event_and_its_removal_none)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    kw_registration high = kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(1), 7));
    told all = {0};
    listen(&all);
    kw_registration low = kwt_impl(b, "t::f", KW_KEY_CPU, at(KWT_T_I(2), -7));
    cr_expect_eq(all.count, 0);
    kwt_remove(a, high);
    cr_assert_eq(all.count, 1);
    cr_expect_eq(all.events[0].previous_registration, high);
    cr_expect_eq(all.events[0].previous_priority, 7);
    cr_expect_eq(all.events[0].current_registration, low);
    cr_expect_eq(all.events[0].current_priority, -7);
    end();
}

static void note_row(const kw_registration_row *row, void *context)
{
    int32_t *sum = context;
    *sum += row->is_active ? row->priority : 100 * row->priority;
}

// S81
Test(policy, dumps_and_rows_show_priorities)
{
    begin_with(KW_DUPLICATE_DEFAULT);
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, at(KWT_T_I(1), 7));
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, at(KWT_T_I(2), -3));
    (void)kwt_impl(b, "t::f", KW_KEY_CUDA, KWT_T_I(3));
    KWT_HAS(kwt_dump(op), "[unboxed] [priority 7]\n");
    KWT_HAS(kwt_dump(op), "[unboxed] [priority -3]\n");
    KWT_LACKS(kwt_dump(op), "[priority 0]");
    int32_t sum = 0;
    KWT_OK(kw_operator_visit_registrations(op, note_row, &sum));
    cr_expect_eq(sum, 7 - 300);
    end();
}
