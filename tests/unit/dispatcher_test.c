// Dispatchers: making and ending them, their tensor type, and that they share nothing.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/snapshot.h>

#include "support/registry.h"

TestSuite(dispatcher, .init = kwt_begin, .fini = kwt_end);

// Without kwt_end: the default dispatcher stays for the process.
TestSuite(dispatcher_default, .init = kwt_begin);

Test(dispatcher, options_may_be_left_out)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    cr_expect_not_null(dispatcher);
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

Test(dispatcher, incomplete_arguments_are_refused)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_create(NULL, NULL, &err));
    cr_expect_eq(err.status, KW_INVALID_ARGUMENT);
    const kw_dispatcher_options small = {.struct_size = 4};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_create(&small, &dispatcher, NULL));
    cr_expect_null(dispatcher, "outputs are untouched");
}

Test(dispatcher, tensor_type_must_be_complete)
{
    kw_tensor_type broken[3] = {kwt_tensor_type, kwt_tensor_type, kwt_tensor_type};
    broken[0].struct_size = 8;
    broken[1].name = NULL;
    broken[2].keys = NULL;
    for (int i = 0; i < 3; i++) {
        kw_dispatcher *dispatcher = NULL;
        const kw_dispatcher_options options = {.struct_size = sizeof options,
                                               .tensor_type = &broken[i]};
        KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_create(&options, &dispatcher, NULL));
        cr_expect_null(dispatcher);
    }
    cr_expect_eq(kwt_statistics().kernel_count, 0);
}

Test(dispatcher, destroying_nothing_is_allowed)
{
    KWT_OK(kw_dispatcher_destroy(NULL, NULL));
}

Test(dispatcher, with_a_library_it_is_busy)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_dispatcher_destroy(dispatcher, &err));
    KWT_HAS(err.text, "1 librar");
    kwt_close(library);
    KWT_STATUS(KW_BUSY, kw_dispatcher_destroy(dispatcher, &err));
    (void)kwt_define(kwt_library(dispatcher, "b"), "t::f(Tensor x) -> int"); // it goes on
}

Test(dispatcher, held_by_a_snapshot_it_is_busy)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_close(library);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_destroy(library, &err));
    KWT_STATUS(KW_BUSY, kw_dispatcher_destroy(dispatcher, &err));
    KWT_OK(kw_snapshot_close(&snapshot));
    kwt_end_library(library);
    kwt_end_dispatcher(dispatcher);
}

Test(dispatcher, another_ones_snapshot_and_tables_do_not_matter)
{
    kw_dispatcher *held = kwt_dispatcher();
    kw_dispatcher *other = kwt_dispatcher();
    kw_library *library = kwt_library(held, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    kwt_close(library);
    kwt_end_dispatcher(other);
    KWT_OK(kw_snapshot_close(&snapshot));
}

Test(dispatcher, destroy_gives_back_every_byte)
{
    uint64_t bytes = kwt_live_bytes();
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    for (int i = 0; i < 200; i++) { // the name index grows several times
        char schema[64];
        (void)snprintf(schema, sizeof schema, "t::f%d(Tensor x) -> int", i);
        (void)kwt_define(library, schema);
    }
    kwt_end_library(library);
    kwt_end_dispatcher(dispatcher);
    cr_expect_eq(kwt_live_bytes(), bytes);
}

Test(dispatcher, two_of_them_share_no_names)
{
    kw_dispatcher *one = kwt_dispatcher();
    kw_dispatcher *two = kwt_dispatcher();
    (void)kwt_define(kwt_library(one, "a"), "t::f(Tensor x) -> int");
    (void)kwt_define(kwt_library(two, "a"), "t::f(int x) -> int");
    cr_expect_neq(kwt_find(one, "t::f"), kwt_find(two, "t::f"));
    cr_expect_eq(kwt_statistics().operator_count, 2);
}

static kw_status create_library(kw_dispatcher *dispatcher, const kw_tensor_type *type,
                                kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .tensor_type = type};
    kw_library *library = NULL;
    kw_status status = kw_library_create(&options, &library, err);
    if (status == KW_OK) {
        kwt_end_library(library);
    }
    return status;
}

Test(dispatcher, library_for_another_tensor_type_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_tensor_type other = kwt_tensor_type;
    kw_error err = KW_ERROR_INIT;
    other.version = 2;
    KWT_STATUS(KW_TENSOR_TYPE_MISMATCH, create_library(dispatcher, &other, &err));
    KWT_HAS(err.text, "`test tensor` version 1");
    KWT_HAS(err.text, "`test tensor` version 2");
    other.version = 1;
    other.name = "their tensor";
    KWT_STATUS(KW_TENSOR_TYPE_MISMATCH, create_library(dispatcher, &other, &err));
    KWT_HAS(err.text, "their tensor");
    char same_name[] = "test tensor"; // compared as text
    other.name = same_name;
    KWT_OK(create_library(dispatcher, &other, &err));
    KWT_OK(create_library(dispatcher, NULL, &err));
}

Test(dispatcher, first_library_that_names_a_tensor_type_sets_it)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    kw_error err = KW_ERROR_INIT;
    char name[] = "test tensor";
    kw_tensor_type first = kwt_tensor_type;
    first.name = name;
    KWT_OK(create_library(dispatcher, &first, &err));
    memset(name, '?', sizeof name - 1); // it was copied
    kw_tensor_type second = kwt_tensor_type;
    second.version = 2;
    KWT_STATUS(KW_TENSOR_TYPE_MISMATCH, create_library(dispatcher, &second, &err));
    KWT_HAS(err.text, "`test tensor` version 1");
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

Test(dispatcher_default, is_made_once_and_never_destroyed)
{
    kw_dispatcher *dispatcher = kw_dispatcher_default();
    cr_assert_not_null(dispatcher);
    cr_expect_eq(kw_dispatcher_default(), dispatcher);
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_destroy(dispatcher, &err));
    KWT_HAS(err.text, "default");
    cr_expect_eq(kw_dispatcher_default(), dispatcher);
}

Test(dispatcher_default, libraries_go_there_unless_they_say_otherwise)
{
    kw_library *library = NULL;
    KWT_OK(kw_library_create(NULL, &library, NULL));
    cr_expect_str_eq(kw_library_name(library), "library");
    const kw_definition definition = KW_DEFINE("t::f(int x) -> int");
    KWT_OK(kw_library_define(library, &definition, NULL, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_I_I(1));
    const kw_operator *op = kwt_find(kw_dispatcher_default(), "t::f");
    cr_expect_eq(kwt_result_i_i(op, 4), 5, "it has the standard fallbacks");
    kwt_end_library(library);
}
