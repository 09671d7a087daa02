// Values and frames against types of the schema language.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <keyway/frame.h>

#include "signature_values.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s: %s", text, err.text);
    return schema;
}

// Checks a value against the type of the only argument of an operator; returns the text.
static const char *check(const char *type, kw_value value)
{
    static kw_error err;
    char text[256];
    snprintf(text, sizeof text, "aten::f(%s x) -> ()", type);
    kw_schema *schema = parse(text);
    err.struct_size = sizeof err;
    kw_status status = kw_value_check(&value, kw_schema_arg(schema, 0).type, &err);
    cr_assert(status == KW_OK || status == KW_WRONG_VALUE, "%s", kw_status_name(status));
    kw_schema_destroy(schema);
    return status == KW_OK ? NULL : err.text;
}

static void expect_text(const char *type, kw_value value, const char *text)
{
    const char *found = check(type, value);
    cr_assert_not_null(found, "%s", type);
    cr_expect_str_eq(found, text);
}

static void expect_fit(const char *type, kw_value value)
{
    const char *found = check(type, value);
    cr_expect_null(found, "%s: %s", type, found);
}

Test(value_check, every_type_takes_its_values_only)
{
    static const fit_row rows[] = {
        {"Tensor", "+-----+-------------"},
        {"Tensor?", "+-----+-------------"},
        {"int", "--+-----------------"},
        {"ScalarType", "--+-----------------"},
        {"Layout", "--+-----------------"},
        {"MemoryFormat", "--+-----------------"},
        {"DeviceIndex", "--+-----------------"},
        {"QScheme", "--+-----------------"},
        {"float", "--++----------------"},
        {"bool", "-+------------------"},
        {"str", "-----+--------------"},
        {"complex", "------------+-------"},
        {"Scalar", "-+++--------+++-----"},
        {"Scalar?", "++++--------+++-----"},
        {"SymInt", "--+----------+------"},
        {"SymBool", "-+------------+-----"},
        {"Device", "----+---------------"},
        {"Generator", "-----------+--------"},
        {"Generator?", "+----------+--------"},
        {"Storage", "-------------------+"},
        {"Quantizer", "-------------------+"},
        {"Capsule", "-------------------+"},
        {"NoneType", "+-------------------"},
        {"Any", "++++++++++++++++++++"},
        {"t", "++++++++++++++++++++"},
        {"Tensor[]", "-------+------------"},
        {"Tensor?[]", "-------+------------"},
        {"int[]", "--------+-----------"},
        {"int[3]", "--------+-----------"},
        {"SymInt[]", "--------+------+----"},
        {"float[]", "---------+----------"},
        {"bool[]", "----------+---------"},
        {"Tensor[]?", "+------+------------"},
        {"int?[]", "----------------+---"},
        {"Scalar[]", "----------------+---"},
        {"float?[]", "----------------+---"},
        {"str[]", "--------------------"},
        {"Any[]", "----------------+---"},
        {"int[][]", "--------------------"},
        {"(int, int)", "-----------------+--"},
        {"Dict(int, int)", "------------------+-"},
        {"Dict(int, str)", "--------------------"},
        {"Future(int)", "-------------------+"},
        {"int?", "+-+-----------------"},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        for (size_t index = 0; index < TAG_COUNT; index++) {
            const char *text = check(rows[row].letter, one_of_each(index));
            cr_expect_eq(text == NULL, rows[row].fits[index] == '+', "%s %zu", rows[row].letter,
                         index);
        }
    }
}

Test(value_check, text_names_what_is_there_and_what_the_type_says)
{
    expect_text("int", kw_value_string("x"), "the value is str, but the schema says int");
    expect_text("int?", kw_value_string("x"), "the value is str, but the schema says int?");
    expect_text("int[2]?", kw_value_int(1), "the value is int, but the schema says int[2]?");
    expect_text("Dict(str, int)", kw_value_none(),
                "the value is None, but the schema says Dict(str, int)");
}

Test(value_check, misfit_inside_is_named_by_its_place)
{
    const kw_value inner[] = {kw_value_string("a"), kw_value_int(2)};
    const kw_value lists[] = {kw_value_values((kw_value_list){inner, 1}),
                              kw_value_values((kw_value_list){inner, 2})};
    const kw_value list = kw_value_values((kw_value_list){lists, 2});
    expect_text("str[][]", list,
                "element 2 of element 2 of the value is int, but the schema says str");
    expect_text("(str[], str[])", kw_value_tuple((kw_value_list){lists, 2}),
                "element 2 of element 2 of the value is int, but the schema says str");
    expect_text("Dict(str, str)", kw_value_dict((kw_value_list){inner, 2}),
                "element 1 of the value is int, but the schema says str");
    expect_fit("Dict(str, int)", kw_value_dict((kw_value_list){inner, 2}));
    expect_fit("(str, int)", kw_value_tuple((kw_value_list){inner, 2}));
    expect_fit("str[]", lists[0]);
    expect_fit("str?[]", lists[0]);
    expect_text("(str, int)", kw_value_tuple((kw_value_list){inner, 1}),
                "the value is a tuple of another length, but the schema says (str, int)");
}

