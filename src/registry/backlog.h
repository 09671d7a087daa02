// Backlog: admitting commits only while little memory waits to be reclaimed.
//
// Layer:   registry
// Threads: under the writer lock, which kwi_backlog_admit() gives up while it waits.
// SPDX-License-Identifier: MIT
//
// Note [Backlog]
//
// A commit is admitted by what waits *before* it, so that one that is larger than the limit can
// happen at all; the backlog is then at most the limit and what the commits of all threads that
// were admitted together replace. One that adds no registration is always admitted: each takes at
// least one away, and none comes while the backlog is full, so what they add has an end.

#ifndef KWI_REGISTRY_BACKLOG_H
#define KWI_REGISTRY_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/status.h>

#include "base/role.h"

// Returns when the backlog is below its limits: KW_OK, with the lock held all the time since. Or
// KW_BACKLOG_FULL, with the lock held too.
kw_status kwi_backlog_admit(kw_error *err) KWI_REQUIRES(kwi_role_writer);

// Whether a commit that would leave reclaiming to a later one may.
bool kwi_backlog_can_defer(void) KWI_REQUIRES(kwi_role_writer);

// Commits that waited and were admitted, and that were refused, so far.
uint64_t kwi_backlog_wait_count(void) KWI_REQUIRES(kwi_role_writer);
uint64_t kwi_backlog_refusal_count(void) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_BACKLOG_H
