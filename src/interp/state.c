// States: modes and PythonDispatcher of one thread, for another.
//
// Layer:   interp
// Threads: a state is counted atomically and never changes; entered by any thread.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/allocator.h>

#include "interp/guard.h"
#include "interp/interpreter.h"
#include "interp/thread.h"

struct kw_interpreter_state {
    // guard: cell. Up: relaxed. Down: release, then acquire. [pair: interp-state]
    kwi_u64_cell references;

    // guard: immutable
    kw_interpreter *dispatcher;
    uint32_t count;
    kw_mode modes[]; // with one reference each
};

static size_t bytes_of(uint32_t count)
{
    return sizeof(kw_interpreter_state) + count * sizeof(kw_mode);
}

kw_status kw_interpreter_state_capture(kw_interpreter_state **out_state, kw_error *err)
{
    if (out_state == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no place for the state");
    }
    uint32_t count = kw_mode_count();
    kw_interpreter_state *state = kw_memory_allocate(bytes_of(count));
    if (state == NULL) {
        return kwi_interp_refuse_memory(err);
    }
    kwi_u64_store_relaxed(&state->references, 1); // relaxed: nobody else has it
    state->dispatcher = kwi_interp_self.dispatcher;
    state->count = count;
    for (uint32_t i = 0; i < count; i++) {
        (void)kw_mode_at(i, &state->modes[i]); // it is there: `i` is below the count
        kw_interpreter_retain_object(state->modes[i].interpreter, state->modes[i].object);
    }
    *out_state = state;
    return KW_OK;
}

void kw_interpreter_state_retain(kw_interpreter_state *state)
{
    if (state != NULL) {
        (void)kwi_u64_add_relaxed(&state->references, 1); // relaxed: the caller has one
    }
}

void kw_interpreter_state_release(kw_interpreter_state *state)
{
    // [pair: interp-state] release: what was done with the state comes before its end.
    if (state == NULL || kwi_u64_sub_release(&state->references, 1) != 1) {
        return;
    }
    (void)kwi_u64_load_acquire(&state->references); // [pair: interp-state]
    for (uint32_t i = state->count; i-- > 0;) {
        kw_interpreter_release_object(state->modes[i].interpreter, state->modes[i].object);
    }
    kw_memory_free(state, bytes_of(state->count));
}

// T2 for the state, whatever the thread's own is.
static kw_status force_words(const kw_interpreter_state *state, kw_local_guard *out_guard)
{
    kw_local_state words = kw_local_capture();
    kw_keyset modes = kw_keyset_from_bits(KW_KEYSET_PYTHON);
    kw_keyset dispatcher = kw_keyset_from_key(KW_KEY_PythonDispatcher);
    words.included = kw_keyset_difference(words.included, kw_keyset_union(modes, dispatcher));
    if (state->count > 0) {
        words.included = kw_keyset_union(words.included, modes);
    }
    if (state->dispatcher != NULL) {
        words.included = kw_keyset_union(words.included, dispatcher);
    }
    return kw_local_force(words, out_guard);
}

kw_status kw_interpreter_state_enter(const kw_interpreter_state *state,
                                     kw_interpreter_guard *out_guard, kw_error *err)
{
    if (state == NULL || out_guard == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "a state and a place for its guard are "
                            "needed");
    }
    kw_interpreter_guard guard;
    kwi_interp_guard_make(&guard, KWI_INTERP_GUARD_STATE);
    if (!kwi_interp_reserve(state->count) || force_words(state, &guard.local) != KW_OK) {
        return kwi_interp_refuse_memory(err);
    }
    kwi_interp_thread *self = &kwi_interp_self;
    self->base = self->count;
    self->dispatcher = state->dispatcher;
    self->has_record = false;
    *out_guard = guard;
    for (uint32_t i = 0; i < state->count; i++) {
        kw_mode mode = state->modes[i];
        kw_interpreter_retain_object(mode.interpreter, mode.object);
        self->modes[self->count++] = mode;
    }
    return KW_OK;
}
