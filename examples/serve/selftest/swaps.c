// Swaps: changes of plugins over the administration's port, at random and one after the other.
//
// Layer:   example (uses wire, history)
// Threads: see the header
// SPDX-License-Identifier: MIT

#include "swaps.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "random.h"
#include "wire.h"

struct selftest_swaps {
    selftest_swaps_options options; // guard: immutable
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_wanted; // guard: mutex, as the two that follow
    bool is_idle;
    bool is_ending;
    atomic_bool has_given_up;
    // guard: whoever makes changes: the thread, or the one that has paused it.
    selftest_random random;
    selftest_state state;
    bool can_roll_back[SELFTEST_PLUGINS_MAX];
    selftest_swaps_totals totals;
};

static const char *const words[SELFTEST_SWAP_COUNT] = {
    [SELFTEST_SWAP_LOAD] = "load",         [SELFTEST_SWAP_REPLACE] = "replace",
    [SELFTEST_SWAP_ROLLBACK] = "rollback", [SELFTEST_SWAP_UNLOAD] = "unload",
    [SELFTEST_SWAP_CANARY] = "canary",
};

const char *selftest_swap_name(selftest_swap swap)
{
    return words[swap];
}

// Asks, counts how long it took, and returns the answer; NULL: it is none, and a finding says so.
static json_t *ask(selftest_swaps *swaps, const char *path, const char *body, unsigned *out_code)
{
    const uint64_t begun_ns = serve_now_ns();
    char *text = NULL;
    *out_code = selftest_wire_ask(swaps->options.admin_port, "POST", path, body,
                                  swaps->options.hang_ms, &text);
    const uint64_t ns = serve_now_ns() - begun_ns;
    json_t *json = *out_code == 200 || *out_code == 202 ? json_loads(text, 0, NULL) : NULL;
    if (json == NULL) {
        selftest_find(swaps->options.findings, *out_code == 0 ? SELFTEST_SERVER : SELFTEST_CHANGE,
                      "POST %s: status %u: %s", path, *out_code, text != NULL ? text : "");
    }
    if (*out_code == 0) {
        atomic_store(&swaps->has_given_up, true);
    }
    if (ns > swaps->totals.longest_ns) {
        swaps->totals.longest_ns = ns;
    }
    free(text);
    return json;
}

static uint64_t number(const json_t *json, const char *name)
{
    const json_int_t value = json_integer_value(json_object_get(json, name));
    return value > 0 ? (uint64_t)value : 0;
}

// What serves after a change. The server numbers loadings of a name from 1, and so do we.
static uint64_t next_generation(const selftest_swaps *swaps, size_t plugin)
{
    return swaps->totals.by_plugin[plugin] + 1;
}

static void count_unload(selftest_swaps *swaps, const json_t *json)
{
    const char *state = json_string_value(json_object_get(json, "state"));
    if (state != NULL && strcmp(state, "unmapped") == 0) {
        swaps->totals.unmapped++;
    } else if (state != NULL && strcmp(state, "retained") == 0) {
        swaps->totals.retained++;
    } else {
        swaps->totals.draining++;
    }
}

// Compares what the answer says with what was expected, and notes it.
static void take(selftest_swaps *swaps, selftest_swap swap, size_t plugin, unsigned code,
                 const json_t *json, const selftest_state *next)
{
    const char *name = swaps->options.names[plugin].text;
    const char *said = json_string_value(json_object_get(json, "name"));
    const uint64_t expected =
        swap == SELFTEST_SWAP_UNLOAD ? swaps->state.generations[plugin] : next->generations[plugin];
    if (said == NULL || strcmp(said, name) != 0 || number(json, "generation") != expected ||
        number(json, "version") <= selftest_history_version(swaps->options.history) ||
        (code == 202 && swap != SELFTEST_SWAP_UNLOAD)) {
        selftest_find(swaps->options.findings, SELFTEST_CHANGE,
                      "%s %s: the answer is not of loading %llu and a newer version", words[swap],
                      name, (unsigned long long)expected);
    }
    if (swap == SELFTEST_SWAP_UNLOAD) {
        count_unload(swaps, json);
    }
}

