// Chains of blocks made by hand, and threads' words written from outside: what the reclaim pass
// sees, without operators and without threads.
//
// The words are those of real thread blocks; the numbers of the functions count them from 0.
// SPDX-License-Identifier: MIT

#ifndef KWT_CHAIN_H
#define KWT_CHAIN_H

#include <criterion/criterion.h>

#include "base/memory.h"
#include "rcu/reclaim.h"
#include "rcu/thread.h"

typedef struct kwt_chain {
    kwi_ptr_cell root;
    kwi_block end; // permanent, version 0
} kwt_chain;

extern kwi_reclaimer kwt_reclaimer;

void kwt_chain_begin(void);
void kwt_chain_end(void);

void kwt_chain_init(kwt_chain *chain);

// Publishes a block as of a version and retires the one before it.
kwi_block *kwt_publish(kwt_chain *chain, uint64_t version);

// A ticket, as a commit takes it; and a pass after the grace period of a ticket. The pass returns
// how many blocks it freed: they are marked, and their memory is kept until the end of the test.
uint64_t kwt_ticket(void);
uint64_t kwt_pass(uint64_t ticket);
bool kwt_is_freed(const kwi_block *block);

bool kwt_wants_grace(void);
uint64_t kwt_retired_count(void);
void kwt_visit(void (*visit)(const kwi_block *block, void *context), void *context);

// What thread `number` has pinned, announced and as its depth. Announcing raises the depth.
void kwt_pin(unsigned number, uint64_t version);
void kwt_announce(unsigned number, uint32_t index, const kwi_block *block);
void kwt_depth(unsigned number, uint32_t depth);

#endif // KWT_CHAIN_H
