// Late blocks: blocks of threads that attached while they ended.
//
// Layer:   rcu
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Late blocks]
//
// A thread gives its block back in a destructor of thread-specific data. Other destructors of the
// thread may call operators afterwards; then the thread attaches again, and the system runs the
// destructors again, but only for some rounds. What is attached in the last round is given back by
// nobody. So a block that is taken after its thread has given one back remembers the thread, and
// serves again once the system knows no such thread.

#ifndef KWI_RCU_LATE_H
#define KWI_RCU_LATE_H

#include "rcu/thread.h"

// The calling thread has given its block back: what it takes from now on is late.
void kwi_late_begin(void);

// A block was taken by the calling thread, or is about to be given back.
void kwi_late_mark(kwi_thread_block *block);
void kwi_late_unmark(kwi_thread_block *block);

// Takes a late block whose thread is gone, or NULL. It may still announce and pin.
kwi_thread_block *kwi_late_take(void);

#endif // KWI_RCU_LATE_H
