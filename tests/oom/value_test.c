// Values when memory runs out: owning, defaults, and calls that make values.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>

#include <keyway/value.h>

#include "base/memory.h"

TestSuite(value_oom);

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

static tensor x = {1};
static kw_object *node;

// Owns the value with each of its allocations failing once; returns how many there are.
static uint64_t fail_each(kw_value borrowed)
{
    for (uint64_t nth = 1;; nth++) {
        uint64_t bytes = kwi_memory_bytes();
        int references = x.references;
        kw_value owned = kw_value_int(5);
        kw_error err = KW_ERROR_INIT;
        kwi_memory_fail_at(nth, false);
        kw_status status = kw_value_own(&borrowed, &type, &owned, &err);
        kwi_memory_fail_at(0, false);
        if (status == KW_OK) {
            cr_expect(kw_value_equal(&owned, &borrowed));
            kw_value_release(&owned, &type);
            cr_expect_eq(kwi_memory_bytes(), bytes);
            cr_expect_eq(x.references, references);
            return nth - 1;
        }
        cr_assert_eq(status, KW_NO_MEMORY);
        cr_expect_eq(err.status, KW_NO_MEMORY);
        cr_expect_eq(owned.as.as_int, 5, "outputs are untouched");
        cr_expect_eq(kwi_memory_bytes(), bytes, "nothing stays allocated");
        cr_expect_eq(x.references, references, "nothing stays retained");
    }
}

Test(value_oom, owning_is_undone)
{
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "node"};
    cr_assert_eq(kw_object_create(&options, &node, NULL), KW_OK);
    void *tensors[] = {&x, NULL, &x};
    const kw_symint symints[] = {kw_symint_int(1), kw_symint_node(node)};
    const kw_complex number = {1, 2};
    kw_value shared;
    kw_value text = kw_value_string("shared");
    cr_assert_eq(kw_value_own(&text, NULL, &shared, NULL), KW_OK);
    const kw_value inner[] = {kw_value_tensor(&x), kw_value_complex(&number), shared};
    const kw_value members[] = {kw_value_tensors((kw_tensor_list){tensors, 3}),
                                kw_value_symints((kw_symint_list){symints, 2}),
                                kw_value_values((kw_value_list){inner, 3}),
                                kw_value_symint(symints[1]), kw_value_string("last")};
    const kw_value pairs[] = {kw_value_string("a"), kw_value_tuple((kw_value_list){members, 5}),
                              kw_value_string("b"), kw_value_values((kw_value_list){members, 5})};
    cr_expect_eq(fail_each(kw_value_int(1)), 0);
    cr_expect_eq(fail_each(shared), 0);
    cr_expect_eq(fail_each(kw_value_string("x")), 1);
    cr_expect_eq(fail_each(members[0]), 1);
    cr_expect_eq(fail_each(members[2]), 2);
    cr_expect_eq(fail_each(kw_value_dict((kw_value_list){pairs, 4})), 15);
    kw_value_release(&shared, NULL);
    kw_object_release(node);
}
