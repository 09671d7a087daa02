// The scope of a handler: what a thread is inside while a function of the table runs for a mode or
// a tensor.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT
//
// A scope ends when its block is left, however that happens: by a return, or by the thread's
// unwinding.

#ifndef KWI_INTERP_SCOPE_H
#define KWI_INTERP_SCOPE_H

#include <stdbool.h>

#include "interp/thread.h"

typedef struct kwi_interp_scope {
    kw_interpreter_use use;
    kw_local_guard local;
    kwi_interp_thread before; // as it is to be again, but for the mode
    kw_mode mode;             // off its stack for as long as the scope
    bool has_mode;
    bool is_open;
} kwi_interp_scope;

// Declares a scope that has not begun.
#define KWI_INTERP_SCOPE(name)                                                                     \
    kwi_interp_scope name __attribute__((cleanup(kwi_interp_scope_end))) = {.is_open = false}

// Enters the interpreter, excludes keys and, if `pops_mode`, takes the top mode off its stack. On
// failure nothing has begun, and the thread's text says why: `what` the interpreter has to do here.
KW_NODISCARD kw_status kwi_interp_scope_begin(kwi_interp_scope *scope, kw_interpreter *interpreter,
                                              bool pops_mode, kw_keyset excluded, const char *what);

// What a handler's success is worth: KW_OK if it left the thread's modes and guards as they were.
KW_NODISCARD kw_status kwi_interp_scope_check(const kwi_interp_scope *scope, kw_status status);

void kwi_interp_scope_end(kwi_interp_scope *scope);

#endif // KWI_INTERP_SCOPE_H
