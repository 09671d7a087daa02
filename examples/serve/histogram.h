// Histogram: counts durations or sizes that many threads record at once.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_HISTOGRAM_H
#define SERVE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    // Each power of two is cut into four buckets: a bucket is at most a quarter as wide as its
    // values are large.
    SERVE_HISTOGRAM_STEPS = 4,
    SERVE_HISTOGRAM_BUCKETS = 4 * 40, // up to 2^40: 18 minutes, in nanoseconds
};

// All zeros is an empty histogram. Its fields are counted relaxed: a reader may see a value in a
// bucket that is not in the sum yet, which is no matter to a scrape.
typedef struct serve_histogram {
    atomic_uint_fast64_t counts[SERVE_HISTOGRAM_BUCKETS]; // the last one has all that is larger
    atomic_uint_fast64_t sum;
} serve_histogram;

// What a histogram had counted at one moment.
typedef struct serve_histogram_picture {
    uint64_t counts[SERVE_HISTOGRAM_BUCKETS];
    uint64_t total;
    uint64_t sum;
} serve_histogram_picture;

/// Counts one value. Wait-free.
void serve_histogram_record(serve_histogram *histogram, uint64_t value);

/// Reads it while others record.
void serve_histogram_read(serve_histogram *histogram, serve_histogram_picture *out_picture);

/// Returns the largest value that falls into a bucket.
uint64_t serve_histogram_bound(unsigned bucket);

/// Takes what `before` had counted out of a later picture of the same histogram.
void serve_histogram_subtract(serve_histogram_picture *picture,
                              const serve_histogram_picture *before);

/// Returns the upper end of the bucket of quantile `q`, from 0 to 1; 0 if nothing was counted.
uint64_t serve_histogram_quantile(const serve_histogram_picture *picture, double q);

#endif // SERVE_HISTOGRAM_H
