// Memory: what the server holds when it rests, and whether that grows.
//
// Layer:   example (uses wire)
// Threads: one
// SPDX-License-Identifier: MIT

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "plugins_seen.h"
#include "wire.h"

enum {
    SETTLE_MS_MAX = 3000, // the server reclaims twice a second
    POLL_MS = 20
};

// Finds the value of a metric without labels.
static bool find_metric(const char *text, const char *name, uint64_t *out_value)
{
    const size_t bytes = strlen(name);
    for (const char *line = text; line != NULL;) {
        line += line[0] == '\n' ? 1 : 0;
        if (strncmp(line, name, bytes) == 0 && line[bytes] == ' ') {
            *out_value = strtoull(line + bytes, NULL, 10);
            return true;
        }
        line = strchr(line, '\n');
    }
    return false;
}

static bool read_figures(const char *text, selftest_rest *out_rest, uint64_t *out_pending)
{
    uint64_t memory = 0;
    uint64_t storage = 0;
    uint64_t retired = 0;
    uint64_t deferred = 0;
    if (!find_metric(text, "process_resident_memory_bytes", &out_rest->resident_bytes) ||
        !find_metric(text, "keyway_memory_bytes", &memory) ||
        !find_metric(text, "keyway_storage_bytes", &storage) ||
        !find_metric(text, "keyway_tensors", &out_rest->tensors) ||
        !find_metric(text, "keyway_storages", &out_rest->storages) ||
        !find_metric(text, "keyway_leases", &out_rest->leases) ||
        !find_metric(text, "keyway_retired_tables", &retired) ||
        !find_metric(text, "keyway_deferred_tables", &deferred)) {
        return false;
    }
    out_rest->live_bytes = memory + storage;
    *out_pending = retired + deferred;
    return true;
}

static bool read_rest(const selftest_child *child, selftest_rest *out_rest, uint64_t *out_pending,
                      selftest_findings *findings)
{
    char *text = NULL;
    const unsigned code =
        selftest_wire_ask(child->port, "GET", "/metrics", "", child->options->hang_ms, &text);
    const bool is_read = code == 200 && read_figures(text, out_rest, out_pending);
    if (!is_read) {
        selftest_find(findings, SELFTEST_SERVER, "GET /metrics: status %u: %.200s", code,
                      text != NULL ? text : "");
    }
    free(text);
    return is_read;
}

static bool wait_for_plugins(const selftest_child *child, selftest_findings *findings)
{
    const uint64_t until_ns =
        serve_now_ns() + (uint64_t)child->options->drain_ms * UINT64_C(1000000);
    for (;;) {
        selftest_plugins_seen seen;
        if (!selftest_plugins_see(&seen, child, findings)) {
            return false;
        }
        if (seen.serving == 0 && seen.leaving == 0) {
            return true;
        }
        if (serve_now_ns() >= until_ns) {
            selftest_find(findings, SELFTEST_DRAIN, "%s does not leave: %s",
                          seen.held_name[0] != '\0' ? seen.held_name : "a plugin",
                          seen.held_by[0] != '\0' ? seen.held_by : "nothing is said to hold it");
            return false;
        }
        (void)usleep(POLL_MS * 1000);
    }
}

bool selftest_memory_rest(selftest_memory *memory, double seconds, const selftest_child *child,
                          selftest_findings *findings)
{
    selftest_rest rest = {.seconds = seconds};
    uint64_t pending = 1;
    if (!wait_for_plugins(child, findings)) {
        return false;
    }
    const uint64_t until_ns = serve_now_ns() + SETTLE_MS_MAX * UINT64_C(1000000);
    while (pending > 0 && serve_now_ns() < until_ns) {
        if (!read_rest(child, &rest, &pending, findings)) {
            return false;
        }
        (void)usleep(pending > 0 ? POLL_MS * 1000 : 0);
    }
    if (memory->count < SELFTEST_RESTS_MAX) {
        memory->rests[memory->count++] = rest;
    }
    return true;
}

