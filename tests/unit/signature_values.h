// One boxed value for each tag, and which of them fit.
// SPDX-License-Identifier: MIT

#ifndef TESTS_UNIT_SIGNATURE_VALUES_H
#define TESTS_UNIT_SIGNATURE_VALUES_H

#include <keyway/value.h>

enum {
    TAG_COUNT = 11
};

// Which values of one_of_each() a letter takes.
typedef struct fit_row {
    const char *letter;
    const char *fits; // '+' or '-' for each
} fit_row;

// None bool int float str Tensor Tensor[] int[] float[] bool[] Generator
static inline kw_value one_of_each(size_t index)
{
    static int tensor;
    static int generator;
    static void *const tensors[] = {&tensor};
    static const int64_t integer = 1;
    static const double number = 1;
    static const bool truth = true;
    const kw_value values[TAG_COUNT] = {
        kw_value_none(),
        kw_value_bool(true),
        kw_value_int(3),
        kw_value_float(2.5),
        kw_value_string("x"),
        kw_value_tensor(&tensor),
        kw_value_tensors((kw_tensor_list){tensors, 1}),
        kw_value_ints((kw_int_list){&integer, 1}),
        kw_value_floats((kw_float_list){&number, 1}),
        kw_value_bools((kw_bool_list){&truth, 1}),
        kw_value_generator(&generator),
    };
    return values[index];
}

#endif // TESTS_UNIT_SIGNATURE_VALUES_H
