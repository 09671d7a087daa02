// Graphs: random ones, long ones, and what comes of them when they are gone back through.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdio.h>

#include "differences.h"

// Random graphs ----------------------------------------------------------------------------------

#define GRAPH_COUNT 15
#define GRAPH_STEPS 10
#define VALUES_MAX (FUNCTION_INPUTS_MAX + GRAPH_STEPS)

static unsigned pick(uint64_t *seed, unsigned count)
{
    return (unsigned)test_number(seed, 0, count);
}

// A matrix of 3 by 3 from one or two others. Values stay of order one: tame() keeps products and
// powers small.
static kw_tensor *tame(kw_tensor *x)
{
    return OP(scale, x, 0.25);
}

static kw_tensor *changed(kw_tensor *x, kw_tensor *y)
{
    kw_tensor *copy = OP(clone, x);
    kw_tensor *row = OP(select, copy, 0, 1);
    (void)OP(mul_, row, OP(select, y, 1, 2));
    (void)OP(add_, OP(slice, copy, 1, 0, 2), OP(slice, y, 1, 1, 3), 0.5);
    return copy;
}

static kw_tensor *step(uint64_t *seed, kw_tensor *x, kw_tensor *y)
{
    switch (pick(seed, 10)) {
    case 0:
        return OP(add, x, y, -0.5);
    case 1:
        return OP(mul, tame(x), y);
    case 2:
        return OP(matmul, tame(x), y);
    case 3:
        return OP(exp, tame(x));
    case 4:
        return OP(transpose, x, 0, 1);
    case 5:
        return OP(sub, x, OP(sum, tame(y), &LIST(0), true));
    case 6:
        return OP(mul, x, OP(mean, y));
    case 7:
        return OP(div, x, OP(exp, tame(y)));
    case 8:
        return changed(x, y);
    default:
        return OP(log, OP(add, OP(exp, tame(x)), OP(exp, tame(y)), 1));
    }
}

// The same graph for the same context.
static kw_tensor *random_graph(kw_tensor *const *x, void *context)
{
    uint64_t seed = *(const uint64_t *)context;
    kw_tensor *values[VALUES_MAX];
    unsigned count = 0;
    while (count < FUNCTION_INPUTS_MAX) {
        values[count] = x[count];
        count++;
    }
    while (count < VALUES_MAX) {
        kw_tensor *a = values[pick(&seed, count)];
        values[count] = step(&seed, a, values[pick(&seed, count)]);
        count++;
    }
    kw_tensor *sum = values[0];
    for (unsigned i = 1; i < count; i++) {
        sum = OP(add, sum, values[i], 1);
    }
    return sum;
}

static void random_graphs(void)
{
    for (uint64_t number = 1; number <= GRAPH_COUNT; number++) {
        uint64_t graph = number;
        uint64_t seed = 1000 + number;
        kw_tensor *leaves[FUNCTION_INPUTS_MAX];
        (void)fprintf(stderr, "graph of seed %llu\n", (unsigned long long)graph);
        for (unsigned i = 0; i < FUNCTION_INPUTS_MAX; i++) {
            leaves[i] = test_leaf(&seed, LIST(3, 3), -1, 1);
        }
        test_differences(random_graph, &graph, leaves, FUNCTION_INPUTS_MAX, seed);
        test_release_all();
    }
}

// Long and wide ----------------------------------------------------------------------------------

// A recursion takes 16 bytes a node at the least, three times the stack. Sanitizers, which look for
// other things, get a tenth of the chain.
#define SMALL_STACK ((size_t)512 * 1024)
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CHAIN_LENGTH 10000
#else
#define CHAIN_LENGTH 100000
#endif

// y = x + 1 - 1 + 1 - ...: only the last result is held.
static void *run_chain(void *context)
{
    uint64_t seed = 1;
    kw_tensor *x = test_leaf(&seed, LIST(2), -1, 1);
    kw_tensor *one = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 1);
    kw_tensor *y = x;
    kw_tensor_retain(y);
    for (int i = 0; i < CHAIN_LENGTH; i++) {
        kw_tensor *next = NULL;
        CHECK_OK(math_add_call(y, one, i % 2 == 0 ? 1 : -1, &next));
        kw_tensor_release(y);
        y = next;
    }
    CHECK_OK(grad_backward(test_keep(y), one, false));
    CHECK(test_at(grad_of(x), 0) == 1 && test_at(grad_of(x), 1) == 1);
    test_release_all();
    return context;
}

