// Waiting for a definition, on one thread: what is there, what is not, and where it is refused.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "base/clock.h"
#include "rcu/section.h"
#include "support/registry.h"

TestSuite(wait, .init = kwt_begin, .fini = kwt_end, .timeout = 20);

#define SHORT_NS UINT64_C(3000000)

// S85
Test(wait, what_is_defined_is_found_at_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_define(kwt_library(dispatcher, "a"), "t::f(Tensor x) -> int");
    const kw_operator *op = NULL;
    KWT_OK(kw_operator_wait(dispatcher, "t::f", 0, &op, NULL));
    cr_expect_eq(op, kwt_find(dispatcher, "t::f"));
    op = NULL;
    KWT_OK(kw_operator_wait(dispatcher, "t::f", KW_FOREVER, &op, NULL));
    cr_expect_not_null(op);
}

// S85
Test(wait, time_passes_and_the_text_says_what_is_missing)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)kwt_impl(kwt_library(dispatcher, "a"), "t::f", KW_KEY_CPU, KWT_T_I(1));
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    uint64_t begun = kwi_clock_ns();
    KWT_STATUS(KW_OPERATOR_UNDEFINED, kw_operator_wait(dispatcher, "t::f", SHORT_NS, &op, &err));
    cr_expect_geq(kwi_clock_ns() - begun, SHORT_NS);
    KWT_HAS(err.text, "`t::f` has kernels and was not defined within 3 ms");
    KWT_STATUS(KW_NOT_FOUND, kw_operator_wait(dispatcher, "t::g", 0, &op, &err));
    KWT_HAS(err.text, "`t::g` is not registered");
    cr_expect_null(op);
}

// S85
Test(wait, arguments_are_checked_before_any_wait)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = NULL;
    KWT_STATUS(KW_MALFORMED_NAME, kw_operator_wait(dispatcher, "t::", KW_FOREVER, &op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_wait(NULL, "t::f", 0, &op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_wait(dispatcher, NULL, 0, &op, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_operator_wait(dispatcher, "t::f", 0, NULL, NULL));
}

// S85: as of the newest version, although calls under the snapshot are not.
Test(wait, snapshot_wants_a_time_and_sees_the_newest)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    kw_snapshot snapshot;
    KWT_OK(kw_snapshot_open(&snapshot));
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    const kw_operator *op = NULL;
    KWT_STATUS(KW_WOULD_WAIT_FOR_SELF, kw_operator_wait(dispatcher, "t::f", KW_FOREVER, &op, NULL));
    cr_expect_null(op);
    KWT_OK(kw_operator_wait(dispatcher, "t::f", SHORT_NS, &op, NULL));
    cr_expect_eq(kw_operator_schema(op, NULL, 0), 0, "under the snapshot it is not there yet");
    KWT_OK(kw_snapshot_close(&snapshot));
    cr_expect_gt(kw_operator_schema(op, NULL, 0), 0);
}

// S85
Test(wait, section_is_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    const kw_operator *op = NULL;
    kwi_section section = kwi_section_enter();
    kw_status status = kw_operator_wait(dispatcher, "t::f", SHORT_NS, &op, NULL);
    kwi_section_leave(section);
    cr_expect_eq(status, KW_WOULD_WAIT_FOR_SELF);
}

static kw_dispatcher *inner_dispatcher;
static kw_status for_ever;
static kw_status for_a_time;

static kw_status kernel_waits(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    const kw_operator *op = NULL;
    for_ever = kw_operator_wait(inner_dispatcher, "t::later", KW_FOREVER, &op, NULL);
    for_a_time = kw_operator_wait(inner_dispatcher, "t::later", SHORT_NS, &op, NULL);
    *out_0 = 0;
    return KW_OK;
}

// S85
Test(wait, kernel_wants_a_time)
{
    inner_dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(inner_dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KW_UNBOXED("t>i", kernel_waits));
    kwt_tensor x = kwt_make_tensor("CPU");
    int64_t result = 0;
    KWT_OK(kwt_call_t_i(kwt_find(inner_dispatcher, "t::f"), &x, &result));
    cr_expect_eq(for_ever, KW_WOULD_WAIT_FOR_SELF);
    cr_expect_eq(for_a_time, KW_NOT_FOUND);
}
