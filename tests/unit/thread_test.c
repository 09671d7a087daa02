// Thread blocks: attaching, giving back, taking over, and what a thread leaves behind.
//
// The threads here run one after the other; tests with threads at once are in tests/concurrency.
// SPDX-License-Identifier: MIT

#include <pthread.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(thread, .init = kwt_begin, .fini = kwt_end);

static void run_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, body, argument), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

static size_t used_count(void)
{
    size_t count = 0;
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        count += kwi_u32_load_acquire(&block->used);
    }
    return count;
}

Test(thread, unattached_ones_share_a_block_without_capacity)
{
    cr_expect_null(kwi_thread_current());
    cr_expect_not_null(kwi_thread_self);
    cr_expect_eq(kwi_thread_self->capacity, 0);
    cr_expect_eq(kwi_u32_load_relaxed(&kwi_thread_self->depth), 0);
    cr_expect_eq(kwi_u64_load_relaxed(&kwi_thread_self->pinned), KWI_NOT_PINNED);
    cr_expect_eq(kwi_thread_block_count(), 0);
}

Test(thread, attaching_twice_gives_the_same_block)
{
    KWT_OK(kw_thread_attach());
    const kwi_thread_block *block = kwi_thread_current();
    cr_expect_not_null(block);
    KWT_OK(kw_thread_attach());
    cr_expect_eq(kwi_thread_current(), block);
    cr_expect_eq(used_count(), 1);
}

static void *attach_body(void *argument)
{
    cr_assert_eq(kw_thread_attach(), KW_OK);
    *(const kwi_thread_block **)argument = kwi_thread_current();
    return NULL;
}

Test(thread, block_of_an_ended_thread_is_given_back_and_reused)
{
    const kwi_thread_block *first = NULL;
    run_thread(attach_body, &first);
    cr_expect_not_null(first);
    cr_expect_eq(used_count(), 0);
    uint64_t mapped = kwi_thread_block_count();
    for (int i = 0; i < 100; i++) {
        const kwi_thread_block *next = NULL;
        run_thread(attach_body, &next);
        cr_expect_eq(next, first);
    }
    cr_expect_eq(kwi_thread_block_count(), mapped);
}

Test(thread, end_of_a_thread_that_attached_before_any_dispatcher_gives_its_block_back)
{
    pthread_key_t host_key; // a key of the host's own, made first
    cr_assert_eq(pthread_key_create(&host_key, NULL), 0);
    cr_assert_eq(pthread_setspecific(host_key, &host_key), 0);
    const kwi_thread_block *block = NULL;
    run_thread(attach_body, &block);
    cr_expect_eq(used_count(), 0);
    KWT_OK(kw_thread_attach());
    cr_expect_eq(pthread_getspecific(host_key), &host_key);
}

// Each of these attaches by itself.
static void *guard_body(void *argument)
{
    kw_local_guard guard;
    cr_assert_eq(kw_local_include(kwt_keyset("CPU"), &guard), KW_OK);
    *(const kwi_thread_block **)argument = kwi_thread_current();
    return NULL; // the guard is left as it is
}

static void *snapshot_body(void *argument)
{
    kw_snapshot snapshot;
    cr_assert_eq(kw_snapshot_open(&snapshot), KW_OK);
    *(const kwi_thread_block **)argument = kwi_thread_current();
    return NULL; // it stays open
}

static void *context_body(void *argument)
{
    cr_assert_eq(kw_call_context_set(argument, NULL), KW_OK);
    *(const kwi_thread_block **)argument = kwi_thread_current();
    return NULL;
}

static void *look_body(void *argument)
{
    cr_assert_eq(kw_thread_attach(), KW_OK);
    cr_assert_null(kw_call_context());
    cr_assert_str_eq(kw_call_error(), "");
    kw_local_state state = kw_local_capture();
    cr_assert(kw_keyset_equal(state.included, kw_local_default().included));
    cr_assert(kw_keyset_equal(state.excluded, kw_local_default().excluded));
    *(const kwi_thread_block **)argument = kwi_thread_current();
    return NULL;
}

Test(thread, next_holder_finds_nothing_of_the_last_one)
{
    void *(*const bodies[])(void *) = {guard_body, snapshot_body, context_body};
    for (int i = 0; i < 3; i++) {
        const kwi_thread_block *one = NULL;
        const kwi_thread_block *two = NULL;
        run_thread(bodies[i], &one);
        run_thread(look_body, &two);
        cr_expect_eq(one, two, "the same block");
    }
    cr_expect_eq(kwt_statistics().forced_cleanups, 1, "the open snapshot");
}

