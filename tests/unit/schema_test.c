// Schemas that parse: what is read, where it stands, which arguments carry keys, the C signature.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "schema/c_signature.h"
#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static kwi_schema *parse(const char *text)
{
    kwi_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

// A schema with its argument and return counts, its tensor mask, and its C signature, NULL if none.
typedef struct schema_row {
    const char *text;
    uint32_t arg_count;
    uint32_t return_count;
    uint64_t tensor_mask;
    const char *code;
} schema_row;

static const schema_row rows[] = {
    {"foo() -> ()", 0, 0, 0, ">"},
    {"foo(Tensor x) -> Tensor", 1, 1, 1, "t>t"},
    {"ns::foo.over(Tensor self) -> Tensor", 1, 1, 1, "t>t"},
    {"foo(Tensor(a) self) -> Tensor(a)", 1, 1, 1, "t>t"},
    {"foo_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", 3, 1, 3, NULL},
    {"foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", 2, 1, 3, "tt>t"},
    {"foo(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> "
     "(Tensor(a!) values, Tensor(b!) indices)",
     5, 2, 0x19, "tibtt>tt"},
    {"conv2d(Tensor x, Tensor w, Tensor? b, int[2] padding) -> Tensor", 4, 1, 7, "tttI>t"},
    // What carries keys.
    {"foo(Tensor? x) -> Tensor", 1, 1, 1, "t>t"},
    {"foo(Tensor?? x) -> Tensor", 1, 1, 1, "t>t"},
    {"foo(Tensor[] x) -> Tensor", 1, 1, 1, "T>t"},
    {"foo(Tensor?[] indices) -> Tensor", 1, 1, 1, "T>t"},
    {"foo(Tensor[3] x) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor?[3] x) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor[]? x) -> ()", 1, 0, 0, NULL},
    {"foo(Tensor[2]? x) -> ()", 1, 0, 0, NULL},
    {"foo(Tensor?[]? x) -> ()", 1, 0, 0, NULL},
    {"foo(Generator g) -> ()", 1, 0, 0, "g>"},
    {"foo(Generator? g) -> ()", 1, 0, 0, "g>"},
    {"foo(Generator[] g, Generator?[] h, Generator[]? i) -> ()", 3, 0, 0, NULL},
    {"foo() -> Generator", 0, 1, 0, NULL},
    {"foo(int a, Tensor b, int[] c, Tensor?[] d, Generator? e, Tensor? f) -> ()", 6, 0, 0x2a,
     "itITgt>"},
    {"foo(Any x, Storage s, Stream t, QScheme q, Quantizer z, Capsule c) -> ()", 6, 0, 0, NULL},
    {"foo(AnyClassType a, AnyEnumType b, None c, NoneType d) -> None", 4, 1, 0, NULL},
    // Annotations.
    {"foo(Tensor(a)[] xs) -> Tensor(a)", 1, 1, 1, "T>t"},
    {"foo(Tensor(a!)[] xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor[](a!) xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor[3](a!) xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor(b -> b|c)[](a!) xs, Tensor(c) e) -> (Tensor(b|c)[](a!))", 2, 1, 3, NULL},
    {"foo(Tensor(a! -> a|b) x) -> ()", 1, 0, 1, "t>"},
    {"foo(Tensor(*) x, Tensor(*!) y, Tensor(a|*) z) -> ()", 3, 0, 7, "ttt>"},
    {"foo(Tensor! x, int(a!) y) -> ()", 2, 0, 1, "ti>"},
    {"foo(Tensor(a!)? x) -> Tensor(a!)?", 1, 1, 1, "t>t"},
    {"foo(Tensor( a ! ) x, int [2] y, Tensor ? z) -> ()", 3, 0, 5, "tIt>"},
    // Defaults.
    {"foo(int[2] k=1) -> ()", 1, 0, 0, "I>"},
    {"foo(int[2] k=[1,2]) -> ()", 1, 0, 0, "I>"},
    {"foo(int[2] k=[1]) -> ()", 1, 0, 0, "I>"},
    {"foo(int[0] k=1) -> ()", 1, 0, 0, "I>"},
    {"foo(int[] k=[]) -> ()", 1, 0, 0, "I>"},
    {"foo(int[] k=[Mean, long, -3]) -> ()", 1, 0, 0, "I>"},
    {"foo(int[1]? dim=None) -> ()", 1, 0, 0, NULL},
    {"foo(int[2]? k=1) -> ()", 1, 0, 0, NULL},
    {"foo(SymInt[] size, SymInt? n=None) -> Tensor", 2, 1, 0, "I?i>t"},
    {"foo(SymInt[2] s=1) -> ()", 1, 0, 0, "I>"},
    {"foo(bool[3] mask) -> ()", 1, 0, 0, "B>"},
    {"foo(bool[3] mask=True, bool[] m=[True,False]) -> ()", 2, 0, 0, "BB>"},
    {"foo(float[2] k=0.5, float[] m=[1, 2.5, -3]) -> ()", 2, 0, 0, "DD>"},
    {"foo(complex[] c=[1j, -2.5j]) -> ()", 1, 0, 0, NULL},
    {"foo(float x=1.5, float y=-2, float z=1e-05, float w=.5, float v=007.) -> ()", 5, 0, 0,
     "ddddd>"},
    {"foo(float x=1.7976931348623157e308, float y=1e-400) -> ()", 2, 0, 0, "dd>"},
    {"foo(int x=-1) -> ()", 1, 0, 0, "i>"},
    {"foo(int x=- 1) -> ()", 1, 0, 0, "i>"},
    {"foo(int x=9223372036854775807, int y=-9223372036854775808) -> ()", 2, 0, 0, "ii>"},
    {"foo(int x=1e3) -> ()", 1, 0, 0, "i>"},
    {"foo(bool b=False, bool c=True) -> ()", 2, 0, 0, "bb>"},
    {"foo(str s=\"hi\", str t='yo', str u=\"\") -> ()", 3, 0, 0, "sss>"},
    {"foo(str s='''a 'b'\n\"c\"''', str t=\"\"\"\"\"\") -> ()", 2, 0, 0, "ss>"},
    {"foo(str s=\"\\\\ \\' \\\" \\a\\b\\f\\n\\r\\t\\v \\101\", str t='#,)') -> ()", 2, 0, 0, "ss>"},
    {"foo(str? s=None) -> int", 1, 1, 0, "s>i"},
    {"foo(str? s=None) -> str?", 1, 1, 0, NULL},
    {"foo(ScalarType dtype=float) -> ()", 1, 0, 0, "i>"},
    {"foo(ScalarType dtype=bfloat16, ScalarType[] d=[int32, float]) -> ()", 2, 0, 0, "iI>"},
    {"foo(ScalarType? dtype=None, Layout? layout=None, MemoryFormat? f=None) -> Tensor", 3, 1, 0,
     "?i?i?i>t"},
    {"foo(ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor", 3, 1, 0,
     NULL},
    {"foo(ScalarType a, Layout b, MemoryFormat c, DeviceIndex d) -> ()", 4, 0, 0, "iiii>"},
    {"foo(MemoryFormat? f=contiguous_format, Layout l=strided) -> ()", 2, 0, 0, "?ii>"},
    {"foo(int reduction=Mean) -> ()", 1, 0, 0, "i>"},
    {"foo(Device d=\"cuda:0\") -> ()", 1, 0, 0, NULL},
    {"foo(Device? d='cpu') -> ()", 1, 0, 0, NULL},
    {"foo(Generator? g=None, *, Tensor(a!) out) -> Tensor(a!)", 2, 1, 2, "gt>t"},
    {"foo(Tensor x=None, Generator g=None, Quantizer q=None) -> ()", 3, 0, 1, NULL},
    {"foo(complex c=2j) -> ()", 1, 0, 0, NULL},
    {"foo(complex c=-1.5e3j, complex d=None) -> ()", 2, 0, 0, NULL},
    {"foo(complex? c=1) -> ()", 1, 0, 0, NULL},
    {"foo(Scalar a=1, Scalar b=1.5, Scalar c=True, Scalar d=2j, Scalar? e=None) -> ()", 5, 0, 0,
     NULL},
    {"foo(float? x=3, int? y=None, bool? z=True, float? w=1.5) -> ()", 4, 0, 0, "?d?i?b?d>"},
    {"foo(int x=1.5, bool y=1, str z=5, int w=None) -> ()", 4, 0, 0, "ibsi>"},
    // Order, and the marks between arguments.
    {"foo(int a=1, int[] b) -> ()", 2, 0, 0, "iI>"},
    {"foo(int a=1, Tensor[] b) -> ()", 2, 0, 2, "iT>"},
    {"foo(int a=1, *, int b) -> ()", 2, 0, 0, "ii>"},
    {"foo(Tensor self, *, bool c=False, bool b) -> ()", 3, 0, 1, "tbb>"},
    {"foo(*) -> ()", 0, 0, 0, ">"},
    {"foo(Tensor x, *) -> ()", 1, 0, 1, "t>"},
    {"foo(*, *, Tensor x) -> ()", 1, 0, 1, "t>"},
    {"foo(...) -> ...", 0, 0, 0, NULL},
    {"foo(Tensor x, ...) -> (Tensor, ...)", 1, 1, 1, NULL},
    {"foo(*, ...) -> ()", 0, 0, 0, NULL},
    {"foo(Tensor x) -> (...)", 1, 0, 1, NULL},
    // Names of arguments and types.
    {"foo(Tensor a, Tensor a) -> ()", 2, 0, 3, "tt>"},
    {"foo(Tensor Tensor) -> Tensor Tensor", 1, 1, 1, "t>t"},
    {"foo(Tensor from, int lambda, int self, int inf, int _) -> ()", 5, 0, 1, "tiiii>"},
    {"foo(Dimname[1] dims, Dimname d) -> ()", 2, 0, 0, NULL},
    {"foo(Dimname d, ConstQuantizerPtr q) -> ()", 2, 0, 0, "si>"},
    {"foo(SymBool b) -> ()", 1, 0, 0, NULL},
    {"foo(int?[] x) -> ()", 1, 0, 0, NULL},
    {"foo(float?[] x) -> ()", 1, 0, 0, NULL},
    {"foo(bool?[] x) -> ()", 1, 0, 0, NULL},
    {"foo(str[] x) -> ()", 1, 0, 0, NULL},
    {"foo(float[]? x) -> ()", 1, 0, 0, NULL},
    {"foo(int[4294967295] x) -> ()", 1, 0, 0, "I>"},
    // Returns.
    {"foo() -> (Tensor)", 0, 1, 0, ">t"},
    {"foo() -> (Tensor, int, float, bool, SymInt, ScalarType)", 0, 6, 0, ">tidbii"},
    {"foo() -> (Tensor? a, int b)", 0, 2, 0, ">ti"},
    {"foo() -> int?", 0, 1, 0, NULL},
    {"foo() -> str", 0, 1, 0, NULL},
    {"foo() -> Tensor[]", 0, 1, 0, NULL},
    {"foo() -> Scalar", 0, 1, 0, NULL},
    // Blanks.
    {"  foo( Tensor   x )->Tensor  ", 1, 1, 1, "t>t"},
    {"\n\tfoo(\n  Tensor x, # first\n  Tensor y\n) -> (\n  Tensor\n)\n\n# end\n", 2, 1, 3, "tt>t"},
    {"foo(Tensor\r\nx) -> ()\r\n", 1, 0, 1, "t>"},
    {"foo(Tensor x)->() # trailing", 1, 0, 1, "t>"},
};

Test(schema, accepted_schema_has_its_counts_mask_and_signature)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        kwi_schema *schema = parse(rows[i].text);
        cr_expect_eq(schema->arg_count, rows[i].arg_count, "%s", rows[i].text);
        cr_expect_eq(schema->return_count, rows[i].return_count, "%s", rows[i].text);
        cr_expect_eq(schema->tensor_mask, rows[i].tensor_mask, "%s: %" PRIx64, rows[i].text,
                     schema->tensor_mask);
        char code[KWI_C_SIGNATURE_BYTES] = "untouched";
        kw_status status = kwi_schema_signature(schema, code, sizeof code);
        cr_expect_eq(status, rows[i].code != NULL ? KW_OK : KW_NOT_SUPPORTED, "%s", rows[i].text);
        cr_expect_str_eq(code, rows[i].code != NULL ? rows[i].code : "untouched", "%s",
                         rows[i].text);
        kwi_schema_destroy(schema);
    }
}

