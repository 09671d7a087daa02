// Schemas printed: the canonical form, and that it says the same.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// What a schema prints as; NULL: as it is written.
typedef struct print_row {
    const char *text;
    const char *printed;
} print_row;

// The catalogue of schemas that the original accepts, in its order. It prints them so, but for
// complex numbers, devices and the order of alias sets.
static const print_row catalogue[] = {
    {"foo() -> ()", NULL},
    {"foo(Tensor x) -> Tensor", NULL},
    {"ns::foo.over(Tensor self) -> Tensor", NULL},
    {"foo(Tensor(a) self) -> Tensor(a)", NULL},
    {"foo_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", NULL},
    {"foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", NULL},
    {"foo(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> "
     "(Tensor(a!) values, Tensor(b!) indices)",
     NULL},
    {"foo(Tensor? x) -> Tensor", NULL},
    {"foo(Tensor?[] indices) -> Tensor", NULL},
    {"foo(Tensor(a)[] xs) -> Tensor(a)", NULL},
    {"foo(Tensor(a!)[] xs) -> ()", NULL},
    {"foo(Tensor[](a!) xs) -> ()", NULL},
    {"foo(Tensor[3](a!) xs) -> ()", NULL},
    {"foo(Tensor(b -> b|c)[](a!) xs, Tensor(c) e) -> (Tensor(b|c)[](a!))",
     "foo(Tensor(b -> b|c)[](a!) xs, Tensor(c) e) -> Tensor(b|c)[](a!)"},
    {"foo(Tensor(a! -> a|b) x) -> ()", NULL},
    {"foo(Tensor(*) x) -> ()", NULL},
    {"foo(int[2] k=1) -> ()", NULL},
    {"foo(int[2] k=[1,2]) -> ()", "foo(int[2] k=[1, 2]) -> ()"},
    {"foo(int[2] k=[1]) -> ()", NULL},
    {"foo(int[] k=[]) -> ()", NULL},
    {"foo(int[1]? dim=None) -> ()", NULL},
    {"foo(SymInt[] size, SymInt? n=None) -> Tensor", NULL},
    {"foo(SymInt[2] s=1) -> ()", "foo(SymInt[2] s=[1, 1]) -> ()"},
    {"foo(bool[3] mask) -> ()", NULL},
    {"foo(float[2] k=0.5) -> ()", "foo(float[2] k=[0.5, 0.5]) -> ()"},
    {"foo(float x=1.5, float y=-2, float z=1e-05) -> ()",
     "foo(float x=1.5, float y=-2., float z=1.0000000000000001e-05) -> ()"},
    {"foo(int x=-1) -> ()", NULL},
    {"foo(int x=- 1) -> ()", "foo(int x=-1) -> ()"},
    {"foo(bool b=False, bool c=True) -> ()", NULL},
    {"foo(str s=\"hi\", str t='yo') -> ()", "foo(str s=\"hi\", str t=\"yo\") -> ()"},
    {"foo(str? s=None) -> str?", NULL},
    {"foo(ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
     "-> Tensor",
     NULL},
    {"foo(ScalarType dtype=float) -> ()", "foo(ScalarType dtype=6) -> ()"},
    {"foo(MemoryFormat? f=contiguous_format) -> ()", "foo(MemoryFormat? f=0) -> ()"},
    {"foo(int reduction=Mean) -> ()", "foo(int reduction=1) -> ()"},
    {"foo(Device d=\"cuda:0\") -> ()", NULL},
    {"foo(Generator? g=None, *, Tensor(a!) out) -> Tensor(a!)", NULL},
    {"foo(complex c=2j) -> ()", "foo(complex c=2.j) -> ()"},
    {"foo(Dict(str, Tensor) d) -> Dict(str, Tensor)", NULL},
    {"foo((int, Tensor) t) -> (int, Tensor)", NULL},
    {"foo(Tensor x) -> ((Tensor, Tensor))", NULL},
    {"foo(Union(int, Tensor) u) -> ()", "foo(Union(Tensor, int) u) -> ()"},
    {"foo(Future(int) f) -> ()", NULL},
    {"foo(RRef(Tensor) r) -> ()", NULL},
    {"foo(...) -> ...", NULL},
    {"foo(Tensor x, ...) -> (Tensor, ...)", NULL},
    {"foo(*, ...) -> ()", "foo(...) -> ()"},
    {"foo(*) -> ()", "foo() -> ()"},
    {"foo(Tensor x, *) -> ()", "foo(Tensor x) -> ()"},
    {"foo(*, *, Tensor x) -> ()", "foo(*, Tensor x) -> ()"},
    {"foo(int a=1, int[] b) -> ()", NULL},
    {"foo(int a=1, Tensor[] b) -> ()", NULL},
    {"foo(int a=1, *, int b) -> ()", NULL},
    {"foo(Tensor self, *, bool c=False, bool b) -> ()", NULL},
    {"foo(Tensor a, Tensor a) -> ()", NULL},
    {"foo(Tensor Tensor) -> Tensor", NULL},
    {"foo(int[][] x) -> ()", NULL},
    {"foo(int[][4] x) -> ()", NULL},
    {"foo(int?[] x) -> ()", NULL},
    {"  foo( Tensor   x )->Tensor  ", "foo(Tensor x) -> Tensor"},
    {"aten::foo(t x) -> t", NULL},
    {"foo(Dimname[1] dims) -> ()", "foo(str[1] dims) -> ()"},
    {"foo(Any x) -> Any", NULL},
    {"foo(None x) -> None", "foo(NoneType x) -> NoneType"},
    {"foo(Tensor( a ! ) x) -> ()", "foo(Tensor(a!) x) -> ()"},
    {"foo(int [2] x) -> ()", "foo(int[2] x) -> ()"},
    {"foo(Tensor ? x) -> ()", "foo(Tensor? x) -> ()"},
    {"foo._x(Tensor a) -> ()", NULL},
    {"_(Tensor a) -> ()", NULL},
    {"ns :: foo(Tensor x) -> ()", "ns::foo(Tensor x) -> ()"},
    {"foo(int x=1.5) -> ()", NULL},
    {"foo(bool x=1) -> ()", NULL},
    {"foo(str x=5) -> ()", NULL},
    {"foo(int x=None) -> ()", NULL},
};

