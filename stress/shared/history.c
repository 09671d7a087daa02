// Histories: which answers an operator could give at which version.
//
// Layer:   stress
// Threads: see history.h.
// SPDX-License-Identifier: MIT

#include "shared/history.h"

#include <stdio.h>

#include <keyway/snapshot.h>

#include "driver/worker.h"

#define NEVER UINT64_MAX
#define VISIBLE 1U
#define DEFINED 2U

// States that a writer may overwrite while they are read are not looked at.
#define MARGIN 16

static stress_state *newest(stress_history *history)
{
    uint64_t count = atomic_load_explicit(&history->count, memory_order_relaxed);
    return &history->states[(count - 1) % STRESS_HISTORY_COUNT];
}

void stress_history_enter(stress_history *history, const stress_facts *facts)
{
    uint64_t count = atomic_load_explicit(&history->count, memory_order_relaxed);
    stress_state *state = &history->states[count % STRESS_HISTORY_COUNT];
    unsigned flags = (facts->is_visible ? VISIBLE : 0) | (facts->is_defined ? DEFINED : 0);
    atomic_store_explicit(&state->latest, NEVER, memory_order_relaxed);
    atomic_store_explicit(&state->earliest, kw_version() + 1, memory_order_relaxed);
    atomic_store_explicit(&state->cpu, facts->cpu, memory_order_relaxed);
    atomic_store_explicit(&state->autograd, facts->autograd, memory_order_relaxed);
    atomic_store_explicit(&state->fallback, facts->fallback, memory_order_relaxed);
    atomic_store_explicit(&state->flags, flags, memory_order_relaxed);
    atomic_store_explicit(&history->count, count + 1, memory_order_release);
}

void stress_history_settle(stress_history *history, uint64_t earliest, uint64_t latest)
{
    stress_state *state = newest(history);
    atomic_store_explicit(&state->earliest, earliest, memory_order_release);
    atomic_store_explicit(&state->latest, latest, memory_order_release);
}

static stress_facts facts_of(const stress_state *state)
{
    unsigned flags = atomic_load_explicit(&state->flags, memory_order_relaxed);
    return (stress_facts){
        .cpu = atomic_load_explicit(&state->cpu, memory_order_relaxed),
        .autograd = atomic_load_explicit(&state->autograd, memory_order_relaxed),
        .fallback = atomic_load_explicit(&state->fallback, memory_order_relaxed),
        .is_visible = (flags & VISIBLE) != 0,
        .is_defined = (flags & DEFINED) != 0,
    };
}

static stress_observation answered(uint64_t id, uint64_t autograd)
{
    return (stress_observation){
        .answer = id != 0 ? STRESS_ANSWERED : STRESS_NO_KERNEL, .id = id, .autograd = autograd};
}

// What a state answers. Without a definition a boxed call does not know which of its arguments
// carry keys, so no kernel serves it.
static stress_observation expect(const stress_facts *facts, stress_path path, bool is_boxed)
{
    if (!facts->is_visible) {
        return (stress_observation){.answer = STRESS_REMOVED};
    }
    if (path == STRESS_PATH_FIND) {
        return (stress_observation){.answer =
                                        facts->is_defined ? STRESS_ANSWERED : STRESS_UNDEFINED};
    }
    if (is_boxed && !facts->is_defined) {
        return (stress_observation){.answer = STRESS_NO_KERNEL};
    }
    if (path == STRESS_PATH_FALLBACK) {
        return answered(facts->fallback, 0);
    }
    return answered(facts->cpu, path == STRESS_PATH_AUTOGRAD ? facts->autograd : 0);
}

bool stress_facts_allow(const stress_facts *facts, const stress_observation *seen)
{
    stress_observation wanted = expect(facts, seen->path, seen->is_boxed);
    return wanted.answer == seen->answer && wanted.id == seen->id &&
           wanted.autograd == seen->autograd;
}

static bool matches(const stress_state *state, const stress_observation *seen)
{
    stress_facts facts = facts_of(state);
    return stress_facts_allow(&facts, seen);
}

typedef enum verdict {
    LEGAL,
    ILLEGAL,
    UNKNOWN, // the history does not reach back that far
} verdict;

static verdict check(const stress_history *history, uint64_t first, uint64_t last,
                     const stress_observation *observation)
{
    uint64_t count = atomic_load_explicit(&history->count, memory_order_acquire);
    uint64_t reach = count > STRESS_HISTORY_COUNT - MARGIN ? STRESS_HISTORY_COUNT - MARGIN : count;
    verdict found = UNKNOWN;
    for (uint64_t back = 1; back <= reach && found == UNKNOWN; back++) {
        const stress_state *state = &history->states[(count - back) % STRESS_HISTORY_COUNT];
        uint64_t latest = atomic_load_explicit(&state->latest, memory_order_acquire);
        uint64_t earliest = atomic_load_explicit(&state->earliest, memory_order_acquire);
        if (earliest <= last && matches(state, observation)) {
            found = LEGAL;
        } else if (latest <= first) {
            found = ILLEGAL; // it held at `first`, so older ones did not
        }
    }
    uint64_t count_now = atomic_load_explicit(&history->count, memory_order_acquire);
    return count_now - count < MARGIN ? found : UNKNOWN;
}

static void describe(const stress_history *history, char *buffer, size_t size)
{
    uint64_t count = atomic_load_explicit(&history->count, memory_order_acquire);
    size_t used = 0;
    buffer[0] = '\0';
    for (uint64_t back = 1; back <= 4 && back <= count && used < size; back++) {
        const stress_state *state = &history->states[(count - back) % STRESS_HISTORY_COUNT];
        stress_facts facts = facts_of(state);
        int length = snprintf(
            buffer + used, size - used, "%s%lld..%lld: cpu %llu autograd %llu fallback %llu%s%s",
            back == 1 ? "" : "; ", (long long)atomic_load(&state->earliest),
            (long long)atomic_load(&state->latest), (unsigned long long)facts.cpu,
            (unsigned long long)facts.autograd, (unsigned long long)facts.fallback,
            facts.is_visible ? "" : " removed", facts.is_defined ? "" : " undefined");
        used += length > 0 ? (size_t)length : 0;
    }
}

bool stress_history_allows(const stress_history *history, uint64_t first, uint64_t last,
                           const stress_observation *observation, char *out_legal, size_t size)
{
    verdict found = check(history, first, last, observation);
    stress_count_add(found == UNKNOWN ? STRESS_UNCHECKED : STRESS_CHECKED);
    if (first != last) {
        stress_count_add(STRESS_OVERLAPPED);
    }
    if (found == ILLEGAL) {
        describe(history, out_legal, size);
    }
    return found != ILLEGAL;
}
