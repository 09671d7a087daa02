// Functions of leaves that the formulas are tested with.
//
// Layer:     example test
// Threads:   as grad.h
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// tests/torch_compare.py has the same functions, by the same names, for PyTorch.

#include "functions.h"

// FUNCTION(name, result): a function of the leaves x.
#define FUNCTION(name, result)                                                                     \
    static kw_tensor *name(kw_tensor *const *x, void *context)                                     \
    {                                                                                              \
        (void)context;                                                                             \
        return (result);                                                                           \
    }

FUNCTION(add, OP(add, x[0], x[1], -2.5))
FUNCTION(sub, OP(sub, x[0], x[1]))
FUNCTION(mul, OP(mul, x[0], x[1]))
FUNCTION(square, OP(mul, x[0], x[0]))
FUNCTION(divide, OP(div, x[0], x[1]))
FUNCTION(divide_by_itself, OP(div, x[0], x[0]))
FUNCTION(scale, OP(scale, x[0], 3.5))
FUNCTION(relu, OP(relu, x[0]))
FUNCTION(exponential, OP(exp, x[0]))
FUNCTION(logarithm, OP(log, x[0]))
FUNCTION(matmul, OP(matmul, x[0], x[1]))
FUNCTION(sum, OP(sum, x[0], NULL, false))
FUNCTION(sum_kept, OP(sum, x[0], NULL, true))
FUNCTION(sum_one, OP(sum, x[0], &LIST(-2), false))
FUNCTION(sum_two, OP(sum, x[0], &LIST(0, 2), true))
FUNCTION(mean, OP(mean, x[0]))
FUNCTION(mse_loss, OP(mse_loss, x[0], x[1]))
FUNCTION(clone, OP(clone, x[0]))
FUNCTION(transpose, OP(transpose, x[0], 0, -1))
FUNCTION(transposed_product, OP(mul, OP(transpose, x[0], 0, 1), x[1]))
FUNCTION(select_last, OP(select, x[0], 1, -1))
FUNCTION(slice, OP(slice, x[0], -1, 1, KW_SLICE_END))
FUNCTION(view, OP(view, x[0], LIST(-1, 2)))
FUNCTION(expand, OP(expand, x[0], LIST(4, 2, 3)))
FUNCTION(reshape, OP(reshape, OP(transpose, x[0], 0, 1), LIST(6)))

// In place ---------------------------------------------------------------------------------------

// On a copy, since leaves are not changed.
FUNCTION(add_in_place, OP(add_, OP(clone, x[0]), x[1], 1.5))
FUNCTION(mul_in_place, OP(mul_, OP(clone, x[0]), x[1]))

static kw_tensor *square_in_place(kw_tensor *const *x, void *context)
{
    (void)context;
    kw_tensor *y = OP(scale, x[0], 2);
    return OP(mul_, y, y);
}

static kw_tensor *fill_row(kw_tensor *const *x, void *context)
{
    (void)context;
    kw_tensor *y = OP(scale, x[0], 2);
    (void)OP(fill_, OP(select, y, 0, 1), 7);
    return OP(mul, y, x[0]);
}

// Writing into a view changes what the base, the view and other views of it are made of.
static kw_tensor *write_row(kw_tensor *const *x, void *context)
{
    (void)context;
    kw_tensor *base = OP(scale, x[0], 2);
    kw_tensor *row = OP(select, base, 0, 1);
    kw_tensor *column = OP(select, base, 1, 0);
    (void)OP(mul_, row, x[1]);
    kw_tensor *sum = OP(add, OP(exp, base), row, 1);
    return OP(add, sum, OP(mul, column, column), 1);
}

// Views of views, turned and cut, written through several of them.
static kw_tensor *write_chain(kw_tensor *const *x, void *context)
{
    (void)context;
    kw_tensor *base = OP(scale, x[0], 2);
    kw_tensor *turned = OP(transpose, base, 0, 1);
    kw_tensor *part = OP(slice, turned, 0, 1, 3);
    kw_tensor *flat = OP(view, base, LIST(6));
    (void)OP(mul_, part, x[1]);
    (void)OP(add_, OP(slice, flat, 0, 1, 3), OP(select, part, 0, 0), 0.5);
    (void)OP(mul_, turned, turned);
    return OP(add, OP(mul, part, part), OP(select, flat, 0, 5), 1);
}