static const print_row others[] = {
    {"foo(Tensor x,\n\t# one\n    Tensor y) -> (\n)  # two\n", "foo(Tensor x, Tensor y) -> ()"},
    {"foo(Tensor x) -> (Tensor)", "foo(Tensor x) -> Tensor"},
    {"foo(Tensor x) -> (Tensor y)", "foo(Tensor x) -> Tensor y"},
    {"foo(Tensor x) -> (...)", "foo(Tensor x) -> ..."},
    {"foo(Tensor x) -> ((int, Tensor) y)", NULL},
    {"foo(Tensor x) -> ((int, Tensor)?)", NULL},
    {"foo(Tensor a, *, int b, ...) -> ()", NULL},
    {"foo(Tensor?? x, int[]?? y) -> Tensor??", "foo(Tensor? x, int[]? y) -> Tensor?"},
    {"foo(int[]?[] x, int?[]? y, int[][][2]? z) -> ()", NULL},
    {"foo(() a, (int) b, ()[] c) -> (())", NULL},
    {"foo(Dict( str,Dict(int,Tensor?[])[] )? d) -> ()",
     "foo(Dict(str, Dict(int, Tensor?[])[])? d) -> ()"},
    {"foo(Future(int)[] f, RRef(Tensor)? r, Await(int[]) a) -> ()", NULL},
    {"foo(__torch__.torch.classes.ns.Name[]? x) -> __torch__.torch.classes.ns.Name", NULL},
    {"prim::foo(double x, void y, t1[] z) -> tensor", NULL},
    {"foo(ConstQuantizerPtr q, None n, SymBool b, DeviceIndex d) -> ()",
     "foo(int q, NoneType n, SymBool b, DeviceIndex d) -> ()"},
    {"foo(Union(str, int, None) x) -> ()", "foo(Union(int, NoneType, str) x) -> ()"},
    {"foo(Union(int, str, int) x) -> ()", "foo(Union(int, str) x) -> ()"},
    {"foo(Union(int[], Tensor?[], Tensor[]) x) -> ()",
     "foo(Union(Tensor?[], Tensor[], int[]) x) -> ()"},
    {"foo(Union(Union(str, int), bool)(a!)[] x) -> ()",
     "foo(Union(bool, Union(int, str))(a!)[] x) -> ()"},
    {"foo(Tensor(b|a) x, Tensor(a|b|a -> *|*) y, Tensor(a -> a) z) -> ()",
     "foo(Tensor(a|b) x, Tensor(a|b -> *) y, Tensor(a) z) -> ()"},
    {"foo(Tensor(a|*!) x, Tensor(* -> a) y) -> ()", NULL},
    {"foo(Tensor! x, Tensor!? y, Tensor![] z, int[2]!? w) -> ()", NULL},
    {"foo(Tensor(a!)?[] x, int[](a!)?[](b) y) -> ()", NULL},
    {"foo(Dict(str, Tensor(a!))(b) x, (Tensor(a), int(b!)) y) -> ()", NULL},
    {"foo(int[2] k=[1, 1], int[3] l=[1, 1], int[] m=[1, 1], int[1] n=1, int[0] o=1) -> ()",
     "foo(int[2] k=1, int[3] l=[1, 1], int[] m=[1, 1], int[1] n=[1], int[0] o=[]) -> ()"},
    {"foo(bool[2] b=True, ScalarType[2] s=6, complex[2] c=-1j) -> ()",
     "foo(bool[2] b=[True, True], ScalarType[2] s=[6, 6], complex[2] c=[-1.j, -1.j]) -> ()"},
    {"foo(SymInt[3] a=7, SymInt[65] b=7, float[4294967295] c=-0.5) -> ()",
     "foo(SymInt[3] a=[7, 7, 7], SymInt[65] b=7, float[4294967295] c=-0.5) -> ()"},
    {"foo(int x=1e3, int y=-0, Scalar z=-0.0, Scalar w=True) -> ()",
     "foo(int x=1000., int y=0, Scalar z=-0., Scalar w=True) -> ()"},
    {"foo(float a=1e100, float b=0.1, float c=1e16, float d=9223372036854775807, float e=-1e19) -> "
     "()",
     "foo(float a=1e+100, float b=0.10000000000000001, float c=10000000000000000., float "
     "d=9.2233720368547758e+18, float e=-1e+19) -> ()"},
    {"foo(float a=4.9e-324, float b=1.7976931348623157e308) -> ()",
     "foo(float a=4.9406564584124654e-324, float b=1.7976931348623157e+308) -> ()"},
    {"foo(float a=Mean, float b=float, complex c=complex, complex d=strided) -> ()",
     "foo(float a=Mean, float b=float, complex c=complex, complex d=strided) -> ()"},
    {"foo(float? x=3, int[2]? k=1, bool? b=1.50, complex? c=2, float? m=Mean) -> ()",
     "foo(float? x=3, int[2]? k=1, bool? b=1.5, complex? c=2, float? m=1) -> ()"},
    {"foo(ScalarType? d=int64, ScalarType e=half, ScalarType[] f=[bool, complex]) -> ()",
     "foo(ScalarType? d=4, ScalarType e=5, ScalarType[] f=[11, 9]) -> ()"},
    {"foo(Device d='cuda', Device? e='nowhere', Device f=\"c\\160u:12\") -> ()",
     "foo(Device d=\"cuda\", Device? e=\"nowhere\", Device f=\"cpu:12\") -> ()"},
    {"foo(str s='\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\001?', int t='x') -> ()",
     "foo(str s=\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\001?\", int t=\"x\") -> ()"},
    {"foo(str s='''a'\n\"b\"''', str t='\303\251\\377') -> ()",
     "foo(str s=\"a\\'\\n\\\"b\\\"\", str t=\"\\303\\251\\377\") -> ()"},
};

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

