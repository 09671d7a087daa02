// Guards: PythonDispatcher for a thread, re-entry from a handler, and their ends.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "interp/guard.h"

#include "interp/thread.h"

void kwi_interp_guard_make(kw_interpreter_guard *out_guard, kwi_interp_guard_kind kind)
{
    const kwi_interp_thread *self = &kwi_interp_self;
    out_guard->recorded = self->record;
    out_guard->has_record = self->has_record;
    out_guard->dispatcher = self->dispatcher;
    out_guard->mode_base = self->base;
    out_guard->mode_count = self->count;
    out_guard->kind = (uint32_t)kind;
}

kw_status kw_python_dispatcher_enable(kw_interpreter *interpreter, kw_interpreter_guard *out_guard)
{
    if (out_guard == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    if (interpreter != NULL && !kw_interpreter_is_armed(interpreter)) {
        return KW_INTERPRETER_GONE;
    }
    kw_interpreter_guard guard;
    kwi_interp_guard_make(&guard, KWI_INTERP_GUARD_DISPATCHER);
    kw_status status = kwi_interp_include(kw_keyset_from_key(KW_KEY_PythonDispatcher),
                                          interpreter != NULL, &guard.local);
    if (status == KW_OK) {
        kwi_interp_self.dispatcher = interpreter;
        *out_guard = guard;
    }
    return status;
}

kw_interpreter *kw_python_dispatcher(void)
{
    return kwi_interp_self.dispatcher;
}

kw_status kw_python_reenter(kw_interpreter_guard *out_guard)
{
    if (out_guard == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    if (!kwi_interp_self.has_record) {
        return KW_WRONG_ORDER;
    }
    kw_interpreter_guard guard;
    kwi_interp_guard_make(&guard, KWI_INTERP_GUARD_REENTRY);
    kw_status status = kw_local_force(kwi_interp_self.record, &guard.local);
    if (status == KW_OK) {
        kwi_interp_self.has_record = false;
        *out_guard = guard;
    }
    return status;
}

void kw_interpreter_restore(kw_interpreter_guard *guard)
{
    kwi_interp_thread *self = &kwi_interp_self;
    if (guard == NULL || guard->kind == KWI_INTERP_GUARD_ENDED) {
        return;
    }
    if (guard->kind == KWI_INTERP_GUARD_STATE) {
        kwi_interp_truncate(guard->mode_count);
        self->base = guard->mode_base;
    }
    if (guard->kind != KWI_INTERP_GUARD_DISPATCHER) {
        self->record = guard->recorded;
        self->has_record = guard->has_record;
    }
    if (guard->kind != KWI_INTERP_GUARD_REENTRY) {
        self->dispatcher = guard->dispatcher;
    }
    kw_local_restore(&guard->local);
    guard->kind = KWI_INTERP_GUARD_ENDED;
}
