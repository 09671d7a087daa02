// Public names of the PrivateUse backends: what a program calls its own device.
//
// Layer:   key
// Threads: any; a name is set once.
// SPDX-License-Identifier: MIT

#ifndef KWI_KEY_PRIVATE_USE_H
#define KWI_KEY_PRIVATE_USE_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/key.h>

// The name of a key whose backend has a public name; NULL for every other key.
const char *kwi_private_use_key_name(kw_key key);
const char *kwi_private_use_backend_name(kw_backend backend);

// Finds a key or backend by its public name.
bool kwi_private_use_find_key(const char *name, size_t length, kw_key *out_key);
bool kwi_private_use_find_backend(const char *name, size_t length, kw_backend *out_backend);

// After fork, in the child: a name that another thread was setting is free again.
void kwi_private_use_after_fork_child(void);

#endif // KWI_KEY_PRIVATE_USE_H
