// Cases of commits: calls and snapshots while kernels are replaced.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include "explore/cases.h"
#include "explore/scene.h"

// replace -----------------------------------------------------------------------------------------

static void call_f_then_g(void)
{
    int64_t f = scene_call(scene_f);
    EXPECT("f", f, 1, 2);
    int64_t g = scene_call(scene_g);
    EXPECT("g", g, 1, 2);
    scene_check_order("f, then g", f, g);
}

static void replace_both(void)
{
    scene_replace_both(2);
}

static void end_replaced(void)
{
    scene_end_with(2, 2);
}

const explore_case explore_case_replace = {
    .name = "replace",
    .summary = "calls of two operators, while a commit replaces the kernels of both",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_f_then_g, replace_both},
    .end = end_replaced,
};

// plain -------------------------------------------------------------------------------------------

static void call_plainly(void)
{
    uint32_t capacity = kwi_thread_self->capacity;
    kwi_thread_self->capacity = 0;
    call_f_then_g();
    kwi_thread_self->capacity = capacity;
}

const explore_case explore_case_plain = {
    .name = "plain",
    .summary = "the same by a thread whose calls announce inside a section",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_plainly, replace_both},
    .end = end_replaced,
};

// deferred ----------------------------------------------------------------------------------------

static void call_g_then_f(void)
{
    int64_t g = scene_call(scene_g);
    EXPECT("g", g, 1, 2, 3);
    int64_t f = scene_call(scene_f);
    EXPECT("f", f, 1, 2, 3);
    scene_check_order("g, then f", g, f);
}

static void replace_both_deferring(void)
{
    for (int64_t id = 2; id <= 3; id++) {
        scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = id, .g = id, .defers = true});
    }
    MUST(kw_reclaim());
}

static void end_replaced_twice(void)
{
    scene_end_with(3, 3);
}

const explore_case explore_case_deferred = {
    .name = "deferred",
    .summary = "calls of two operators, while two commits defer reclaiming, and then it is done",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_g_then_f, replace_both_deferring},
    .end = end_replaced_twice,
};

// writers -----------------------------------------------------------------------------------------

static void call_f(void)
{
    EXPECT("f", scene_call(scene_f), 1, 2);
}

static void replace_f(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = 2});
}

static void replace_g(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .g = 2});
}

const explore_case explore_case_writers = {
    .name = "writers",
    .summary = "a call, while two threads commit and their grace periods overlap",
    .bound = 3,
    .thread_count = 3,
    .begin = scene_begin_with_kernels,
    .run = {call_f, replace_f, replace_g},
    .end = end_replaced,
};