// A thread that ends inside a kernel, called by a layer's boxed redispatch.

static kw_status end_thread(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)op;
    (void)keys;
    (void)frame;
    if (*(bool *)self->user_data) {
        (void)kw_fail(KW_STATUS_USER, "a text under way");
        pthread_exit(NULL);
    }
    frame->returns[0] = kw_value_int(1);
    return KW_OK;
}

typedef struct ending {
    const kw_operator *op;
    bool shall_end;
    kwt_layer layer;
    int64_t result;
} ending;

static void *call_body(void *argument)
{
    ending *plan = argument;
    kwt_tensor cpu = kwt_make_tensor("CPU, Tracer");
    plan->result = -1;
    if (kwt_call_t_i(plan->op, &cpu, &plan->result) != KW_OK) {
        plan->result = -2;
    }
    return NULL;
}

Test(thread, end_inside_a_call_clears_its_announcements)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    ending plan = {.shall_end = true, .layer = {1, KW_KEY_Tracer}};
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_Tracer,
                   kwt_with(KW_BOXED(kwt_layer_boxed), &plan.layer, NULL));
    (void)kwt_impl(library, "t::f", KW_KEY_CPU,
                   kwt_with(KW_BOXED(end_thread), &plan.shall_end, NULL));
    plan.op = kwt_find(dispatcher, "t::f");
    run_thread(call_body, &plan);
    cr_expect_eq(plan.result, -1, "it never came back");
    cr_expect_eq(kwt_statistics().forced_cleanups, 1);
    cr_expect_eq(used_count(), 0);

    // The same block, table, depth and redispatch: nothing of the first thread is in the way.
    plan.shall_end = false;
    run_thread(call_body, &plan);
    cr_expect_eq(plan.result, 1);
    cr_expect_eq(kwt_statistics().forced_cleanups, 1);
    kwt_close(library);
    KWT_OK(kw_library_drain(library, 0, NULL));
}

Test(thread, deep_announcements_stay_with_the_block)
{
    KWT_OK(kw_thread_attach());
    kwi_thread_block *block = kwi_thread_current();
    cr_expect_null(kwi_thread_inside(block, KWI_INSIDE_COUNT, false),
                   "not linked before it is used");
    kwi_ptr_cell *first = kwi_thread_inside(block, KWI_INSIDE_COUNT, true);
    cr_assert_not_null(first);
    cr_expect_eq(kwi_thread_inside(block, KWI_INSIDE_COUNT, false), first);
    cr_expect_eq(kwi_thread_inside(block, KWI_INSIDE_COUNT + 1, false), first + 1);
    cr_expect_null(kwi_thread_inside(block, KWI_INSIDE_COUNT + KWI_DEEP_COUNT, false));
    cr_expect_not_null(kwi_thread_inside(block, KWI_INSIDE_COUNT + KWI_DEEP_COUNT, true));
    cr_expect_eq(kwi_thread_inside(block, KWI_INSIDE_COUNT - 1, false),
                 &block->hot.inside[KWI_INSIDE_COUNT - 1]);
}

Test(thread, after_fork_only_the_own_block_is_left)
{
    KWT_OK(kw_thread_attach());
    kwi_thread_block *mine = kwi_thread_current();
    kwi_thread_cursor cursor = {0};
    kwi_thread_block *other = kwi_thread_next(&cursor);
    other = other == mine ? kwi_thread_next(&cursor) : other;
    kwi_u32_store_release(&other->used, 1);
    kwi_u32_store_release(&other->hot.depth, 1);
    kwi_u64_store_release(&other->hot.pinned, 3);
    kwi_u64_store_release(&mine->hot.pinned, 4);
    kwi_threads_after_fork_child();
    cr_expect_eq(kwi_u32_load_relaxed(&other->used), 0);
    cr_expect_eq(kwi_u32_load_relaxed(&other->hot.depth), 0);
    cr_expect_eq(kwi_u64_load_relaxed(&other->hot.pinned), KWI_NOT_PINNED);
    cr_expect_eq(kwi_u64_load_relaxed(&mine->hot.pinned), 4);
    kwi_u64_store_release(&mine->hot.pinned, KWI_NOT_PINNED);
}
