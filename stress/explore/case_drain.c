// Cases of libraries that go away: close, drain, destroy.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include <keyway/lease.h>

#include "explore/cases.h"
#include "explore/scene.h"

static kw_library *leaving;
static kw_registration leaving_f;

static void begin_with_library(void)
{
    scene_begin();
    leaving = scene_library("leaving");
    leaving_f = scene_impl(leaving, "t::f", KW_KEY_CPU, scene_describe(leaving, NULL, 1));
}

static void drain_leaving(void)
{
    MUST(kw_library_close(leaving, err));
    MUST(kw_library_drain(leaving, KW_FOREVER, err));
    scene_check_drained(leaving);
}

// drain -------------------------------------------------------------------------------------------

static void call_leaving(void)
{
    EXPECT("f", scene_call(scene_f), 1, NO_KERNEL);
}

static void end_leaving(void)
{
    scene_end_library(leaving);
}

const explore_case explore_case_drain = {
    .name = "drain",
    .summary = "a call, while the library of its kernel is closed, drained and destroyed",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_with_library,
    .run = {call_leaving, end_leaving},
    .end = scene_end,
};

// burial ------------------------------------------------------------------------------------------

static void remove_leaving(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_remove(leaving, leaving_f, &err);
    if (status != KW_NOT_FOUND && status != KW_LIBRARY_CLOSED) {
        scene_must(status, "removing a registration", &err);
    }
}

const explore_case explore_case_burial = {
    .name = "burial",
    .summary = "a kernel is removed, while its library is closed and drained",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_with_library,
    .run = {remove_leaving, drain_leaving},
    .end = scene_end,
};

// closed ------------------------------------------------------------------------------------------

static void register_late(void)
{
    kw_kernel_descriptor kernel = scene_describe(NULL, NULL, 2);
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_impl(leaving, "t::g", KW_KEY_CPU, &kernel, NULL, &err);
    if (status == KW_LIBRARY_CLOSED) {
        kernel.destroy(kernel.user_data); // it stays the caller's
    } else {
        scene_must(status, "registering", &err);
    }
}

const explore_case explore_case_closed = {
    .name = "closed",
    .summary = "a kernel is registered, while its library is closed and drained",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_with_library,
    .run = {register_late, drain_leaving},
    .end = scene_end,
};

// lease -------------------------------------------------------------------------------------------

static kw_lease *lease;
static bool is_lease_over;

static void begin_lease(void)
{
    begin_with_library();
    is_lease_over = false;
    MUST(kw_lease_begin(leaving, "thing", &lease, err));
}

static void end_lease(void)
{
    explore_write("use the library", &is_lease_over);
    is_lease_over = true;
    kw_lease_end(lease);
}

static void drain_leased(void)
{
    drain_leaving();
    explore_read("drained", &is_lease_over);
    if (!is_lease_over) {
        explore_fail("drain", "a library is drained while a lease is out");
    }
}

const explore_case explore_case_lease = {
    .name = "lease",
    .summary = "a lease ends, while its library is closed and drained",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_lease,
    .run = {end_lease, drain_leased},
    .end = scene_end,
};

// drains ------------------------------------------------------------------------------------------

static kw_library *of_f;
static kw_library *of_g;

// What a kernel does to the library of the other one. It is inside a call, so it may give up.
static void drain_other(kw_library *other)
{
    kw_error err = KW_ERROR_INIT;
    scene_must(kw_library_close(other, &err), "closing", &err);
    kw_status status = kw_library_drain(other, UINT64_C(1000000000), &err);
    if (status == KW_OK) {
        scene_check_drained(other);
    } else if (status != KW_BUSY) {
        scene_must(status, "draining inside a call", &err);
    }
}

static kw_status kernel_that_drains(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                    int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    *out_0 = scene_kernel_begin(self);
    drain_other(self->op == scene_f ? of_g : of_f);
    scene_kernel_end(self);
    return KW_OK;
}

static void begin_drains(void)
{
    scene_begin();
    of_f = scene_library("of f");
    of_g = scene_library("of g");
    (void)scene_impl(of_f, "t::f", KW_KEY_CPU, scene_describe(of_f, kernel_that_drains, 1));
    (void)scene_impl(of_g, "t::g", KW_KEY_CPU, scene_describe(of_g, kernel_that_drains, 1));
}

static void call_f(void)
{
    EXPECT("f", scene_call(scene_f), 1, NO_KERNEL);
}

static void call_g(void)
{
    EXPECT("g", scene_call(scene_g), 1, NO_KERNEL);
}

const explore_case explore_case_drains = {
    .name = "drains",
    .summary = "two kernels drain each other's library, for a limited time",
    .bound = 3,
    .thread_count = 2,
    .begin = begin_drains,
    .run = {call_f, call_g},
    .end = scene_end,
};
