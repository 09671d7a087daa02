// Owned values: what a copy holds, what it retains, and what ends with it.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/value.h>

#include "base/memory.h"

typedef struct tensor {
    int references;
} tensor;

static void retain(void *any)
{
    ((tensor *)any)->references++;
}

static void release(void *any)
{
    ((tensor *)any)->references--;
}

static const kw_tensor_type type = {
    .struct_size = sizeof type, .name = "t", .retain = retain, .release = release};
static const kw_tensor_type uncounted = {.struct_size = sizeof uncounted, .name = "u"};

static int nodes_alive;

static void end_node(void *data)
{
    (void)data;
    nodes_alive--;
}

static kw_object *make_node(void)
{
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = "node", .destroy = end_node};
    kw_object *node = NULL;
    cr_assert_eq(kw_object_create(&options, &node, NULL), KW_OK);
    nodes_alive++;
    return node;
}

static kw_value own(kw_value borrowed, const kw_tensor_type *of)
{
    kw_value owned;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_value_own(&borrowed, of, &owned, &err), KW_OK, "%s", err.text);
    return owned;
}

// An owned copy equals its view, has other memory and outlives what the view shows.
static kw_value own_copy(kw_value view)
{
    kw_value owned = own(view, &type);
    cr_expect_eq(owned.tag, view.tag);
    cr_expect_eq(owned.count, view.count);
    cr_expect_eq(owned.flags, KW_VALUE_COUNTED);
    cr_expect_neq(owned.as.bits, view.as.bits);
    cr_expect(kw_value_equal(&owned, &view));
    return owned;
}

Test(value_own, plain_values_are_themselves)
{
    const kw_device cuda = {1, 0};
    const kw_value values[] = {kw_value_none(), kw_value_bool(true), kw_value_int(-3),
                               kw_value_float(0.5), kw_value_device(cuda)};
    uint64_t count = kwi_memory_count();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        kw_value owned = own(values[i], NULL);
        cr_expect_eq(memcmp(&owned, &values[i], sizeof owned), 0);
        kw_value_release(&owned, NULL);
        cr_expect_eq(owned.tag, KW_TAG_NONE);
    }
    cr_expect_eq(kwi_memory_count(), count);
}

Test(value_own, views_of_each_sort_are_copied)
{
    uint64_t bytes = kwi_memory_bytes();
    char text[] = "text";
    kw_complex number = {1, -2};
    int64_t ints[] = {1, 2, 3};
    double floats[] = {0.5};
    bool bools[] = {true, false};
    kw_symint symints[] = {kw_symint_int(7), kw_symint_int(-1)};
    kw_value values[] = {kw_value_int(1), kw_value_string(text)};
    kw_value views[] = {kw_value_string(text),
                        kw_value_complex(&number),
                        kw_value_ints((kw_int_list){ints, 3}),
                        kw_value_floats((kw_float_list){floats, 1}),
                        kw_value_bools((kw_bool_list){bools, 2}),
                        kw_value_symints((kw_symint_list){symints, 2}),
                        kw_value_values((kw_value_list){values, 2}),
                        kw_value_tuple((kw_value_list){values, 2}),
                        kw_value_dict((kw_value_list){values, 2})};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        kw_value owned = own_copy(views[i]);
        kw_value again = own(owned, NULL);
        cr_expect_eq(again.as.bits, owned.as.bits, "a counted value is shared");
        kw_value_release(&owned, NULL);
        cr_expect(kw_value_equal(&again, &views[i]));
        kw_value_release(&again, NULL);
        cr_expect_eq(kwi_memory_bytes(), bytes);
    }
}

Test(value_own, empty_views_are_copied)
{
    uint64_t bytes = kwi_memory_bytes();
    const kw_value views[] = {kw_value_string(""), kw_value_ints((kw_int_list){NULL, 0}),
                              kw_value_tensors((kw_tensor_list){NULL, 0}),
                              kw_value_values((kw_value_list){NULL, 0}),
                              kw_value_dict((kw_value_list){NULL, 0})};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        kw_value owned = own(views[i], NULL);
        cr_expect_eq(owned.flags, KW_VALUE_COUNTED);
        cr_expect(kw_value_equal(&owned, &views[i]));
        kw_value_release(&owned, NULL);
    }
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(value_own, owned_string_ends_with_a_zero)
{
    kw_value view = kw_value_string("abc");
    view.count = 2;
    kw_value owned = own(view, NULL);
    cr_expect_str_eq(owned.as.as_string, "ab");
    kw_value_release(&owned, NULL);
}

Test(value_own, tensor_is_retained_and_released_through_its_type)
{
    tensor x = {1};
    kw_value owned = own(kw_value_tensor(&x), &type);
    cr_expect_eq(x.references, 2);
    cr_expect_eq(owned.flags, 0);
    kw_value_release(&owned, &type);
    cr_expect_eq(x.references, 1);
    owned = own(kw_value_tensor(&x), &uncounted);
    kw_value_release(&owned, &uncounted);
    owned = own(kw_value_tensor(&x), &uncounted);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 1);
}

