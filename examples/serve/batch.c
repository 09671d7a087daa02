// Batch: runs the network once for some requests, under a snapshot.
//
// Layer:   example (uses batcher.h's jobs, watch, origin)
// Threads: the worker that runs it
// SPDX-License-Identifier: MIT

#include "batch.h"

#include <stdio.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "tensors.h"

// The results of a batch, on their way to its jobs.
typedef struct results {
    kw_tensor *logits;
    kw_tensor *probabilities;
    bool is_canary;
    char served[SERVE_OP_COUNT][SERVE_LABEL_BYTES];
} results;

static kw_status make_images(serve_job *const *jobs, size_t count, kw_tensor **out_images)
{
    const int64_t sizes[] = {(int64_t)count, 1, FASHION_IMAGE_SIDE, FASHION_IMAGE_SIDE};
    kw_error err = KW_ERROR_INIT;
    float *values = NULL;
    const kw_status status = serve_tensor_create(4, sizes, out_images, &values, &err);
    for (size_t i = 0; i < count && status == KW_OK; i++) {
        fashion_pixels_to_input(FASHION_IMAGE_PIXELS, jobs[i]->pixels,
                                values + i * FASHION_IMAGE_PIXELS);
    }
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err.text);
}

// A plugin's kernel may have made the results, so their form is checked before they are read.
static bool is_result(const kw_tensor *tensor, size_t count)
{
    return kw_tensor_dtype(tensor) == KW_DTYPE_FLOAT32 && kw_tensor_dim(tensor) == 2 &&
           kw_tensor_sizes(tensor)[0] == (int64_t)count &&
           kw_tensor_sizes(tensor)[1] == FASHION_CLASSES;
}

// Replaces a result by what can be read: kernels may have left it on another device.
static kw_status fetch(kw_tensor **result, size_t count)
{
    if (!is_result(*result, count)) {
        return kw_fail(KW_WRONG_VALUE, "a kernel answered with a tensor of another form");
    }
    kw_tensor *fetched = NULL;
    kw_error err = KW_ERROR_INIT;
    const kw_status status = serve_tensor_move(*result, KW_DEVICE_CPU, &fetched, &err);
    if (status != KW_OK) {
        return kw_fail(status, "a result could not be brought to the CPU: %s", err.text);
    }
    kw_tensor_release(*result);
    *result = fetched;
    return KW_OK;
}

static kw_status run_network(const serve_network *network, kw_tensor *images, size_t count,
                             results *out)
{
    kw_status status = serve_network_run(network, images, &out->logits, &out->probabilities);
    if (status == KW_OK) {
        status = fetch(&out->logits, count);
    }
    return status == KW_OK ? fetch(&out->probabilities, count) : status;
}

// Under the snapshot of the calls: the tables that are asked are those that were called through.
static void label(const serve_network *network, serve_origins *origins, const serve_served *served,
                  results *out)
{
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        if (served->is_called[i]) {
            serve_origins_label_slot(origins, network->ops[i], served->slots[i], out->served[i]);
        } else {
            (void)snprintf(out->served[i], SERVE_LABEL_BYTES, "not called");
        }
    }
}

static kw_status run_in_lane(const serve_network *network, serve_job *const *jobs, size_t count,
                             results *out)
{
    kw_tensor *images = NULL;
    kw_status status = make_images(jobs, count, &images);
    if (status != KW_OK) {
        return status;
    }
    // snippet: include
    kw_local_guard guard;
    out->is_canary = jobs[0]->lane == SERVE_LANE_CANARY && serve_network_has_canary(network);
    if (out->is_canary) {
        status = kw_local_include(kw_keyset_from_key(KW_KEY_PrivateUse2), &guard);
    }
    if (status == KW_OK) {
        status = run_network(network, images, count, out);
        if (out->is_canary) {
            kw_local_restore(&guard);
        }
    }
    // end of snippet
    kw_tensor_release(images);
    return status;
}

static void answer(serve_job *job, size_t index, size_t count, uint64_t version, const results *out)
{
    job->batch = count;
    job->version = version;
    job->is_canary = out->is_canary;
    memcpy(job->logits, serve_tensor_values(out->logits) + index * FASHION_CLASSES,
           sizeof job->logits);
    memcpy(job->probabilities, serve_tensor_values(out->probabilities) + index * FASHION_CLASSES,
           sizeof job->probabilities);
    memcpy(job->served, out->served, sizeof job->served);
}

void serve_batch_run(const serve_network *network, serve_origins *origins, serve_served *served,
                     serve_job *const *jobs, size_t count)
{
    results out = {.logits = NULL};
    kw_snapshot snapshot;
    char error[sizeof jobs[0]->error] = "no snapshot could be opened";
    *served = (serve_served){.is_called = {false}};
    // snippet: snapshot
    kw_status status = kw_snapshot_open(&snapshot);
    if (status == KW_OK) {
        const uint64_t version = snapshot.version;
        status = run_in_lane(network, jobs, count, &out);
        if (status != KW_OK) {
            (void)snprintf(error, sizeof error, "%s", kw_call_error());
        } else {
            label(network, origins, served, &out);
            for (size_t i = 0; i < count; i++) {
                answer(jobs[i], i, count, version, &out);
            }
        }
        // Results may be of a plugin's making, so they go before the version that it serves in.
        kw_tensor_release(out.logits);
        kw_tensor_release(out.probabilities);
        const kw_status closed = kw_snapshot_close(&snapshot);
        status = status == KW_OK ? closed : status;
    }
    // end of snippet
    for (size_t i = 0; i < count; i++) {
        jobs[i]->status = status;
        (void)snprintf(jobs[i]->error, sizeof jobs[i]->error, "%s", error);
    }
}
