// Crowd: many threads inside calls at once, so that Keyway's working memory has its full size.
//
// Layer:     example (uses Keyway's public headers)
// Threads:   see the header
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "crowd.h"

#include <pthread.h>
#include <stdbool.h>

#include <keyway/call.h>
#include <keyway/snapshot.h>

enum {
    most_threads = 256
};

typedef struct crowd {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t arrived_count; // guard: mutex; threads inside the kernel, or that have failed
    bool is_over;         // guard: mutex
    const kw_operator *op;
} crowd;

static void arrive(crowd *all)
{
    (void)pthread_mutex_lock(&all->mutex);
    all->arrived_count++;
    (void)pthread_cond_broadcast(&all->changed);
    (void)pthread_mutex_unlock(&all->mutex);
}

static kw_status stay(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    crowd *all = self->user_data;
    (void)op;
    (void)keys;
    (void)frame;
    arrive(all);
    (void)pthread_mutex_lock(&all->mutex);
    while (!all->is_over) {
        (void)pthread_cond_wait(&all->changed, &all->mutex);
    }
    (void)pthread_mutex_unlock(&all->mutex);
    return KW_OK;
}

static void *visit(void *context)
{
    crowd *all = context;
    kw_snapshot snapshot;
    kw_frame frame = {.arg_count = 0};
    if (kw_snapshot_open(&snapshot) != KW_OK) {
        arrive(all);
        return NULL;
    }
    if (kw_call_boxed(all->op, &frame) != KW_OK) {
        arrive(all);
    }
    (void)!kw_snapshot_close(&snapshot); // cannot fail in the thread that opened it
    return NULL;
}

static kw_status open_place(crowd *all, kw_dispatcher *dispatcher, kw_library **out_library,
                            kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .ns = "crowd",
    };
    const kw_definition definition = KW_DEFINE("stay() -> ()");
    kw_kernel_descriptor kernel = KW_BOXED(stay);
    kernel.user_data = all;
    kw_status status = kw_library_create(&options, out_library, err);
    if (status == KW_OK) {
        status = kw_library_define(*out_library, &definition, NULL, err);
    }
    if (status == KW_OK) {
        status = kw_library_impl(*out_library, "stay", KW_KEY_CompositeExplicitAutograd, &kernel,
                                 NULL, err);
    }
    return status == KW_OK ? kw_operator_find(dispatcher, "crowd::stay", &all->op, err) : status;
}

// The commit is the closing of the library that they are in.
static kw_status commit_above(crowd *all, kw_library *library, size_t count, kw_error *err)
{
    pthread_t threads[most_threads];
    size_t started_count = 0;
    while (started_count < count && started_count < most_threads &&
           pthread_create(&threads[started_count], NULL, visit, all) == 0) {
        started_count++;
    }
    (void)pthread_mutex_lock(&all->mutex);
    while (all->arrived_count < started_count) {
        (void)pthread_cond_wait(&all->changed, &all->mutex);
    }
    (void)pthread_mutex_unlock(&all->mutex);
    const kw_status status = kw_library_close(library, err);
    (void)pthread_mutex_lock(&all->mutex);
    all->is_over = true;
    (void)pthread_cond_broadcast(&all->changed);
    (void)pthread_mutex_unlock(&all->mutex);
    for (size_t i = 0; i < started_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return status;
}

kw_status fashion_crowd_gather(kw_dispatcher *dispatcher, size_t count, kw_error *err)
{
    crowd all = {.is_over = false};
    kw_library *library = NULL;
    (void)pthread_mutex_init(&all.mutex, NULL); // cannot fail without attributes, like the next
    (void)pthread_cond_init(&all.changed, NULL);
    kw_status status = open_place(&all, dispatcher, &library, err);
    if (status == KW_OK) {
        status = commit_above(&all, library, count, err);
    }
    if (status == KW_OK) {
        status = kw_library_drain(library, KW_FOREVER, err);
    }
    if (status == KW_OK) {
        status = kw_library_destroy(library, err);
    }
    (void)pthread_cond_destroy(&all.changed);
    (void)pthread_mutex_destroy(&all.mutex);
    return status;
}
