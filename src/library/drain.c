// Draining: waiting until nothing of a closed library is in use.
//
// Layer:   library
// Threads: any; waits outside the lock.
// SPDX-License-Identifier: MIT

#include <time.h>

#include <keyway/inline/table.h>

#include "library/library.h"
#include "rcu/holders.h"
#include "rcu/section.h"
#include "registry/operator.h"
#include "registry/world.h"

// Between two looks: short at first, since most calls are, then rarely enough to cost nothing.
#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 2000000

// What keeps a library, gathered over all retired tables that name something of it.
typedef struct report {
    const kwi_owner *owner;
    const kw_operator *op; // one that a call is inside
    uint32_t call_count;
    uint32_t snapshot_count;
    bool is_self;
} report;

static bool names_owner(const kw_table *table, const kwi_owner *owner)
{
    if (table->definition != NULL && table->definition->registration.owner == owner) {
        return true;
    }
    for (unsigned i = 0; i < table->entry_count; i++) {
        if (kwi_kernel_of(table->entries[i].kernel)->registration.owner == owner) {
            return true;
        }
    }
    return false;
}

static void look(const kwi_block *block, void *context) KWI_REQUIRES(kwi_role_writer)
{
    report *found = context;
    if (!names_owner((const kw_table *)(const void *)block, found->owner)) {
        return;
    }
    kwi_holders holders = kwi_holders_of(block);
    if (holders.call_count > 0) {
        found->op = block->owner;
    }
    found->call_count += holders.call_count;
    found->snapshot_count += holders.snapshot_count;
    found->is_self = found->is_self || holders.is_self;
}

static kw_status refuse_self(const kw_library *library, kw_error *err)
{
    return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                    "library %s is held by the calling thread itself, by a call it is inside or a "
                    "snapshot it has open; leave that first",
                    library->name);
}

static kw_status refuse_busy(const kw_library *library, const report *found, uint64_t alive,
                             kw_error *err)
{
    if (found->call_count > 0) {
        return kwi_fail(err, KW_BUSY, "library %s is held by %u %s of `%s`%s", library->name,
                        found->call_count, found->call_count == 1 ? "call" : "calls",
                        found->op->name, found->snapshot_count > 0 ? " and by snapshots" : "");
    }
    if (found->snapshot_count > 0) {
        return kwi_fail(err, KW_BUSY, "library %s is held by the open snapshots of %u %s",
                        library->name, found->snapshot_count,
                        found->snapshot_count == 1 ? "thread" : "threads");
    }
    return kwi_fail(err, KW_BUSY,
                    "library %s has %llu registrations that are still being destroyed",
                    library->name, (unsigned long long)alive);
}

static kw_status check_caller(const kw_library *library, uint64_t timeout_ns, kw_error *err)
{
    if (library == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no library to drain");
    }
    if (kwi_section_is_ongoing()) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a read-side section of liburcu-bp; leave it first");
    }
    if (timeout_ns == KW_FOREVER && (kwi_thread_is_inside() || kwi_world_is_burying())) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a call, a snapshot or a destructor, where two "
                        "drains could wait for each other; give drain a time, or leave that first");
    }
    return KW_OK;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); // cannot fail for this clock
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// One look: KW_OK when drained, KW_BUSY with the text otherwise.
static kw_status try_drain(kw_library *library, kw_error *err)
{
    kwi_owner *owner = &library->owner;
    kwi_world_reclaim();
    report found = {.owner = owner};
    kwi_world_lock();
    bool is_closed = owner->is_closed;
    uint64_t alive = owner->alive_count;
    if (is_closed && alive > 0) {
        kwi_reclaim_visit(&kwi_the_world.reclaimer, look, &found);
    }
    kwi_world_unlock();
    if (!is_closed) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "library %s is open; close it before draining",
                        library->name);
    }
    if (alive == 0) {
        return KW_OK;
    }
    return found.is_self ? refuse_self(library, err) : refuse_busy(library, &found, alive, err);
}

kw_status kw_library_drain(kw_library *library, uint64_t timeout_ns, kw_error *err)
{
    kw_status status = check_caller(library, timeout_ns, err);
    if (status != KW_OK) {
        return status;
    }
    uint64_t begun_ns = now_ns();
    long pause_ns = FIRST_PAUSE_NS;
    for (;;) {
        status = try_drain(library, err);
        if (status != KW_BUSY || now_ns() - begun_ns >= timeout_ns) {
            return status;
        }
        const struct timespec pause = {.tv_nsec = pause_ns};
        (void)nanosleep(&pause, NULL);
        pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns * 2 : pause_ns;
    }
}