static void long_chain_is_no_recursion(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, run_chain, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void input_used_often_gets_the_sum(void)
{
    uint64_t seed = 2;
    kw_tensor *x = test_leaf(&seed, LIST(3), -1, 1);
    kw_tensor *y = OP(add, x, x, 1);
    for (int i = 0; i < 98; i++) {
        y = OP(add, y, x, 1);
    }
    CHECK_OK(grad_backward(OP(sum, y, NULL, false), NULL, false));
    CHECK(test_at(grad_of(x), 0) == 100 && test_at(grad_of(x), 2) == 100);
}

// Each node must wait for both ways through the one before: with every way gone for itself, 2^30
// steps would be made.
static void diamonds_are_gone_through_once(void)
{
    uint64_t seed = 3;
    kw_tensor *x = test_leaf(&seed, LIST(1), 1, 1);
    kw_tensor *y = x;
    for (int i = 0; i < 30; i++) {
        y = OP(add, y, y, 1);
    }
    CHECK_OK(grad_backward(y, NULL, false));
    CHECK(test_item(grad_of(x)) == (double)(1 << 30));
}

// What the kernel of mean calls is below the layer: recording takes the same memory as for scale.
static void mean_is_one_node(void)
{
    uint64_t seed = 11;
    kw_tensor *leaf = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *constant = OP(clone, leaf);
    CHECK_OK(kw_tensor_set_autograd(constant, NULL, NULL));
    test_memory_fail(0, false);
    (void)OP(scale, constant, 2);
    const uint64_t plain_scale = test_memory_asked();
    (void)OP(scale, leaf, 2);
    const uint64_t scale = test_memory_asked() - plain_scale;
    test_memory_fail(0, false);
    (void)OP(mean, constant);
    const uint64_t plain_mean = test_memory_asked();
    (void)OP(mean, leaf);
    const uint64_t mean = test_memory_asked() - plain_mean;
    CHECK(scale > plain_scale && mean - plain_mean == scale - plain_scale);
}

// Going back -------------------------------------------------------------------------------------

static void gradients_add_up(void)
{
    uint64_t seed = 4;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    CHECK(grad_of(x) == NULL);
    CHECK_OK(grad_backward(OP(sum, OP(scale, x, 3), NULL, false), NULL, false));
    CHECK(test_at(grad_of(x), 0) == 3);
    CHECK_OK(grad_backward(OP(sum, OP(scale, x, 4), NULL, false), NULL, false));
    CHECK(test_at(grad_of(x), 0) == 7);
    grad_clear(x);
    CHECK(grad_of(x) == NULL);
}

static void leaves_share_no_gradient(void)
{
    uint64_t seed = 5;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = test_leaf(&seed, LIST(2), 1, 2);
    CHECK_OK(grad_backward(OP(add, x, y, 1), x, false));
    CHECK(grad_of(x) != grad_of(y));
    CHECK(kw_tensor_storage(grad_of(x)) != kw_tensor_storage(grad_of(y)));
    CHECK(kw_tensor_storage(grad_of(x)) != kw_tensor_storage(x));
}

static void second_time_needs_retain(void)
{
    uint64_t seed = 6;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(sum, OP(mul, x, x), NULL, false);
    CHECK_OK(grad_backward(y, NULL, true));
    CHECK_OK(grad_backward(y, NULL, false));
    CHECK(test_at(grad_of(x), 0) == 4 * test_at(x, 0));
    CHECK_REFUSED(GRAD_FREED, "math::sum has saved is freed", grad_backward(y, NULL, false));
    CHECK(test_at(grad_of(x), 0) == 4 * test_at(x, 0));
}

// The graph is there, and what it has saved is not, also of what was done to a view in place.
static void pass_releases_what_is_saved(void)
{
    uint64_t seed = 12;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *copy = OP(clone, x);
    (void)OP(mul_, OP(slice, copy, 0, 0, 2), x);
    kw_tensor *y = OP(sum, OP(mul, copy, x), NULL, false);
    const uint32_t users = kw_storage_use_count(kw_tensor_storage(x));
    CHECK(users == 3);
    CHECK_OK(grad_backward(y, NULL, true));
    CHECK(kw_storage_use_count(kw_tensor_storage(x)) == users);
    CHECK_OK(grad_backward(y, NULL, false));
    CHECK(kw_storage_use_count(kw_tensor_storage(x)) == 1);
}

static void wrong_results_and_seeds_are_refused(void)
{
    uint64_t seed = 7;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *constant = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 2);
    kw_tensor *y = OP(mul, x, x);
    CHECK_REFUSED(GRAD_REFUSED, "has 2 elements", grad_backward(y, NULL, false));
    CHECK_REFUSED(GRAD_REFUSED, "shape and type",
                  grad_backward(y, OP(sum, constant, NULL, true), false));
    CHECK_REFUSED(GRAD_REFUSED, "nothing was recorded", grad_backward(constant, NULL, false));
    CHECK(!grad_is_required(OP(mul, constant, constant)) && !grad_is_required(constant));
    CHECK(grad_is_required(y) && !grad_is_leaf(y) && grad_is_leaf(x));
    CHECK_REFUSED(GRAD_REFUSED, "detach it first", grad_require(y));
    CHECK_OK(grad_require(x));
}

