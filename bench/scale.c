// How cost grows: with threads, with operators called at random, with what is registered.
//
// Layer:   bench
// Threads: as many as there are processors.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <unistd.h>

#include "harness.h"
#include "many.h"
#include "subject.h"
#include "workers.h"
#ifdef BENCH_WITH_LIBTORCH
#include "original.h"
#endif

#define OPERATORS 5000U
#define REGISTERED 3000U // a framework's, for start-up and fallbacks
#define ORDER 16384U     // random operators, then the same again

static const kw_operator *typical[OPERATORS];
static const kw_operator *dense[OPERATORS];
static uint16_t order[ORDER];
static bench_many registered; // REGISTERED operators with typical kernels

// Threads -----------------------------------------------------------------------------------------

static uint64_t read_calls(uint64_t count)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < count; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
    }
    return (uint64_t)out + (uint64_t)failures;
}

static double measure_threads(const void *argument, uint64_t window_ns)
{
    const bench_window window = {.read = read_calls, .reader_count = *(const unsigned *)argument};
    bool are_there = window.reader_count <= sysconf(_SC_NPROCESSORS_ONLN);
    return are_there ? bench_window_run(&window, window_ns).read_ns : NAN;
}

// Operators ---------------------------------------------------------------------------------------

typedef struct choice {
    const kw_operator *const *ops;
    unsigned count;
} choice;

static double measure_random(const void *argument, uint64_t window_ns)
{
    const choice *from = argument;
    bench_pin(0);
    int64_t out = 0;
    kw_status failures = 0;
    uint64_t calls = 0;
    double begun = bench_now_ns();
    double took = 0;
    do {
        for (unsigned i = 0; i < ORDER; i++) {
            const kw_operator *op = from->ops[order[i] * from->count >> 16];
            failures |= bench_two_call_on(op, &bench_left, &bench_right, out, &out);
        }
        calls += ORDER;
        took = bench_now_ns() - begun;
    } while (took < (double)window_ns);
    bench_keep((uint64_t)out + (uint64_t)failures);
    return took / (double)calls;
}

// Registration ------------------------------------------------------------------------------------

static double measure_start_up(const void *argument, uint64_t window_ns)
{
    (void)window_ns;
    const bool *at_once = argument;
    bench_many many = bench_many_make();
    double begun = bench_now_ns();
    bench_many_define(&many, REGISTERED, BENCH_TYPICAL, *at_once);
    double took = bench_now_ns() - begun;
    bench_many_end(&many);
    return took;
}

#define FALLBACKS 4U // timed, after one that brings the operators into the cache

// A fallback that all operators get, or its removal. No operator has a kernel for its key.
static double measure_fallback(const void *argument, uint64_t window_ns)
{
    (void)window_ns;
    const bool *removes = argument;
    const kw_kernel_descriptor kernel = KW_FALLTHROUGH();
    kw_error err = KW_ERROR_INIT;
    double sum = 0;
    for (unsigned i = 0; i <= FALLBACKS; i++) {
        kw_registration registration = 0;
        double begun = bench_now_ns();
        bench_require(kw_library_fallback(registered.library, KW_KEY_PrivateUse2, &kernel,
                                          &registration, &err),
                      &err);
        double between = bench_now_ns();
        bench_require(kw_library_remove(registered.library, registration, &err), &err);
        double took = *removes ? bench_now_ns() - between : between - begun;
        sum += i > 0 ? took : 0;
    }
    return sum / FALLBACKS;
}

static double measure_find(const void *argument, uint64_t window_ns)
{
    (void)argument;
    static char names[256][64];
    const kw_operator *op = NULL;
    uint64_t sum = 0;
    uint64_t finds = 0;
    for (unsigned i = 0; i < 256 && names[i][0] == '\0'; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s",
                       bench_many_name(order[i] * REGISTERED >> 16));
    }
    double begun = bench_now_ns();
    double took = 0;
    do {
        for (unsigned i = 0; i < 256; i++) {
            sum += (uint64_t)kw_operator_find(registered.dispatcher, names[i], &op, NULL);
        }
        finds += 256;
        took = bench_now_ns() - begun;
    } while (took < (double)window_ns);
    bench_keep(sum + (uint64_t)(uintptr_t)op);
    return took / (double)finds;
}

#ifdef BENCH_WITH_LIBTORCH
static double measure_original_start_up(const void *argument, uint64_t window_ns)
{
    (void)argument;
    (void)window_ns;
    return bench_original_start_up(REGISTERED);
}

static double measure_original_fallback(const void *argument, uint64_t window_ns)
{
    (void)argument;
    (void)window_ns;
    (void)bench_original_fallback(); // as with ours
    double sum = 0;
    for (unsigned i = 0; i < FALLBACKS; i++) {
        sum += bench_original_fallback();
    }
    return sum / FALLBACKS;
}

