// Workers: the threads that ask the library while others do.
//
// Layer:   test
// Threads: one thread starts and joins them, and works only while they rest.
// SPDX-License-Identifier: MIT

#include "linear/worker.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/dispatcher.h>

#include "linear/kernels.h"
#include "linear/subject.h"

#define LONGEST_PAUSE 4096 // turns of an empty loop: as long as a commit without its grace period
#define LONGEST_DRAIN_NS 200000

linear_worker linear_workers[LINEAR_MOST_THREADS];

static pthread_t threads[LINEAR_MOST_THREADS];
static pthread_barrier_t barrier;

// Written while the workers rest; the barrier orders it.
static struct {
    const linear_plan *plan;
    uint32_t operation_count;
    uint32_t worker_count;
    bool is_over;
} order;

static atomic_uint arrived_count; // relaxed: it orders nothing

// Between operations. With more threads than processors, a thread that never gives its own away is
// done with everything before another begins.
static void pause_for(uint32_t turns)
{
    for (volatile uint32_t i = 0; i < turns; i++) {
    }
    if (turns % 4 != 0) {
        (void)sched_yield();
    }
}

// The barrier wakes one thread after another: they begin together.
static void gather(void)
{
    (void)atomic_fetch_add_explicit(&arrived_count, 1, memory_order_relaxed);
    while (atomic_load_explicit(&arrived_count, memory_order_relaxed) < order.worker_count) {
        (void)sched_yield();
    }
}

// Short ones are frequent; most are none.
static uint32_t pick_pause(linear_generator *generator)
{
    uint32_t roll = linear_dice(generator, 8);
    return roll >= 3 ? 0 : linear_dice(generator, LONGEST_PAUSE >> (2 * roll));
}

// What a kernel does before it returns: a call, or a change.
static void nest(linear_worker *me, linear_record *snapshot)
{
    linear_generator *generator = &me->generator;
    bool changes = linear_dice(generator, 2) != 0;
    reference_operation asked = changes ? linear_generate_change(generator, order.plan)
                                        : linear_generate_question(generator, snapshot == NULL);
    linear_subject_nest(&me->recorder, changes ? NULL : snapshot, &asked);
}

static void question(linear_worker *me, linear_record *snapshot)
{
    linear_generator *generator = &me->generator;
    reference_operation asked = linear_generate_question(generator, snapshot == NULL);
    uint32_t pause = pick_pause(generator);
    bool has_room =
        me->recorder.count + 2 <= order.operation_count &&
        (snapshot == NULL || snapshot->operation.question_count + 2 <= LINEAR_SNAPSHOT_COUNT);
    if (asked.kind == REFERENCE_CALL && has_room && linear_dice(generator, 6) == 0) {
        nest(me, snapshot);
    }
    if (snapshot == NULL) {
        linear_subject_ask(&me->recorder, &asked, pause);
    } else if (snapshot->operation.question_count < LINEAR_SNAPSHOT_COUNT) {
        if (linear_dice(generator, 8) == 0) {
            linear_subject_snapshot_ask_nested(snapshot, &asked, pause);
        } else {
            linear_subject_snapshot_ask(snapshot, &asked, pause);
        }
    }
}

static void change(linear_worker *me, const linear_plan *plan)
{
    reference_operation asked = linear_generate_change(&me->generator, plan);
    linear_subject_ask(&me->recorder, &asked, 0);
    const linear_record *record = &me->recorder.records[me->recorder.count - 1];
    linear_generator_settle(&me->generator, &asked, record->questions->status);
}

static void drain(linear_worker *me)
{
    unsigned library = linear_generate_drained(&me->generator);
    uint64_t timeout_ns = linear_dice(&me->generator, 2) == 0 ? 0 : LONGEST_DRAIN_NS;
    (void)linear_subject_drain(&me->recorder, library, timeout_ns);
}

// Returns the snapshot that is open then.
static linear_record *turn_snapshot(linear_worker *me, linear_record *snapshot)
{
    if (snapshot == NULL) {
        return linear_subject_snapshot_open(&me->recorder);
    }
    linear_subject_snapshot_close();
    return NULL;
}

static linear_record *hand_over(linear_worker *me, linear_record *snapshot)
{
    if (snapshot == NULL) {
        return linear_subject_take_over(&me->recorder);
    }
    linear_subject_offer(snapshot);
    return snapshot;
}

// No operation of the history: whatever it answers, nothing may change.
static void reclaim(void)
{
    kw_status status = kw_reclaim();
    if (status != KW_OK) {
        (void)fprintf(stderr, "linear: reclaiming: %s\n", kw_status_name(status));
        exit(2);
    }
}

static void run_window(linear_worker *me)
{
    linear_record *snapshot = NULL;
    me->recorder.count = 0;
    linear_generator_begin(&me->generator);
    while (me->recorder.count < order.operation_count) {
        pause_for(pick_pause(&me->generator));
        switch (linear_generate_action(&me->generator)) {
        case LINEAR_DO_QUESTION:
            question(me, snapshot);
            break;
        case LINEAR_DO_CHANGE:
            change(me, order.plan);
            break;
        case LINEAR_DO_SNAPSHOT:
            snapshot = turn_snapshot(me, snapshot);
            break;
        case LINEAR_DO_HAND_OVER:
            snapshot = hand_over(me, snapshot);
            break;
        case LINEAR_DO_VERSION:
            linear_subject_version(&me->recorder);
            break;
        case LINEAR_DO_DRAIN:
            drain(me);
            break;
        case LINEAR_DO_RECLAIM:
            reclaim();
            break;
        }
    }
    for (uint32_t left = linear_dice(&me->generator, 4); left > 0 && snapshot != NULL; left--) {
        question(me, snapshot);
    }
    if (snapshot != NULL) {
        linear_subject_snapshot_close();
    }
}

static void *worker_main(void *argument)
{
    for (;;) {
        (void)pthread_barrier_wait(&barrier);
        if (order.is_over) {
            return NULL;
        }
        gather();
        run_window(argument);
        (void)pthread_barrier_wait(&barrier);
    }
}

void linear_workers_start(unsigned count)
{
    order.worker_count = count;
    order.is_over = false;
    if (pthread_barrier_init(&barrier, NULL, count + 1) != 0) {
        exit(2);
    }
    for (unsigned i = 0; i < count; i++) {
        linear_workers[i].recorder.thread = i;
        if (pthread_create(&threads[i], NULL, worker_main, &linear_workers[i]) != 0) {
            (void)fprintf(stderr, "linear: no thread can be started\n");
            exit(2);
        }
    }
}

void linear_workers_join(void)
{
    order.is_over = true;
    (void)pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < order.worker_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)pthread_barrier_destroy(&barrier);
}

void linear_workers_seed(uint32_t seed)
{
    for (unsigned i = 0; i < order.worker_count; i++) {
        linear_generator *generator = &linear_workers[i].generator;
        // Steele and Vigna's increment spreads neighbouring seeds.
        generator->random = (seed * 16 + i + 1) * UINT32_C(0x9e3779b9) | 1;
        generator->next_mark = (uint16_t)(1 + (i + 1) * (LINEAR_MARKS / (LINEAR_MOST_THREADS + 1)));
    }
}

void linear_workers_run(const linear_plan *plan, uint32_t operation_count)
{
    order.plan = plan;
    order.operation_count = operation_count;
    atomic_store_explicit(&arrived_count, 0, memory_order_relaxed);
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
}
