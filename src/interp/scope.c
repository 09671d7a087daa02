// The scope of a handler: what a thread is inside while a function of the table runs for a mode or
// a tensor.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "interp/scope.h"

#include <keyway/call.h>

#include "interp/fault.h"
#include "interp/interpreter.h"

static kw_status force_words(kwi_interp_scope *scope, kw_keyset excluded)
{
    const kwi_interp_thread *self = &kwi_interp_self;
    kw_local_state words = kw_local_capture();
    words.excluded = kw_keyset_union(words.excluded, excluded);
    if (scope->has_mode && self->count == self->base) {
        kw_keyset python = kw_keyset_from_bits(KW_KEYSET_PYTHON);
        words.included = kw_keyset_difference(words.included, python); // T2
    }
    return kw_local_force(words, &scope->local);
}

static void put_back(kwi_interp_scope *scope)
{
    kwi_interp_thread *self = &kwi_interp_self;
    if (scope->has_mode && !KWI_INTERP_FAULT(MODE_STAYS_OFF)) {
        self->modes[self->count++] = scope->mode; // where it was there is room: arrays only grow
    }
}

kw_status kwi_interp_scope_begin(kwi_interp_scope *scope, kw_interpreter *interpreter,
                                 bool pops_mode, kw_keyset excluded, const char *what)
{
    kw_status status = kwi_interp_enter_call(interpreter, &scope->use, what);
    if (status != KW_OK) {
        return status;
    }
    kwi_interp_thread *self = &kwi_interp_self;
    scope->has_mode = pops_mode;
    if (pops_mode) {
        scope->mode = self->modes[--self->count];
    }
    scope->before = *self;
    status = force_words(scope, excluded);
    if (status != KW_OK) {
        put_back(scope);
        kw_interpreter_leave(&scope->use);
        return kw_fail(status, "the thread could not be attached");
    }
    scope->is_open = true;
    return KW_OK;
}

kw_status kwi_interp_scope_check(const kwi_interp_scope *scope, kw_status status)
{
    const kwi_interp_thread *self = &kwi_interp_self;
    const kwi_interp_thread *before = &scope->before;
    if (status != KW_OK ||
        (self->base == before->base && self->count == before->count &&
         self->dispatcher == before->dispatcher && self->has_record == before->has_record)) {
        return status;
    }
    return kw_fail(KW_WRONG_ORDER,
                   "a handler of the interpreter %s has left %u modes on the thread's stack, on "
                   "which it found %u, or a guard that it did not restore",
                   kw_interpreter_name(scope->use.interpreter), self->count - before->base,
                   before->count - before->base);
}

void kwi_interp_scope_end(kwi_interp_scope *scope)
{
    if (!scope->is_open) {
        return;
    }
    scope->is_open = false;
    kwi_interp_thread *self = &kwi_interp_self;
    kwi_interp_truncate(scope->before.count);
    self->base = scope->before.base;
    self->dispatcher = scope->before.dispatcher;
    self->has_record = scope->before.has_record;
    self->record = scope->before.record;
    put_back(scope);
    kw_local_restore(&scope->local);
    kw_interpreter_leave(&scope->use);
}
