// Batcher: gathers waiting requests into batches, and runs each under one snapshot.
//
// Layer:   example (uses batch)
// Threads: requests come from any thread; batches run in the batcher's own
// SPDX-License-Identifier: MIT

#include "batcher.h"

#include <stdlib.h>

#include <keyway/call.h>

#include "batch.h"
#include "clock.h"
#include "error.h"

typedef struct queue {
    serve_job *first;
    serve_job *last;
    size_t count;
} queue;

struct serve_batcher {
    serve_batcher_options options;
    const serve_network *network;
    serve_origins *origins;
    serve_batcher_figures figures;
    pthread_mutex_t mutex;
    pthread_cond_t changed;         // clock: monotonic
    queue queues[SERVE_LANE_COUNT]; // guard: mutex
    bool is_stopping;               // guard: mutex
    pthread_t workers[SERVE_WORKERS_MAX];
    size_t started_count;
};

static size_t count_waiting(const serve_batcher *batcher)
{
    return batcher->queues[SERVE_LANE_PLAIN].count + batcher->queues[SERVE_LANE_CANARY].count;
}

static serve_job *queue_take(queue *from)
{
    serve_job *job = from->first;
    from->first = job->next;
    from->last = from->first != NULL ? from->last : NULL;
    from->count--;
    return job;
}

// The lane whose batch is full or has waited long enough; else SERVE_LANE_COUNT, and when to look
// again: 0 for when something comes.
static size_t ready_lane(const serve_batcher *batcher, uint64_t now_ns, uint64_t *out_until_ns)
{
    size_t ready = SERVE_LANE_COUNT;
    uint64_t oldest_ns = UINT64_MAX;
    *out_until_ns = 0;
    for (size_t i = 0; i < SERVE_LANE_COUNT; i++) {
        const queue *waiting = &batcher->queues[i];
        if (waiting->count == 0) {
            continue;
        }
        const uint64_t due_ns = waiting->first->queued_ns + batcher->options.wait_ns;
        const bool is_ready = batcher->is_stopping || due_ns <= now_ns ||
                              waiting->count >= batcher->options.batch_max;
        if (is_ready && waiting->first->queued_ns < oldest_ns) {
            ready = i;
            oldest_ns = waiting->first->queued_ns;
        }
        if (*out_until_ns == 0 || due_ns < *out_until_ns) {
            *out_until_ns = due_ns;
        }
    }
    return ready;
}

// Waits for a batch; 0 jobs: the batcher ends.
static size_t take_batch(serve_batcher *batcher, serve_job **out_jobs)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&batcher->mutex);
    for (;;) {
        uint64_t until_ns = 0;
        const size_t lane = ready_lane(batcher, serve_now_ns(), &until_ns);
        if (lane != SERVE_LANE_COUNT) {
            queue *from = &batcher->queues[lane];
            while (from->count > 0 && count < batcher->options.batch_max) {
                out_jobs[count++] = queue_take(from);
            }
            break;
        }
        if (batcher->is_stopping) {
            break;
        }
        if (until_ns == 0) {
            (void)pthread_cond_wait(&batcher->changed, &batcher->mutex);
        } else {
            const struct timespec until = serve_timespec(until_ns);
            (void)pthread_cond_timedwait(&batcher->changed, &batcher->mutex, &until);
        }
    }
    if (count_waiting(batcher) > 0) { // more than one batch takes, and another worker may sleep
        (void)pthread_cond_signal(&batcher->changed);
    }
    (void)pthread_mutex_unlock(&batcher->mutex);
    return count;
}

static void *work(void *argument)
{
    serve_batcher *batcher = argument;
    serve_served served;
    serve_job *jobs[SERVE_BATCH_MAX];
    // snippet: worker
    // A thread that cannot be attached fails in its snapshots, and says so in its answers.
    if (kw_thread_attach() == KW_OK) {
        (void)!kw_call_context_set(&served, NULL);
    }
    // end of snippet
    for (size_t count = take_batch(batcher, jobs); count > 0; count = take_batch(batcher, jobs)) {
        const uint64_t now_ns = serve_now_ns();
        serve_histogram_record(&batcher->figures.batch_sizes, count);
        for (size_t i = 0; i < count; i++) {
            serve_histogram_record(&batcher->figures.wait_ns, now_ns - jobs[i]->queued_ns);
        }
        serve_batch_run(batcher->network, batcher->origins, &served, jobs, count);
        for (size_t i = 0; i < count; i++) {
            jobs[i]->done(jobs[i]);
        }
    }
    return NULL;
}

kw_status serve_batcher_create(const serve_batcher_options *options, const serve_network *network,
                               serve_origins *origins, serve_batcher **out_batcher, kw_error *err)
{
    serve_batcher *batcher = calloc(1, sizeof *batcher);
    if (batcher == NULL) {
        return serve_error_set(err, KW_NO_MEMORY, "no memory for the batcher");
    }
    batcher->options = *options;
    batcher->network = network;
    batcher->origins = origins;
    serve_monotonic_init(&batcher->mutex, &batcher->changed);
    while (batcher->started_count < options->worker_count &&
           pthread_create(&batcher->workers[batcher->started_count], NULL, work, batcher) == 0) {
        batcher->started_count++;
    }
    if (batcher->started_count < options->worker_count) {
        serve_batcher_destroy(batcher);
        return serve_error_set(err, KW_NO_MEMORY, "a worker thread could not be started");
    }
    *out_batcher = batcher;
    return KW_OK;
}

void serve_batcher_end(serve_batcher *batcher)
{
    if (batcher == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&batcher->mutex);
    batcher->is_stopping = true;
    (void)pthread_cond_broadcast(&batcher->changed);
    (void)pthread_mutex_unlock(&batcher->mutex);
    for (size_t i = 0; i < batcher->started_count; i++) {
        (void)pthread_join(batcher->workers[i], NULL);
    }
    batcher->started_count = 0;
}

void serve_batcher_destroy(serve_batcher *batcher)
{
    if (batcher == NULL) {
        return;
    }
    serve_batcher_end(batcher);
    (void)pthread_cond_destroy(&batcher->changed);
    (void)pthread_mutex_destroy(&batcher->mutex);
    free(batcher);
}

bool serve_batcher_submit(serve_batcher *batcher, serve_job *take_job)
{
    take_job->next = NULL;
    take_job->queued_ns = serve_now_ns();
    (void)pthread_mutex_lock(&batcher->mutex);
    const bool is_taken =
        !batcher->is_stopping && count_waiting(batcher) < batcher->options.queue_max;
    if (is_taken) {
        queue *to = &batcher->queues[take_job->lane];
        if (to->last != NULL) {
            to->last->next = take_job;
        } else {
            to->first = take_job;
        }
        to->last = take_job;
        to->count++;
        (void)pthread_cond_signal(&batcher->changed);
    }
    (void)pthread_mutex_unlock(&batcher->mutex);
    return is_taken;
}

size_t serve_batcher_waiting(serve_batcher *batcher)
{
    (void)pthread_mutex_lock(&batcher->mutex);
    const size_t count = count_waiting(batcher);
    (void)pthread_mutex_unlock(&batcher->mutex);
    return count;
}

serve_batcher_figures *serve_batcher_figures_of(serve_batcher *batcher)
{
    return &batcher->figures;
}
