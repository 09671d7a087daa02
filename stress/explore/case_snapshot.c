// Cases of snapshots: what a pin keeps, and how it is given up and handed over.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include "explore/cases.h"
#include "explore/scene.h"

static void check_equal(int64_t f, int64_t g)
{
    if (f != g) {
        explore_fail("snapshot", "a snapshot shows f of commit %lld and g of commit %lld",
                     (long long)f, (long long)g);
    }
}

static void replace_both(void)
{
    scene_replace_both(2);
}

static void end_replaced(void)
{
    scene_end_with(2, 2);
}

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
    scene_check_order("f, then f under a snapshot", before, f);
    check_equal(f, g);
}

static void replace_both_twice(void)
{
    scene_replace_both(2);
    scene_replace_both(3);
}

static void end_replaced_twice(void)
{
    scene_end_with(3, 3);
}

const explore_case explore_case_snapshot = {
    .name = "snapshot",
    .summary = "a call, then two under a snapshot, while two commits replace both kernels",
    .bound = 3,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_under_snapshot, replace_both_twice},
    .end = end_replaced_twice,
};

// nested_pin --------------------------------------------------------------------------------------

static void call_under_nested_snapshots(void)
{
    kw_snapshot outer;
    kw_snapshot inner;
    MUST(kw_snapshot_open(&outer));
    int64_t f = scene_call(scene_f);
    EXPECT("f under a snapshot", f, 1, 2);
    MUST(kw_snapshot_open(&inner));
    check_equal(f, scene_call(scene_g));
    MUST(kw_snapshot_close(&inner));
    check_equal(f, scene_call(scene_g));
    MUST(kw_snapshot_close(&outer));
}

const explore_case explore_case_nested_pin = {
    .name = "nested-pin",
    .summary = "calls under a snapshot, one inside it, and again under the first, and a commit",
    .bound = 3,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_under_nested_snapshots, replace_both},
    .end = end_replaced,
};

// closing -----------------------------------------------------------------------------------------

static kw_snapshot closed_inside;

static kw_status kernel_that_closes(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                    int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    *out_0 = scene_kernel_begin(self);
    MUST(kw_snapshot_close(&closed_inside));
    scene_kernel_end(self);
    return KW_OK;
}

static void begin_closing(void)
{
    scene_begin();
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .kernel = kernel_that_closes, .f = 1, .g = 1});
}

static void open_closing(void)
{
    MUST(kw_snapshot_open(&closed_inside));
}

static void run_closing(void)
{
    EXPECT("f", scene_call(scene_f), 1);
}

const explore_case explore_case_closing = {
    .name = "closing",
    .summary = "a call whose kernel closes the snapshot that it was made under, and a commit",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_closing,
    .prepare = {open_closing},
    .run = {run_closing, replace_both},
    .end = end_replaced,
};

// middle ------------------------------------------------------------------------------------------

static kw_snapshot old;

static void open_old(void)
{
    MUST(kw_snapshot_open(&old));
}

static void replace_f_early(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = 2});
}

static void call_under_old(void)
{
    EXPECT("f under an old snapshot", scene_call(scene_f), 1);
    MUST(kw_snapshot_close(&old));
}

static void replace_f_again(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = 3});
}

static void reclaim(void)
{
    MUST(kw_reclaim());
}

static void end_middle(void)
{
    scene_end_with(3, 1);
}

const explore_case explore_case_middle = {
    .name = "middle",
    .summary = "a call under an old snapshot walks over a table that two passes unlink and free",
    .bound = 3,
    .thread_count = 3,
    .begin = scene_begin_with_kernels,
    .prepare = {open_old},
    .arrange = replace_f_early,
    .run = {call_under_old, replace_f_again, reclaim},
    .end = end_middle,
};

// handover ----------------------------------------------------------------------------------------

static kw_shared_snapshot *handed;
static bool is_taken;

static void begin_handover(void)
{
    scene_begin_with_kernels();
    handed = NULL;
    is_taken = false;
}

static void hand_over(void)
{
    kw_shared_snapshot *shared = NULL;
    MUST(kw_snapshot_share(&old, &shared, err));
    explore_write("give the shared snapshot", &handed);
    handed = shared;
    MUST(kw_snapshot_close(&old));
}

static void take_over(void)
{
    explore_read("take the shared snapshot", &handed);
    if (handed == NULL) {
        return;
    }
    is_taken = true;
    kw_snapshot snapshot;
    MUST(kw_shared_snapshot_enter(handed, &snapshot));
    kw_shared_snapshot_release(handed);
    EXPECT("f under a shared snapshot", scene_call(scene_f), 1);
    MUST(kw_snapshot_close(&snapshot));
}

static void replace_f(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = 2});
}

static void end_handover(void)
{
    kw_shared_snapshot_release(is_taken ? NULL : handed);
    scene_end_with(2, 1);
}

const explore_case explore_case_handover = {
    .name = "handover",
    .summary = "a snapshot is shared and closed, entered by another thread, and a commit",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 3,
    .begin = begin_handover,
    .prepare = {open_old},
    .run = {hand_over, take_over, replace_f},
    .end = end_handover,
};