// An output that its own node has saved ends with its last user, and only its elements stay.
static void node_does_not_keep_its_output(void)
{
    uint64_t seed = 8;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = NULL;
    CHECK_OK(math_exp_call(x, &y));
    kw_tensor *z = OP(sum, y, NULL, false);
    kw_tensor_weak_retain(y);
    kw_tensor_release(y);
    CHECK(!kw_tensor_lock(y));
    kw_tensor_weak_release(y);
    CHECK_OK(grad_backward(z, NULL, false));
    CHECK(test_same(grad_of(x), OP(exp, x)));
}

static void leaf_may_end_before_its_graph(void)
{
    uint64_t seed = 9;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *z = OP(sum, OP(mul, x, y), NULL, false);
    kw_tensor_retain(z);
    kw_tensor_retain(y);
    test_release_all();
    CHECK_OK(grad_backward(test_keep(z), NULL, false));
    CHECK(grad_of(test_keep(y)) != NULL);
}

static void float32_has_gradients_too(void)
{
    uint64_t seed = 10;
    kw_tensor *x = test_random(&seed, KW_DTYPE_FLOAT32, LIST(2, 3), 1, 2);
    kw_tensor *w = test_random(&seed, KW_DTYPE_FLOAT32, LIST(3, 2), 1, 2);
    CHECK_OK(grad_require(w));
    CHECK_OK(grad_backward(OP(sum, OP(matmul, x, w), NULL, false), NULL, false));
    CHECK(kw_tensor_dtype(grad_of(w)) == KW_DTYPE_FLOAT32);
    CHECK(test_at(grad_of(w), 0) == (double)((float)test_at(x, 0) + (float)test_at(x, 3)));
}

const test_case test_graphs[] = {
    {"random_graphs", random_graphs},
    {"long_chain_is_no_recursion", long_chain_is_no_recursion},
    {"input_used_often_gets_the_sum", input_used_often_gets_the_sum},
    {"diamonds_are_gone_through_once", diamonds_are_gone_through_once},
    {"mean_is_one_node", mean_is_one_node},
    {"gradients_add_up", gradients_add_up},
    {"leaves_share_no_gradient", leaves_share_no_gradient},
    {"second_time_needs_retain", second_time_needs_retain},
    {"pass_releases_what_is_saved", pass_releases_what_is_saved},
    {"wrong_results_and_seeds_are_refused", wrong_results_and_seeds_are_refused},
    {"node_does_not_keep_its_output", node_does_not_keep_its_output},
    {"leaf_may_end_before_its_graph", leaf_may_end_before_its_graph},
    {"float32_has_gradients_too", float32_has_gradients_too},
    {NULL, NULL},
};