Test(schema, generators_have_a_mask_of_their_own)
{
    kwi_schema *schema =
        parse("foo(Tensor a, Generator b, int c, Generator? d, Generator[] e) -> ()");
    cr_expect_eq(schema->tensor_mask, 0x1);
    cr_expect_eq(schema->generator_mask, 0xa);
    kwi_schema_destroy(schema);
    schema = parse("foo(Tensor a, Generator[]? b, Generator?[] c) -> Generator");
    cr_expect_eq(schema->generator_mask, 0);
    kwi_schema_destroy(schema);
}

static void expect_span(const kwi_schema *schema, kwi_span span, const char *expected)
{
    cr_expect_eq(span.length, strlen(expected), "\"%s\", %u bytes", expected, span.length);
    cr_expect_eq(strncmp(schema->text + span.offset, expected, span.length), 0, "\"%s\": \"%.*s\"",
                 expected, (int)span.length, schema->text + span.offset);
    cr_expect(span.length > 0 || span.offset == 0, "an absent span is zero");
}

Test(schema, spans_lie_in_the_trimmed_text)
{
    kwi_schema *schema =
        parse(" \n ns :: foo . out(Tensor(a ! -> a|b) x, float[2](c) k=[ 1, -2.5 ],"
              " *, str s='a b', Tensor!? y=None) -> (Tensor(a) first, int) # end\n");
    cr_expect_str_eq(schema->text,
                     "ns :: foo . out(Tensor(a ! -> a|b) x, float[2](c) k=[ 1, -2.5 ],"
                     " *, str s='a b', Tensor!? y=None) -> (Tensor(a) first, int)");
    cr_assert_eq(schema->arg_count, 4);
    expect_span(schema, schema->args[0].name, "x");
    expect_span(schema, schema->args[0].alias, "(a ! -> a|b)");
    expect_span(schema, schema->args[0].list_alias, "");
    expect_span(schema, schema->args[0].default_value, "");
    expect_span(schema, schema->args[1].name, "k");
    expect_span(schema, schema->args[1].alias, "");
    expect_span(schema, schema->args[1].list_alias, "(c)");
    expect_span(schema, schema->args[1].default_value, "[ 1, -2.5 ]");
    expect_span(schema, schema->args[2].name, "s");
    expect_span(schema, schema->args[2].default_value, "'a b'");
    expect_span(schema, schema->args[3].name, "y");
    expect_span(schema, schema->args[3].alias, "!");
    expect_span(schema, schema->args[3].default_value, "None");
    cr_assert_eq(schema->return_count, 2);
    expect_span(schema, schema->returns[0].name, "first");
    expect_span(schema, schema->returns[0].alias, "(a)");
    expect_span(schema, schema->returns[1].name, "");
    kwi_schema_destroy(schema);
}

