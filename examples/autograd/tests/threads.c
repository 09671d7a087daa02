// Threads: graphs of their own that share leaves, while kernels are exchanged.
//
// Layer:     example test
// Threads:   several
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdatomic.h>

#include <keyway/local.h>

#include "test.h"

#define THREAD_COUNT 4
#define ROUNDS 60

static kw_tensor *shared_weight;
static atomic_bool writer_goes_on;

// Integers throughout, so that sums are the same in any order: each pass adds `number` to every
// element of the weight's gradient, and 1 + number to that of its own.
static void *work(void *context)
{
    const double number = *(const double *)context;
    uint64_t seed = 1;
    kw_tensor *own = test_leaf(&seed, LIST(3), 1, 1);
    kw_tensor *input = test_random(&seed, KW_DTYPE_FLOAT64, LIST(3), number, number);
    kw_tensor *shift = OP(clone, input);
    const size_t kept = test_kept_count();
    for (int i = 0; i < ROUNDS; i++) {
        kw_tensor *left = OP(mul, shared_weight, input);
        (void)OP(mul_, OP(slice, left, 0, 0, 3), own);
        kw_tensor *sum = OP(add, left, own, 1);
        CHECK_OK(grad_backward(OP(sum, OP(add, sum, shift, 1), NULL, false), NULL, false));
        test_release_to(kept);
    }
    CHECK(test_at(grad_of(own), 2) == ROUNDS * (1 + number));
    test_release_all();
    return NULL;
}

static void *exchange(void *context)
{
    (void)context;
    while (atomic_load(&writer_goes_on)) {
        kw_error err = KW_ERROR_INIT;
        kw_library *before = test_layers.cpu;
        CHECK_OK(grad_cpu_open(&test_layers.cpu, &err));
        CHECK_OK(kw_library_close(before, &err));
        CHECK_OK(kw_library_drain(before, KW_FOREVER, &err));
        CHECK_OK(kw_library_destroy(before, &err));
    }
    return NULL;
}

static void graphs_that_share_a_leaf(void)
{
    uint64_t seed = 1;
    pthread_t threads[THREAD_COUNT];
    pthread_t writer;
    double numbers[THREAD_COUNT];
    double wanted = 0;
    shared_weight = test_leaf(&seed, LIST(3), 1, 1);
    atomic_store(&writer_goes_on, true);
    CHECK(pthread_create(&writer, NULL, exchange, NULL) == 0);
    for (int i = 0; i < THREAD_COUNT; i++) {
        numbers[i] = i + 1;
        wanted += ROUNDS * numbers[i];
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREAD_COUNT; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    atomic_store(&writer_goes_on, false);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(test_at(grad_of(shared_weight), 0) == wanted);
}

// What a thread includes and excludes is its own: others record all the while.
static void *infer(void *context)
{
    kw_local_guard guard;
    CHECK_OK(kw_local_inference_mode(true, &guard));
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(kw_tensor_is_inference(OP(mul, shared_weight, shared_weight)));
        test_release_all();
    }
    kw_local_restore(&guard);
    return context;
}

static void inference_beside_training(void)
{
    uint64_t seed = 2;
    pthread_t threads[2];
    double number = 1;
    shared_weight = test_leaf(&seed, LIST(3), 1, 1);
    CHECK(pthread_create(&threads[0], NULL, infer, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, work, &number) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_join(threads[1], NULL) == 0);
    CHECK(test_at(grad_of(shared_weight), 0) == ROUNDS);
}

// A graph belongs to one thread at a time, and not always to the same.
static void *go_back(void *context)
{
    CHECK_OK(grad_backward(test_keep(context), NULL, false));
    test_release_all();
    return NULL;
}

static void graph_is_handed_over(void)
{
    uint64_t seed = 3;
    pthread_t thread;
    kw_tensor *x = test_leaf(&seed, LIST(3), 1, 1);
    kw_tensor *result = NULL;
    CHECK_OK(math_sum_call(OP(mul, OP(exp, x), x), NULL, false, &result));
    CHECK(pthread_create(&thread, NULL, go_back, result) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(test_same(grad_of(x), OP(scale, OP(exp, x), 2)));
}

const test_case test_threads[] = {
    {"graphs_that_share_a_leaf", graphs_that_share_a_leaf},
    {"inference_beside_training", inference_beside_training},
    {"graph_is_handed_over", graph_is_handed_over},
    {NULL, NULL},
};
