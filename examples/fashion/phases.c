// Phases: runs workers and swapper in turns with and without changes, until the work is done.
//
// Layer:     example (uses run's result, workers, swapper, progress)
// Threads:   the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "phases.h"

#include "clock.h"
#include "progress.h"
#include "swapper.h"

enum {
    images_per_round = 2000, // where the number of images is given
    most_rounds = 120,
};

#define ROUND_NS (FASHION_NS_PER_S / 2) // where the time is given
#define POLL_NS 1000000                 // between two looks at the workers

typedef struct control {
    const fashion_options *options;
    fashion_work *work;
    fashion_worker *workers;
    fashion_swaps *swaps;
    fashion_swapper swapper;
    fashion_progress progress;
    fashion_result *result;
    uint64_t end_ns; // when the last pass begins to end; UINT64_MAX: it has, or never
} control;

static uint64_t next_ticket(const control *all)
{
    return atomic_load_explicit(&all->work->next_ticket, memory_order_relaxed);
}

static bool is_busy(const control *all)
{
    return atomic_load_explicit(&all->work->busy_count, memory_order_relaxed) > 0;
}

// Lets the workers finish the pass that they are in.
static void end_with_pass(control *all)
{
    // Tickets are handed out while this runs: no fewer than so many stay ahead.
    const uint64_t margin = 4 * all->options->thread_count;
    const uint64_t count = all->work->dataset->count;
    const uint64_t passes = (next_ticket(all) + margin + count - 1) / count;
    atomic_store_explicit(&all->work->end_ticket, passes * count, memory_order_relaxed);
    all->end_ns = UINT64_MAX;
}

// Waits until a ticket is reached, a time has come, or the workers have ended.
static void wait_for(control *all, uint64_t ticket, uint64_t until_ns, fashion_phase phase)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    while (is_busy(all) && next_ticket(all) < ticket) {
        const uint64_t now_ns = fashion_clock_ns();
        if (now_ns >= all->end_ns) {
            end_with_pass(all);
        }
        if (now_ns >= until_ns) {
            return;
        }
        const fashion_figures figures =
            fashion_workers_read(all->workers, (size_t)all->options->thread_count);
        fashion_progress_show(&all->progress, &figures, all->swaps, phase);
        (void)nanosleep(&pause, NULL);
    }
}

// One phase of `parts` quarters of a round.
static void run_phase(control *all, fashion_phase phase, unsigned parts)
{
    const uint64_t begun_ns = fashion_clock_ns();
    const uint64_t images = all->options->image_count;
    uint64_t ticket = UINT64_MAX;
    uint64_t until_ns = UINT64_MAX;
    if (images == 0) {
        until_ns = begun_ns + ROUND_NS * parts / 4;
    } else {
        const uint64_t wanted = images / images_per_round;
        const uint64_t rounds = wanted < 1 ? 1 : wanted > most_rounds ? most_rounds : wanted;
        ticket = next_ticket(all) + images * parts / rounds / 4;
    }
    atomic_store_explicit(&all->work->phase, phase, memory_order_relaxed);
    wait_for(all, ticket, until_ns, phase);
    atomic_store_explicit(&all->work->phase, FASHION_PHASE_BETWEEN, memory_order_relaxed);
    all->result->phase_seconds[phase] +=
        (double)(fashion_clock_ns() - begun_ns) / (double)FASHION_NS_PER_S;
}

static void run_rounds(control *all)
{
    while (is_busy(all)) {
        if (all->options->swaps_per_second > 0) {
            fashion_swapper_resume(&all->swapper);
            run_phase(all, FASHION_PHASE_SWAPPING, 3);
            fashion_swapper_pause(&all->swapper);
        }
        run_phase(all, FASHION_PHASE_QUIET, 1);
    }
}

bool fashion_phases_run(const fashion_options *options, fashion_work *work, fashion_worker *workers,
                        fashion_swaps *swaps, fashion_result *result, fashion_error *err)
{
    control all = {
        .options = options,
        .work = work,
        .workers = workers,
        .swaps = swaps,
        .result = result,
        .end_ns = UINT64_MAX,
    };
    if (!fashion_swapper_start(&all.swapper, swaps, options->swaps_per_second, err)) {
        return false;
    }
    const size_t count = (size_t)options->thread_count;
    const uint64_t begun_ns = fashion_clock_ns();
    const bool is_timed = options->image_count == 0;
    if (is_timed) {
        all.end_ns = begun_ns + options->seconds * FASHION_NS_PER_S;
    }
    atomic_store_explicit(&work->end_ticket, is_timed ? UINT64_MAX : options->image_count,
                          memory_order_relaxed);
    fashion_progress_begin(&all.progress);
    const bool is_started = fashion_workers_start(workers, count, work, err);
    if (is_started) {
        run_rounds(&all);
    } else {
        atomic_store_explicit(&work->end_ticket, 0, memory_order_relaxed);
    }
    fashion_workers_join(workers, count);
    result->seconds = (double)(fashion_clock_ns() - begun_ns) / (double)FASHION_NS_PER_S;
    fashion_progress_end(&all.progress);
    fashion_swapper_stop(&all.swapper);
    return is_started;
}
