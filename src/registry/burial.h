// Burials: the end of records that nothing refers to any more, from the last reference to the
// return of the destructor.
//
// Layer:   registry
// Threads: under the writer lock, which is given up while a destructor runs.
// SPDX-License-Identifier: MIT
//
// U1  A dead record is in `kwi_the_world.dying` until it is gone, together with those that die in
//     the same commit, drain or reclaim, and says under the lock how far its burial is. So a child
//     process can tell whose destructors its parent's other threads had begun.
// U2  A destructor that was begun before a fork by a thread which the child does not have counts as
//     returned there. One that was not begun is run by the child's next pass.

#ifndef KWI_REGISTRY_BURIAL_H
#define KWI_REGISTRY_BURIAL_H

#include <stdbool.h>

#include "base/role.h"
#include "registry/registration.h"

// The records that one commit, drain or reclaim buries, on the stack of its thread.
typedef struct kwi_burial {
    // guard: lock writer. A stretch of `dying`; both NULL while there is none.
    kwi_registration *first;
    kwi_registration *last;

    // guard: thread. Observers among the dead, which are no part of `dying`: a fork loses the holds
    // that other threads were about to give up.
    kwi_registration *observers;

    // guard: thread. The burial whose destructor led to this one.
    struct kwi_burial *outer;
} kwi_burial;

void kwi_burial_begin(kwi_burial *burial) KWI_REQUIRES(kwi_role_writer);

// Adds a list of the dead.
void kwi_burial_add(kwi_burial *burial, kwi_registration *dead) KWI_REQUIRES(kwi_role_writer);

// Adds what a fork has left to this process.
void kwi_burial_adopt(kwi_burial *burial) KWI_REQUIRES(kwi_role_writer);

// Runs the destructors without the lock, then counts the records as gone. Gives up the lock.
void kwi_burial_end(kwi_burial *burial) KWI_RELEASES(kwi_role_writer);

// Whether the calling thread runs a destructor of the library's making.
bool kwi_burial_is_running(void);

// In the child, with the lock taken for the fork: the other threads' burials become orphans.
void kwi_burial_after_fork_child(void) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_BURIAL_H
