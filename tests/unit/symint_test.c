// Symbolic integers: which words are integers, nodes and invalid, and what refuses them.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/value.h>

// A thread has a text once it is attached.
static void attach(void)
{
    cr_assert_eq(kw_thread_attach(), KW_OK);
}

TestSuite(symint, .init = attach);

static int ended;

static void end_node(void *data)
{
    (void)data;
    ended++;
}

static kw_object *make_node(void)
{
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = "s0 + 1", .destroy = end_node};
    kw_object *node = NULL;
    cr_assert_eq(kw_object_create(&options, &node, NULL), KW_OK);
    return node;
}

Test(symint, integer_is_its_own_word)
{
    static const int64_t integers[] = {0, 1, -1, INT64_MAX, KW_SYMINT_MIN, KW_SYMINT_MIN + 1};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        kw_symint symint = kw_symint_int(integers[i]);
        int64_t integer = 5;
        cr_expect_eq(symint.word, (uint64_t)integers[i]);
        cr_expect(kw_symint_is_int(symint));
        cr_expect_null(kw_symint_object(symint));
        cr_expect_eq(kw_symint_expect_int(symint, "it", &integer), KW_OK);
        cr_expect_eq(integer, integers[i]);
        kw_value value = kw_value_symint(symint);
        cr_expect(value.tag == KW_TAG_INT && value.as.as_int == integers[i]);
        kw_symint_retain(symint);
        kw_symint_release(symint);
    }
}

Test(symint, integer_below_the_least_has_no_form)
{
    static const int64_t integers[] = {KW_SYMINT_MIN - 1, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        kw_symint symint = kw_symint_int(integers[i]);
        int64_t integer = 5;
        cr_expect_eq(symint.word, KW_SYMINT_INVALID);
        cr_expect_not(kw_symint_is_int(symint));
        cr_expect_null(kw_symint_object(symint));
        cr_expect_eq(kw_value_symint(symint).tag, KW_TAG_NONE);
        cr_expect_eq(kw_symint_expect_int(symint, "argument 2", &integer), KW_WRONG_VALUE);
        cr_expect_eq(integer, 5);
        cr_expect_str_eq(kw_call_error(),
                         "argument 2 is an invalid symbolic integer; integers below -2^62 have no "
                         "symbolic form");
        kw_symint_retain(symint);
        kw_symint_release(symint);
    }
}

Test(symint, node_is_counted)
{
    kw_object *node = make_node();
    kw_symint symint = kw_symint_node(node);
    cr_expect_not(kw_symint_is_int(symint));
    cr_expect_eq(kw_symint_object(symint), node);
    kw_symint_retain(symint);
    kw_symint_release(symint);
    cr_expect_eq(ended, 0);
    kw_value value = kw_value_symint(symint);
    cr_expect_eq(value.tag, KW_TAG_SYM_INT);
    cr_expect_eq(value.flags, KW_VALUE_COUNTED);
    cr_expect_eq(value.as.as_object, node);
    kw_value_release(&value, NULL);
    cr_expect_eq(ended, 1);
}

Test(symint, node_is_refused_where_an_integer_is_needed)
{
    kw_symint symint = kw_symint_node(make_node());
    int64_t integer = 5;
    cr_expect_eq(kw_symint_expect_int(symint, "argument 2", &integer), KW_SYMBOLIC_VALUE);
    cr_expect_eq(integer, 5);
    cr_expect_not_null(strstr(kw_call_error(), "argument 2 is a symbolic integer (s0 + 1)"), "%s",
                       kw_call_error());
    cr_expect_eq(kw_symint_refuse(symint, NULL), KW_SYMBOLIC_VALUE);
    cr_expect_eq(strncmp(kw_call_error(), "the value is", 12), 0);
    kw_symint_release(symint);
}

Test(symint, boolean_node_is_a_value)
{
    kw_value value = kw_value_symbool(make_node());
    cr_expect_eq(value.tag, KW_TAG_SYM_BOOL);
    cr_expect_eq(value.flags, KW_VALUE_COUNTED);
    kw_value_release(&value, NULL);
    cr_expect_eq(ended, 1);
    cr_expect_eq(kw_value_symbool(NULL).tag, KW_TAG_NONE);
}
