// Local sets: defaults, guards that put the exact words back, capture and force.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "rcu/thread.h"
#include "support/registry.h"

TestSuite(local, .init = kwt_begin, .fini = kwt_end);

static void expect_state(uint64_t included, uint64_t excluded)
{
    kw_local_state state = kw_local_capture();
    cr_expect_eq(state.included.bits, included, "included 0x%llx",
                 (unsigned long long)state.included.bits);
    cr_expect_eq(state.excluded.bits, excluded, "excluded 0x%llx",
                 (unsigned long long)state.excluded.bits);
}

static void expect_default(void)
{
    expect_state(KW_KEYSET_DEFAULT_INCLUDED, KW_KEYSET_DEFAULT_EXCLUDED);
}

Test(local, defaults_are_the_originals)
{
    cr_expect(
        kw_keyset_equal(kw_local_default().included, kwt_keyset("BackendSelect, ADInplaceOrView")));
    cr_expect(kw_keyset_has(kw_local_default().excluded, KW_KEY_AutocastCPU));
    cr_expect(kw_keyset_has(kw_local_default().excluded, KW_KEY_AutocastCUDA));
    cr_expect_not(kw_keyset_has_any(kw_local_default().excluded, kw_keyset_autograd()));
}

Test(local, thread_that_never_attached_has_the_defaults)
{
    cr_assert_null(kwi_thread_current());
    expect_default();
    cr_expect_null(kwi_thread_current(), "asking does not attach");
}

Test(local, attaching_keeps_the_defaults)
{
    (void)kwt_dispatcher();
    KWT_OK(kw_thread_attach());
    cr_assert_not_null(kwi_thread_current());
    expect_default();
}

Test(local, restore_without_a_block_does_nothing)
{
    const kw_local_guard guard = {{{1}, {2}}};
    kw_local_restore(&guard);
    kw_local_restore(NULL);
    expect_default();
}

Test(local, include_adds_and_restore_takes_back_even_the_backend_bit)
{
    (void)kwt_dispatcher();
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("CPU"), &guard));
    expect_state(KW_KEYSET_DEFAULT_INCLUDED | kwt_keyset("CPU").bits, KW_KEYSET_DEFAULT_EXCLUDED);
    kw_local_restore(&guard);
    expect_default();
}

Test(local, exclude_adds_and_restore_takes_back_even_the_backend_bit)
{
    (void)kwt_dispatcher();
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kwt_keyset("AutogradCPU"), &guard));
    expect_state(KW_KEYSET_DEFAULT_INCLUDED,
                 KW_KEYSET_DEFAULT_EXCLUDED | kwt_keyset("AutogradCPU").bits);
    kw_local_restore(&guard);
    expect_default();
}

Test(local, equal_guards_nest)
{
    (void)kwt_dispatcher();
    kw_local_guard outer;
    kw_local_guard inner;
    uint64_t with = KW_KEYSET_DEFAULT_INCLUDED | kwt_keyset("Tracer, CUDA").bits;
    KWT_OK(kw_local_include(kwt_keyset("Tracer, CUDA"), &outer));
    KWT_OK(kw_local_include(kwt_keyset("Tracer, CUDA"), &inner));
    expect_state(with, KW_KEYSET_DEFAULT_EXCLUDED);
    kw_local_restore(&inner);
    expect_state(with, KW_KEYSET_DEFAULT_EXCLUDED);
    kw_local_restore(&outer);
    expect_default();
}

Test(local, force_sets_both_words_exactly)
{
    (void)kwt_dispatcher();
    kw_local_guard guard;
    const kw_local_state state = {kwt_keyset("Python"), kwt_keyset("ADInplaceOrView, XLA")};
    KWT_OK(kw_local_force(state, &guard));
    expect_state(state.included.bits, state.excluded.bits);
    kw_local_guard inner;
    const kw_local_state nothing = {{0}, {0}};
    KWT_OK(kw_local_force(nothing, &inner));
    expect_state(0, 0);
    kw_local_restore(&inner);
    expect_state(state.included.bits, state.excluded.bits);
    kw_local_restore(&guard);
    expect_default();
}

Test(local, captured_state_is_a_value)
{
    (void)kwt_dispatcher();
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kw_keyset_autograd(), &guard));
    kw_local_state captured = kw_local_capture();
    kw_local_restore(&guard);
    expect_default();
    KWT_OK(kw_local_force(captured, &guard));
    cr_expect(kw_keyset_has_all(kw_local_capture().excluded, kw_keyset_autograd()));
    kw_local_restore(&guard);
    expect_default();
}

Test(local, guard_needs_a_place)
{
    (void)kwt_dispatcher();
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_local_include(kwt_keyset("CPU"), NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_local_exclude(kwt_keyset("CPU"), NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_local_force(kw_local_default(), NULL));
    expect_default();
}

Test(local, context_word_travels_with_the_thread)
{
    (void)kwt_dispatcher();
    int stream = 0;
    void *previous = &stream;
    cr_expect_null(kw_call_context());
    KWT_OK(kw_call_context_set(&stream, &previous));
    cr_expect_null(previous);
    cr_expect_eq(kw_call_context(), &stream);
    KWT_OK(kw_call_context_set(NULL, &previous));
    cr_expect_eq(previous, &stream);
    KWT_OK(kw_call_context_set(NULL, NULL));
}
