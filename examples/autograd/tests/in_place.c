// Changes in place: versions, views and their bases, and what is refused.
//
// Layer:     example test
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "test.h"

static uint32_t version_of(const kw_tensor *tensor)
{
    uint32_t version = 0;
    CHECK_OK(kw_tensor_version(tensor, &version, NULL));
    return version;
}

// Versions ---------------------------------------------------------------------------------------

static void changed_input_is_found(void)
{
    uint64_t seed = 1;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(clone, x);
    kw_tensor *z = OP(sum, OP(mul, y, y), NULL, false);
    (void)OP(add_, y, x, 1);
    CHECK_REFUSED(GRAD_MODIFIED,
                  "math::mul needs a tensor as it was at version 0; it is at version 1",
                  grad_backward(z, NULL, false));
    CHECK(grad_of(x) == NULL);
}

static void changed_output_is_found(void)
{
    uint64_t seed = 2;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(exp, x);
    kw_tensor *z = OP(sum, y, NULL, false);
    (void)OP(mul_, y, y);
    (void)OP(mul_, y, y);
    CHECK_REFUSED(GRAD_MODIFIED,
                  "math::exp needs a tensor as it was at version 0; it is at version 2",
                  grad_backward(z, NULL, false));
}

static void change_through_a_view_or_detached_is_found(void)
{
    uint64_t seed = 3;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *constant = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 2);
    kw_tensor *z = OP(sum, OP(mul, x, constant), NULL, false);
    (void)OP(fill_, OP(select, constant, 0, 1), 7);
    CHECK_REFUSED(GRAD_MODIFIED, "math::mul", grad_backward(z, NULL, false));

    kw_tensor *y = OP(exp, x);
    kw_tensor *detached = NULL;
    z = OP(sum, y, NULL, false);
    CHECK_OK(kw_tensor_detach(y, &detached, NULL));
    (void)OP(fill_, test_keep(detached), 7);
    CHECK_REFUSED(GRAD_MODIFIED, "math::exp", grad_backward(z, NULL, false));
}

// What an operator has saved that changed a view is looked at too.
static void changed_factor_of_a_view_is_found(void)
{
    uint64_t seed = 12;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *base = OP(expand, x, LIST(2, 2));
    kw_tensor *copy = OP(clone, base);
    kw_tensor *factor = OP(clone, x);
    (void)OP(mul_, OP(select, copy, 0, 0), factor);
    kw_tensor *z = OP(sum, copy, NULL, false);
    (void)OP(add_, factor, x, 1);
    CHECK_REFUSED(GRAD_MODIFIED, "math::mul_ needs a tensor", grad_backward(z, NULL, false));
}

static void change_of_what_nobody_saved_is_right(void)
{
    uint64_t seed = 4;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(scale, x, 2);
    kw_tensor *z = OP(sum, OP(scale, y, 3), NULL, false);
    (void)OP(fill_, y, 0);
    CHECK_OK(grad_backward(z, NULL, false));
    CHECK(test_at(grad_of(x), 0) == 6);
}

static void versions_count_below_autograd_too(void)
{
    uint64_t seed = 5;
    kw_tensor *x = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 2);
    kw_local_guard guard;
    CHECK(version_of(x) == 0);
    CHECK_OK(kw_local_below_autograd(&guard));
    (void)OP(add_, x, x, 1);
    kw_local_restore(&guard);
    CHECK(version_of(x) == 1);
    (void)OP(add_, OP(view, x, LIST(1, 2)), x, 1);
    CHECK(version_of(x) == 2);
    CHECK(version_of(OP(clone, x)) == 0);
}

// What is refused --------------------------------------------------------------------------------

static void leaf_is_not_changed(void)
{
    uint64_t seed = 6;
    kw_tensor *out = NULL;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2), 1, 2);
    const double before = test_at(x, 0);
    CHECK_REFUSED(GRAD_REFUSED, "math::mul_ would change a leaf in place",
                  math_mul__call(x, y, &out));
    CHECK_REFUSED(GRAD_REFUSED, "math::fill_ would change a leaf",
                  math_fill__call(OP(select, x, 0, 0), 1, &out));
    CHECK(out == NULL && test_at(x, 0) == before && version_of(x) == 0);

    kw_local_guard guard;
    CHECK_OK(kw_local_below_autograd(&guard));
    (void)OP(mul_, x, y);
    kw_local_restore(&guard);
    CHECK(test_at(x, 0) == before * test_at(y, 0) && grad_is_leaf(x));
}

