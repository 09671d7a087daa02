// Torture: everything carries its age, and readers measure how old what they run is.
//
// Layer:   stress
// Threads: the main thread; it starts the others.
// SPDX-License-Identifier: MIT
//
// It imitates a server that replaces all of its kernels without a pause, as rcutorture does with a
// pointer. Every commit replaces the kernels, the layer above them or its fallthrough, and the
// fallback of a group of operators, by a new generation. A table's birth is its version, a kernel's
// the number of its generation; both are looked at when a call begins, when its kernel begins and
// ends, and when it ends. Two groups have a writer each, whose commits overlap.

#include "scenarios/torture.h"

#include <string.h>

#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/scene.h"

stress_torture stress_the_torture;

static void open_group(unsigned which)
{
    static const char *const namespaces[STRESS_TORTURE_GROUPS] = {"first", "second"};
    static const kw_key fallback_keys[STRESS_TORTURE_GROUPS] = {KW_KEY_CUDA, KW_KEY_XPU};
    stress_group *group = &stress_the_torture.groups[which];
    *group = (stress_group){
        .dispatcher = stress_the_torture.dispatcher,
        .ns = namespaces[which],
        .op_count = STRESS_TORTURE_OPS,
        .cpu = stress_torture_cpu,
        .cpu_boxed = stress_torture_boxed,
        .autograd = stress_torture_autograd,
        .falls_through = true,
        .fallback = stress_torture_boxed,
        .fallback_key = fallback_keys[which],
        .era = &stress_the_torture.eras[which],
        .never_waits = which % 2 == 0,
    };
    stress_group_open(group);
}

// More versions than a pass has buckets for.
#define CROWD_COUNT 24

typedef struct crowd {
    kw_shared_snapshot *snapshots[CROWD_COUNT];
    unsigned count;
} crowd;

static void crowd_leave(crowd *requests)
{
    while (requests->count > 0) {
        kw_shared_snapshot_release(requests->snapshots[--requests->count]);
    }
}

// A crowd of requests that came one after the other, each under a version of its own. They are of
// the writer that never waits: the other one waits for them.
static void crowd_grow(crowd *requests, stress_worker *worker)
{
    if (worker->index != 0 || (requests->count == 0 && !stress_chance(worker, 256))) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_shared_snapshot_create(&requests->snapshots[requests->count], &err);
    if (stress_expect(status, "sharing a snapshot", &err)) {
        stress_count_add(STRESS_SHARE);
        requests->count++;
    }
    if (requests->count == CROWD_COUNT) {
        crowd_leave(requests);
    }
}

static void write_group(stress_worker *worker)
{
    crowd requests = {.count = 0};
    while (stress_goes_on()) {
        crowd_grow(&requests, worker);
        stress_group_commit(&stress_the_torture.groups[worker->index], worker);
        (void)stress_sample();
        if (stress_chance(worker, 64)) {
            kw_error err = KW_ERROR_INIT;
            (void)stress_expect(kw_reclaim(), "reclaiming", &err);
            stress_count_add(STRESS_RECLAIM);
        }
    }
    crowd_leave(&requests);
}

static void watch(void)
{
}

void stress_torture_run(const stress_options *options)
{
    memset(&stress_the_torture, 0, sizeof stress_the_torture);
    stress_the_torture.dispatcher = stress_scene_open();
    for (unsigned i = 0; i < STRESS_TORTURE_GROUPS; i++) {
        open_group(i);
    }
    stress_scene_arm(options);
    stress_workers_start(options->thread_count, stress_torture_read, NULL, options);
    stress_workers_start(STRESS_TORTURE_GROUPS, write_group, NULL, options);
    stress_watch(watch);
    stress_workers_stop();
    for (unsigned i = 0; i < STRESS_TORTURE_GROUPS; i++) {
        stress_group_close(&stress_the_torture.groups[i]);
    }
    stress_scene_end(stress_the_torture.dispatcher);
}
