// Guards of a thread: what each saves.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_INTERP_GUARD_H
#define KWI_INTERP_GUARD_H

#include <keyway/interpreter.h>

typedef enum kwi_interp_guard_kind {
    KWI_INTERP_GUARD_ENDED = 0,
    KWI_INTERP_GUARD_DISPATCHER = 1, // the dispatcher
    KWI_INTERP_GUARD_REENTRY = 2,    // the record
    KWI_INTERP_GUARD_STATE = 3       // both, and the stack of modes
} kwi_interp_guard_kind;

// Saves everything of the thread but its local sets.
void kwi_interp_guard_make(kw_interpreter_guard *out_guard, kwi_interp_guard_kind kind);

#endif // KWI_INTERP_GUARD_H
