// Progress: one line on stderr that says how far the run is.
//
// Layer:     example (uses workers, swaps)
// Threads:   the controlling thread
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_PROGRESS_H
#define FASHION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "swaps.h"
#include "workers.h"

typedef struct fashion_progress {
    uint64_t begun_ns;
    uint64_t next_ns;
    bool is_terminal; // the line is rewritten in place; otherwise there are few of them
} fashion_progress;

void fashion_progress_begin(fashion_progress *progress);

/// Writes the line if it is time for it.
void fashion_progress_show(fashion_progress *progress, const fashion_figures *figures,
                           fashion_swaps *swaps, fashion_phase phase);

/// Clears the line on a terminal.
void fashion_progress_end(fashion_progress *progress);

#endif // FASHION_PROGRESS_H
