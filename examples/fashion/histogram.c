// Histogram: counts durations in nanoseconds in fixed memory, for quantiles.
//
// Layer:     example (C library only)
// Threads:   owner thread only; give each thread its own and merge them afterwards
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "histogram.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    step_bits = 5, // 2^5 = FASHION_HISTOGRAM_STEPS
};

_Static_assert(1 << step_bits == FASHION_HISTOGRAM_STEPS, "steps are a power of two");

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;
    for (unsigned half = 32; half > 0; half /= 2) {
        if (value >> half != 0) {
            value >>= half;
            bit += half;
        }
    }
    return bit;
}

// Values below 32 are their own bucket. Above, the bucket is the power of two and, within it, the
// five bits after the highest.
static size_t bucket_of(uint64_t value)
{
    if (value < FASHION_HISTOGRAM_STEPS) {
        return (size_t)value;
    }
    const unsigned shift = highest_bit(value) - step_bits;
    const uint64_t step = (value >> shift) - FASHION_HISTOGRAM_STEPS;
    return (size_t)(FASHION_HISTOGRAM_STEPS + (uint64_t)shift * FASHION_HISTOGRAM_STEPS + step);
}

// The largest value of a bucket.
static uint64_t bucket_end(size_t bucket)
{
    if (bucket < FASHION_HISTOGRAM_STEPS) {
        return bucket;
    }
    const size_t shift = bucket / FASHION_HISTOGRAM_STEPS - 1;
    const uint64_t step = bucket % FASHION_HISTOGRAM_STEPS + FASHION_HISTOGRAM_STEPS;
    // For the last bucket the sum wraps to 2^64 - 1, which is right.
    return (step << shift) + (((uint64_t)1 << shift) - 1);
}

void fashion_histogram_init(fashion_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void fashion_histogram_record(fashion_histogram *histogram, uint64_t duration_ns)
{
    histogram->counts[bucket_of(duration_ns)]++;
    if (histogram->total_count == 0 || duration_ns < histogram->smallest_ns) {
        histogram->smallest_ns = duration_ns;
    }
    if (duration_ns > histogram->largest_ns) {
        histogram->largest_ns = duration_ns;
    }
    histogram->total_count++;
    histogram->sum_ns += duration_ns;
}

void fashion_histogram_merge(fashion_histogram *histogram, const fashion_histogram *from)
{
    if (from->total_count == 0) {
        return;
    }
    for (size_t i = 0; i < FASHION_HISTOGRAM_BUCKETS; i++) {
        histogram->counts[i] += from->counts[i];
    }
    if (histogram->total_count == 0 || from->smallest_ns < histogram->smallest_ns) {
        histogram->smallest_ns = from->smallest_ns;
    }
    if (from->largest_ns > histogram->largest_ns) {
        histogram->largest_ns = from->largest_ns;
    }
    histogram->total_count += from->total_count;
    histogram->sum_ns += from->sum_ns;
}

uint64_t fashion_histogram_quantile(const fashion_histogram *histogram, double q)
{
    if (histogram->total_count == 0) {
        return 0;
    }
    const double share = q > 0.0 ? (q < 1.0 ? q : 1.0) : 0.0;
    // The rank counts from 1: the quantile 0 is the smallest value, 1 the largest.
    const double exact_rank = ceil(share * (double)histogram->total_count);
    const uint64_t rank = exact_rank > 1.0 ? (uint64_t)exact_rank : 1;
    uint64_t seen = 0;
    for (size_t i = 0; i < FASHION_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen >= rank) {
            const uint64_t end = bucket_end(i);
            return end < histogram->largest_ns ? end : histogram->largest_ns;
        }
    }
    return histogram->largest_ns;
}

double fashion_histogram_mean(const fashion_histogram *histogram)
{
    if (histogram->total_count == 0) {
        return 0.0;
    }
    return (double)histogram->sum_ns / (double)histogram->total_count;
}
