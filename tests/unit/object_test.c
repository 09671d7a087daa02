// Counted objects: their data, their references, and the depth that releasing bears.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/value.h>

#include "base/memory.h"

static int destroyed;

static void count_destroy(void *data)
{
    destroyed++;
    *(int *)data += 1;
}

static kw_object *make(int *data)
{
    const kw_object_options options = {.struct_size = sizeof options,
                                       .type_name = "t.Class",
                                       .data = data,
                                       .destroy = count_destroy};
    kw_object *object = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_object_create(&options, &object, &err), KW_OK, "%s", err.text);
    return object;
}

Test(object, last_release_destroys_once)
{
    uint64_t bytes = kwi_memory_bytes();
    int data = 0;
    kw_object *object = make(&data);
    cr_expect_eq(kw_object_data(object), &data);
    cr_expect_str_eq(kw_object_type_name(object), "t.Class");
    kw_object_retain(object);
    kw_object_release(object);
    cr_expect_eq(destroyed, 0);
    kw_object_release(object);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(data, 1);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(object, null_is_retained_and_released)
{
    kw_object_retain(NULL);
    kw_object_release(NULL);
}

Test(object, type_name_is_copied_and_nothing_to_destroy_is_fine)
{
    char name[] = "t.Class";
    const kw_object_options options = {.struct_size = sizeof options, .type_name = name};
    kw_object *object = NULL;
    cr_assert_eq(kw_object_create(&options, &object, NULL), KW_OK);
    name[0] = 'x';
    cr_expect_str_eq(kw_object_type_name(object), "t.Class");
    cr_expect_null(kw_object_data(object));
    kw_object_release(object);
}

Test(object, wrong_options_are_refused)
{
    kw_object *object = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_object_options options = {.struct_size = sizeof options, .destroy = count_destroy};
    cr_expect_eq(kw_object_create(&options, &object, &err), KW_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.text, "name of its type"), "%s", err.text);
    options.type_name = "t.Class";
    cr_expect_eq(kw_object_create(&options, NULL, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_object_create(NULL, &object, &err), KW_INVALID_ARGUMENT);
    options.struct_size = 8;
    cr_expect_eq(kw_object_create(&options, &object, &err), KW_INVALID_ARGUMENT);
    cr_expect_null(object);
    cr_expect_eq(destroyed, 0, "the data stays the caller's");
}

Test(object, failed_allocation_leaves_the_data_to_the_caller)
{
    uint64_t bytes = kwi_memory_bytes();
    int data = 0;
    const kw_object_options options = {.struct_size = sizeof options,
                                       .type_name = "t.Class",
                                       .data = &data,
                                       .destroy = count_destroy};
    kw_object *object = NULL;
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kw_object_create(&options, &object, &err), KW_NO_MEMORY);
    kwi_memory_fail_at(0, false);
    cr_expect_null(object);
    cr_expect_eq(destroyed, 0);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(object, value_of_an_object_has_its_reference)
{
    int data = 0;
    kw_value value = kw_value_object(make(&data));
    cr_expect_eq(value.tag, KW_TAG_OBJECT);
    cr_expect_eq(value.flags, KW_VALUE_COUNTED);
    kw_value copy;
    cr_assert_eq(kw_value_own(&value, NULL, &copy, NULL), KW_OK);
    cr_expect_eq(copy.as.as_object, value.as.as_object);
    cr_expect(kw_value_equal(&copy, &value));
    kw_value_release(&value, NULL);
    cr_expect_eq(value.tag, KW_TAG_NONE);
    cr_expect_eq(destroyed, 0);
    kw_value_release(&copy, NULL);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(kw_value_object(NULL).tag, KW_TAG_NONE);
    cr_expect_eq(kw_value_object(NULL).flags, 0);
}

Test(object, value_of_an_object_without_the_flag_is_borrowed)
{
    int data = 0;
    kw_object *object = make(&data);
    kw_value borrowed = kw_value_object(object);
    borrowed.flags = 0;
    kw_value owned;
    cr_assert_eq(kw_value_own(&borrowed, NULL, &owned, NULL), KW_OK);
    kw_value_release(&borrowed, NULL);
    cr_expect_eq(destroyed, 0, "it is only forgotten");
    kw_object_release(object);
    cr_expect_eq(destroyed, 0);
    kw_value_release(&owned, NULL);
    cr_expect_eq(destroyed, 1);
}

// Puts a value into a list of one, `depth` times.
static kw_value nest(kw_value value, int depth)
{
    for (int i = 0; i < depth; i++) {
        kw_value outer;
        kw_value view = kw_value_values((kw_value_list){&value, 1});
        cr_assert_eq(kw_value_own(&view, NULL, &outer, NULL), KW_OK);
        kw_value_release(&value, NULL);
        value = outer;
    }
    return value;
}

Test(object, list_nested_a_hundred_thousand_deep_is_released)
{
    uint64_t bytes = kwi_memory_bytes();
    int data = 0;
    kw_value value = nest(kw_value_object(make(&data)), 100000);
    cr_expect_eq(destroyed, 0);
    kw_value_release(&value, NULL);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

// A destructor may release values of its own.
static void release_value(void *data)
{
    kw_value_release(data, NULL);
}

Test(object, destructor_releases_values)
{
    uint64_t bytes = kwi_memory_bytes();
    int data = 0;
    kw_value inner = kw_value_object(make(&data));
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = "t", .data = &inner, .destroy = release_value};
    kw_object *outer = NULL;
    cr_assert_eq(kw_object_create(&options, &outer, NULL), KW_OK);
    kw_value value = nest(kw_value_object(outer), 3);
    kw_value_release(&value, NULL);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
