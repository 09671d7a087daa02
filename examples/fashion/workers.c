// Workers: the threads that classify images and check every answer.
//
// Layer:     example (uses model, dataset, reference, histogram, request)
// Threads:   see the header
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "workers.h"

#include <math.h>

#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "clock.h"

// Every seventh image is traced and every third is answered under a snapshot, from the kernels of
// one version. Numbers that do not divide the number of images, so that it is other images in
// each pass.
enum {
    trace_every = 7,
    snapshot_every = 3,
};

typedef struct answer {
    fashion_tensor *logits; // owned
    fashion_tensor *probabilities;
} answer;

static void add_one(atomic_ullong *figure)
{
    // A load and a store: the worker is the only one that writes.
    const unsigned long long count = atomic_load_explicit(figure, memory_order_relaxed);
    atomic_store_explicit(figure, count + 1, memory_order_relaxed);
}

static void note_problem(fashion_worker *worker, atomic_ullong *figure, size_t image,
                         const char *text)
{
    add_one(figure);
    if (worker->first_problem.text[0] == '\0') {
        fashion_error_set(&worker->first_problem, "image %zu: %s", image, text);
    }
}

static kw_status run_traced(const fashion_model *model, fashion_tensor *image, bool is_traced,
                            answer *out_answer)
{
    kw_local_guard guard;
    if (is_traced) {
        const kw_status status = kw_local_include(kw_keyset_from_key(KW_KEY_Tracer), &guard);
        if (status != KW_OK) {
            return status;
        }
    }
    const kw_status status =
        fashion_model_run(model, image, &out_answer->logits, &out_answer->probabilities);
    if (is_traced) {
        kw_local_restore(&guard);
    }
    return status;
}

static kw_status run(const fashion_model *model, fashion_tensor *image, uint64_t ticket,
                     answer *out_answer)
{
    const bool is_traced = ticket % trace_every == 0;
    if (ticket % snapshot_every != 0) {
        return run_traced(model, image, is_traced, out_answer);
    }
    kw_snapshot snapshot;
    kw_status status = kw_snapshot_open(&snapshot);
    if (status != KW_OK) {
        return status;
    }
    status = run_traced(model, image, is_traced, out_answer);
    const kw_status closed = kw_snapshot_close(&snapshot);
    return status != KW_OK ? status : closed;
}

// Whether the probabilities are those of the logits.
static bool is_softmax(const float *logits, const float *probabilities)
{
    double sum = 0.0;
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        sum += exp((double)logits[i]);
    }
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        // Written so that a NaN fails.
        if (!(fabs(exp((double)logits[i]) / sum - (double)probabilities[i]) < 1e-5)) {
            return false;
        }
    }
    return true;
}

static const char *find_fault(const fashion_work *work, size_t image, const answer *given)
{
    if (given->logits->count != FASHION_CLASSES || given->probabilities->count != FASHION_CLASSES) {
        return "the answer has another shape";
    }
    const fashion_verdict verdict =
        fashion_reference_check(work->reference, image, given->logits->values, NULL);
    if (verdict != FASHION_VERDICT_RIGHT) {
        return fashion_verdict_text(verdict);
    }
    return is_softmax(given->logits->values, given->probabilities->values)
               ? NULL
               : "the probabilities are not those of the logits";
}

static void judge(fashion_worker *worker, size_t image, const answer *given)
{
    const fashion_work *work = worker->work;
    const char *fault = find_fault(work, image, given);
    if (fault != NULL) {
        note_problem(worker, &worker->wrong_count, image, fault);
    }
    if (given->logits->count == FASHION_CLASSES &&
        fashion_argmax(FASHION_CLASSES, given->logits->values) == work->dataset->labels[image]) {
        add_one(&worker->correct_count);
    }
}

static void classify(fashion_worker *worker, fashion_tensor *image, uint64_t ticket)
{
    const fashion_work *work = worker->work;
    const size_t index = (size_t)(ticket % work->dataset->count);
    const unsigned phase = atomic_load_explicit(&work->phase, memory_order_relaxed);
    answer given = {NULL, NULL};
    const uint64_t begun_ns = fashion_clock_ns();
    fashion_pixels_to_input(FASHION_IMAGE_PIXELS, fashion_dataset_image(work->dataset, index),
                            image->values);
    const kw_status status = run(work->model, image, ticket, &given);
    const uint64_t took_ns = fashion_clock_ns() - begun_ns;
    const bool is_same = phase == atomic_load_explicit(&work->phase, memory_order_relaxed);
    fashion_histogram_record(&worker->latency[is_same ? phase : FASHION_PHASE_BETWEEN], took_ns);
    if (status == KW_OK) {
        judge(worker, index, &given);
    } else {
        note_problem(worker, &worker->failed_count, index, kw_call_error());
    }
    add_one(&worker->image_count);
    fashion_tensor_release(given.logits);
    fashion_tensor_release(given.probabilities);
}

static void work_off_tickets(fashion_worker *worker, fashion_tensor *image)
{
    fashion_work *work = worker->work;
    for (;;) {
        const uint64_t ticket =
            atomic_fetch_add_explicit(&work->next_ticket, 1, memory_order_relaxed);
        if (ticket >= atomic_load_explicit(&work->end_ticket, memory_order_relaxed)) {
            return;
        }
        classify(worker, image, ticket);
    }
}

static void *work_thread(void *context)
{
    fashion_worker *worker = context;
    static const size_t shape[] = {1, 1, FASHION_IMAGE_SIDE, FASHION_IMAGE_SIDE};
    fashion_tensor *image = fashion_tensor_create(4, shape);
    if (image == NULL || fashion_request_begin(&worker->request) != KW_OK) {
        note_problem(worker, &worker->failed_count, 0, "no memory for a worker");
    } else {
        work_off_tickets(worker, image);
        fashion_request_end(&worker->request);
    }
    fashion_tensor_release(image);
    atomic_fetch_sub_explicit(&worker->work->busy_count, 1, memory_order_relaxed);
    return NULL;
}

bool fashion_workers_start(fashion_worker *workers, size_t count, fashion_work *work,
                           fashion_error *err)
{
    for (size_t i = 0; i < count; i++) {
        workers[i].work = work;
        atomic_fetch_add_explicit(&work->busy_count, 1, memory_order_relaxed);
        const int number = pthread_create(&workers[i].thread, NULL, work_thread, &workers[i]);
        if (number != 0) {
            atomic_fetch_sub_explicit(&work->busy_count, 1, memory_order_relaxed);
            fashion_error_set_errno(err, "a worker's thread", number);
            return false;
        }
        workers[i].is_started = true;
    }
    return true;
}

void fashion_workers_join(fashion_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (workers[i].is_started) {
            (void)pthread_join(workers[i].thread, NULL);
            workers[i].is_started = false;
        }
    }
}

fashion_figures fashion_workers_read(fashion_worker *workers, size_t count)
{
    fashion_figures sum = {0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        sum.image_count += atomic_load_explicit(&workers[i].image_count, memory_order_relaxed);
        sum.correct_count += atomic_load_explicit(&workers[i].correct_count, memory_order_relaxed);
        sum.wrong_count += atomic_load_explicit(&workers[i].wrong_count, memory_order_relaxed);
        sum.failed_count += atomic_load_explicit(&workers[i].failed_count, memory_order_relaxed);
    }
    return sum;
}
