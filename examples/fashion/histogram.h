// Histogram: counts durations in nanoseconds in fixed memory, for quantiles.
//
// Layer:     example (C library only)
// Threads:   owner thread only; give each thread its own and merge them afterwards
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_HISTOGRAM_H
#define FASHION_HISTOGRAM_H

#include <stdint.h>

enum {
    // Each power of two is cut into 32 buckets of equal width, so that a bucket is at most 1/32
    // (3.1 %) as wide as its values are large. Values below 64 have a bucket each.
    FASHION_HISTOGRAM_STEPS = 32,
    // 32 single values, then the powers of two from 2^5 to 2^63.
    FASHION_HISTOGRAM_BUCKETS = 32 + 59 * 32,
};

// About 15 KiB; all zeros is a valid empty histogram.
typedef struct fashion_histogram {
    uint64_t counts[FASHION_HISTOGRAM_BUCKETS];
    uint64_t total_count;
    uint64_t sum_ns;
    uint64_t smallest_ns; // meaningful if total_count > 0
    uint64_t largest_ns;
} fashion_histogram;

/// Empties the histogram.
void fashion_histogram_init(fashion_histogram *histogram);

/// Counts one duration. Wait-free, no allocation.
void fashion_histogram_record(fashion_histogram *histogram, uint64_t duration_ns);

/// Adds all that `from` has counted.
void fashion_histogram_merge(fashion_histogram *histogram, const fashion_histogram *from);

/// Returns a duration that a share `q` of the recorded ones (0 to 1) does not exceed.
///
/// It is the upper end of the bucket, never above the largest recorded: at most 1/32 more than
/// the exact quantile and never less. Returns 0 if nothing was recorded. `q` outside 0 to 1 counts
/// as the nearer end.
uint64_t fashion_histogram_quantile(const fashion_histogram *histogram, double q);

/// Returns the mean, exact up to rounding; 0 if nothing was recorded.
double fashion_histogram_mean(const fashion_histogram *histogram);

#endif // FASHION_HISTOGRAM_H
