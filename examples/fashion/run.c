// Run: all of one measurement, from the loaded data to the figures of the report.
//
// Layer:     example (uses workers, swapper)
// Threads:   the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "run.h"

#include <stdlib.h>

#include <keyway/dispatcher.h>

#include "phases.h"

typedef struct run {
    const fashion_options *options;
    kw_dispatcher *dispatcher; // owned
    fashion_ledger ledger;
    fashion_swaps swaps;
    fashion_model model;
    fashion_work work;
    fashion_worker *workers;     // owned
    uint64_t other_kernel_count; // alive, but none of `swaps`: the standard fallbacks
} run;

static uint64_t kernel_count(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics.kernel_count;
}

static kw_status set_up_keyway(run *all, fashion_ops *out_ops, kw_error *err)
{
    const kw_dispatcher_options options = {
        .struct_size = sizeof options,
        .tensor_type = &fashion_tensor_type,
    };
    kw_status status = kw_dispatcher_create(&options, &all->dispatcher, err);
    if (status == KW_OK) {
        status = fashion_swaps_init(&all->swaps, all->dispatcher, &all->ledger, all->options, err);
    }
    if (status == KW_OK) {
        all->other_kernel_count = kernel_count() - fashion_swaps_registered_count(&all->swaps);
        status = fashion_ops_find(all->dispatcher, out_ops, err);
    }
    if (status == KW_OK && all->options->uses_plugins) {
        status = fashion_plugins_measure(&all->swaps.plugins, all->options->thread_count, err);
    }
    return status;
}

static bool set_up(run *all, const fashion_inputs *inputs, fashion_error *err)
{
    fashion_ops ops;
    kw_error refused = KW_ERROR_INIT;
    if (set_up_keyway(all, &ops, &refused) != KW_OK) {
        fashion_error_set(err, "%s", refused.text);
        return false;
    }
    all->workers = calloc(all->options->thread_count, sizeof *all->workers);
    if (all->workers == NULL || !fashion_model_init(&all->model, &ops, &inputs->weights)) {
        fashion_error_set(err, "no memory for the network");
        return false;
    }
    all->work.model = &all->model;
    all->work.dataset = &inputs->dataset;
    all->work.reference = &inputs->reference;
    atomic_init(&all->work.next_ticket, 0);
    atomic_init(&all->work.end_ticket, 0);
    atomic_init(&all->work.phase, FASHION_PHASE_BETWEEN);
    atomic_init(&all->work.busy_count, 0);
    return true;
}

static void collect_workers(run *all, fashion_result *result)
{
    const size_t count = (size_t)all->options->thread_count;
    result->figures = fashion_workers_read(all->workers, count);
    for (size_t i = 0; i < count; i++) {
        const fashion_worker *worker = &all->workers[i];
        result->traced_count += worker->request.traced_count;
        result->autograd_count += worker->request.autograd_count;
        for (size_t phase = 0; phase < FASHION_PHASE_COUNT; phase++) {
            fashion_histogram_merge(&result->latency[phase], &worker->latency[phase]);
        }
        if (result->first_problem.text[0] == '\0') {
            result->first_problem = worker->first_problem;
        }
    }
}

static void collect_plugins(run *all, fashion_result *result)
{
    if (!all->options->uses_plugins) {
        return;
    }
    fashion_swaps_end_plugins(&all->swaps);
    result->plugins = fashion_plugins_read(&all->swaps.plugins);
    if (fashion_plugins_stayed_count(&result->plugins) > 0 &&
        all->swaps.first_error.status == KW_OK && result->first_problem.text[0] == '\0') {
        fashion_error_set(&result->first_problem, "the plugins left something behind: %s",
                          result->plugins.why[0] != '\0' ? result->plugins.why
                                                         : "bytes or kernels");
    }
}

// What the replaced kernels and tables still take when nothing uses them any more.
static void collect_swaps(run *all, fashion_result *result)
{
    if (kw_reclaim() != KW_OK) {
        fashion_error_set(&result->first_problem, "kw_reclaim() was refused");
    }
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    result->retired_count = statistics.retired_count;
    result->registered_count = fashion_swaps_registered_count(&all->swaps);
    result->held_count =
        statistics.kernel_count - all->other_kernel_count - result->registered_count;
    result->commit_count = atomic_load_explicit(&all->swaps.commit_count, memory_order_relaxed);
    for (size_t i = 0; i < FASHION_SWAP_COUNT; i++) {
        result->swap_counts[i] = all->swaps.counts[i];
    }
}

// Takes everything back. What does not come back is counted.
static void clear_up(run *all, fashion_result *result)
{
    kw_error err = KW_ERROR_INIT;
    fashion_swaps_fini(&all->swaps);
    result->refused_count = atomic_load_explicit(&all->swaps.failed_count, memory_order_relaxed);
    if (all->swaps.first_error.status != KW_OK && result->first_problem.text[0] == '\0') {
        fashion_error_set(&result->first_problem, "a change was refused: %s",
                          all->swaps.first_error.text);
    }
    if (kw_dispatcher_destroy(all->dispatcher, &err) != KW_OK) {
        result->refused_count++;
        fashion_error_set(&result->first_problem, "%s", err.text);
    }
    fashion_model_fini(&all->model);
    free(all->workers);
    result->ledger = fashion_ledger_read(&all->ledger);
    fashion_ledger_fini(&all->ledger);
}

bool fashion_run(const fashion_options *options, const fashion_inputs *inputs,
                 fashion_result *out_result, fashion_error *err)
{
    static run all; // large, for the ring of destroyed states
    all = (run){.options = options};
    *out_result = (fashion_result){.seconds = 0.0};
    fashion_ledger_init(&all.ledger);
    bool is_done = set_up(&all, inputs, err);
    if (is_done) {
        is_done = fashion_phases_run(options, &all.work, all.workers, &all.swaps, out_result, err);
        collect_workers(&all, out_result);
        collect_plugins(&all, out_result);
        collect_swaps(&all, out_result);
    }
    clear_up(&all, out_result);
    return is_done;
}

uint64_t fashion_result_failed_count(const fashion_result *result)
{
    const uint64_t lost_count = result->ledger.created_count - result->ledger.destroyed_count;
    return result->figures.failed_count + result->refused_count + result->ledger.early_count +
           lost_count + fashion_plugins_stayed_count(&result->plugins);
}