static void view_made_unrecorded_is_not_changed(void)
{
    uint64_t seed = 7;
    kw_tensor *out = NULL;
    kw_local_guard guard;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(scale, x, 2);
    CHECK_OK(kw_local_below_autograd(&guard));
    kw_tensor *row = OP(select, y, 0, 0);
    kw_local_restore(&guard);
    CHECK(!grad_is_required(row));
    CHECK_REFUSED(GRAD_REFUSED, "a view in place that was made while nothing was recorded",
                  math_mul__call(row, OP(select, x, 0, 0), &out));
    CHECK_REFUSED(GRAD_REFUSED, "a view in place that was made while nothing was recorded",
                  math_fill__call(row, 7, &out)); // the base would not know
}

static void expanded_view_is_not_changed(void)
{
    uint64_t seed = 8;
    kw_tensor *out = NULL;
    kw_tensor *x = test_leaf(&seed, LIST(1, 2), 1, 2);
    kw_tensor *wide = OP(expand, OP(clone, x), LIST(3, 2));
    CHECK_REFUSED(GRAD_REFUSED, "an expanded view", math_mul__call(wide, x, &out));
}

static void growing_is_refused_without_a_trace(void)
{
    uint64_t seed = 9;
    kw_tensor *out = NULL;
    kw_tensor *x = test_leaf(&seed, LIST(2), 1, 2);
    kw_tensor *y = OP(clone, x);
    kw_tensor *wide = test_random(&seed, KW_DTYPE_FLOAT64, LIST(3, 2), 1, 2);
    CHECK_REFUSED(KW_INVALID_ARGUMENT, "larger than what is changed",
                  math_add__call(y, wide, 1, &out));
    CHECK_OK(grad_backward(OP(sum, y, NULL, false), NULL, false));
    CHECK(test_at(grad_of(x), 0) == 1);
}

// Views and their base ---------------------------------------------------------------------------

// What gradients are then, tests/formulas.c shows: write_row, write_chain and others.

static void write_into_a_constant_makes_it_a_result(void)
{
    uint64_t seed = 10;
    kw_tensor *const leaf = test_leaf(&seed, LIST(2), -1, 1);
    kw_tensor *base = test_random(&seed, KW_DTYPE_FLOAT64, LIST(3, 2), -1, 1);
    kw_tensor *row = OP(select, base, 0, 1);
    CHECK(!grad_is_required(base) && !grad_is_required(row));
    (void)OP(mul_, row, leaf);
    CHECK(grad_is_required(base) && grad_is_required(row));
    CHECK(!grad_is_leaf(base) && !grad_is_leaf(row));
}

static void base_that_is_not_contiguous_is_refused(void)
{
    kw_error err = KW_ERROR_INIT;
    uint64_t seed = 11;
    kw_tensor *out = NULL;
    kw_tensor *turned = NULL;
    kw_tensor *x = test_leaf(&seed, LIST(2), -1, 1);
    kw_tensor *memory = test_random(&seed, KW_DTYPE_FLOAT64, LIST(2, 2), -1, 1);
    CHECK_OK(kw_tensor_transpose(memory, 0, 1, &turned, &err)); // with no layer: a base of its own
    kw_tensor *row = OP(select, test_keep(turned), 0, 1);
    CHECK_REFUSED(GRAD_REFUSED, "whose base is not contiguous", math_mul__call(row, x, &out));
}

const test_case test_in_place[] = {
    {"changed_input_is_found", changed_input_is_found},
    {"changed_output_is_found", changed_output_is_found},
    {"change_through_a_view_or_detached_is_found", change_through_a_view_or_detached_is_found},
    {"changed_factor_of_a_view_is_found", changed_factor_of_a_view_is_found},
    {"change_of_what_nobody_saved_is_right", change_of_what_nobody_saved_is_right},
    {"versions_count_below_autograd_too", versions_count_below_autograd_too},
    {"leaf_is_not_changed", leaf_is_not_changed},
    {"view_made_unrecorded_is_not_changed", view_made_unrecorded_is_not_changed},
    {"expanded_view_is_not_changed", expanded_view_is_not_changed},
    {"growing_is_refused_without_a_trace", growing_is_refused_without_a_trace},
    {"write_into_a_constant_makes_it_a_result", write_into_a_constant_makes_it_a_result},
    {"base_that_is_not_contiguous_is_refused", base_that_is_not_contiguous_is_refused},
    {NULL, NULL},
};