static void expect_printed(const print_row *row)
{
    const char *expected = row->printed != NULL ? row->printed : row->text;
    char printed[1024];
    char again[1024];
    char reason[256];
    kw_schema *schema = parse(row->text);
    size_t length = kw_schema_format(schema, printed, sizeof printed);
    cr_expect_str_eq(printed, expected);
    cr_expect_eq(length, strlen(printed));
    kw_schema *second = parse(printed);
    (void)kw_schema_format(second, again, sizeof again);
    cr_expect_str_eq(again, printed, "it prints to itself");
    cr_expect_eq(kw_schema_compare(schema, second, reason, sizeof reason), KW_SCHEMA_EQUAL,
                 "%s\n  %s\n  %s", row->text, printed, reason);
    kw_schema_destroy(second);
    kw_schema_destroy(schema);
}

Test(schema_print, catalogue_prints_as_in_the_original)
{
    for (size_t i = 0; i < COUNT(catalogue); i++) {
        expect_printed(&catalogue[i]);
    }
}

Test(schema_print, every_form_reads_back_as_it_was)
{
    for (size_t i = 0; i < COUNT(others); i++) {
        expect_printed(&others[i]);
    }
}

Test(schema_print, short_buffer_is_cut_and_the_length_is_the_whole)
{
    static const char text[] = "ns::foo.bar(Tensor(a!) x, int[2] k=[1, 2]) -> Tensor(a!)";
    char buffer[24];
    kw_schema *schema = parse(text);
    cr_expect_eq(kw_schema_format(schema, buffer, sizeof buffer), strlen(text));
    cr_expect_str_eq(buffer, "ns::foo.bar(Tensor(a...");
    cr_expect_eq(kw_schema_format(schema, NULL, 0), strlen(text));
    cr_expect_eq(kw_schema_default_format(schema, 1, buffer, 4), strlen("[1, 2]"));
    cr_expect_str_eq(buffer, "...");
    cr_expect_eq(kw_type_format(kw_schema_arg(schema, 1).type, NULL, 0), strlen("int[2]"));
    kw_schema_destroy(schema);
}