// The slope of the straight line with the least squares.
static double slope(const selftest_memory *memory, size_t first,
                    uint64_t (*figure)(const selftest_rest *rest))
{
    double n = 0;
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    for (size_t i = first; i < memory->count; i++) {
        const double x = memory->rests[i].seconds - memory->rests[first].seconds;
        const double y = (double)figure(&memory->rests[i]);
        n += 1;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    const double spread = n * sum_xx - sum_x * sum_x;
    return spread > 0 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
}

static uint64_t resident_of(const selftest_rest *rest)
{
    return rest->resident_bytes;
}

static uint64_t live_of(const selftest_rest *rest)
{
    return rest->live_bytes;
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

static uint64_t median_resident(const selftest_memory *memory, size_t from, size_t to)
{
    uint64_t values[SELFTEST_RESTS_MAX];
    const size_t count = to - from;
    for (size_t i = 0; i < count; i++) {
        values[i] = memory->rests[from + i].resident_bytes;
    }
    qsort(values, count, sizeof values[0], compare);
    return values[count / 2];
}

static void judge_resident(selftest_memory *memory, selftest_findings *findings)
{
    const size_t rests = memory->count - 1; // without rest 0
    const size_t third = (rests + 2) / 3;
    const bool are_many = rests >= SELFTEST_MANY_RESTS;
    const size_t first = are_many ? 1 + third : 1;
    const uint64_t before = median_resident(memory, first, first + third);
    const uint64_t after = median_resident(memory, memory->count - third, memory->count);
    const uint64_t slack = are_many ? SELFTEST_RESIDENT_SLACK : SELFTEST_RESIDENT_SLACK_FEW;
    selftest_trend *trend = &memory->resident;
    trend->is_flat = after <= before + slack;
#ifndef SELFTEST_IS_SANITIZED
    trend->is_judged = true;
#endif
    if (trend->is_judged && !trend->is_flat) {
        selftest_find(findings, SELFTEST_MEMORY,
                      "resident memory at rest grew from %.1f to %.1f MiB (medians of thirds)",
                      (double)before / 1048576, (double)after / 1048576);
    }
}

static void judge_live(selftest_memory *memory, selftest_findings *findings)
{
    selftest_trend *trend = &memory->live;
    trend->is_judged = true;
    trend->is_flat = trend->last <= trend->first + SELFTEST_LIVE_SLACK;
    if (!trend->is_flat) {
        selftest_find(findings, SELFTEST_MEMORY,
                      "what Keyway holds at rest grew from %.1f to %.1f KiB",
                      (double)trend->first / 1024, (double)trend->last / 1024);
    }
}

static void judge_objects(selftest_memory *memory, selftest_findings *findings)
{
    const selftest_rest *first = &memory->rests[0];
    const selftest_rest *last = &memory->rests[memory->count - 1];
    memory->has_kept_objects = last->tensors != first->tensors ||
                               last->storages != first->storages || last->leases != first->leases;
    if (memory->has_kept_objects) {
        selftest_find(findings, SELFTEST_MEMORY,
                      "at rest there are %lld tensors, %lld storages and %lld leases more than "
                      "at the start",
                      (long long)(last->tensors - first->tensors),
                      (long long)(last->storages - first->storages),
                      (long long)(last->leases - first->leases));
    }
}

void selftest_memory_judge(selftest_memory *memory, selftest_findings *findings)
{
    if (memory->count < 3) {
        selftest_find(findings, SELFTEST_MEMORY,
                      "memory was not measured: the run ended too early");
        return;
    }
    const selftest_rest *first = &memory->rests[1];
    const selftest_rest *last = &memory->rests[memory->count - 1];
    memory->resident = (selftest_trend){.first = first->resident_bytes,
                                        .last = last->resident_bytes,
                                        .per_second = slope(memory, 1, resident_of)};
    memory->live = (selftest_trend){.first = first->live_bytes,
                                    .last = last->live_bytes,
                                    .per_second = slope(memory, 1, live_of)};
    judge_resident(memory, findings);
    judge_live(memory, findings);
    judge_objects(memory, findings);
}
