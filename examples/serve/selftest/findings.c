// Findings: what a run has found wrong, as counts by kind and the first sentences of each kind.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#include "findings.h"

#include <stdarg.h>
#include <stdio.h>

void selftest_findings_init(selftest_findings *findings)
{
    *findings = (selftest_findings){.counts = {0}};
    (void)pthread_mutex_init(&findings->mutex, NULL);
}

void selftest_find(selftest_findings *findings, selftest_kind kind, const char *format, ...)
{
    (void)pthread_mutex_lock(&findings->mutex);
    findings->counts[kind]++;
    if (findings->sentence_counts[kind] < SELFTEST_SENTENCES_MAX) {
        char *sentence = findings->sentences[kind][findings->sentence_counts[kind]++];
        va_list values;
        va_start(values, format);
        // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started just above
        (void)vsnprintf(sentence, SELFTEST_SENTENCE_BYTES, format, values);
        va_end(values);
    }
    (void)pthread_mutex_unlock(&findings->mutex);
}

uint64_t selftest_findings_count(selftest_findings *findings, selftest_kind kind)
{
    (void)pthread_mutex_lock(&findings->mutex);
    const uint64_t count = findings->counts[kind];
    (void)pthread_mutex_unlock(&findings->mutex);
    return count;
}

uint64_t selftest_findings_total(selftest_findings *findings)
{
    uint64_t total = 0;
    for (unsigned kind = 0; kind < SELFTEST_KIND_COUNT; kind++) {
        total += selftest_findings_count(findings, (selftest_kind)kind);
    }
    return total;
}

const char *selftest_kind_name(selftest_kind kind)
{
    static const char *const names[SELFTEST_KIND_COUNT] = {
        [SELFTEST_WRONG] = "wrong", [SELFTEST_FAILED] = "failed", [SELFTEST_CHANGE] = "change",
        [SELFTEST_DRAIN] = "drain", [SELFTEST_MEMORY] = "memory", [SELFTEST_SERVER] = "server",
    };
    return names[kind];
}