static bool change(selftest_swaps *swaps, selftest_swap swap, size_t plugin)
{
    char path[128];
    char body[64];
    unsigned code = 0;
    selftest_state next = swaps->state;
    const bool is_loading = swap != SELFTEST_SWAP_UNLOAD;
    next.generations[plugin] = is_loading ? next_generation(swaps, plugin) : 0;
    (void)snprintf(path, sizeof path, "/v1/plugins/%s/%s", swaps->options.names[plugin].text,
                   words[swap]);
    (void)snprintf(body, sizeof body, "{\"drain_ms\": %u}", swaps->options.drain_ms);
    selftest_history_begin(swaps->options.history, &next);
    json_t *json = ask(swaps, path, body, &code);
    if (json != NULL) {
        take(swaps, swap, plugin, code, json, &next);
    }
    selftest_history_end(swaps->options.history, number(json, "version"));
    json_decref(json);
    if (json == NULL) {
        return false;
    }
    swaps->state = next;
    swaps->totals.counts[swap]++;
    swaps->totals.by_plugin[plugin] += is_loading ? 1 : 0;
    // The version that a replacement or a roll back leaves is kept.
    swaps->can_roll_back[plugin] = swap == SELFTEST_SWAP_REPLACE || swap == SELFTEST_SWAP_ROLLBACK;
    return true;
}

bool selftest_swaps_load(selftest_swaps *swaps, size_t plugin)
{
    return change(swaps, SELFTEST_SWAP_LOAD, plugin);
}

bool selftest_swaps_set_percent(selftest_swaps *swaps, unsigned percent)
{
    char body[64];
    unsigned code = 0;
    selftest_state next = swaps->state;
    next.percent = percent;
    (void)snprintf(body, sizeof body, "{\"percent\": %u}", percent);
    selftest_history_begin(swaps->options.history, &next);
    json_t *json = ask(swaps, "/v1/canary", body, &code);
    const bool is_made = json != NULL && number(json, "percent") == percent;
    // It is no commit, so the version is as before.
    selftest_history_end(swaps->options.history,
                         is_made ? selftest_history_version(swaps->options.history) : 0);
    json_decref(json);
    if (is_made) {
        swaps->state = next;
        swaps->totals.counts[SELFTEST_SWAP_CANARY]++;
    }
    return is_made;
}

bool selftest_swaps_unload_all(selftest_swaps *swaps)
{
    bool is_made = swaps->state.percent == 0 || selftest_swaps_set_percent(swaps, 0);
    for (size_t i = 0; i < swaps->options.name_count; i++) {
        if (swaps->state.generations[i] != 0) {
            is_made = change(swaps, SELFTEST_SWAP_UNLOAD, i) && is_made;
        }
    }
    return is_made;
}

static void change_at_random(selftest_swaps *swaps)
{
    static const unsigned percents[] = {0, 10, 25, 50, 100};
    const size_t plugin =
        selftest_random_below(&swaps->random, (unsigned)swaps->options.name_count);
    const unsigned dice = selftest_random_below(&swaps->random, 10);
    const unsigned percent = percents[selftest_random_below(&swaps->random, 5)];
    const bool is_canary = strcmp(swaps->options.names[plugin].text, "canary") == 0;
    if (is_canary && dice < 5) {
        (void)selftest_swaps_set_percent(swaps, percent);
    } else if (swaps->state.generations[plugin] == 0) {
        (void)change(swaps, SELFTEST_SWAP_LOAD, plugin);
    } else if (dice < 4) {
        (void)change(swaps, SELFTEST_SWAP_UNLOAD, plugin);
    } else if (dice < 7 && swaps->can_roll_back[plugin]) {
        (void)change(swaps, SELFTEST_SWAP_ROLLBACK, plugin);
    } else {
        (void)change(swaps, SELFTEST_SWAP_REPLACE, plugin);
    }
}

