// Findings: what a run has found wrong, as counts by kind and the first sentences of each kind.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_FINDINGS_H
#define SELFTEST_FINDINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum selftest_kind {
    SELFTEST_WRONG = 0,  // an answer that is not what it has to be
    SELFTEST_FAILED = 1, // a request without an answer, or with a status that is none
    SELFTEST_CHANGE = 2, // a change of plugins that was refused
    SELFTEST_DRAIN = 3,  // a plugin that does not leave
    SELFTEST_MEMORY = 4, // memory that grows
    SELFTEST_SERVER = 5, // a server that does not start, ends, hangs, or does not stop well
    SELFTEST_KIND_COUNT = 6
} selftest_kind;

enum {
    SELFTEST_SENTENCES_MAX = 16, // kept of each kind
    SELFTEST_SENTENCE_BYTES = 512
};

typedef struct selftest_findings {
    pthread_mutex_t mutex;
    uint64_t counts[SELFTEST_KIND_COUNT]; // guard: mutex, as what follows
    size_t sentence_counts[SELFTEST_KIND_COUNT];
    char sentences[SELFTEST_KIND_COUNT][SELFTEST_SENTENCES_MAX][SELFTEST_SENTENCE_BYTES];
} selftest_findings;

void selftest_findings_init(selftest_findings *findings);

/// Counts one finding, and keeps its sentence if it is among the first of its kind.
void selftest_find(selftest_findings *findings, selftest_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

uint64_t selftest_findings_count(selftest_findings *findings, selftest_kind kind);
uint64_t selftest_findings_total(selftest_findings *findings);

/// "wrong", "failed" and so on.
const char *selftest_kind_name(selftest_kind kind);

#endif // SELFTEST_FINDINGS_H
