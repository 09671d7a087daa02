// Types of schemas: every kind, what it is made of, and where it ends.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

static bool view_is(kw_text_view view, const char *expected)
{
    return view.length == strlen(expected) && (view.data == NULL) == (view.length == 0) &&
           (view.length == 0 || memcmp(view.data, expected, view.length) == 0);
}

// Describes a type by its numbers, "41/2(40(1))" for "Tensor?[2]": each kind, the size of a sized
// list, its children.
static void describe(const kw_type *type, kwi_text *text)
{
    kwi_text_add(text, "%d", (int)kw_type_kind_of(type));
    if (kw_type_is_sized(type)) {
        kwi_text_add(text, "/%u", kw_type_list_size(type));
    }
    for (uint32_t i = 0; i < kw_type_child_count(type); i++) {
        kwi_text_add(text, i == 0 ? "(" : ",");
        describe(kw_type_child(type, i), text);
    }
    kwi_text_add(text, kw_type_child_count(type) > 0 ? ")" : "");
}

typedef struct type_row {
    const char *text;
    const char *tree;
} type_row;

static const type_row rows[] = {
    {"Tensor", "1"},
    {"int", "2"},
    {"float", "3"},
    {"bool", "4"},
    {"str", "5"},
    {"complex", "6"},
    {"Scalar", "7"},
    {"SymInt", "8"},
    {"SymBool", "9"},
    {"ScalarType", "10"},
    {"Layout", "11"},
    {"MemoryFormat", "12"},
    {"Device", "13"},
    {"DeviceIndex", "14"},
    {"Generator", "15"},
    {"Storage", "16"},
    {"Stream", "17"},
    {"QScheme", "18"},
    {"Quantizer", "19"},
    {"Any", "20"},
    {"AnyClassType", "21"},
    {"AnyEnumType", "22"},
    {"Capsule", "23"},
    {"NoneType", "24"},
    {"None", "24"},
    {"Dimname", "5"},
    {"ConstQuantizerPtr", "2"},
    {"t", "25"},
    {"double", "25"},
    {"__torch__.torch.classes.a.B", "26"},
    {"Tensor?", "40(1)"},
    {"Tensor??", "40(1)"},
    {"Tensor[]", "41(1)"},
    {"Tensor?[]", "41(40(1))"},
    {"Tensor[]?", "40(41(1))"},
    {"Tensor[]??[]?", "40(41(40(41(1))))"},
    {"int[2]", "41/2(2)"},
    {"int[0]", "41/0(2)"},
    {"int[007]", "41/7(2)"},
    {"int[4294967295]?", "40(41/4294967295(2))"},
    {"float?[3]?", "40(41/3(40(3)))"},
    {"int[][4]", "41/4(41(2))"},
    {"()", "42"},
    {"(int)", "42(2)"},
    {"(int, (Tensor, str)?, float[])", "42(2,40(42(1,5)),41(3))"},
    {"Dict(str, Tensor)", "43(5,1)"},
    {"Dict(int, Dict(bool, float[])?)[]", "41(43(2,40(43(4,41(3)))))"},
    {"Dict(Tensor, int)", "43(1,2)"},
    {"Dict(complex, int)", "43(6,2)"},
    {"Dict(Device, int)", "43(13,2)"},
    {"Dict(Any, int)", "43(20,2)"},
    {"Dict(SymInt, int)", "43(8,2)"},
    {"Dict(Dimname, int)", "43(5,2)"},
    {"Union(int)", "44(2)"},
    {"Union(int, Tensor)", "44(1,2)"},
    {"Union(str, None, int, str)", "44(2,24,5)"},
    {"Union(Union(str, int), Union(int, str), t)", "44(25,44(2,5))"},
    {"Future(int)", "45(2)"},
    {"RRef(Tensor[])?", "40(46(41(1)))"},
    {"Await((int, int))", "47(42(2,2))"},
};

Test(schema_type, every_type_is_read_as_a_tree)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        char tree[128];
        kwi_text builder;
        snprintf(text, sizeof text, "aten::foo(int a, %s x) -> ((int), %s)", rows[i].text,
                 rows[i].text);
        kw_schema *schema = parse(text);
        kwi_text_init(&builder, tree, sizeof tree);
        describe(kw_schema_arg(schema, 1).type, &builder);
        cr_expect_str_eq(tree, rows[i].tree, "%s", rows[i].text);
        kwi_text_init(&builder, tree, sizeof tree);
        describe(kw_schema_return(schema, 1).type, &builder);
        cr_expect_str_eq(tree, rows[i].tree, "%s", rows[i].text);
        kw_schema_destroy(schema);
    }
}

