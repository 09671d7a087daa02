// Libraries: making, closing, draining and ending them.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "rcu/section.h"
#include "support/registry.h"

TestSuite(library, .init = kwt_begin, .fini = kwt_end);

Test(library, name_is_given_or_the_namespace)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    cr_expect_str_eq(kw_library_name(kwt_library(dispatcher, "alpha")), "alpha");
    cr_expect_str_eq(kw_library_name(kwt_library_of(dispatcher, "t")), "t");
    cr_expect_str_eq(kw_library_name(kwt_library(dispatcher, NULL)), "library");
    cr_expect_str_eq(kw_library_name(NULL), "");
}

Test(library, name_is_copied)
{
    char name[] = "alpha";
    kw_library *library = kwt_library(kwt_dispatcher(), name);
    memset(name, '?', sizeof name - 1);
    cr_expect_str_eq(kw_library_name(library), "alpha");
}

Test(library, namespace_must_be_an_identifier)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static const char *const wrong[] = {"", "a::b", "1a", "a b", "a.b", "if"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const kw_library_options options = {
            .struct_size = sizeof options, .dispatcher = dispatcher, .ns = wrong[i]};
        kw_library *library = NULL;
        kw_error err = KW_ERROR_INIT;
        KWT_STATUS(KW_MALFORMED_NAME, kw_library_create(&options, &library, &err));
        KWT_HAS(err.text, wrong[i]);
        cr_expect_null(library);
    }
}

Test(library, incomplete_arguments_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_library_options small = {.struct_size = 8, .dispatcher = dispatcher};
    const kw_library_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    kw_library *library = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_create(&small, &library, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_create(&options, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_close(NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_drain(NULL, 0, NULL));
    KWT_OK(kw_library_destroy(NULL, NULL));
}

Test(library, one_without_registrations_is_discarded)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_library_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    kw_library *library = NULL;
    KWT_OK(kw_library_discard(NULL, NULL));
    KWT_OK(kw_library_create(&options, &library, NULL));
    KWT_OK(kw_library_discard(library, NULL)); // its memory is missed at the end otherwise
    library = kwt_library(dispatcher, "alpha");
    kw_registration made = kwt_define(library, "t::f(int a) -> int");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_discard(library, &err));
    KWT_HAS(err.text, "library alpha has 1 registrations");
    kwt_remove(library, made);
    (void)kwt_define(library, "t::g(int a) -> int"); // it is open still
}

Test(library, open_one_is_neither_drained_nor_destroyed)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "alpha");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_drain(library, 0, &err));
    KWT_HAS(err.text, "alpha");
    KWT_HAS(err.text, "close it");
    KWT_STATUS(KW_BUSY, kw_library_destroy(library, &err));
    KWT_HAS(err.text, "alpha");
    (void)kwt_define(library, "t::f(int x) -> int"); // it goes on
}

Test(library, closed_one_registers_nothing_more)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "alpha");
    kw_library *other = kwt_library(dispatcher, "other");
    kw_registration made = kwt_define(library, "t::f(Tensor x) -> int");
    kwt_close(library);
    KWT_HAS(kwt_refuse_define(library, "t::g(int x) -> int", KW_LIBRARY_CLOSED), "alpha");
    (void)kwt_refuse_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(1), KW_LIBRARY_CLOSED);
    (void)kwt_refuse_fallback(library, KW_KEY_CPU, KWT_BOXED(1), KW_LIBRARY_CLOSED);
    KWT_STATUS(KW_LIBRARY_CLOSED, kw_library_remove(library, made, NULL));
    (void)kwt_define(other, "t::f(Tensor x) -> int");
}

Test(library, closing_twice_is_allowed)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(int x) -> int");
    kwt_close(library);
    kwt_close(library);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_close(tx, library, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
}

Test(library, closed_one_stays_closed_when_a_later_commit_closes_it_and_fails)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_library *other = kwt_library(dispatcher, "b");
    (void)kwt_define(library, "t::f(int x) -> int");
    kwt_close(library);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_close(tx, library, NULL));
    KWT_OK(kw_transaction_remove(tx, other, 1, NULL));
    KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
    (void)kwt_refuse_define(library, "t::f(int x) -> int", KW_LIBRARY_CLOSED);
    cr_expect_not(kwt_is_visible(dispatcher, "t::f"));
}

Test(library, transaction_for_another_dispatchers_library_is_refused)
{
    kw_dispatcher *one = kwt_dispatcher();
    kw_library *foreign = kwt_library(kwt_dispatcher(), "foreign");
    kw_library *own = kwt_library(one, "own");
    const kw_definition definition = KW_DEFINE("t::f(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_BOXED(1);
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = kwt_transaction(one);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_define(tx, foreign, &definition, NULL, &err));
    KWT_HAS(err.text, "foreign");
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_transaction_impl(tx, foreign, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_transaction_fallback(tx, foreign, KW_KEY_CPU, &kernel, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_remove(tx, foreign, 1, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_close(tx, foreign, NULL));
    KWT_OK(kw_transaction_define(tx, own, &definition, NULL, NULL));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
}

Test(library, missing_transactions_and_libraries_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    const kw_definition definition = KW_DEFINE("t::f(Tensor x) -> int");
    const kw_kernel_descriptor kernel = KWT_BOXED(1);
    kw_transaction *tx = NULL;
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_begin(NULL, &tx, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_begin(dispatcher, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_commit(NULL, NULL, NULL, &err));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_define(NULL, library, &definition, NULL, NULL));
    tx = kwt_transaction(dispatcher);
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_define(tx, NULL, &definition, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT,
               kw_transaction_impl(tx, NULL, "t::f", KW_KEY_CPU, &kernel, NULL, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_remove(tx, NULL, 1, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_transaction_close(tx, NULL, NULL));
    kw_transaction_abort(tx);
}

Test(library, drain_after_close_finds_nothing_in_use)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    int destroyed = 0;
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU,
                   kwt_with(KWT_T_I(1), &destroyed, kwt_count_destroy));
    kwt_close(library);
    KWT_OK(kw_library_drain(library, KW_FOREVER, NULL));
    cr_expect_eq(destroyed, 1, "its user data is gone");
    KWT_OK(kw_library_drain(library, 0, NULL));
}

Test(library, drain_under_an_own_snapshot_would_wait_for_itself)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "alpha");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_close(library);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, 0, &err));
    KWT_HAS(err.text, "alpha");
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, 1000000, &err));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, KW_FOREVER, &err));
    KWT_STATUS(KW_BUSY, kw_library_destroy(library, &err));
    KWT_OK(kw_snapshot_close(&snapshot));
    KWT_OK(kw_library_drain(library, 0, &err));
}

Test(library, snapshot_that_came_later_does_not_hold_it)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kwt_close(library);
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    KWT_OK(kw_library_drain(library, 0, NULL));
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, KW_FOREVER, &err));
    KWT_HAS(err.text, "give drain a time");
    KWT_OK(kw_snapshot_close(&snapshot));
}

Test(library, inside_a_foreign_section_nothing_waits)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    const char *before = kwt_picture(dispatcher);
    kw_error err = KW_ERROR_INIT;
    kwi_section_enter();
    (void)kwt_refuse_define(library, "t::f(Tensor x) -> int", KW_WOULD_WAIT_FOR_SELF);
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_close(library, &err));
    KWT_HAS(err.text, "liburcu");
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_library_drain(library, 0, NULL));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_reclaim());
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_dispatcher_destroy(dispatcher, NULL));
    kwi_section_leave();
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    (void)kwt_define(library, "t::f(Tensor x) -> int");
}
