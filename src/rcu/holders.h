// Holders: who keeps a retired block from being freed.
//
// Layer:   rcu
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#ifndef KWI_RCU_HOLDERS_H
#define KWI_RCU_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/inline/table.h>

#include "base/role.h"

typedef struct kwi_holders {
    uint32_t call_count;     // announcements of the block
    uint32_t snapshot_count; // threads with a pin in its interval
    bool is_self;            // the calling thread is one of them
} kwi_holders;

// A picture of the moment: calls end and begin while it is taken.
kwi_holders kwi_holders_of(const kwi_block *block) KWI_REQUIRES(kwi_role_writer);

// Whether the calling thread is inside any call or snapshot.
bool kwi_thread_is_inside(void);

#endif // KWI_RCU_HOLDERS_H
