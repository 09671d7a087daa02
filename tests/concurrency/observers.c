// Observers that come and go at full rate while calls run: each start has its end, nothing of an
// observer runs after its destruction, and no answer is wrong.
//
// Layer:   test
// Threads: callers, some of them opening scopes, and one that adds, toggles and removes, or reads a
//          trace; threads that tell events, and one whose dispatchers and listeners come and go.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include <keyway/observer.h>
#include <keyway/snapshot.h>
#include <keyway/trace.h>

#include "concurrency/fixture.h"
#include "registry/listener.h"

enum {
    CALLERS = FIXTURE_SANITIZED ? 4 : 8,
    CALLS_IN_A_ROW = 16,
    ROUNDS = SCALED(40000)
};

#define ALIVE UINT64_C(0x6b6579776179)

// What an observer counts. The program frees them at its end, so that a late callback sees the dead
// canary for certain.
typedef struct counts {
    _Atomic uint64_t canary;
    _Atomic uint64_t starts;
    _Atomic uint64_t ends;
    struct counts *next;
} counts;

static counts *all;
static _Atomic uint64_t destroyed;
static uint64_t made;
static _Atomic uint64_t total_starts;

static const kw_operator *op;
static const kw_operator *outer_op;

static void check_alive(const counts *here)
{
    CHECK(atomic_load_explicit(&here->canary, memory_order_relaxed) == ALIVE,
          "a callback of a dead observer runs");
}

static void *start(const kw_observation *observation, void *context)
{
    counts *here = context;
    check_alive(here);
    (void)observation;
    atomic_fetch_add_explicit(&here->starts, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&total_starts, 1, memory_order_relaxed);
    return here;
}

static void end(const kw_observation *observation, void *word, void *context)
{
    counts *here = context;
    check_alive(here);
    CHECK(word == here, "an end gets the word of another start");
    CHECK(observation->status == KW_OK, "a call ends with %s", kw_status_name(observation->status));
    atomic_fetch_add_explicit(&here->ends, 1, memory_order_relaxed);
}

static void destroy(void *context)
{
    counts *here = context;
    CHECK(atomic_exchange_explicit(&here->canary, 0, memory_order_relaxed) == ALIVE,
          "an observer is destroyed twice");
    uint64_t starts = atomic_load_explicit(&here->starts, memory_order_relaxed);
    uint64_t ends = atomic_load_explicit(&here->ends, memory_order_relaxed);
    CHECK(starts == ends, "%llu starts have %llu ends", (unsigned long long)starts,
          (unsigned long long)ends);
    atomic_fetch_add_explicit(&destroyed, 1, memory_order_relaxed);
}

static kw_status kernel_outer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0)
{
    (void)self;
    (void)keys;
    return typed_call(op, x, n + 1, out_0);
}

static void call_once(tensor *x, bool nested)
{
    int64_t result = 0;
    kw_status status = typed_call(nested ? outer_op : op, x, 7, &result);
    CHECK(status == KW_OK, "a call answers %s: %s", kw_status_name(status), kw_call_error());
    CHECK(status != KW_OK || result == (nested ? 9 : 8), "a call answers %lld", (long long)result);
}

static void call_often(crew *team, unsigned index)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    while (crew_goes_on(team)) {
        kw_observed_scope scope;
        kw_snapshot snapshot;
        bool has_scope = index % 2 == 0;
        bool has_snapshot = index % 4 == 1;
        if (has_scope) {
            MUST(kw_observe_begin(fixture_dispatcher, KW_SCOPE_USER, "row", &scope));
        }
        if (has_snapshot) {
            MUST(kw_snapshot_open(&snapshot));
        }
        for (int i = 0; i < CALLS_IN_A_ROW; i++) {
            call_once(&x, i % 4 == 0);
        }
        if (has_snapshot) {
            MUST(kw_snapshot_close(&snapshot));
        }
        if (has_scope) {
            kw_observe_end(&scope, KW_OK);
        }
    }
}

static uint64_t add_observer(uint32_t *random)
{
    counts *here = calloc(1, sizeof *here);
    if (here == NULL) {
        abort();
    }
    atomic_init(&here->canary, ALIVE);
    here->next = all;
    all = here;
    made++;
    static const double probabilities[] = {0, 0.5, 0.01};
    static const char *const only[] = {"t::f"};
    uint32_t drawn = random_next(random);
    const kw_observer observer = {
        .struct_size = sizeof observer,
        .start = start,
        .end = end,
        .context = here,
        .destroy = destroy,
        .only = only,
        .only_count = drawn % 2,
        .probability = probabilities[drawn / 2 % 3],
        .wants_inputs = drawn / 8 % 2,
        .wants_outputs = drawn / 16 % 2,
    };
    uint64_t number = 0;
    MUST(kw_observer_add(fixture_dispatcher, &observer, &number, &err));
    return number;
}