Test(value_own, tensor_without_a_type_is_refused)
{
    uint64_t bytes = kwi_memory_bytes();
    tensor x = {1};
    void *some[] = {NULL, &x};
    void *none[] = {NULL, NULL};
    kw_value inner = kw_value_tensor(&x);
    const kw_value refused[] = {kw_value_tensor(&x), kw_value_tensors((kw_tensor_list){some, 2}),
                                kw_value_tuple((kw_value_list){&inner, 1})};
    for (size_t i = 0; i < 3; i++) {
        kw_value owned = kw_value_int(5);
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_value_own(&refused[i], NULL, &owned, &err), KW_INVALID_ARGUMENT);
        cr_expect_not_null(strstr(err.text, "tensor type"), "%s", err.text);
        cr_expect_eq(owned.as.as_int, 5, "outputs are untouched");
    }
    kw_value owned = own(kw_value_tensors((kw_tensor_list){none, 2}), NULL);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 1);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(value_own, generator_is_not_counted)
{
    tensor generator = {1};
    kw_value owned = own(kw_value_generator(&generator), &type);
    cr_expect_eq(owned.as.as_generator, &generator);
    kw_value_release(&owned, &type);
    cr_expect_eq(generator.references, 1);
}

Test(value_own, list_of_tensors_keeps_its_type)
{
    tensor x = {1};
    tensor y = {1};
    void *tensors[] = {&x, NULL, &y, &x};
    kw_value owned = own_copy(kw_value_tensors((kw_tensor_list){tensors, 4}));
    cr_expect_eq(x.references, 3);
    cr_expect_eq(y.references, 2);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 1);
    cr_expect_eq(y.references, 1);
}

Test(value_own, references_of_tensors_are_taken_over)
{
    tensor x = {1};
    tensor y = {1};
    void *tensors[] = {&x, &y, NULL};
    kw_value owned = kw_value_none();
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kw_value_own_tensors((kw_tensor_list){tensors, 3}, &type, &owned, &err),
                 KW_NO_MEMORY);
    kwi_memory_fail_at(0, false);
    cr_expect_eq(owned.tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_own_tensors((kw_tensor_list){tensors, 3}, &type, &owned, &err), KW_OK);
    cr_expect_eq(owned.tag, KW_TAG_TENSOR_LIST);
    cr_expect_eq(owned.count, 3);
    cr_expect_eq(x.references, 1);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 0);
    cr_expect_eq(y.references, 0);
    cr_expect_eq(
        kw_value_own_tensors((kw_tensor_list){NULL, (size_t)UINT32_MAX + 1}, &type, &owned, &err),
        KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_value_own_tensors((kw_tensor_list){NULL, 0}, &type, NULL, &err),
                 KW_INVALID_ARGUMENT);
}

Test(value_own, nested_values_are_copied_with_all_they_hold)
{
    uint64_t bytes = kwi_memory_bytes();
    tensor x = {1};
    void *tensors[] = {&x};
    kw_symint symints[] = {kw_symint_int(1), kw_symint_node(make_node())};
    kw_value members[] = {kw_value_tensor(&x), kw_value_tensors((kw_tensor_list){tensors, 1}),
                          kw_value_symints((kw_symint_list){symints, 2}),
                          kw_value_symint(symints[1])};
    kw_value pairs[] = {kw_value_string("a"), kw_value_tuple((kw_value_list){members, 4}),
                        kw_value_string("b"), kw_value_values((kw_value_list){members, 2})};
    kw_value owned = own_copy(kw_value_dict((kw_value_list){pairs, 4}));
    cr_expect_eq(x.references, 5);
    kw_object_release(kw_symint_object(symints[1]));
    cr_expect_eq(nodes_alive, 1, "the copy has references of its own");
    kw_value shared = own(owned.as.as_values[1], NULL);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 3, "the tuple lives on");
    cr_expect_eq(nodes_alive, 1);
    kw_value_release(&shared, NULL);
    cr_expect_eq(x.references, 1);
    cr_expect_eq(nodes_alive, 0);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

enum {
    DEPTH = 100000
};

Test(value_own, view_nested_a_hundred_thousand_deep_is_copied)
{
    static kw_value levels[DEPTH];
    uint64_t bytes = kwi_memory_bytes();
    tensor x = {1};
    levels[0] = kw_value_tensor(&x);
    for (int i = 1; i < DEPTH; i++) {
        levels[i] = kw_value_values((kw_value_list){&levels[i - 1], 1});
    }
    kw_value owned = own_copy(levels[DEPTH - 1]);
    cr_expect_eq(x.references, 2);
    kw_value_release(&owned, NULL);
    cr_expect_eq(x.references, 1);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(value_own, unknown_tag_is_refused)
{
    kw_value odd = kw_value_int(1);
    odd.tag = 77;
    kw_value view = kw_value_values((kw_value_list){&odd, 1});
    kw_value owned;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_value_own(&view, NULL, &owned, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "tag 77"), "%s", err.text);
    cr_expect_eq(kw_value_own(NULL, NULL, &owned, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_value_own(&view, NULL, NULL, &err), KW_INVALID_ARGUMENT);
}

Test(value_own, view_is_forgotten_at_release)
{
    kw_value view = kw_value_string("static");
    kw_value_release(&view, NULL);
    cr_expect_eq(view.tag, KW_TAG_NONE);
    kw_value_release(NULL, NULL);
}
