// Progress: one line on stderr that says how far the run is.
//
// Layer:     example (uses workers, swaps)
// Threads:   the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include <keyway/dispatcher.h>

#include "clock.h"

#define TERMINAL_PERIOD_NS (FASHION_NS_PER_S / 5)
#define FILE_PERIOD_NS (FASHION_NS_PER_S * 10)

void fashion_progress_begin(fashion_progress *progress)
{
    progress->is_terminal = isatty(STDERR_FILENO) == 1;
    progress->begun_ns = fashion_clock_ns();
    progress->next_ns =
        progress->begun_ns + (progress->is_terminal ? TERMINAL_PERIOD_NS : FILE_PERIOD_NS);
}

void fashion_progress_show(fashion_progress *progress, const fashion_figures *figures,
                           fashion_swaps *swaps, fashion_phase phase)
{
    const uint64_t now_ns = fashion_clock_ns();
    if (now_ns < progress->next_ns) {
        return;
    }
    progress->next_ns = now_ns + (progress->is_terminal ? TERMINAL_PERIOD_NS : FILE_PERIOD_NS);
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    const double seconds = (double)(now_ns - progress->begun_ns) / (double)FASHION_NS_PER_S;
    const double images = (double)figures->image_count;
    const unsigned long long commits =
        atomic_load_explicit(&swaps->commit_count, memory_order_relaxed);
    (void)fprintf(
        stderr,
        "%s%5.1f s  %llu images  %.0f/s  accuracy %.4f  wrong %llu  failed %llu  "
        "commits %llu  replaced and held %llu  %s%s",
        progress->is_terminal ? "\r" : "", seconds, (unsigned long long)figures->image_count,
        images / seconds, images > 0 ? (double)figures->correct_count / images : 0.0,
        (unsigned long long)figures->wrong_count, (unsigned long long)figures->failed_count,
        commits, (unsigned long long)statistics.retired_count,
        phase == FASHION_PHASE_QUIET ? "[quiet]" : "[swapping]",
        progress->is_terminal ? "\033[K" : "\n");
    (void)fflush(stderr);
}

void fashion_progress_end(fashion_progress *progress)
{
    if (progress->is_terminal) {
        (void)fputs("\r\033[K", stderr);
    }
}
