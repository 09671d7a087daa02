// The storm's snapshots: a reader's own, and shared ones that readers hand to each other.
//
// Layer:   stress
// Threads: readers, and whoever is inside a kernel.
// SPDX-License-Identifier: MIT

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "scenarios/storm_reader.h"

#define CALLS_UNDER_SNAPSHOT 30
#define CALLS_UNDER_LONG_SNAPSHOT 2000 // several commits long: readers walk past newer tables
#define PLACES 3

// A place holds one reference.
static _Atomic(kw_shared_snapshot *) places[PLACES];

// While a pin changes, a handler could not know which version its call is to see.
static sig_atomic_t stop_handlers(void)
{
    sig_atomic_t was_ready = stress_me.is_ready;
    stress_me.is_ready = 0;
    return was_ready;
}

void stress_storm_open(kw_snapshot *snapshot)
{
    kw_error err = KW_ERROR_INIT;
    sig_atomic_t was_ready = stop_handlers();
    (void)stress_expect(kw_snapshot_open(snapshot), "opening a snapshot", &err);
    if (stress_me.snapshots++ == 0) {
        stress_me.pinned = snapshot->version;
        stress_me.generation = 0;
    } else if (snapshot->version != stress_me.pinned) {
        stress_violation("version", "a snapshot inside one of version %llu is of version %llu",
                         (unsigned long long)stress_me.pinned,
                         (unsigned long long)snapshot->version);
    }
    stress_me.is_ready = was_ready;
    stress_count_add(STRESS_SNAPSHOT);
}

void stress_storm_close(kw_snapshot *snapshot)
{
    kw_error err = KW_ERROR_INIT;
    sig_atomic_t was_ready = stop_handlers();
    (void)stress_expect(kw_snapshot_close(snapshot), "closing a snapshot", &err);
    if (--stress_me.snapshots == 0) {
        stress_me.pinned = 0;
        stress_me.is_shared = false;
    }
    stress_me.is_ready = was_ready;
}

// Calls until the snapshot is not the newest version any more, or for a while.
static void wait_for_commit(stress_worker *worker)
{
    for (int i = 0; i < 64 && kw_version() == stress_me.pinned && stress_goes_on(); i++) {
        stress_storm_call_any(worker, 0);
        (void)sched_yield();
    }
}

static void call_some(stress_worker *worker, uint32_t limit)
{
    uint32_t calls = stress_random(worker, limit);
    for (uint32_t i = 0; i < calls && stress_goes_on(); i++) {
        stress_storm_call_any(worker, stress_chance(worker, 8) ? 2 : 0);
    }
}

void stress_storm_read_under_snapshot(stress_worker *worker)
{
    stress_storm_open(&stress_me.snapshot);
    call_some(worker, stress_chance(worker, 16) ? CALLS_UNDER_LONG_SNAPSHOT : CALLS_UNDER_SNAPSHOT);
    if (stress_chance(worker, 4)) {
        kw_snapshot inner;
        stress_storm_open(&inner);
        stress_storm_call_any(worker, 0);
        stress_storm_close(&inner);
        stress_storm_call_any(worker, 0);
    }
    if (stress_chance(worker, 2)) {
        wait_for_commit(worker);
        stress_me.closes_inside = true;
        stress_storm_call(worker, stress_random(worker, STRESS_STORM_GROUP_OPS), STRESS_PATH_CPU,
                          0);
    }
    if (stress_me.snapshots > 0) { // no kernel ran that could close it
        stress_me.closes_inside = false;
        stress_storm_close(&stress_me.snapshot);
    }
}

// Shared ones ------------------------------------------------------------------------------------

static void put(unsigned place, kw_shared_snapshot *take_shared)
{
    kw_shared_snapshot_release(atomic_exchange(&places[place], take_shared));
}

void stress_storm_empty_places(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        put(i, NULL);
    }
}

// Puts the thread's version where others find it, and returns it, without a reference.
static kw_shared_snapshot *offer(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_shared_snapshot *shared = NULL;
    if (!stress_expect(kw_snapshot_share(&stress_me.snapshot, &shared, &err), "sharing a snapshot",
                       &err)) {
        return NULL;
    }
    stress_count_add(STRESS_SHARE);
    unsigned first = stress_random(worker, PLACES);
    if (stress_chance(worker, 2)) {
        put((first + 1) % PLACES, kw_shared_snapshot_retain(shared));
    }
    put(first, shared);
    return shared;
}

// Gives back what nobody has taken meanwhile: else the writers would wait for it more than commit.
static void take_back(kw_shared_snapshot *offered)
{
    for (unsigned i = 0; offered != NULL && i < PLACES; i++) {
        kw_shared_snapshot *there = offered; // or another one at its address, all the same
        if (atomic_compare_exchange_strong(&places[i], &there, NULL)) {
            kw_shared_snapshot_release(offered);
        }
    }
}

// The reference passes to the thread that enters, which gives it back before or after its calls.
static bool enter(stress_worker *worker, kw_shared_snapshot *take_shared)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t version = kw_shared_snapshot_version(take_shared);
    sig_atomic_t was_ready = stop_handlers();
    bool has_entered = stress_expect(kw_shared_snapshot_enter(take_shared, &stress_me.snapshot),
                                     "entering a shared snapshot", &err);
    if (has_entered) {
        stress_me.snapshots = 1;
        stress_me.pinned = version;
        stress_me.generation = 0;
        stress_me.is_shared = true;
    }
    stress_me.is_ready = was_ready;
    if (has_entered && stress_me.snapshot.version != version) {
        stress_violation("version", "a thread that enters version %llu is in version %llu",
                         (unsigned long long)version,
                         (unsigned long long)stress_me.snapshot.version);
    }
    stress_count_add(STRESS_ENTER);
    if (stress_chance(worker, 4)) {
        stress_storm_call_any(worker, 0);
    }
    kw_shared_snapshot_release(take_shared);
    return has_entered;
}

// Opened here, for others; they take it before or after it is closed here.
static void share_own(stress_worker *worker)
{
    stress_storm_open(&stress_me.snapshot);
    if (stress_chance(worker, 2)) {
        wait_for_commit(worker);
    }
    kw_shared_snapshot *offered = offer(worker);
    if (stress_chance(worker, 4)) {
        call_some(worker, CALLS_UNDER_SNAPSHOT);
    }
    stress_storm_close(&stress_me.snapshot);
    call_some(worker, CALLS_UNDER_SNAPSHOT);
    (void)sched_yield();
    take_back(offered);
}

static void read_entered(stress_worker *worker)
{
    kw_shared_snapshot *offered = NULL;
    call_some(worker, CALLS_UNDER_SNAPSHOT);
    if (stress_chance(worker, 4)) {
        offered = offer(worker);
    }
    stress_storm_close(&stress_me.snapshot);
    (void)sched_yield();
    take_back(offered);
}

static kw_shared_snapshot *take_any(void)
{
    kw_shared_snapshot *taken = NULL;
    for (unsigned i = 0; i < PLACES && taken == NULL; i++) {
        if (atomic_load_explicit(&places[i], memory_order_relaxed) != NULL) {
            taken = atomic_exchange(&places[i], NULL);
        }
    }
    return taken;
}

void stress_storm_read_shared(stress_worker *worker)
{
    kw_shared_snapshot *shared = take_any();
    if (shared == NULL && stress_chance(worker, 16)) {
        share_own(worker);
    } else if (shared == NULL) {
        (void)sched_yield();
    } else if (enter(worker, shared)) {
        read_entered(worker);
    }
}
