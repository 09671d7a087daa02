// Attaching and nesting without memory: the pages that thread blocks lie in cannot be mapped.
// SPDX-License-Identifier: MIT

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(thread, .init = kwt_begin, .fini = kwt_end);

// The library's calls of mmap() come here. While it is armed, all fail.
static bool armed;
static int refused_count;

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (armed) {
        refused_count++;
        return MAP_FAILED;
    }
    // syscall() gives a long; the address is in it.
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

static const kw_operator *make(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(int a) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, KWT_I_I(1));
    cr_assert_null(kwi_thread_current(), "registering does not attach");
    return kwt_find(dispatcher, "t::f");
}

Test(thread, first_call_without_memory_says_so)
{
    const kw_operator *op = make();
    int64_t number = 9;
    kw_value arg = kw_value_int(4);
    armed = true;
    kw_status typed = kwt_call_i_i(op, 4, &number);
    kw_status boxed = kwt_call_frame(op, &arg, 1, &number);
    kw_status redispatched = kwt_redispatch_i_i(op, kwt_keyset("CPU"), 4, &number);
    const char *text = kw_call_error();
    armed = false;
    KWT_STATUS(KW_NOT_ATTACHED, typed);
    KWT_STATUS(KW_NOT_ATTACHED, boxed);
    KWT_STATUS(KW_NOT_ATTACHED, redispatched);
    KWT_HAS(text, "attached");
    cr_expect_eq(number, 9);
    cr_expect_eq(refused_count, 3);
    cr_expect_null(kwi_thread_current());
    cr_expect_eq(kwt_result_i_i(op, 4), 5, "the next one tries again");
}

Test(thread, whatever_attaches_first_fails_and_changes_nothing)
{
    (void)make();
    kw_local_guard guard;
    kw_snapshot snapshot;
    kw_shared_snapshot *shared = NULL;
    void *previous = &guard;
    armed = true;
    kw_status attached = kw_thread_attach();
    kw_status included = kw_local_include(kwt_keyset("CPU"), &guard);
    kw_status forced = kw_local_force(kw_local_default(), &guard);
    kw_status opened = kw_snapshot_open(&snapshot);
    kw_status created = kw_shared_snapshot_create(&shared, NULL);
    kw_status set = kw_call_context_set(&guard, &previous);
    armed = false;
    KWT_STATUS(KW_NO_MEMORY, attached);
    KWT_STATUS(KW_NO_MEMORY, included);
    KWT_STATUS(KW_NO_MEMORY, forced);
    KWT_STATUS(KW_NO_MEMORY, opened);
    KWT_STATUS(KW_NO_MEMORY, created);
    KWT_STATUS(KW_NO_MEMORY, set);
    cr_expect_null(shared);
    cr_expect_eq(previous, &guard, "outputs are untouched");
    cr_expect_null(kwi_thread_current());
    cr_expect(kw_keyset_equal(kw_local_capture().included, kw_local_default().included));
    cr_expect_eq(kwt_statistics().thread_blocks, 0);
    KWT_OK(kw_thread_attach());
}

Test(thread, inspection_without_memory_says_nothing)
{
    const kw_operator *op = make();
    armed = true;
    size_t length = kw_operator_schema(op, NULL, 0);
    bool has = kw_operator_has_computed_kernel(op, KW_KEY_CPU);
    armed = false;
    cr_expect_eq(length, 0);
    cr_expect_not(has);
    cr_expect_gt(kw_operator_schema(op, NULL, 0), 0);
    cr_expect(kw_operator_has_computed_kernel(op, KW_KEY_CPU));
}

// t::g(int a) -> int: calls itself `a` times, then answers its depth.
static kw_status recurse(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    (void)keys;
    if (a > 1) {
        return kwt_call_i_i(self->op, a - 1, out_0);
    }
    *out_0 = kwi_u32_load_relaxed(&kwi_thread_current()->hot.depth);
    return KW_OK;
}

Test(thread, nesting_without_memory_stops_with_a_status)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::g(int a) -> int");
    (void)kwt_impl(library, "t::g", KW_KEY_CompositeExplicitAutograd, KW_UNBOXED("i>i", recurse));
    const kw_operator *op = kwt_find(dispatcher, "t::g");
    KWT_OK(kw_thread_attach());
    armed = true;
    cr_expect_eq(kwt_result_i_i(op, KWI_INSIDE_COUNT), KWI_INSIDE_COUNT, "the block needs none");
    int64_t number = 9;
    kw_status status = kwt_call_i_i(op, KWI_INSIDE_COUNT + 1, &number);
    KWT_STATUS(KW_NESTED_TOO_DEEP, status);
    armed = false;
    KWT_HAS(kw_call_error(), "nested 19 deep");
    KWT_HAS(kw_call_error(), "in `t::g`");
    cr_expect_eq(number, 9);
    cr_expect_eq(kwi_u32_load_relaxed(&kwi_thread_current()->hot.depth), 0);

    cr_expect_eq(kwt_result_i_i(op, 600), 600);
    armed = true;
    cr_expect_eq(kwt_result_i_i(op, 600), 600, "the chunks stay");
    status = kwt_call_i_i(op, 19 + 2 * KWI_DEEP_COUNT + 1, &number);
    armed = false;
    KWT_STATUS(KW_NESTED_TOO_DEEP, status);
}