static void expect_name(const char *text, const char *name, const char *ns, const char *base,
                        const char *overload)
{
    kwi_schema *schema = parse(text);
    cr_expect_str_eq(schema->name, name);
    cr_expect_eq(kwi_name_check(schema->name, NULL), KW_OK);
    const kwi_name parts = schema->name_parts;
    const kwi_name split = kwi_name_split(schema->name);
    cr_expect_eq(memcmp(&parts, &split, sizeof parts), 0, "%s", text);
    cr_expect_eq(parts.ns.length, strlen(ns));
    cr_expect_eq(strncmp(name + parts.ns.offset, ns, strlen(ns)), 0);
    cr_expect_eq(strncmp(name + parts.base.offset, base, parts.base.length), 0);
    cr_expect_eq(parts.base.length, strlen(base));
    cr_expect_eq(strncmp(name + parts.overload.offset, overload, strlen(overload)), 0);
    cr_expect_eq(parts.overload.length, strlen(overload));
    kwi_schema_destroy(schema);
}

Test(schema, name_is_written_without_blanks)
{
    expect_name("foo() -> ()", "foo", "", "foo", "");
    expect_name("ns::foo.bar() -> ()", "ns::foo.bar", "ns", "foo", "bar");
    expect_name("ns :: foo . bar () -> ()", "ns::foo.bar", "ns", "foo", "bar");
    expect_name("ns : : foo() -> ()", "ns::foo", "ns", "foo", "");
    expect_name("foo._x() -> ()", "foo._x", "", "foo", "_x");
    expect_name("_() -> ()", "_", "", "_", "");
    expect_name("aten::__iand__.Tensor() -> ()", "aten::__iand__.Tensor", "aten", "__iand__",
                "Tensor");
}