Test(schema_print, default_alone_is_printed_and_absent_one_is_empty)
{
    char buffer[64] = "before";
    kw_schema *schema = parse("foo(int a, str b=' x', Device? c=None) -> ()");
    cr_expect_eq(kw_schema_default_format(schema, 0, buffer, sizeof buffer), 0);
    cr_expect_str_eq(buffer, "");
    cr_expect_eq(kw_schema_default_format(schema, 1, buffer, sizeof buffer), 4);
    cr_expect_str_eq(buffer, "\" x\"");
    cr_expect_eq(kw_schema_default_format(schema, 2, buffer, sizeof buffer), 4);
    cr_expect_str_eq(buffer, "None");
    kw_schema_destroy(schema);
}

// Four thousand million elements print as one.
Test(schema_print, repeated_default_has_a_bounded_length)
{
    char buffer[512];
    kw_schema *schema = parse("foo(float[64] a=1, float[65] b=1, int[4294967295] c=1) -> ()");
    cr_expect_eq(kw_schema_default_format(schema, 0, buffer, sizeof buffer), 64 * 4);
    cr_expect_eq(kw_schema_default_format(schema, 1, buffer, sizeof buffer), 2);
    cr_expect_eq(kw_schema_default_format(schema, 2, buffer, sizeof buffer), 1);
    kw_schema_destroy(schema);
}

Test(schema_print, locale_with_a_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool set = false;
    for (size_t i = 0; i < COUNT(names) && !set; i++) {
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    }
    const print_row row = {
        "foo(float x=1.5, float y=-2.5e-10, complex z=0.5j) -> ()",
        "foo(float x=1.5, float y=-2.5000000000000002e-10, complex z=0.5j) -> ()"};
    expect_printed(&row);
}

static void expect_type(const char *written, const char *printed)
{
    char text[256];
    char buffer[256];
    (void)snprintf(text, sizeof text, "aten::foo(%s x) -> ()", written);
    kw_schema *schema = parse(text);
    size_t length = kw_type_format(kw_schema_arg(schema, 0).type, buffer, sizeof buffer);
    cr_expect_str_eq(buffer, printed, "%s", written);
    cr_expect_eq(length, strlen(printed));
    kw_schema_destroy(schema);
}

Test(schema_print, type_alone_is_printed_without_annotations)
{
    expect_type("Tensor(a!)", "Tensor");
    expect_type("Tensor(a!)?", "Tensor?");
    expect_type("Tensor(a)[](b)", "Tensor[]");
    expect_type("int[ 2 ](a!)?", "int[2]?");
    expect_type("Dict(str, Tensor(a))(b)", "Dict(str, Tensor)");
    expect_type("(t, t1[])", "(t, t1[])");
    expect_type("Union(str, Tensor(a))", "Union(Tensor, str)");
    expect_type("__torch__.torch.classes.a.B?", "__torch__.torch.classes.a.B?");
}
