// Deadline: ends the process if something that has to end does not.
//
// Layer:   example (C library only)
// Threads: its own waits
// SPDX-License-Identifier: MIT

#include "deadline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"

struct serve_deadline {
    void (*say)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; // clock: monotonic
    uint64_t moment_ns;     // guard: mutex. 0: not armed
    bool is_cancelled;      // guard: mutex
};

// Waits; false: it is cancelled.
static bool is_reached(serve_deadline *deadline)
{
    (void)pthread_mutex_lock(&deadline->mutex);
    while (!deadline->is_cancelled &&
           (deadline->moment_ns == 0 || serve_now_ns() < deadline->moment_ns)) {
        if (deadline->moment_ns == 0) {
            (void)pthread_cond_wait(&deadline->changed, &deadline->mutex);
        } else {
            const struct timespec moment = serve_timespec(deadline->moment_ns);
            (void)pthread_cond_timedwait(&deadline->changed, &deadline->mutex, &moment);
        }
    }
    const bool is_cancelled = deadline->is_cancelled;
    (void)pthread_mutex_unlock(&deadline->mutex);
    return !is_cancelled;
}

static void *watch(void *argument)
{
    serve_deadline *deadline = argument;
    if (is_reached(deadline)) {
        deadline->say(deadline->context);
        (void)fflush(NULL);
        _exit(1); // not exit(): destructors would run under the code that does not return
    }
    return NULL;
}

serve_deadline *serve_deadline_create(void (*say)(void *context), void *context)
{
    serve_deadline *deadline = calloc(1, sizeof *deadline);
    if (deadline == NULL) {
        return NULL;
    }
    deadline->say = say;
    deadline->context = context;
    serve_monotonic_init(&deadline->mutex, &deadline->changed);
    if (pthread_create(&deadline->thread, NULL, watch, deadline) != 0) {
        (void)pthread_cond_destroy(&deadline->changed);
        (void)pthread_mutex_destroy(&deadline->mutex);
        free(deadline);
        return NULL;
    }
    return deadline;
}

void serve_deadline_arm(serve_deadline *deadline, uint64_t timeout_ns)
{
    if (deadline == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&deadline->mutex);
    deadline->moment_ns = serve_now_ns() + timeout_ns;
    (void)pthread_cond_signal(&deadline->changed);
    (void)pthread_mutex_unlock(&deadline->mutex);
}

void serve_deadline_destroy(serve_deadline *deadline)
{
    if (deadline == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&deadline->mutex);
    deadline->is_cancelled = true;
    (void)pthread_cond_signal(&deadline->changed);
    (void)pthread_mutex_unlock(&deadline->mutex);
    (void)pthread_join(deadline->thread, NULL);
    (void)pthread_cond_destroy(&deadline->changed);
    (void)pthread_mutex_destroy(&deadline->mutex);
    free(deadline);
}
