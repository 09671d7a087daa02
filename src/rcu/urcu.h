// liburcu-bp with its read side inline: included by the file that enters its sections.
//
// Layer:   rcu
// Threads: any.
// SPDX-License-Identifier: MIT
//
// The inline read-side functions are under ten lines each, which their licence offers to code under
// any licence. Only .c files of the library ask for them, so no host compiles them.

#ifndef KWI_RCU_URCU_H
#define KWI_RCU_URCU_H

#ifndef _LGPL_SOURCE
#define _LGPL_SOURCE
#endif
#include <urcu-bp.h>

#endif // KWI_RCU_URCU_H