typedef struct type_row {
    const char *text;
    kwi_type type;
    const char *printed;
} type_row;

static const type_row types[] = {
    {"Tensor", {.kind = KWI_TYPE_TENSOR}, "Tensor"},
    {"Tensor?", {.kind = KWI_TYPE_TENSOR, .optional = true}, "Tensor?"},
    {"Tensor??", {.kind = KWI_TYPE_TENSOR, .optional = true}, "Tensor?"},
    {"Tensor[]", {.kind = KWI_TYPE_TENSOR, .list = true}, "Tensor[]"},
    {"Tensor?[]", {.kind = KWI_TYPE_TENSOR, .list = true, .element_optional = true}, "Tensor?[]"},
    {"int[]?", {.kind = KWI_TYPE_INT, .list = true, .optional = true}, "int[]?"},
    {"int?[]?",
     {.kind = KWI_TYPE_INT, .list = true, .optional = true, .element_optional = true},
     "int?[]?"},
    {"int[2]", {.kind = KWI_TYPE_INT, .list = true, .sized = true, .list_size = 2}, "int[2]"},
    {"int[0]", {.kind = KWI_TYPE_INT, .list = true, .sized = true}, "int[0]"},
    {"int[007]", {.kind = KWI_TYPE_INT, .list = true, .sized = true, .list_size = 7}, "int[7]"},
    {"float?[3]?",
     {.kind = KWI_TYPE_FLOAT,
      .list = true,
      .optional = true,
      .element_optional = true,
      .sized = true,
      .list_size = 3},
     "float?[3]?"},
    {"SymInt", {.kind = KWI_TYPE_SYM_INT}, "SymInt"},
    {"ScalarType", {.kind = KWI_TYPE_SCALAR_TYPE}, "ScalarType"},
    {"Dimname", {.kind = KWI_TYPE_STRING}, "str"},
    {"ConstQuantizerPtr", {.kind = KWI_TYPE_INT}, "int"},
    {"None", {.kind = KWI_TYPE_NONE}, "NoneType"},
    {"NoneType", {.kind = KWI_TYPE_NONE}, "NoneType"},
};

