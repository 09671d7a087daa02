// Libraries that come and go between the way forward and the way back.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "test.h"

// Kernels that can be told from the example's: their products are twice as large.
static kw_status doubled_mul(const kw_kernel *self, kw_keyset keys, kw_tensor *a, kw_tensor *b,
                             kw_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)b;
    return math_scale_call(a, 2, out_0);
}

static kw_library *open_doubled(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    const kw_library_options options = {.struct_size = sizeof options, .name = "doubled"};
    const kw_kernel_descriptor kernel = math_mul_unboxed(doubled_mul);
    CHECK_OK(kw_library_create(&options, &library, &err));
    CHECK_OK(kw_library_impl(library, MATH_MUL_NAME, KW_KEY_CPU, &kernel, NULL, &err));
    return library;
}

static void end(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    if (grad_library_end(library, &err) != KW_OK) {
        test_fail(__FILE__, __LINE__, "the library ends", err.text);
    }
}

static void backend_may_be_exchanged_before_going_back(void)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t seed = 1;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(sum, OP(exp, OP(mul, x, x)), NULL, false);
    kw_library *before = test_layers.cpu;
    CHECK_OK(grad_cpu_open(&test_layers.cpu, &err));
    end(before);
    CHECK_OK(grad_backward(y, NULL, false));
    kw_tensor *wanted = OP(mul, OP(scale, x, 2), OP(exp, OP(mul, x, x)));
    for (int64_t i = 0; i < 2; i++) {
        CHECK(test_at(grad_of(x), i) == test_at(wanted, i));
    }
}

static void way_back_uses_the_kernels_of_its_time(void)
{
    uint64_t seed = 2;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(sum, OP(mul, x, x), NULL, false);
    kw_library *doubled = open_doubled();
    CHECK_OK(grad_backward(y, NULL, false));
    CHECK(test_at(grad_of(x), 0) == 4); // 2 of each factor, where 2 x would be right
    end(doubled);
}

// Nodes hold the layer whose formulas they have: it can be closed, but not taken out of memory.
static void graph_holds_the_autograd_layer(void)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t seed = 3;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    const size_t kept = test_kept_count();
    kw_tensor *y = OP(sum, OP(mul, x, x), NULL, false);
    kw_library *layer = test_layers.autograd;
    CHECK(grad_library_end(layer, &err) == KW_BUSY);
    CHECK(test_has(err.text, "math_autograd has 2 leases outstanding, one of them a `tape node`"));

    // Nothing new is recorded; the graph that there is can be gone back through.
    CHECK(!grad_is_required(OP(mul, x, x)));
    CHECK_OK(grad_backward(y, NULL, false));
    CHECK(test_at(grad_of(x), 0) == 2 * test_at(x, 0));
    CHECK(grad_library_end(layer, &err) == KW_BUSY);
    test_release_to(kept);
    end(layer);

    CHECK_OK(grad_autograd_open(&test_layers.autograd, &err));
    CHECK(grad_is_required(OP(mul, x, x)));
}

// A network's answer is made of one version's kernels, whatever is committed meanwhile.
static void snapshot_covers_a_whole_way_forward(void)
{
    uint64_t seed = 4;
    kw_snapshot snapshot;
    kw_tensor *x = test_leaf(&seed, LIST(2), 3, 3);

    CHECK_OK(kw_snapshot_open(&snapshot));
    kw_tensor *first = OP(mul, x, x);
    kw_library *doubled = open_doubled();
    kw_tensor *second = OP(mul, first, x);
    CHECK(test_at(second, 0) == 27);
    CHECK_OK(grad_backward(OP(sum, second, NULL, false), NULL, false));
    CHECK(test_at(grad_of(x), 0) == 27);
    CHECK_OK(kw_snapshot_close(&snapshot));

    CHECK(test_at(OP(mul, first, x), 0) == 18);
    end(doubled);
    CHECK(test_at(OP(mul, first, x), 0) == 27);
}

const test_case test_libraries[] = {
    {"backend_may_be_exchanged_before_going_back", backend_may_be_exchanged_before_going_back},
    {"way_back_uses_the_kernels_of_its_time", way_back_uses_the_kernels_of_its_time},
    {"graph_holds_the_autograd_layer", graph_holds_the_autograd_layer},
    {"snapshot_covers_a_whole_way_forward", snapshot_covers_a_whole_way_forward},
    {NULL, NULL},
};
