// Latencies: a histogram of nanoseconds, exact below 128 and to about one part in 64 above.
//
// Layer:   bench
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdint.h>
#include <string.h>

// 64 steps for each power of two from 64 on.
#define BENCH_LATENCY_STEPS (64U * 40U)

typedef struct bench_latencies {
    uint64_t counts[BENCH_LATENCY_STEPS];
    uint64_t total;
    double largest_ns;
} bench_latencies;

static inline unsigned bench_latency_step(uint64_t ns)
{
    if (ns < 128) {
        return (unsigned)ns;
    }
    unsigned shift = 57U - (unsigned)__builtin_clzll(ns); // leaves seven bits
    unsigned step = shift * 64 + (unsigned)(ns >> shift);
    return step < BENCH_LATENCY_STEPS ? step : BENCH_LATENCY_STEPS - 1;
}

// The smallest latency that is counted in a step.
static inline double bench_latency_of(unsigned step)
{
    if (step < 128) {
        return step;
    }
    unsigned shift = step / 64 - 1;
    return (double)((uint64_t)(step % 64 + 64) << shift);
}

static inline void bench_latencies_add(bench_latencies *latencies, double ns)
{
    latencies->counts[bench_latency_step(ns > 0 ? (uint64_t)ns : 0)]++;
    latencies->total++;
    latencies->largest_ns = ns > latencies->largest_ns ? ns : latencies->largest_ns;
}

static inline void bench_latencies_clear(bench_latencies *latencies)
{
    memset(latencies, 0, sizeof *latencies);
}

// The latency that a share `quantile` of all does not exceed; 1: the largest.
static inline double bench_latencies_quantile(const bench_latencies *latencies, double quantile)
{
    uint64_t below = (uint64_t)(quantile * (double)latencies->total);
    uint64_t sum = 0;
    for (unsigned step = 0; step < BENCH_LATENCY_STEPS && quantile < 1; step++) {
        sum += latencies->counts[step];
        if (sum > below) {
            return bench_latency_of(step);
        }
    }
    return latencies->largest_ns;
}

#endif // BENCH_LATENCY_H
