// Cases of calls inside calls: nesting, redispatch, fallthrough, signals, and threads that end.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include "explore/cases.h"
#include "explore/scene.h"

// A kernel's own id is the tens of its answer, what it calls gives the ones.
#define TENS 10

static void replace_both(void)
{
    scene_replace_both(2);
}

static void end_replaced(void)
{
    scene_end_with(2, 2);
}

// nested ------------------------------------------------------------------------------------------

static kw_status kernel_outer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    int64_t id = scene_kernel_begin(self);
    int64_t inner = scene_call(scene_g);
    EXPECT("g inside f", inner, 1, 2);
    scene_kernel_end(self);
    *out_0 = TENS * id + inner;
    return KW_OK;
}

static void replace_outer(int64_t id)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .kernel = kernel_outer, .f = id});
}

static void begin_nested(void)
{
    scene_begin();
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .g = 1});
    replace_outer(1);
}

static void call_outer(void)
{
    EXPECT("f", scene_call(scene_f), 11, 12, 22);
}

static void replace_inner_then_outer(void)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .g = 2});
    replace_outer(2);
}

static void end_nested(void)
{
    scene_end_with(22, 2);
}

const explore_case explore_case_nested = {
    .name = "nested",
    .summary = "a call inside a call, while the inner and then the outer kernel is replaced",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_nested,
    .run = {call_outer, replace_inner_then_outer},
    .end = end_nested,
};

// redispatch --------------------------------------------------------------------------------------

static kw_status kernel_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                 int64_t *out_0)
{
    int64_t inner = 0;
    int64_t id = scene_kernel_begin(self);
    kw_status status =
        typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, &inner);
    scene_kernel_end(self);
    *out_0 = TENS * id + inner;
    return status;
}

static void replace_chain(int64_t id)
{
    const scene_change changes[] = {
        {.key = KW_KEY_CPU, .f = id},
        {.key = KW_KEY_AutogradCPU, .kernel = kernel_autograd, .f = id},
    };
    scene_commit_all(changes, sizeof changes / sizeof *changes);
}

static void begin_redispatch(void)
{
    scene_begin();
    replace_chain(1);
}

static void call_chain(void)
{
    EXPECT("a chain of redispatches", scene_call_autograd(scene_f), 11, 22);
}

static void replace_chain_once(void)
{
    replace_chain(2);
}

static void end_redispatch(void)
{
    EXPECT("the chain at rest", scene_call_autograd(scene_f), 22);
    scene_end();
}

const explore_case explore_case_redispatch = {
    .name = "redispatch",
    .summary = "a call and its redispatch, while a commit replaces both kernels",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_redispatch,
    .run = {call_chain, replace_chain_once},
    .end = end_redispatch,
};

// fallthrough -------------------------------------------------------------------------------------

static void call_twice(void)
{
    int64_t first = scene_call_autograd(scene_f);
    EXPECT("f", first, 11, 2);
    int64_t second = scene_call_autograd(scene_f);
    EXPECT("f", second, 11, 2);
    scene_check_order("f twice", first == 2, second == 2);
}

static void let_fall_through(void)
{
    const scene_change changes[] = {
        {.key = KW_KEY_CPU, .f = 2},
        {.key = KW_KEY_AutogradCPU, .falls_through = true, .f = 2},
    };
    scene_commit_all(changes, sizeof changes / sizeof *changes);
}

static void end_fallthrough(void)
{
    EXPECT("f at rest", scene_call_autograd(scene_f), 2);
    scene_end();
}

const explore_case explore_case_fallthrough = {
    .name = "fallthrough",
    .summary = "calls, while a commit replaces a kernel that redispatches by a fallthrough",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_redispatch,
    .run = {call_twice, let_fall_through},
    .end = end_fallthrough,
};

// signal ------------------------------------------------------------------------------------------

static void call_interrupted(void)
{
    explore_accept_signal(true);
    int64_t f = scene_call(scene_f);
    explore_accept_signal(false);
    EXPECT("f", f, 1, 2);
}

static void handle(void)
{
    EXPECT("g in a signal handler", scene_call(scene_g), 1, 2);
}

const explore_case explore_case_signal = {
    .name = "signal",
    .summary = "a call, interrupted anywhere by a handler that calls, and a commit",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = scene_begin_with_kernels,
    .run = {call_interrupted, replace_both},
    .handler = handle,
    .end = end_replaced,
};

// thread_end --------------------------------------------------------------------------------------

static kw_status kernel_that_ends_its_thread(const kw_kernel *self, kw_keyset keys, void *x,
                                             int64_t n, int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    (void)out_0;
    (void)scene_kernel_begin(self);
    scene_kernel_end(self);
    pthread_exit(NULL);
}

static void begin_thread_end(void)
{
    scene_begin();
    scene_commit(
        &(scene_change){.key = KW_KEY_CPU, .kernel = kernel_that_ends_its_thread, .f = 1, .g = 1});
}

static void end_inside_call(void)
{
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    EXPECT("f", scene_call(scene_f), 2);
    MUST(kw_snapshot_close(&snapshot));
}

const explore_case explore_case_thread_end = {
    .name = "thread-end",
    .summary = "a thread ends inside a call and under a snapshot, and a commit",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_thread_end,
    .run = {end_inside_call, replace_both},
    .end = end_replaced,
    .ends_thread = true,
};
