// One boxed value for each tag, and which of them fit.
// SPDX-License-Identifier: MIT

#ifndef TESTS_UNIT_SIGNATURE_VALUES_H
#define TESTS_UNIT_SIGNATURE_VALUES_H

#include <keyway/value.h>

enum {
    TAG_COUNT = 20
};

// Which values of one_of_each() a letter takes.
typedef struct fit_row {
    const char *letter;
    const char *fits; // '+' or '-' for each; '!' is refused as symbolic
} fit_row;

// None bool int float Device str Tensor Tensor[] int[] float[] bool[] Generator complex SymInt
// SymBool SymInt[] list tuple dict object
//
// The symbolic ones are nodes. What is counted is counted so that nobody gives it back.
static inline kw_value one_of_each(size_t index)
{
    static int tensor;
    static int generator;
    static void *const tensors[] = {&tensor};
    static const int64_t integer = 1;
    static const double number = 1;
    static const bool truth = true;
    static const kw_complex complex_number = {1, 2};
    static kw_symint symint;
    static kw_value values[2];
    static kw_object *object;
    if (object == NULL) {
        const kw_object_options options = {.struct_size = sizeof options, .type_name = "t"};
        if (kw_object_create(&options, &object, NULL) != KW_OK) {
            return kw_value_none();
        }
        symint = kw_symint_node(object);
        values[0] = kw_value_int(1);
        values[1] = kw_value_int(2);
    }
    const kw_value all[TAG_COUNT] = {
        kw_value_none(),
        kw_value_bool(true),
        kw_value_int(3),
        kw_value_float(2.5),
        kw_value_device((kw_device){1, 0}),
        kw_value_string("x"),
        kw_value_tensor(&tensor),
        kw_value_tensors((kw_tensor_list){tensors, 1}),
        kw_value_ints((kw_int_list){&integer, 1}),
        kw_value_floats((kw_float_list){&number, 1}),
        kw_value_bools((kw_bool_list){&truth, 1}),
        kw_value_generator(&generator),
        kw_value_complex(&complex_number),
        kw_value_symint(symint),
        kw_value_symbool(object),
        kw_value_symints((kw_symint_list){&symint, 1}),
        kw_value_values((kw_value_list){values, 2}),
        kw_value_tuple((kw_value_list){values, 2}),
        kw_value_dict((kw_value_list){values, 2}),
        kw_value_object(object),
    };
    return all[index];
}

#endif // TESTS_UNIT_SIGNATURE_VALUES_H
