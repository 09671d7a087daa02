// Fork, from inside: its handlers.
//
// Layer:   registry
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_FORK_H
#define KWI_REGISTRY_FORK_H

#include <keyway/fork.h>

// Registers the handlers, once; happens when the library is loaded. Every call returns the same:
// KW_NO_MEMORY if they could not be registered.
kw_status kwi_fork_init(void);

#endif // KWI_REGISTRY_FORK_H