// The base wants no gradient before something that does is written into it.
static kw_tensor *write_into_constant(kw_tensor *const *x, void *context)
{
    (void)context;
    uint64_t seed = 1;
    kw_tensor *base = test_random(&seed, KW_DTYPE_FLOAT64, LIST(3, 2), 2, 2);
    kw_tensor *middle = OP(select, base, 0, 1);
    kw_tensor *last = OP(select, base, 0, 2);
    (void)OP(mul_, middle, x[0]);
    return OP(mul, base, OP(add, middle, last, 1));
}

// The base is changed, and a view is used that was made before.
static kw_tensor *write_base(kw_tensor *const *x, void *context)
{
    (void)context;
    kw_tensor *base = OP(scale, x[0], 2);
    kw_tensor *row = OP(select, base, 0, 1);
    (void)OP(mul_, base, x[1]);
    return OP(exp, row);
}

#define SIZES(...)                                                                                 \
    {                                                                                              \
        (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)   \
    }
#define NO_SIZES                                                                                   \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

const test_subject test_subjects[] = {
    {"add", add, -1, 1, {SIZES(2, 3), SIZES(1, 3)}, 2},
    {"sub", sub, -1, 1, {SIZES(3), SIZES(2, 3)}, 2},
    {"mul", mul, -1, 1, {SIZES(4, 2, 3), SIZES(2, 1)}, 2},
    {"mul_number", mul, -1, 1, {SIZES(2, 3), NO_SIZES}, 2},
    {"divide", divide, 0.5, 2, {SIZES(2, 1), SIZES(1, 3)}, 2},
    {"square", square, -1, 1, {SIZES(2, 3)}, 1},
    {"divide_by_itself", divide_by_itself, 0.5, 2, {SIZES(2, 3)}, 1},
    {"scale", scale, -1, 1, {SIZES(2, 3)}, 1},
    // On both sides of the kink, and away from it: a difference across it means nothing.
    {"relu_above", relu, 0.1, 1, {SIZES(2, 3)}, 1},
    {"relu_below", relu, -1, -0.1, {SIZES(2, 3)}, 1},
    {"exponential", exponential, -1, 1, {SIZES(2, 3)}, 1},
    {"logarithm", logarithm, 0.5, 2, {SIZES(2, 3)}, 1},
    {"matmul", matmul, -1, 1, {SIZES(2, 3), SIZES(3, 4)}, 2},
    {"sum", sum, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"sum_kept", sum_kept, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"sum_one", sum_one, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"sum_two", sum_two, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"mean", mean, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"mean_number", mean, -1, 1, {NO_SIZES}, 1},
    {"mse_loss", mse_loss, -1, 1, {SIZES(2, 3), SIZES(2, 3)}, 2},
    {"clone", clone, -1, 1, {SIZES(2, 3)}, 1},
    {"transpose", transpose, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"transposed_product", transposed_product, -1, 1, {SIZES(2, 3), SIZES(3, 2)}, 2},
    {"select_last", select_last, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"slice", slice, -1, 1, {SIZES(4, 2, 3)}, 1},
    {"view", view, -1, 1, {SIZES(4, 3)}, 1},
    {"expand", expand, -1, 1, {SIZES(2, 1)}, 1},
    {"reshape", reshape, -1, 1, {SIZES(2, 3)}, 1},
    {"add_in_place", add_in_place, -1, 1, {SIZES(2, 3), SIZES(3)}, 2},
    {"mul_in_place", mul_in_place, -1, 1, {SIZES(2, 3), SIZES(3)}, 2},
    {"square_in_place", square_in_place, -1, 1, {SIZES(2, 3)}, 1},
    {"fill_row", fill_row, -1, 1, {SIZES(2, 3)}, 1},
    {"write_row", write_row, -1, 1, {SIZES(2, 2), SIZES(2)}, 2},
    {"write_chain", write_chain, -1, 1, {SIZES(2, 3), SIZES(2, 1)}, 2},
    {"write_into_constant", write_into_constant, -1, 1, {SIZES(2)}, 1},
    {"write_base", write_base, -1, 1, {SIZES(2, 2), SIZES(2)}, 2},
    {NULL, NULL, 0, 0, {NO_SIZES}, 0},
};
