// Cases of commits: calls and snapshots while kernels are replaced.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include "explore/cases.h"
#include "explore/scene.h"

// A commit of both operators is seen as a whole, and once seen it stays seen.
static void check_order(const char *what, int64_t before, int64_t after)
{
    if (after < before) {
        explore_fail("version", "%s: kernel %lld, and then kernel %lld of an older commit", what,
                     (long long)before, (long long)after);
    }
}

static void commit_both(int64_t id)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = id, .g = id});
}

static void begin_with_both(void)
{
    scene_begin();
    commit_both(1);
}

static void end_with_both(int64_t id)
{
    EXPECT("f at rest", scene_call(scene_f), id);
    EXPECT("g at rest", scene_call(scene_g), id);
    scene_end();
}

// replace -----------------------------------------------------------------------------------------

static void call_f_then_g(void)
{
    int64_t f = scene_call(scene_f);
    EXPECT("f", f, 1, 2);
    int64_t g = scene_call(scene_g);
    EXPECT("g", g, 1, 2);
    check_order("f, then g", f, g);
}

static void replace_both(void)
{
    commit_both(2);
}

static void end_replaced(void)
{
    end_with_both(2);
}

const explore_case explore_case_replace = {
    .name = "replace",
    .summary = "calls of two operators, while a commit replaces the kernels of both",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_with_both,
    .run = {call_f_then_g, replace_both},
    .end = end_replaced,
};

// snapshot ----------------------------------------------------------------------------------------

static void call_under_snapshot(void)
{
    int64_t before = scene_call(scene_f);
    EXPECT("f", before, 1, 2, 3);
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    int64_t f = scene_call(scene_f);
    int64_t g = scene_call(scene_g);
    MUST(kw_snapshot_close(&snapshot));
    EXPECT("f under a snapshot", f, 1, 2, 3);
    check_order("f, then f under a snapshot", before, f);
    if (f != g) {
        explore_fail("snapshot", "a snapshot shows f of commit %lld and g of commit %lld",
                     (long long)f, (long long)g);
    }
}

static void replace_both_twice(void)
{
    commit_both(2);
    commit_both(3);
}

static void end_replaced_twice(void)
{
    end_with_both(3);
}

const explore_case explore_case_snapshot = {
    .name = "snapshot",
    .summary = "a call, then two under a snapshot, while two commits replace both kernels",
    .bound = 2,
    .thread_count = 2,
    .begin = begin_with_both,
    .run = {call_under_snapshot, replace_both_twice},
    .end = end_replaced_twice,
};
