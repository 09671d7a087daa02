// A thread's side of interpreters: which ones it is inside, its modes, its record of local sets.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT
//
// T1  The modes from `base` on are the stack that the thread sees; those below belong to states
//     further out.
// T2  Python and PythonTLSSnapshot are included while the stack that the thread sees is not empty,
//     and PythonDispatcher while `dispatcher` is not NULL; guards of local sets between apart.
// T3  Whoever has an array is known to the key of thread ends, which frees it.

#ifndef KWI_INTERP_THREAD_H
#define KWI_INTERP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/interpreter.h>

typedef struct kwi_interp_thread {
    kw_interpreter_use *uses; // innermost; each is in its user's storage
    kw_mode *modes;           // with one reference each
    uint32_t base;
    uint32_t count; // with those below `base`
    uint32_t capacity;
    bool has_record;
    kw_interpreter *dispatcher;
    kw_local_state record; // of the local sets when the outermost call began
} kwi_interp_thread;

extern _Thread_local kwi_interp_thread kwi_interp_self;

// Makes room for so many more modes. False: no memory.
bool kwi_interp_reserve(uint32_t more);

// Takes the modes from place `count` on off the stack and releases them.
void kwi_interp_truncate(uint32_t count);

// Puts keys into the thread's include set, or takes them out.
KW_NODISCARD kw_status kwi_interp_include(kw_keyset keys, bool is_in, kw_local_guard *out_guard);

#endif // KWI_INTERP_THREAD_H
