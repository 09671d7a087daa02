// Traces: an observer that records calls and scopes in rings.
//
// Layer:   call
// Threads: recorded in any thread; begun, read and ended as the public header says.
// SPDX-License-Identifier: MIT

#include <sys/syscall.h>
#include <unistd.h>

#include <keyway/inline/cell.h>
#include <keyway/observer.h>
#include <keyway/trace.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "call/trace_ring.h"

#define DEFAULT_RING_COUNT 16
#define DEFAULT_RING_SIZE 4096
#define RING_COUNT_MAX 1024
#define RING_SIZE_MAX (1U << 24)

struct kw_trace {
    // guard: immutable.
    kw_dispatcher *dispatcher;
    uint64_t number;
    uint32_t ring_count;

    // guard: thread. Whoever ends the trace.
    bool is_stopped;

    // guard: cell. One of the caller, one of the observer. [pair: trace-hold]
    kwi_u64_cell holds;

    // guard: immutable.
    kwi_trace_ring *rings[];
};

// What a thread knows of itself.
typedef struct trace_thread {
    uint32_t system_number; // 0: not asked yet
    uint32_t ordinal;       // which ring
    bool is_busy;           // a signal handler that calls meanwhile finds the ring in disorder
} trace_thread;

// guard: thread.
static _Thread_local trace_thread self;

// guard: cell. Relaxed: only uniqueness matters.
static kwi_u64_cell newest_ordinal;

static trace_thread *current_thread(void)
{
    if (KW_UNLIKELY(self.system_number == 0)) {
        self.ordinal = (uint32_t)kwi_u64_add_relaxed(&newest_ordinal, 1); // relaxed: see there
        self.system_number = (uint32_t)syscall(SYS_gettid);
    }
    return &self;
}

// Callbacks ---------------------------------------------------------------------------------------

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a time fits the word between start and end");

static void *begin_record(const kw_observation *observation, void *context)
{
    (void)observation;
    (void)context;
    return (void *)(uintptr_t)kwi_clock_ns();
}

static void end_record(const kw_observation *observation, void *word, void *context)
{
    kw_trace *trace = context;
    uint64_t start_ns = (uintptr_t)word;
    trace_thread *thread = current_thread();
    uint32_t ring = thread->ordinal % trace->ring_count;
    if (thread->is_busy) {
        kwi_trace_ring_drop(trace->rings[ring]);
        return;
    }
    thread->is_busy = true;
    const kw_trace_record record = {
        .start_ns = start_ns,
        .duration_ns = kwi_clock_ns() - start_ns,
        .name = observation->name,
        .keys = observation->keys,
        .status = observation->status,
        .thread = thread->system_number,
        .scope = observation->scope,
        .ring = ring,
    };
    (void)kwi_trace_ring_put(trace->rings[ring], &record); // a full ring counts it
    thread->is_busy = false;
}

static void let_go(void *context)
{
    kw_trace *trace = context;
    if (kwi_u64_sub_release(&trace->holds, 1) > 1) { // [pair: trace-hold]
        return;
    }
    // What others put into the rings comes before. [pair: trace-hold]
    (void)kwi_u64_load_acquire(&trace->holds);
    for (uint32_t i = 0; i < trace->ring_count; i++) {
        kwi_trace_ring_destroy(trace->rings[i]);
    }
    kwi_free(trace, sizeof *trace + trace->ring_count * sizeof(kwi_trace_ring *));
}

// Beginning and ending ----------------------------------------------------------------------------

static uint32_t round_up(uint32_t size)
{
    uint32_t rounded = 4;
    while (rounded < size) {
        rounded *= 2;
    }
    return rounded;
}

static kw_trace *create(const kw_trace_options *options)
{
    uint32_t count = options->ring_count != 0 ? options->ring_count : DEFAULT_RING_COUNT;
    uint32_t size = options->ring_size != 0 ? options->ring_size + 1 : DEFAULT_RING_SIZE;
    kw_trace *trace = kwi_allocate(sizeof *trace + count * sizeof(kwi_trace_ring *));
    if (trace == NULL) {
        return NULL;
    }
    trace->ring_count = count;
    kwi_u64_store_relaxed(&trace->holds, 1); // relaxed: nobody else knows it yet
    for (uint32_t i = 0; i < count; i++) {
        trace->rings[i] = kwi_trace_ring_create(round_up(size));
        if (trace->rings[i] == NULL) {
            let_go(trace);
            return NULL;
        }
    }
    return trace;
}

static kw_status attach(kw_trace *trace, const kw_trace_options *options, kw_error *err)
{
    const kw_observer observer = {
        .struct_size = sizeof observer,
        .start = begin_record,
        .end = end_record,
        .context = trace,
        .destroy = let_go,
        .scopes = options->scopes,
        .only = options->only,
        .only_count = options->only_count,
        .except = options->except,
        .except_count = options->except_count,
        .probability = options->probability,
        .this_thread = options->this_thread,
    };
    kwi_u64_store_relaxed(&trace->holds, 2); // relaxed: published by the commit
    kw_status status = kw_observer_add(trace->dispatcher, &observer, &trace->number, err);
    if (status != KW_OK) {
        kwi_u64_store_relaxed(&trace->holds, 1); // relaxed: nobody else knows it
        let_go(trace);
    }
    return status;
}

kw_status kw_trace_start(kw_dispatcher *dispatcher, const kw_trace_options *options,
                         kw_trace **out_trace, kw_error *err)
{
    const kw_trace_options defaults = {.struct_size = sizeof defaults};
    options = options != NULL ? options : &defaults;
    if (dispatcher == NULL || out_trace == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a trace needs a dispatcher and a place");
    }
    kw_status status = kwi_options_check(options, sizeof *options, "kw_trace_options", err);
    if (status != KW_OK) {
        return status;
    }
    if (options->ring_count > RING_COUNT_MAX || options->ring_size > RING_SIZE_MAX) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a trace has at most %d rings of at most %u records", RING_COUNT_MAX,
                        RING_SIZE_MAX);
    }
    kw_trace *trace = create(options);
    if (trace == NULL) {
        return kwi_fail_memory(err);
    }
    trace->dispatcher = dispatcher;
    status = attach(trace, options, err);
    if (status == KW_OK) {
        *out_trace = trace;
    }
    return status;
}

kw_status kw_trace_stop(kw_trace *trace, kw_error *err)
{
    if (trace == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no trace");
    }
    if (trace->is_stopped) {
        return KW_OK;
    }
    kw_status status = kw_observer_remove(trace->dispatcher, trace->number, err);
    trace->is_stopped = status == KW_OK;
    return status;
}

kw_status kw_trace_destroy(kw_trace *take_trace, kw_error *err)
{
    if (take_trace == NULL) {
        return KW_OK;
    }
    kw_status status = kw_trace_stop(take_trace, err);
    if (status == KW_OK) {
        let_go(take_trace);
    }
    return status;
}

// Reading -----------------------------------------------------------------------------------------

uint64_t kw_trace_dropped(const kw_trace *trace)
{
    uint64_t dropped = 0;
    for (uint32_t i = 0; trace != NULL && i < trace->ring_count; i++) {
        dropped += kwi_trace_ring_dropped(trace->rings[i]);
    }
    return dropped;
}

uint64_t kw_trace_read(kw_trace *trace, void (*visit)(const kw_trace_record *record, void *context),
                       void *context)
{
    uint64_t count = 0;
    if (trace == NULL || visit == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < trace->ring_count; i++) {
        kw_trace_record record;
        while (kwi_trace_ring_take(trace->rings[i], &record)) {
            visit(&record, context);
            count++;
        }
    }
    return count;
}
