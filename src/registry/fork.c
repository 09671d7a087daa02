// Fork: the handlers that keep both processes usable.
//
// Layer:   registry
// Threads: any. In the child, the only one.
// SPDX-License-Identifier: MIT
//
// Note [Fork]
//
// A child gets a copy of memory in which other threads stand still in the middle of whatever they
// did, and copies of single pages may even be of different moments. What is changed under a lock is
// whole, because the forking thread holds all locks: no commit is half done, no pass, no
// registration with liburcu-bp. What other threads change without a lock is treated by its meaning:
// their blocks announce and pin nothing any more and are in no section, reports and names that they
// were writing are as if not begun, records whose destructor they were running count as destroyed.
//
// What only those threads knew is lost memory: transactions they were staging, libraries whose
// creation they had not returned from, listeners they were telling.
//
// Nothing is allocated, freed or called back in the child's handler: the embedder's allocator may
// have a handler of its own that comes later.

#include "registry/fork.h"

#include <pthread.h>

#include <keyway/inline/cell.h>

#include "base/copy.h"
#include "base/lock.h"
#include "key/private_use.h"
#include "rcu/forced_end.h"
#include "rcu/section.h"
#include "rcu/thread.h"
#include "registry/burial.h"
#include "registry/world.h"

#define ALL_FLAGS ((uint32_t)KW_FORK_AUTOMATIC | (uint32_t)KW_FORK_URCU)

// guard: cell. Relaxed: nothing is ordered by it.
static kwi_u32_cell wanted = {ALL_FLAGS};

// guard: thread. A fork under way on this thread.
static _Thread_local struct {
    uint32_t depth;         // pairs of prepare and its end that are open
    uint32_t is_automatic;  // the library's own pair is one of them
    uint32_t includes_urcu; // they run liburcu-bp's functions
} under_way;

kw_status kw_fork_configure(uint32_t flags)
{
    if ((flags & ~ALL_FLAGS) != 0) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_u32_store_relaxed(&wanted, flags); // relaxed: see above
    return KW_OK;
}

void kw_fork_prepare(void)
{
    if (under_way.depth++ > 0) {
        return;
    }
    // Two copies of the library share one liburcu-bp, whose locks must not be taken twice.
    bool serves = kwi_copy_is_serving();
    under_way.includes_urcu =
        serves ? kwi_u32_load_relaxed(&wanted) & KW_FORK_URCU : 0; // relaxed: see above
    kwi_locks_before_fork();
    if (under_way.includes_urcu != 0) {
        kwi_sections_before_fork();
    }
}

void kw_fork_parent(void)
{
    if (under_way.depth == 0 || --under_way.depth > 0) {
        return;
    }
    if (under_way.includes_urcu != 0) {
        kwi_sections_after_fork_parent();
    }
    kwi_locks_after_fork();
}

// Before signals are let through again, whose handlers may call operators.
static void forget_other_threads(void) KWI_UNCHECKED // the lock was taken for the fork
{
    kwi_threads_after_fork_child();
    kwi_sections_forget_strangers();
    kwi_forced_ends_after_fork_child();
    kwi_private_use_after_fork_child();
    kwi_burial_after_fork_child();
    kwi_waits_after_fork_child();
}

void kw_fork_child(void)
{
    if (under_way.depth == 0 || --under_way.depth > 0) {
        return;
    }
    forget_other_threads();
    if (under_way.includes_urcu != 0) {
        kwi_sections_after_fork_child();
    }
    kwi_locks_after_fork();
}

// The library's own pair ----------------------------------------------------------------------

static void prepare(void)
{
    under_way.is_automatic =
        kwi_u32_load_relaxed(&wanted) & KW_FORK_AUTOMATIC; // relaxed: see above
    if (under_way.is_automatic != 0) {
        kw_fork_prepare();
    }
}

static void end_in_parent(void)
{
    if (under_way.is_automatic != 0) {
        kw_fork_parent();
    }
}

static void end_in_child(void)
{
    if (under_way.is_automatic != 0) {
        kw_fork_child();
    }
}

// guard: immutable. Set by register_handlers(), once.
static kw_status handler_status;

static void register_handlers(void)
{
    handler_status =
        pthread_atfork(prepare, end_in_parent, end_in_child) == 0 ? KW_OK : KW_NO_MEMORY;
}

kw_status kwi_fork_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, register_handlers) == 0 ? handler_status : KW_INTERNAL;
}

// Early, so that the handlers of a host that registers its own later enclose these: prepare
// handlers run in the reverse order.
__attribute__((constructor)) static void init_at_load(void)
{
    (void)kwi_fork_init(); // a failure is remembered, and the first dispatcher reports it
}