Test(value_check, union_takes_what_one_of_its_members_takes)
{
    const kw_value texts[] = {kw_value_string("a")};
    expect_fit("Union(int, str[])", kw_value_int(1));
    expect_fit("Union(int, str[])", kw_value_values((kw_value_list){texts, 1}));
    const char *text = check("Union(int, str[])", kw_value_string("a"));
    cr_assert_not_null(text);
    cr_expect_eq(strncmp(text, "the value is str, but the schema says Union(", 44), 0, "%s", text);
}

Test(value_check, lists_of_integers_and_symbols_serve_as_each_other_while_they_can)
{
    const kw_value node = one_of_each(13);
    const int64_t ints[] = {1, KW_SYMINT_MIN - 1};
    kw_symint symints[] = {kw_symint_int(1), kw_symint_node(node.as.as_object)};
    expect_fit("SymInt[]", kw_value_ints((kw_int_list){ints, 1}));
    expect_text("SymInt[]", kw_value_ints((kw_int_list){ints, 2}),
                "the value holds an integer below -2^62, which has no symbolic form, but the "
                "schema says SymInt[]");
    expect_fit("int[]", kw_value_symints((kw_symint_list){symints, 1}));
    expect_text("int[]", kw_value_symints((kw_symint_list){symints, 2}),
                "the value holds a symbolic integer, but the schema says int[]");
    expect_fit("SymInt", kw_value_int(KW_SYMINT_MIN));
    expect_text("SymInt", kw_value_int(INT64_MIN),
                "the value is an integer below -2^62, which has no symbolic form, but the schema "
                "says SymInt");
}

Test(value_check, class_is_known_by_the_name_of_its_objects)
{
    const kw_object_options options = {.struct_size = sizeof options,
                                       .type_name = "__torch__.torch.classes.ns.Name"};
    kw_object *object = NULL;
    cr_assert_eq(kw_object_create(&options, &object, NULL), KW_OK);
    kw_value value = kw_value_object(object);
    expect_fit("__torch__.torch.classes.ns.Name", value);
    expect_fit("AnyClassType", value);
    expect_fit("Stream", value);
    expect_text("__torch__.torch.classes.ns.Other", value,
                "the value is an object of another type, but the schema says "
                "__torch__.torch.classes.ns.Other");
    kw_value_release(&value, NULL);
}

Test(value_check, missing_value_or_type_is_refused)
{
    kw_value value = kw_value_none();
    cr_expect_eq(kw_value_check(&value, NULL, NULL), KW_INVALID_ARGUMENT);
    kw_schema *schema = parse("t::f(int x) -> ()");
    cr_expect_eq(kw_value_check(NULL, kw_schema_arg(schema, 0).type, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_frame_check(schema, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_frame_check(NULL, NULL, NULL), KW_INVALID_ARGUMENT);
    kw_schema_destroy(schema);
}

// Frames ------------------------------------------------------------------------------------------

Test(value_check, frame_fits_by_counts_and_values)
{
    kw_schema *schema = parse("t::f(Tensor x, int dim, str? mode=None) -> (Tensor, int)");
    KW_FRAME(frame, 3, 2);
    kw_error err = KW_ERROR_INIT;
    frame.args[1] = kw_value_int(1);
    cr_expect_eq(kw_frame_check(schema, &frame, &err), KW_OK, "%s", err.text);
    frame.args[1] = kw_value_float(1);
    cr_expect_eq(kw_frame_check(schema, &frame, &err), KW_WRONG_VALUE);
    cr_expect_str_eq(err.text, "argument 2 (dim) is float, but the schema says int");
    frame.arg_count = 2;
    cr_expect_eq(kw_frame_check(schema, &frame, &err), KW_WRONG_VALUE);
    cr_expect_not_null(strstr(err.text, "2 arguments and 2 returns"), "%s", err.text);
    frame.arg_count = 3;
    frame.return_count = 1;
    cr_expect_eq(kw_frame_check(schema, &frame, &err), KW_WRONG_VALUE);
    kw_schema_destroy(schema);
}

Test(value_check, open_frame_takes_more_but_not_fewer)
{
    kw_schema *schema = parse("t::f(int a, ...) -> ...");
    KW_FRAME(frame, 3, 2);
    frame.args[0] = kw_value_int(1);
    for (uint32_t count = 0; count <= 3; count++) {
        frame.arg_count = count;
        cr_expect_eq(kw_frame_check(schema, &frame, NULL), count > 0 ? KW_OK : KW_WRONG_VALUE);
    }
    kw_schema_destroy(schema);
}

Test(value_check, released_returns_are_none)
{
    KW_FRAME(frame, 0, 3);
    kw_value text = kw_value_string("text");
    cr_assert_eq(kw_value_own(&text, NULL, &frame.returns[0], NULL), KW_OK);
    frame.returns[1] = kw_value_int(4);
    kw_frame_release_returns(&frame, NULL);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(frame.returns[i].tag, KW_TAG_NONE);
    }
    kw_frame_release_returns(NULL, NULL);
}