static void observers_come_and_go_while_threads_call(void)
{
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    library_define(base, "t::outer(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    (void)library_impl(base, "t::outer", KW_KEY_CPU, kernel_outer, 0);
    op = operator_find("t::f");
    outer_op = operator_find("t::outer");
    crew callers;
    crew_start(&callers, CALLERS, call_often, NULL);
    enum {
        KEPT = 3
    };
    uint64_t kept[KEPT] = {0};
    uint32_t random = 1;
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        uint64_t *slot = &kept[i % KEPT];
        if (*slot != 0) {
            MUST(kw_observer_remove(fixture_dispatcher, *slot, &err));
        }
        *slot = add_observer(&random);
        if (i % 5 == 0) {
            MUST(kw_observer_enable(fixture_dispatcher, *slot, false, &err));
            MUST(kw_observer_enable(fixture_dispatcher, *slot, true, &err));
        }
    }
    for (int i = 0; i < KEPT; i++) {
        if (kept[i] != 0) {
            MUST(kw_observer_remove(fixture_dispatcher, kept[i], &err));
        }
    }
    crew_stop(&callers);
    MUST(kw_reclaim());
    CHECK(atomic_load(&destroyed) == made, "%llu of %llu observers are destroyed",
          (unsigned long long)atomic_load(&destroyed), (unsigned long long)made);
    CHECK(atomic_load(&total_starts) > 0, "nothing was observed");
    library_end(base);
    while (all != NULL) {
        counts *next = all->next;
        free(all);
        all = next;
    }
}

// Traces ------------------------------------------------------------------------------------------

enum {
    TRACED_CALLS = SCALED(50000)
};

static void call_traced(crew *team, unsigned index)
{
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    for (int i = 0; i < TRACED_CALLS; i++) {
        call_once(&x, false);
        if (i % 64 == 0) {
            (void)crew_goes_on(team);
        }
    }
}

static void check_record(const kw_trace_record *record, void *context)
{
    (void)context;
    CHECK(record->name == kw_operator_name(op) && record->status == KW_OK &&
              record->duration_ns < UINT64_C(1) << 40,
          "a record says nothing that anybody did: %s, %s",
          record->name == kw_operator_name(op) ? "t::f" : "?", kw_status_name(record->status));
}

static void every_call_is_read_or_counted_as_dropped(void)
{
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    op = operator_find("t::f");
    // Fewer rings than threads: some are shared.
    const kw_trace_options options = {
        .struct_size = sizeof options, .ring_count = 3, .ring_size = 255};
    kw_trace *trace = NULL;
    MUST(kw_trace_start(fixture_dispatcher, &options, &trace, &err));
    crew callers;
    crew_start(&callers, CALLERS, call_traced, NULL);
    uint64_t count = 0;
    for (int i = 0; i < 200; i++) {
        count += kw_trace_read(trace, check_record, NULL);
        (void)sched_yield();
    }
    crew_join(&callers);
    count += kw_trace_read(trace, check_record, NULL);
    uint64_t wanted = (uint64_t)CALLERS * TRACED_CALLS;
    CHECK(count + kw_trace_dropped(trace) == wanted, "%llu calls: %llu are read, %llu dropped",
          (unsigned long long)wanted, (unsigned long long)count,
          (unsigned long long)kw_trace_dropped(trace));
    CHECK(count > 0, "nothing was recorded");
    MUST(kw_trace_destroy(trace, &err));
    library_end(base);
}

// Events ------------------------------------------------------------------------------------------

static void hear(const kw_event *event, void *context)
{
    check_alive(context);
    CHECK(event->kind == KW_EVENT_BACKLOG && event->current != NULL, "an event of kind %u",
          event->kind);
    atomic_fetch_add_explicit(&total_starts, 1, memory_order_relaxed);
}

static void tell_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        kwi_event_tell(KW_EVENT_BACKLOG, NULL, "tables wait");
    }
}

static void bury(void *context)
{
    counts *here = context;
    atomic_store_explicit(&here->canary, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&destroyed, 1, memory_order_relaxed);
}

static void listeners_and_dispatchers_go_while_events_are_told(void)
{
    enum {
        LISTENERS = SCALED(2000)
    };
    static counts heard[LISTENERS];
    atomic_store(&destroyed, 0);
    atomic_store(&total_starts, 0);
    crew tellers;
    crew_start(&tellers, 2, tell_often, NULL);
    unsigned count = 0;
    for (int i = 0; i < LISTENERS && fixture_goes_on(i, LISTENERS); i++) {
        kw_dispatcher *dispatcher = NULL;
        MUST(kw_dispatcher_create(NULL, &dispatcher, &err));
        atomic_init(&heard[i].canary, ALIVE);
        const kw_listener listener = {.struct_size = sizeof listener,
                                      .event = hear,
                                      .context = &heard[i],
                                      .destroy = bury,
                                      .wants_lint = i % 2 == 0};
        uint64_t id = 0;
        MUST(kw_dispatcher_listen(dispatcher, &listener, &id, &err));
        count++;
        (void)sched_yield();
        if (i % 3 == 0) {
            MUST(kw_dispatcher_unlisten(dispatcher, id));
        }
        MUST(kw_dispatcher_destroy(dispatcher, &err));
    }
    crew_stop(&tellers);
    CHECK(atomic_load(&destroyed) == count, "%llu of %u listeners are destroyed",
          (unsigned long long)atomic_load(&destroyed), count);
    CHECK(atomic_load(&total_starts) > 0, "nothing was heard");
}

int main(void)
{
    fixture_begin();
    RUN(observers_come_and_go_while_threads_call);
    RUN(every_call_is_read_or_counted_as_dropped);
    RUN(listeners_and_dispatchers_go_while_events_are_told);
    return fixture_end();
}
