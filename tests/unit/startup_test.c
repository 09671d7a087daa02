// Static blocks: what is on the list, in which order it registers, and what a failure leaves.
//
// The blocks' libraries live as long as the process, so the dispatchers here are never destroyed.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/snapshot.h>
#include <keyway/startup.h>

#include "support/registry.h"

// Which blocks ran, in order.
static char ran[64];
static bool is_broken;
static kw_status inner_status; // of a start inside a block

static void note(const char *block)
{
    strcat(ran, block);
}

// Written from the last kind to the first, and with two of each.

KW_LIBRARY_IMPL(_, Tracer, m)
{
    note("t");
    kw_block_fallback(m, KWT_BOXED(5));
}

KW_LIBRARY_IMPL(s, CPU, m)
{
    note("i");
    kw_block_impl(m, "f", KWT_T_I(1));
    kw_block_impl(m, "s::g", KWT_T_I(2));
    kw_block_impl_key(m, "g", KW_KEY_CPU, KWT_T_I(3));
}

KW_LIBRARY_IMPL(s, CPU, m)
{
    note("j");
    kw_block_impl(m, "f", KWT_T_I(4));
    if (is_broken) {
        kw_block_impl_key(m, "f", KW_KEY_CUDA, KWT_T_I(5));
        kw_block_impl(m, "u::f", KWT_T_I(6)); // another failure, which is not told
    }
}

KW_LIBRARY_FRAGMENT(s, m)
{
    note("f");
    kw_block_define(m, KW_DEFINE("g(Tensor x) -> int"));
}

KW_LIBRARY_FRAGMENT(s, m)
{
    note("h");
    kw_block_define(m, KW_DEFINE("s::h(Tensor x) -> int"));
    kw_block_impl(m, "h", KWT_T_I(7));
    inner_status = kw_startup(NULL, NULL);
}

KW_LIBRARY(s, m)
{
    note("d");
    kw_block_define(m, KW_DEFINE("f(Tensor x) -> int"));
}

static kw_dispatcher *make_dispatcher(void)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = &kwt_tensor_type};
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    return dispatcher;
}

static int64_t result(kw_dispatcher *dispatcher, const char *name, const char *keys)
{
    kwt_tensor tensor = kwt_make_tensor(keys);
    return kwt_result_t_i(kwt_find(dispatcher, name), &tensor);
}

// S76
Test(startup, nothing_registers_before_it_is_asked_for)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    cr_expect_str_eq(ran, "");
    cr_expect_not(kwt_is_visible(dispatcher, "s::f"));
    cr_expect_not(kwt_is_visible(kw_dispatcher_default(), "s::f"));
}

// S76
Test(startup, blocks_of_the_list_are_one_transaction)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    uint64_t version = kw_version();
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_eq(kw_version(), version + 1);
    cr_expect_eq(result(dispatcher, "s::g", "CPU"), 3);
    cr_expect_eq(result(dispatcher, "s::h", "XLA"), 7, "a fragment's kernel is composite");
    cr_expect_eq(result(dispatcher, "s::f", "CPU, Tracer"), 5, "the fallback");
    KWT_HAS(kwt_dump(kwt_find(dispatcher, "s::f")), "startup_test.c:");
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_eq(kw_version(), version + 1, "a second start finds nothing to do");
}

// S76
Test(startup, kinds_run_in_order_and_each_in_the_order_of_its_records)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_str_eq(ran, "dfhtij");
    cr_expect_eq(result(dispatcher, "s::f", "CPU"), 4, "the later block covers the earlier");
}

Test(startup, start_inside_a_block_is_refused)
{
    KWT_OK(kw_startup(make_dispatcher(), NULL));
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, inner_status);
}

// S77
Test(startup, first_error_is_told_and_nothing_is_registered)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    kw_error err = KW_ERROR_INIT;
    is_broken = true;
    const char *before = kwt_picture(dispatcher);
    KWT_STATUS(KW_KEY_CONFLICT, kw_startup(dispatcher, &err));
    cr_expect_eq(err.status, KW_KEY_CONFLICT);
    KWT_HAS(err.text, "CUDA");
    KWT_HAS(err.text, "startup_test.c:");
    cr_expect_str_eq(kwt_picture(dispatcher), before);
    KWT_STATUS(KW_KEY_CONFLICT, kw_startup(dispatcher, NULL));
}

// S77
Test(startup, retry_after_a_failure_runs_every_block_again_in_the_same_order)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    is_broken = true;
    KWT_STATUS(KW_KEY_CONFLICT, kw_startup(dispatcher, NULL));
    cr_expect_str_eq(ran, "dfhtij");
    ran[0] = '\0';
    is_broken = false;
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_str_eq(ran, "dfhtij");
    cr_expect_eq(result(dispatcher, "s::f", "CPU"), 4);
}

// Records that a program names itself, as one that links statically does.

static void run_named(kw_block *block)
{
    note("n");
    kw_block_define(block, KW_DEFINE("n(Tensor x) -> int"));
}

static kw_block_record named = {
    KW_LIBRARY_KIND_FRAGMENT, KW_KEY_Undefined, "s", "named.c", 3, run_named, NULL};

static void run_second(kw_block *block)
{
    kw_block_define(block, KW_DEFINE("m(Tensor x) -> int"));
}

static kw_block_record second = {
    KW_LIBRARY_KIND_DEF, KW_KEY_Undefined, "s", "named.c", 4, run_second, NULL};

// S76
Test(startup, record_added_twice_runs_once)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    kw_startup_add(&named);
    kw_startup_add(&named);
    kw_startup_add(NULL);
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_str_eq(ran, "dfhntij");
    kw_startup_add(&named);
    uint64_t version = kw_version();
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_eq(kw_version(), version, "it is registered already");
}

// S76
Test(startup, record_that_comes_later_waits_for_the_next_start)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    KWT_OK(kw_startup(dispatcher, NULL));
    kw_startup_add(&named);
    cr_expect_not(kwt_is_visible(dispatcher, "s::n"));
    uint64_t version = kw_version();
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_expect_eq(kw_version(), version + 1);
    cr_expect(kwt_is_visible(dispatcher, "s::n"));
    cr_expect_str_eq(ran, "dfhtijn");
}

// S77
Test(startup, second_defining_block_of_a_namespace_is_refused_with_both_places)
{
    kw_dispatcher *dispatcher = make_dispatcher();
    kw_error err = KW_ERROR_INIT;
    kw_startup_add(&second);
    KWT_STATUS(KW_NAMESPACE_TAKEN, kw_startup(dispatcher, &err));
    KWT_HAS(err.text, "`s`");
    KWT_HAS(err.text, "startup_test.c:");
    KWT_HAS(err.text, "named.c:4");
    cr_expect_not(kwt_is_visible(dispatcher, "s::f"));
    // The claim of the failed start is given back: another dispatcher's start fails alike.
    KWT_STATUS(KW_NAMESPACE_TAKEN, kw_startup(make_dispatcher(), &err));
}

// S76
Test(startup, without_a_dispatcher_the_default_one_gets_them)
{
    KWT_OK(kw_startup(NULL, NULL));
    cr_expect_eq(result(kw_dispatcher_default(), "s::h", "CPU"), 7);
}
