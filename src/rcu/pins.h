// Pins: the words that keep versions, of threads and of shared snapshots, and how they are scanned.
//
// Layer:   rcu
// Threads: the scan runs under the writer lock.
// SPDX-License-Identifier: MIT
//
// P1  A thread's word gets a version in three ways only: in the section that loaded it as the
//     newest; under a pin of the thread's own; or from a shared snapshot that is in the list. It is
//     never copied from another thread's word.
// P2  A shared snapshot enters the list while its maker has the version pinned, and leaves it after
//     its last reference was given back.
// P3  The list changes under its own lock only, and a scan holds that lock from its first word to
//     its last: no version moves from a word the scan has yet to read to one it has read already.

#ifndef KWI_RCU_PINS_H
#define KWI_RCU_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/snapshot.h>

#include "base/role.h"
#include "base/vector.h"
#include "rcu/thread.h"

// Pins a version on the calling thread, which has nothing pinned: first, outside a section, the
// time of it; then the version itself, see P1.
void kwi_pin_prepare(kwi_thread_block *block);
void kwi_pin(kwi_thread_block *block, uint64_t version);

// One more snapshot on the thread, whose pin is stored; `outer` is what was pinned before.
void kwi_snapshot_push(kwi_thread_block *block, uint64_t outer, kw_snapshot *out_snapshot);

// The versions that are pinned, sorted and distinct. False: no memory.
bool kwi_pins_scan(kwi_words *pins) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_RCU_PINS_H
