// Fences of two weights: one that costs the reader nothing, because the writer makes up for it.
//
// Layer:   rcu
// Threads: any.
// SPDX-License-Identifier: MIT
//
// Note [Two weights]
//
// A light fence keeps the compiler from moving accesses across it, no more. A heavy fence,
// membarrier of the kernel, makes every running thread of the process pass a full fence at some
// point of its program during the call; a thread that does not run has passed one when it was taken
// off its processor. So for a light fence of a thread and a heavy one of another: either what the
// thread stored before the light fence is seen by loads after the heavy one; or what was stored
// before the heavy one is seen by the thread's loads after the light one.

#ifndef KWI_RCU_FENCE_H
#define KWI_RCU_FENCE_H

#include <stdbool.h>

#include <keyway/inline/cell.h> // kwi_light_fence()

// Asks the kernel for heavy fences, once in the process. False: it has none, and nobody may rely on
// light ones.
bool kwi_fences_init(void);

// False: the kernel has none.
bool kwi_heavy_fence(void);

#endif // KWI_RCU_FENCE_H
