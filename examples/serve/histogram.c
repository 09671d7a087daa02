// Histogram: counts durations or sizes that many threads record at once.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#include "histogram.h"

// Values 0 to 3 have a bucket each; from there on each power of two has four.
static unsigned bucket_of(uint64_t value)
{
    if (value < SERVE_HISTOGRAM_STEPS) {
        return (unsigned)value;
    }
    const unsigned exponent = 63U - (unsigned)__builtin_clzll(value);
    const unsigned step = (unsigned)(value >> (exponent - 2)) & 3U;
    const unsigned bucket = (exponent - 1) * SERVE_HISTOGRAM_STEPS + step;
    return bucket < SERVE_HISTOGRAM_BUCKETS ? bucket : SERVE_HISTOGRAM_BUCKETS - 1;
}

uint64_t serve_histogram_bound(unsigned bucket)
{
    if (bucket < SERVE_HISTOGRAM_STEPS) {
        return bucket;
    }
    const unsigned exponent = bucket / SERVE_HISTOGRAM_STEPS + 1;
    const uint64_t step = bucket % SERVE_HISTOGRAM_STEPS;
    return ((SERVE_HISTOGRAM_STEPS + step + 1) << (exponent - 2)) - 1;
}

void serve_histogram_record(serve_histogram *histogram, uint64_t value)
{
    atomic_fetch_add_explicit(&histogram->counts[bucket_of(value)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum, value, memory_order_relaxed);
}

void serve_histogram_read(serve_histogram *histogram, serve_histogram_picture *out_picture)
{
    out_picture->total = 0;
    out_picture->sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    for (unsigned i = 0; i < SERVE_HISTOGRAM_BUCKETS; i++) {
        out_picture->counts[i] = atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        out_picture->total += out_picture->counts[i];
    }
}

void serve_histogram_subtract(serve_histogram_picture *picture,
                              const serve_histogram_picture *before)
{
    for (unsigned i = 0; i < SERVE_HISTOGRAM_BUCKETS; i++) {
        picture->counts[i] -= before->counts[i];
    }
    picture->total -= before->total;
    picture->sum -= before->sum;
}

uint64_t serve_histogram_quantile(const serve_histogram_picture *picture, double q)
{
    const double wanted = q * (double)picture->total;
    uint64_t seen = 0;
    for (unsigned i = 0; i < SERVE_HISTOGRAM_BUCKETS; i++) {
        seen += picture->counts[i];
        if (seen > 0 && (double)seen >= wanted) {
            return serve_histogram_bound(i);
        }
    }
    return 0;
}