Test(schema_type, only_classes_and_variables_have_names)
{
    kw_schema *schema = parse("prim::foo(__torch__.torch.classes.ns.Name[] x, t1? y, int z) -> ()");
    const kw_type *list = kw_schema_arg(schema, 0).type;
    cr_expect(view_is(kw_type_name(list), ""));
    cr_expect(view_is(kw_type_name(kw_type_child(list, 0)), "__torch__.torch.classes.ns.Name"));
    cr_expect(view_is(kw_type_name(kw_type_child(kw_schema_arg(schema, 1).type, 0)), "t1"));
    cr_expect(view_is(kw_type_name(kw_schema_arg(schema, 2).type), ""));
    kw_schema_destroy(schema);
}

Test(schema_type, annotation_belongs_to_what_stands_before_it)
{
    kw_schema *schema = parse("foo(Tensor(a!)?[](b -> b|c) x, (int, Dict(str, Tensor(a))(b)) y, "
                              "Tensor! z, int[2](*)? w) -> ()");
    const kw_type *list = kw_schema_arg(schema, 0).type;
    cr_expect(view_is(kw_type_alias(list), "(b -> b|c)"));
    const kw_type *optional = kw_type_child(list, 0);
    cr_expect(view_is(kw_type_alias(optional), ""));
    cr_expect(view_is(kw_type_alias(kw_type_child(optional, 0)), "(a!)"));
    const kw_type *dict = kw_type_child(kw_schema_arg(schema, 1).type, 1);
    cr_expect(view_is(kw_type_alias(kw_schema_arg(schema, 1).type), ""));
    cr_expect(view_is(kw_type_alias(dict), "(b)"));
    cr_expect(view_is(kw_type_alias(kw_type_child(dict, 1)), "(a)"));
    cr_expect(view_is(kw_type_alias(kw_schema_arg(schema, 2).type), "!"));
    const kw_type *sized = kw_type_child(kw_schema_arg(schema, 3).type, 0);
    cr_expect(view_is(kw_type_alias(sized), "(*)"));
    cr_expect(kw_type_is_sized(sized));
    cr_expect(!kw_type_is_sized(list));
    cr_expect_eq(kw_type_list_size(list), 0);
    kw_schema_destroy(schema);
}

Test(schema_type, every_word_is_found_and_only_whole)
{
    static const char *const words[] = {
#define WORD(name, word, fake) word,
        KWI_TYPE_LIST(WORD)
#undef WORD
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        kw_type_kind found = KW_TYPE_AWAIT;
        cr_expect(kwi_type_kind_find(words[i], strlen(words[i]), &found), "%s", words[i]);
        cr_expect_str_eq(kwi_type_kind_word(found), words[i]);
        kw_type_kind fake = kwi_type_kind_fake(found);
        cr_expect_eq(kwi_type_kind_fake(fake), fake);
        cr_expect(!kwi_type_kind_find(words[i], strlen(words[i]) - 1, &found), "%s", words[i]);
    }
    kw_type_kind found = KW_TYPE_AWAIT;
    cr_expect(!kwi_type_kind_find("", 0, &found));
    cr_expect_eq(found, KW_TYPE_AWAIT);
    cr_expect_eq(kwi_type_kind_fake(KW_TYPE_SYM_INT), KW_TYPE_INT);
    cr_expect_eq(kwi_type_kind_fake(KW_TYPE_LIST), KW_TYPE_LIST);
    cr_expect_eq(kwi_type_kind_fake(KW_TYPE_CLASS), KW_TYPE_CLASS);
    cr_expect_null(kwi_type_kind_word(KW_TYPE_TUPLE));
}

Test(schema_type, written_and_out_follow_the_outermost_annotation)
{
    kw_schema *schema = parse("foo(Tensor(a) a, Tensor(a!) b, Tensor(a!)[] c, Tensor[](a!) d, "
                              "Tensor(a!)[](b) e, Tensor! f, Tensor g, *, Tensor(a!)[2]? h, "
                              "Tensor(a!)? i, Tensor[](a!)? j, Dict(str, Tensor(a!)) k) -> "
                              "Tensor(a!)");
    static const char written[] = "-www-w-www-";
    for (uint32_t i = 0; i < kw_schema_arg_count(schema); i++) {
        const kw_argument argument = kw_schema_arg(schema, i);
        bool is_written = written[i] == 'w';
        cr_expect_eq(argument.written, is_written, "argument %u", i);
        cr_expect_eq(argument.keyword_only, i >= 7);
        cr_expect_eq(argument.out, is_written && i >= 7);
    }
    cr_expect(kw_schema_return(schema, 0).written);
    cr_expect(!kw_schema_return(schema, 0).out);
    kw_schema_destroy(schema);
}