static void expect_type(const kwi_type *type, const kwi_type *expected, const char *text)
{
    cr_expect_eq(type->kind, expected->kind, "%s", text);
    cr_expect_eq(type->optional, expected->optional, "%s", text);
    cr_expect_eq(type->list, expected->list, "%s", text);
    cr_expect_eq(type->element_optional, expected->element_optional, "%s", text);
    cr_expect_eq(type->sized, expected->sized, "%s", text);
    cr_expect_eq(type->list_size, expected->list_size, "%s", text);
}

Test(schema, type_is_read_and_printed)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        char text[64];
        char printed[32];
        kwi_text builder;
        snprintf(text, sizeof text, "foo(%s x) -> %s", types[i].text, types[i].text);
        kwi_schema *schema = parse(text);
        expect_type(&schema->args[0].type, &types[i].type, text);
        expect_type(&schema->returns[0].type, &types[i].type, text);
        kwi_text_init(&builder, printed, sizeof printed);
        kwi_type_print(&schema->args[0].type, &builder);
        cr_expect_str_eq(printed, types[i].printed);
        kwi_schema_destroy(schema);
    }
}

Test(schema, every_kind_is_found_by_its_word)
{
    for (uint8_t kind = 0; kind < KWI_TYPE_KIND_COUNT; kind++) {
        uint8_t found = KWI_TYPE_KIND_COUNT;
        const char *word = kwi_type_kind_word(kind);
        cr_expect(kwi_type_kind_find(word, strlen(word), &found), "%s", word);
        cr_expect_eq(found, kind, "%s", word);
        cr_expect_eq(kwi_type_kind_fake(kwi_type_kind_fake(kind)), kwi_type_kind_fake(kind));
    }
    uint8_t found = 0;
    cr_expect(!kwi_type_kind_find("Tenso", 5, &found));
    cr_expect(!kwi_type_kind_find("", 0, &found));
}

