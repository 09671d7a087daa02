// History: which plugins served at which version, and whether answers fit to that.
//
// Layer:   example (uses answers, findings)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [Versions and moments]
//
// One thread changes plugins, one change at a time, and a change is one commit. Its answer has the
// version that the registry had afterwards; what served then is a moment of this history. So an
// answer at exactly that version was computed by kernels of that moment, or built-in ones. One at
// a version between two moments is of one of the two. Answers may come in before that of the
// change, so what they say is noted, once for each version and backend, and compared at the end.
//
// An answer without a version (the canary is refused when no plugin has kernels for it), and the
// backend of an answer are compared with what held at some moment between request and answer.

#ifndef SELFTEST_HISTORY_H
#define SELFTEST_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers.h"
#include "findings.h"

enum {
    SELFTEST_PLUGINS_MAX = 32, // as many as the server takes
    SELFTEST_NAME_BYTES = 48
};

typedef struct selftest_name {
    char text[SELFTEST_NAME_BYTES];
} selftest_name;

// What holds between two changes.
typedef struct selftest_state {
    uint64_t generations[SELFTEST_PLUGINS_MAX]; // by plugin; 0: it does not serve
    unsigned percent;                           // of the canary
} selftest_state;

typedef struct selftest_history selftest_history; // opaque

/// Makes a history whose first moment is `version`, without plugins. NULL: memory is out.
selftest_history *selftest_history_create(const selftest_name *names, size_t count,
                                          uint64_t version);
void selftest_history_destroy(selftest_history *history);

/// A change begins that leads to `next`, and ends. One at a time. `version` is that of its answer;
/// with 0 the change was refused, and the state is as before.
void selftest_history_begin(selftest_history *history, const selftest_state *next);
void selftest_history_end(selftest_history *history, uint64_t version);

/// The version that a request that is sent from here on has at least.
uint64_t selftest_history_version(selftest_history *history);

/// Between two times there was a moment without kernels for the canary, or: with a percentage for
/// it.
bool selftest_history_lacked_canary(selftest_history *history, uint64_t from_ns, uint64_t to_ns);
bool selftest_history_had_percent(selftest_history *history, uint64_t from_ns, uint64_t to_ns);

/// Whether int8 kernels may have computed the logits of an answer.
bool selftest_history_may_be_int8(selftest_history *history, const selftest_answer *answer);

/// Notes who served. Returns NULL, or what does not fit to another answer of the same version and
/// backend.
const char *selftest_history_note(selftest_history *history, const selftest_answer *answer);

/// Compares all that was noted with what served. Returns how many pairs of version and backend
/// there were; what does not fit is a finding.
size_t selftest_history_check(selftest_history *history, selftest_findings *findings);

#endif // SELFTEST_HISTORY_H
