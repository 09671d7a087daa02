// Cases of libraries that go away: close, drain, destroy.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include "explore/cases.h"
#include "explore/scene.h"

static kw_library *leaving;

static void begin_with_library(void)
{
    scene_begin();
    leaving = scene_library("leaving");
    (void)scene_impl(leaving, "t::f", KW_KEY_CPU, scene_describe(leaving, NULL, 1));
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