static double measure_original_random(const void *argument, uint64_t window_ns)
{
    const unsigned *count = argument;
    uint64_t calls = 0;
    double took = 0;
    bench_pin(0);
    bench_keep(bench_original_random(order, 1, 1)); // defines them the first time
    double begun = bench_now_ns();
    do {
        bench_keep(bench_original_random(order, ORDER, *count));
        calls += ORDER;
        took = bench_now_ns() - begun;
    } while (took < (double)window_ns);
    return took / (double)calls;
}
#endif

// The question ------------------------------------------------------------------------------------

static void find_all(const kw_operator **ops, bench_density density)
{
    bench_many many = bench_many_make(); // until the program's end
    bench_many_define(&many, OPERATORS, density, true);
    for (unsigned i = 0; i < OPERATORS; i++) {
        ops[i] = bench_many_find(&many, i);
    }
}

static bool set_up(void)
{
    uint64_t word = 1;
    for (unsigned i = 0; i < ORDER; i++) { // xorshift
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        order[i] = (uint16_t)(word >> 20);
    }
    if (!bench_subject_set_up()) {
        return false;
    }
    find_all(typical, BENCH_TYPICAL);
    find_all(dense, BENCH_DENSE);
    registered = bench_many_make();
    bench_many_define(&registered, REGISTERED, BENCH_TYPICAL, true);
#ifdef BENCH_WITH_LIBTORCH
    return bench_original_set_up();
#else
    return true;
#endif
}

#define THREADS(number, text)                                                                      \
    {                                                                                              \
        .name = text, .measure = measure_threads, .argument = &threads_##number                    \
    }
#define RANDOM(number, text)                                                                       \
    {.name = text " at random, typical",                                                           \
     .measure = measure_random,                                                                    \
     .argument = &typical_##number,                                                                \
     .ratio_to = "1 operator at random, typical"},                                                 \
    {                                                                                              \
        .name = text " at random, dense", .measure = measure_random, .argument = &dense_##number,  \
        .ratio_to = "1 operator at random, typical"                                                \
    }
#define CHOICES(number)                                                                            \
    static const choice typical_##number = {typical, number};                                      \
    static const choice dense_##number = {dense, number};

CHOICES(1)
CHOICES(10)
CHOICES(100)
CHOICES(1000)
CHOICES(5000)
static const unsigned threads_1 = 1;
static const unsigned threads_2 = 2;
static const unsigned threads_4 = 4;
static const unsigned threads_8 = 8;
static const unsigned threads_16 = 16;
static const bool yes = true;
static const bool no = false;

static const bench_variant variants[] = {
    THREADS(1, "1 thread"),
    THREADS(2, "2 threads"),
    THREADS(4, "4 threads"),
    THREADS(8, "8 threads"),
    THREADS(16, "16 threads"),
    RANDOM(1, "1 operator"),
    RANDOM(10, "10 operators"),
    RANDOM(100, "100 operators"),
    RANDOM(1000, "1,000 operators"),
    RANDOM(5000, "5,000 operators"),
    {.name = "find one of 3,000", .measure = measure_find, .ratio_to = "find one of 3,000"},
    {.name = "start-up: 3,000 operators with 5 kernels, one transaction",
     .measure = measure_start_up,
     .argument = &yes,
     .ratio_to = "start-up: 3,000 operators with 5 kernels, one transaction"},
    {.name = "start-up: 3,000 operators with 5 kernels, one by one",
     .measure = measure_start_up,
     .argument = &no,
     .ratio_to = "start-up: 3,000 operators with 5 kernels, one transaction"},
    {.name = "a fallback over 3,000 operators",
     .measure = measure_fallback,
     .argument = &no,
     .ratio_to = "a fallback over 3,000 operators"},
    {.name = "its removal",
     .measure = measure_fallback,
     .argument = &yes,
     .ratio_to = "a fallback over 3,000 operators"},
#ifdef BENCH_WITH_LIBTORCH
    {.name = "libtorch: 1 operator at random",
     .measure = measure_original_random,
     .argument = &typical_1.count,
     .ratio_to = "1 operator at random, typical"},
    {.name = "libtorch: 1,000 operators at random",
     .measure = measure_original_random,
     .argument = &typical_1000.count,
     .ratio_to = "1,000 operators at random, typical"},
    {.name = "libtorch: 5,000 operators at random",
     .measure = measure_original_random,
     .argument = &typical_5000.count,
     .ratio_to = "5,000 operators at random, typical"},
    {.name = "libtorch start-up: 3,000 operators with 5 kernels",
     .measure = measure_original_start_up,
     .ratio_to = "start-up: 3,000 operators with 5 kernels, one transaction"},
    {.name = "libtorch: a fallback over all it has",
     .measure = measure_original_fallback,
     .ratio_to = "a fallback over 3,000 operators"},
#endif
};

int main(int argc, char **argv)
{
    static const bench_question question = {.group = "scale",
                                            .variants = variants,
                                            .count = BENCH_COUNT(variants),
                                            .has_threads = true,
                                            .set_up = set_up};
    return bench_main(&question, argc, argv);
}