Test(schema, star_makes_all_later_arguments_keyword_only)
{
    kwi_schema *schema = parse("foo(int a, *, int b, *, int c) -> int d");
    cr_expect(!schema->args[0].keyword_only);
    cr_expect(schema->args[1].keyword_only);
    cr_expect(schema->args[2].keyword_only);
    cr_expect(!schema->returns[0].keyword_only);
    kwi_schema_destroy(schema);
}

Test(schema, dots_set_vararg_and_varret)
{
    kwi_schema *schema = parse("foo(int a, ...) -> ()");
    cr_expect(schema->vararg && !schema->varret);
    kwi_schema_destroy(schema);
    schema = parse("foo(int a) -> ...");
    cr_expect(!schema->vararg && schema->varret);
    kwi_schema_destroy(schema);
    schema = parse("foo(...) -> (int, ...)");
    cr_expect(schema->vararg && schema->varret && schema->return_count == 1);
    kwi_schema_destroy(schema);
}

Test(schema, written_follows_the_outermost_annotation)
{
    kwi_schema *schema = parse("foo(Tensor(a) a, Tensor(a!) b, Tensor(a!)[] c, Tensor[](a!) d, "
                               "Tensor(a!)[](b) e, Tensor! f, Tensor g, Tensor(a!)[2]? h, "
                               "Tensor(a!)? i, Tensor[](a!)? j) -> Tensor(a!)");
    static const bool written[] = {false, true, true, true, false, true, false, true, true, true};
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        cr_expect_eq(schema->args[i].written, written[i], "argument %u", i);
    }
    cr_expect(schema->returns[0].written);
    kwi_schema_destroy(schema);
}

Test(schema, destroyed_schema_leaves_no_memory)
{
    uint64_t bytes = kwi_memory_bytes();
    kwi_schema *schema = parse("ns::foo.bar(Tensor x, int y=1) -> (Tensor, Tensor)");
    cr_expect_gt(kwi_memory_bytes(), bytes);
    kwi_schema_destroy(schema);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
