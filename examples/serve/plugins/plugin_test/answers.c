// Answers: runs test images as the server does, and compares what comes out with the reference.
//
// Layer:   example (uses host, the server's batch.h)
// Threads: as answers.h says
// SPDX-License-Identifier: MIT

#include "answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>

#include "batch.h"

void test_answers_begin(test_answers *answers, test_host *host)
{
    *answers = (test_answers){.host = host};
    answers->jobs = calloc(SERVE_BATCH_MAX, sizeof *answers->jobs);
    if (answers->jobs == NULL || kw_thread_attach() != KW_OK ||
        kw_call_context_set(&answers->served, NULL) != KW_OK) {
        abort();
    }
}

void test_answers_end(test_answers *answers)
{
    (void)!kw_call_context_set(NULL, NULL);
    free(answers->jobs);
}

void test_answers_forget(test_answers *answers)
{
    answers->distance = 0;
}

// "openblas@1.0#3" begins with the name of the plugin.
static bool is_of(const char *label, const char *plugin)
{
    const size_t length = strlen(plugin);
    return strncmp(label, plugin, length) == 0 && label[length] == '@';
}

bool test_answers_are_of(const test_answers *answers, const char *plugin)
{
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        if (is_of(answers->names[i], plugin)) {
            return true;
        }
    }
    return false;
}

// Whether one of the operators was served by a plugin that may be inexact.
static bool is_inexact(const test_answers *answers, const serve_job *job)
{
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        char name[SERVE_LABEL_BYTES];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(job->served[i], "@"),
                       job->served[i]);
        if (test_host_is_listed(answers->host->options.inexact, name)) {
            return true;
        }
    }
    return false;
}

// Probabilities are the softmax of the logits, as far as floats go.
static bool are_probabilities(const serve_job *job)
{
    double sum = 0;
    const double max = (double)job->logits[fashion_argmax(FASHION_CLASSES, job->logits)];
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        sum += exp((double)job->logits[i] - max);
    }
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        const double expected = exp((double)job->logits[i] - max) / sum;
        if (!(fabs((double)job->probabilities[i] - expected) < 1e-4)) {
            return false;
        }
    }
    return true;
}

static void check_inexact(test_host *host, fashion_verdict verdict, float distance, size_t image,
                          const char *what)
{
    atomic_fetch_add(&host->inexact_count, 1);
    if (verdict != FASHION_VERDICT_OTHER_CLASS) {
        atomic_fetch_add(&host->agreeing_count, 1);
    }
    if (verdict == FASHION_VERDICT_NOT_FINITE || verdict == FASHION_VERDICT_NO_ROW ||
        (double)distance > host->options.logit_distance) {
        test_fail(host, "%s: image %zu is %g from the reference", what, image, (double)distance);
    }
}

static void check(test_answers *answers, const serve_job *job, size_t image, const char *what)
{
    test_host *host = answers->host;
    if (job->status != KW_OK) {
        test_fail(host, "%s: image %zu has no answer: %s", what, image, job->error);
        return;
    }
    float logits[FASHION_CLASSES];
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        logits[i] = job->logits[i] / test_host_logit_scale(host);
    }
    float distance = 0;
    const fashion_verdict verdict =
        fashion_reference_check(&host->reference, image, logits, &distance);
    if (is_inexact(answers, job)) {
        check_inexact(host, verdict, distance, image, what);
    } else if (verdict != FASHION_VERDICT_RIGHT) {
        test_fail(host, "%s: image %zu: %s (by %g; %s, %s)", what, image,
                  fashion_verdict_text(verdict), (double)distance, job->served[SERVE_OP_CONV2D],
                  job->served[SERVE_OP_LINEAR]);
    }
    answers->distance = fmaxf(answers->distance, distance);
    if (!are_probabilities(job)) {
        test_fail(host, "%s: image %zu: probabilities are not the softmax of the logits", what,
                  image);
    }
}

static void run_batch(test_answers *answers, serve_lane lane, size_t first, size_t count,
                      const char *what)
{
    test_host *host = answers->host;
    serve_job *jobs[SERVE_BATCH_MAX] = {NULL};
    for (size_t i = 0; i < count; i++) {
        const size_t image = (first + i) % host->dataset.count;
        jobs[i] = &answers->jobs[i];
        jobs[i]->lane = lane;
        memcpy(jobs[i]->pixels, fashion_dataset_image(&host->dataset, image), FASHION_IMAGE_PIXELS);
    }
    serve_batch_run(&host->network, &host->origins, &answers->served, jobs, count);
    for (size_t i = 0; i < count; i++) {
        check(answers, jobs[i], (first + i) % host->dataset.count, what);
    }
    memcpy(answers->names, answers->jobs[0].served, sizeof answers->names);
    atomic_fetch_add(&host->answer_count, count);
    atomic_fetch_add(&host->batch_count, 1);
}

void test_answers_run(test_answers *answers, serve_lane lane, size_t first, size_t count,
                      size_t batch, const char *what)
{
    for (size_t done = 0; done < count; done += batch) {
        const size_t left = count - done;
        run_batch(answers, lane, first + done, left < batch ? left : batch, what);
    }
}
