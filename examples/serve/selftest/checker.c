// Checker: what is looked at in every answer, and what is counted.
//
// Layer:   example (uses wire, oracle, history)
// Threads: the one that asks
// SPDX-License-Identifier: MIT

#include "checker.h"

#include <fashion/reference.h>
#include <stdlib.h>

bool selftest_checker_init(selftest_checker *out_checker, const selftest_oracle *oracle,
                           selftest_history *history, selftest_findings *findings)
{
    *out_checker = (selftest_checker){.oracle = oracle,
                                      .history = history,
                                      .findings = findings,
                                      .is_answered = calloc(oracle->image_count, sizeof(uint8_t))};
    return out_checker->is_answered != NULL;
}

void selftest_checker_fini(selftest_checker *checker)
{
    free(checker->is_answered);
    checker->is_answered = NULL;
}

// Whether the backend that answered is one that may have been chosen.
static const char *check_backend(selftest_checker *checker, const selftest_asked *asked,
                                 uint64_t now_ns, bool is_canary)
{
    selftest_history *history = checker->history;
    if (asked->backend == SELFTEST_BACKEND_DEFAULT && is_canary) {
        return "the canary served a request that refused it";
    }
    if (asked->backend == SELFTEST_BACKEND_CANARY && !is_canary &&
        !selftest_history_lacked_canary(history, asked->sent_ns, now_ns)) {
        return "the canary did not serve a request that asked for it";
    }
    if (asked->backend == SELFTEST_BACKEND_ANY && is_canary &&
        !selftest_history_had_percent(history, asked->sent_ns, now_ns)) {
        return "the canary served a request though its percentage is 0";
    }
    return NULL;
}

static void count_answer(selftest_checker *checker, const selftest_asked *asked,
                         const selftest_answer *answer, bool is_int8, float distance)
{
    selftest_totals *totals = &checker->totals;
    totals->canary += answer->is_canary ? 1 : 0;
    if (is_int8) {
        totals->int8++;
        totals->int8_agree +=
            answer->class_index == selftest_oracle_class(checker->oracle, asked->image) ? 1 : 0;
        totals->int8_distance = distance > totals->int8_distance ? distance : totals->int8_distance;
    } else {
        totals->float_distance =
            distance > totals->float_distance ? distance : totals->float_distance;
    }
    if (checker->is_answered[asked->image] == 0) {
        checker->is_answered[asked->image] = 1;
        totals->images++;
    }
}

static const char *check_answer(selftest_checker *checker, const selftest_asked *asked,
                                uint64_t now_ns, const selftest_reply *reply,
                                selftest_answer *answer)
{
    float distance = 0;
    const char *problem = selftest_answer_read(reply->body, reply->body_bytes, answer);
    if (problem != NULL) {
        return problem;
    }
    const bool may_be_int8 = selftest_history_may_be_int8(checker->history, answer);
    problem = selftest_oracle_check(checker->oracle, asked->image, answer, may_be_int8, &distance);
    count_answer(checker, asked, answer, may_be_int8 && distance > FASHION_TOLERANCE, distance);
    if (problem == NULL && answer->version < asked->least_version) {
        problem = "its version is older than a change that had been answered";
    }
    if (problem == NULL) {
        problem = check_backend(checker, asked, now_ns, answer->is_canary);
    }
    return problem != NULL ? problem : selftest_history_note(checker->history, answer);
}

static void tell_wrong(selftest_checker *checker, const selftest_asked *asked,
                       const selftest_answer *answer, const char *problem)
{
    selftest_find(checker->findings, SELFTEST_WRONG,
                  "image %zu, version %llu, backend %s, conv2d %s, relu %s, max_pool2d %s, "
                  "linear %s, softmax %s: %s",
                  asked->image, (unsigned long long)answer->version,
                  answer->is_canary ? "canary" : "default", answer->served[SELFTEST_CONV2D],
                  answer->served[SELFTEST_RELU], answer->served[SELFTEST_MAX_POOL2D],
                  answer->served[SELFTEST_LINEAR], answer->served[SELFTEST_SOFTMAX], problem);
}

selftest_outcome selftest_checker_take(selftest_checker *checker, const selftest_asked *asked,
                                       uint64_t now_ns, const selftest_reply *reply)
{
    selftest_answer answer;
    if (reply->status == 409 && asked->backend == SELFTEST_BACKEND_CANARY &&
        selftest_history_lacked_canary(checker->history, asked->sent_ns, now_ns)) {
        checker->totals.canary_refused++;
        return SELFTEST_OUTCOME_REFUSED;
    }
    if (reply->status != 200) {
        selftest_find(checker->findings, SELFTEST_FAILED, "image %zu: status %u: %.*s",
                      asked->image, reply->status, (int)reply->body_bytes, reply->body);
        return SELFTEST_OUTCOME_FAILED;
    }
    checker->totals.answered++;
    const char *problem = check_answer(checker, asked, now_ns, reply, &answer);
    if (problem != NULL) {
        tell_wrong(checker, asked, &answer, problem);
    }
    return SELFTEST_OUTCOME_ANSWERED;
}
