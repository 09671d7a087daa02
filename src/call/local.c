// Local sets: the calling thread's include and exclude sets, their guards, capture and restore.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include <keyway/local.h>

#include "rcu/thread.h"

kw_local_state kw_local_capture(void)
{
    const kw_thread *thread = kwi_thread_self;
    return (kw_local_state){{thread->included}, {thread->excluded}};
}

kw_local_state kw_local_default(void)
{
    return (kw_local_state){{KW_KEYSET_DEFAULT_INCLUDED}, {KW_KEYSET_DEFAULT_EXCLUDED}};
}

static void set_state(kw_thread *thread, kw_local_state state)
{
    thread->included = state.included.bits;
    thread->excluded = state.excluded.bits;
    thread->kept = ~state.excluded.bits | KW_KEYSET_BACKEND_MASK;
}

kw_status kw_local_force(kw_local_state state, kw_local_guard *out_guard)
{
    if (out_guard == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return KW_NO_MEMORY;
    }
    out_guard->saved = kw_local_capture();
    set_state(&block->hot, state);
    return KW_OK;
}

kw_status kw_local_include(kw_keyset keys, kw_local_guard *out_guard)
{
    kw_local_state state = kw_local_capture();
    state.included = kw_keyset_union(state.included, keys);
    return kw_local_force(state, out_guard);
}

kw_status kw_local_exclude(kw_keyset keys, kw_local_guard *out_guard)
{
    kw_local_state state = kw_local_capture();
    state.excluded = kw_keyset_union(state.excluded, keys);
    return kw_local_force(state, out_guard);
}

kw_status kw_local_below_autograd(kw_local_guard *out_guard)
{
    return kw_local_exclude(kw_keyset_autograd(), out_guard);
}

kw_status kw_local_below_view(kw_local_guard *out_guard)
{
    return kw_local_exclude(kw_keyset_autograd_with_view(), out_guard);
}

kw_status kw_local_inference_mode(bool enabled, kw_local_guard *out_guard)
{
    kw_keyset view = kw_keyset_from_key(KW_KEY_ADInplaceOrView);
    kw_local_state state = kw_local_capture();
    if (enabled) {
        state.included = kw_keyset_difference(state.included, view);
        state.excluded = kw_keyset_union(state.excluded, kw_keyset_autograd());
    } else {
        state.included = kw_keyset_union(state.included, view);
        state.excluded = kw_keyset_difference(state.excluded, kw_keyset_autograd());
    }
    return kw_local_force(state, out_guard);
}

bool kw_local_is_included(kw_key key)
{
    return kw_keyset_has(kw_local_capture().included, key);
}

bool kw_local_is_excluded(kw_key key)
{
    return kw_keyset_has(kw_local_capture().excluded, key);
}

void kw_local_restore(const kw_local_guard *guard)
{
    kwi_thread_block *block = kwi_thread_current();
    if (guard != NULL && block != NULL) {
        set_state(&block->hot, guard->saved);
    }
}