// Waits, inside the mutex, until the next change is due or none is wanted.
static void wait_until(selftest_swaps *swaps, uint64_t due_ns)
{
    const struct timespec due = serve_timespec(due_ns);
    int status = 0;
    while (status == 0 && swaps->is_wanted && serve_now_ns() < due_ns) {
        status = pthread_cond_timedwait(&swaps->changed, &swaps->mutex, &due);
    }
}

static void *work(void *context)
{
    selftest_swaps *swaps = context;
    const uint64_t period_ns = (uint64_t)swaps->options.swap_ms * UINT64_C(1000000);
    uint64_t due_ns = 0;
    (void)pthread_mutex_lock(&swaps->mutex);
    while (!swaps->is_ending) {
        if (!swaps->is_wanted || atomic_load(&swaps->has_given_up)) {
            swaps->is_idle = true;
            (void)pthread_cond_broadcast(&swaps->changed);
            (void)pthread_cond_wait(&swaps->changed, &swaps->mutex);
            due_ns = serve_now_ns();
            continue;
        }
        wait_until(swaps, due_ns);
        if (!swaps->is_wanted) {
            continue;
        }
        (void)pthread_mutex_unlock(&swaps->mutex);
        change_at_random(swaps);
        due_ns += period_ns;
        // What a slow change has delayed is not made up for.
        due_ns = due_ns < serve_now_ns() ? serve_now_ns() : due_ns;
        (void)pthread_mutex_lock(&swaps->mutex);
    }
    (void)pthread_mutex_unlock(&swaps->mutex);
    return NULL;
}

static void init_monotonic(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

selftest_swaps *selftest_swaps_create(const selftest_swaps_options *options)
{
    selftest_swaps *swaps = calloc(1, sizeof *swaps);
    if (swaps != NULL) {
        swaps->options = *options;
        swaps->random.state = options->seed;
        swaps->is_idle = true;
        (void)pthread_mutex_init(&swaps->mutex, NULL);
        init_monotonic(&swaps->changed);
        swaps->has_thread = pthread_create(&swaps->thread, NULL, work, swaps) == 0;
        if (swaps->has_thread) {
            return swaps;
        }
    }
    selftest_find(options->findings, SELFTEST_SERVER, "no thread for the changes");
    selftest_swaps_destroy(swaps);
    return NULL;
}

void selftest_swaps_destroy(selftest_swaps *swaps)
{
    if (swaps == NULL) {
        return;
    }
    if (swaps->has_thread) {
        (void)pthread_mutex_lock(&swaps->mutex);
        swaps->is_ending = true;
        swaps->is_wanted = false;
        (void)pthread_cond_broadcast(&swaps->changed);
        (void)pthread_mutex_unlock(&swaps->mutex);
        (void)pthread_join(swaps->thread, NULL);
    }
    (void)pthread_mutex_destroy(&swaps->mutex);
    (void)pthread_cond_destroy(&swaps->changed);
    free(swaps);
}

void selftest_swaps_run(selftest_swaps *swaps)
{
    if (swaps->options.name_count > 0) {
        (void)pthread_mutex_lock(&swaps->mutex);
        swaps->is_wanted = true;
        swaps->is_idle = false;
        (void)pthread_cond_broadcast(&swaps->changed);
        (void)pthread_mutex_unlock(&swaps->mutex);
    }
}

void selftest_swaps_pause(selftest_swaps *swaps)
{
    (void)pthread_mutex_lock(&swaps->mutex);
    swaps->is_wanted = false;
    (void)pthread_cond_broadcast(&swaps->changed);
    while (!swaps->is_idle) {
        (void)pthread_cond_wait(&swaps->changed, &swaps->mutex);
    }
    (void)pthread_mutex_unlock(&swaps->mutex);
}

bool selftest_swaps_has_given_up(const selftest_swaps *swaps)
{
    return atomic_load(&swaps->has_given_up);
}

const selftest_swaps_totals *selftest_swaps_totals_of(const selftest_swaps *swaps)
{
    return &swaps->totals;
}
