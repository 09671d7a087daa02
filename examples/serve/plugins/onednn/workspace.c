// Workspace: memory for the run of a layer, kept for the next one.
//
// Layer:   example (C library only)
// Threads: any, but for the end
// SPDX-License-Identifier: MIT

#include "workspace.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    IDLE_MAX = 16
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static onednn_workspace idle[IDLE_MAX]; // guard: lock mutex. The first `count`
static size_t count;                    // guard: lock mutex

size_t onednn_aligned(size_t bytes)
{
    return (bytes + ONEDNN_ALIGNMENT - 1) / ONEDNN_ALIGNMENT * ONEDNN_ALIGNMENT;
}

onednn_workspace onednn_workspace_take(size_t bytes)
{
    onednn_workspace taken = {NULL, 0};
    if (bytes == 0) {
        return taken;
    }
    (void)pthread_mutex_lock(&mutex);
    if (count > 0) {
        taken = idle[--count];
    }
    (void)pthread_mutex_unlock(&mutex);
    if (taken.bytes < bytes) { // soon all are as large as the largest run
        free(taken.memory);
        taken.bytes = onednn_aligned(bytes);
        taken.memory = aligned_alloc(ONEDNN_ALIGNMENT, taken.bytes);
    }
    return taken;
}

void onednn_workspace_give(onednn_workspace take_workspace)
{
    if (take_workspace.memory == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&mutex);
    const int has_room = count < IDLE_MAX;
    if (has_room) {
        idle[count++] = take_workspace;
    }
    (void)pthread_mutex_unlock(&mutex);
    if (!has_room) {
        free(take_workspace.memory);
    }
}

void onednn_workspaces_end(void)
{
    for (size_t i = 0; i < count; i++) {
        free(idle[i].memory);
    }
    count = 0;
}
