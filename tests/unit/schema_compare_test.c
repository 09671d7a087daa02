// Two schemas: the same declaration, and types that fit together.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef bool (*comparison)(const kw_schema *a, const kw_schema *b, kwi_text *reason);

// `reason` NULL: the two are alike.
typedef struct compare_row {
    const char *a;
    const char *b;
    const char *reason;
} compare_row;

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

static void expect_compared(comparison compare, const compare_row *row)
{
    char reason[256];
    kwi_text text;
    kwi_text_init(&text, reason, sizeof reason);
    kw_schema *a = parse(row->a);
    kw_schema *b = parse(row->b);
    bool alike = row->reason == NULL;
    cr_expect_eq(compare(a, b, &text), alike, "%s\n  %s", row->a, row->b);
    cr_expect_str_eq(reason, alike ? "" : row->reason, "%s\n  %s\n  %s", row->a, row->b, reason);
    cr_expect_eq(compare(a, b, NULL), alike);
    cr_expect_eq(compare(b, a, NULL), alike, "it is symmetric");
    cr_expect(compare(a, a, NULL), "it is reflexive");
    kw_schema_destroy(a);
    kw_schema_destroy(b);
}

static const compare_row equal_rows[] = {
    {"foo(Tensor x) -> ()", "foo(Tensor x) -> ()", NULL},
    {"foo(Tensor x) -> ()", "  foo ( Tensor\n\tx )->( ) # comment\n", NULL},
    {"ns::foo.bar(int[2] k=[1,2]) -> ()", "ns :: foo . bar(int [ 2 ] k = [1, 2]) -> ()", NULL},
    {"foo(Tensor(a!) x) -> ()", "foo(Tensor ( a ! ) x) -> ()", NULL},
    {"foo() -> Tensor", "foo() -> (Tensor)", NULL},
    {"foo(None x) -> None", "foo(NoneType x) -> NoneType", NULL},
    {"foo(Dimname x, Tensor?? y) -> ()", "foo(str x, Tensor? y) -> ()", NULL},
    {"foo(*, *, int x, *) -> (...)", "foo(*, int x) -> ...", NULL},
    {"foo(Union(int, str) x) -> ()", "foo(Union(str, int, str) x) -> ()", NULL},
    {"foo(int x=- 1) -> ()", "foo(int x=-1) -> ()", NULL},
    {"foo(int x=Mean, int y=007) -> ()", "foo(int x=1, int y=7) -> ()", NULL},
    {"foo(float x=3, float y=1e2) -> ()", "foo(float x=3.0, float y=100) -> ()", NULL},
    {"foo(int[2] x=1, float[2] y=2) -> ()", "foo(int[2] x=[1, 1], float[2] y=[2., 2]) -> ()", NULL},
    {"foo(str s=\"a\\101\") -> ()", "foo(str s='''aA''') -> ()", NULL},
    {"foo(ScalarType x=float32) -> ()", "foo(ScalarType x=6) -> ()", NULL},
    {"foo(Device x=\"cpu\") -> ()", "foo(Device x='c\\160u') -> ()", NULL},
    {"foo(Tensor(a|b) x, Tensor(a) y) -> ()",
     "foo(Tensor(b|a|b -> a|b) x, Tensor(a -> a|a) y) -> ()", NULL},
    {"foo(Tensor! x) -> ()", "foo(Tensor ! x) -> ()", NULL},
    {"foo(int[4294967295] x=1) -> ()", "foo(int[4294967295] x=1) -> ()", NULL},
    {"foo(int[0] x=1) -> ()", "foo(int[0] x=2) -> ()", NULL},
    {"foo(int[9] x=1) -> ()", "foo(int[9] x=2) -> ()",
     "argument 1 \"x\": default 1 expected, 2 found"},
    {"foo.a() -> ()", "foo() -> ()", "name foo.a expected, foo found"},
    {"a::foo() -> ()", "b::foo() -> ()", "name a::foo expected, b::foo found"},
    {"foo(Tensor x) -> ()", "foo() -> ()", "1 argument expected, 0 found"},
    {"foo(Tensor x) -> ()", "foo(Tensor x) -> (int, int)", "0 returns expected, 2 found"},
    {"foo(int x, ...) -> ()", "foo(int x) -> ()",
     "\"...\" after the arguments expected, none found"},
    {"foo() -> int", "foo() -> (int, ...)", "no \"...\" after the returns expected, one found"},
    {"foo(Tensor x) -> ()", "foo(Tensor y) -> ()", "argument 1: name \"x\" expected, \"y\" found"},
    {"foo() -> int", "foo() -> int x", "return 1: name none expected, \"x\" found"},
    {"foo(int a, Tensor x) -> ()", "foo(int a, Tensor? y) -> ()",
     "argument 2 \"x\": type Tensor expected, Tensor? found"},
    {"foo(SymInt x) -> ()", "foo(int x) -> ()",
     "argument 1 \"x\": type SymInt expected, int found"},
    {"foo(int[2] x) -> ()", "foo(int[] x) -> ()",
     "argument 1 \"x\": type int[2] expected, int[] found"},
    {"foo(int[2] x) -> ()", "foo(int[3] x) -> ()",
     "argument 1 \"x\": type int[2] expected, int[3] found"},
    {"foo(int[0] x) -> ()", "foo(int[] x) -> ()",
     "argument 1 \"x\": type int[0] expected, int[] found"},
    {"foo() -> (int, Tensor(a!))", "foo() -> (int, Tensor(a))",
     "return 2: type Tensor(a!) expected, Tensor(a) found"},
    {"foo(Tensor x) -> ()", "foo(Tensor(a) x) -> ()",
     "argument 1 \"x\": type Tensor expected, Tensor(a) found"},
    {"foo(Tensor! x) -> ()", "foo(Tensor(a!) x) -> ()",
     "argument 1 \"x\": type Tensor! expected, Tensor(a!) found"},
    {"foo(Tensor(a|b) x) -> ()", "foo(Tensor(a) x) -> ()",
     "argument 1 \"x\": type Tensor(a|b) expected, Tensor(a) found"},
    {"foo(Tensor(a -> b) x) -> ()", "foo(Tensor(a -> c) x) -> ()",
     "argument 1 \"x\": type Tensor(a -> b) expected, Tensor(a -> c) found"},
    {"foo(Tensor(a|*) x) -> ()", "foo(Tensor(*) x) -> ()",
     "argument 1 \"x\": type Tensor(a|*) expected, Tensor(*) found"},
    {"foo(Tensor(a)[] x) -> ()", "foo(Tensor[](a) x) -> ()",
     "argument 1 \"x\": type Tensor(a)[] expected, Tensor[](a) found"},
    {"foo((int, str) x) -> ()", "foo((int, int) x) -> ()",
     "argument 1 \"x\": type (int, str) expected, (int, int) found"},
    {"foo((int, str) x) -> ()", "foo((int) x) -> ()",
     "argument 1 \"x\": type (int, str) expected, (int) found"},
    {"aten::foo(t x) -> ()", "aten::foo(t1 x) -> ()",
     "argument 1 \"x\": type t expected, t1 found"},
    {"foo(__torch__.torch.classes.a.B x) -> ()", "foo(__torch__.torch.classes.a.C x) -> ()",
     "argument 1 \"x\": type __torch__.torch.classes.a.B expected, __torch__.torch.classes.a.C "
     "found"},
    {"foo(int x=1) -> ()", "foo(int x) -> ()", "argument 1 \"x\": default 1 expected, none found"},
    {"foo(int x=1) -> ()", "foo(int x=1.) -> ()", "argument 1 \"x\": default 1 expected, 1. found"},
    {"foo(bool x=1) -> ()", "foo(bool x=True) -> ()",
     "argument 1 \"x\": default 1 expected, True found"},
    {"foo(float x=0) -> ()", "foo(float x=-0) -> ()",
     "argument 1 \"x\": default 0. expected, -0. found"},
    {"foo(int[2] x=1) -> ()", "foo(int[2] x=[1]) -> ()",
     "argument 1 \"x\": default 1 expected, [1] found"},
    {"foo(int[] x=[1, 2]) -> ()", "foo(int[] x=[1, 3]) -> ()",
     "argument 1 \"x\": default [1, 2] expected, [1, 3] found"},
    {"foo(int[2]? x=1) -> ()", "foo(int[2]? x=None) -> ()",
     "argument 1 \"x\": default 1 expected, None found"},
    {"foo(str s='a b') -> ()", "foo(str s='ab') -> ()",
     "argument 1 \"s\": default \"a b\" expected, \"ab\" found"},
    {"foo(str s='ab') -> ()", "foo(str s='a') -> ()",
     "argument 1 \"s\": default \"ab\" expected, \"a\" found"},
    {"foo(Device d=\"cuda\") -> ()", "foo(Device d=\"cuda:0\") -> ()",
     "argument 1 \"d\": default \"cuda\" expected, \"cuda:0\" found"},
    {"foo(complex c=1j) -> ()", "foo(complex c=2j) -> ()",
     "argument 1 \"c\": default 1.j expected, 2.j found"},
    {"foo(int a, *, int b) -> ()", "foo(int a, int b) -> ()",
     "argument 2 \"b\": keyword-only expected, positional found"},
};

Test(schema_compare, equal_compares_what_is_declared_and_not_how)
{
    for (size_t i = 0; i < COUNT(equal_rows); i++) {
        expect_compared(kwi_schema_equal, &equal_rows[i]);
    }
}

static const compare_row compatible_rows[] = {
    {"foo(Tensor a, int b=1, *, bool c) -> Tensor(a!)",
     "bar.x(Tensor(a!) x, int y, bool z) -> Tensor", NULL},
    {"foo(int[2] a, ...) -> ()", "foo(int[] b) -> ...", NULL},
    {"foo(SymInt a, SymInt[] b, SymInt? c) -> SymInt", "foo(int a, int[] b, int? c) -> int", NULL},
    {"foo(int[2]? a) -> ()", "foo(int[3]? a) -> ()", NULL},
    {"foo(DeviceIndex a, SymInt?[] b) -> ()", "foo(int a, int?[] b) -> ()", NULL},
    {"foo((SymInt, Dict(str, SymInt[])) a) -> Future(SymInt)",
     "foo((int, Dict(str, int[])) a) -> Future(int)", NULL},
    {"foo(Union(SymInt, None, str) a) -> ()", "foo(Union(str, int, None) a) -> ()", NULL},
    {"foo(Tensor(a)[](b) a) -> ()", "foo(Tensor[] a) -> ()", NULL},
    {"foo(SymBool a) -> ()", "foo(bool a) -> ()",
     "argument 1 \"a\": type SymBool expected, bool found"},
    {"foo((int, str) a) -> ()", "foo((int, str, str) a) -> ()",
     "argument 1 \"a\": type (int, str) expected, (int, str, str) found"},
    {"foo(Dict(str, int) a) -> ()", "foo(Dict(int, int) a) -> ()",
     "argument 1 \"a\": type Dict(str, int) expected, Dict(int, int) found"},
    {"foo(Future(int) a) -> ()", "foo(RRef(int) a) -> ()",
     "argument 1 \"a\": type Future(int) expected, RRef(int) found"},
    {"foo(__torch__.torch.classes.a.B a) -> ()", "foo(__torch__.torch.classes.a.BC a) -> ()",
     "argument 1 \"a\": type __torch__.torch.classes.a.B expected, __torch__.torch.classes.a.BC "
     "found"},
    {"foo(Tensor a) -> ()", "foo(Tensor a, Tensor b) -> ()", "1 argument expected, 2 found"},
    {"foo(int a, int b) -> ()", "foo() -> ()", "2 arguments expected, 0 found"},
    {"foo() -> Tensor", "foo() -> ()", "1 return expected, 0 found"},
    {"foo(Tensor a) -> Tensor", "foo() -> ()", "1 argument expected, 0 found"},
    {"foo(Tensor a) -> Tensor", "foo(int a) -> ()", "1 return expected, 0 found"},
    {"foo(Tensor a, int b) -> ()", "foo(Tensor a, float b) -> ()",
     "argument 2 \"b\": type int expected, float found"},
    {"foo(Tensor a) -> ()", "foo(Tensor? a) -> ()",
     "argument 1 \"a\": type Tensor expected, Tensor? found"},
    {"foo(Tensor[] a) -> ()", "foo(Tensor?[] a) -> ()",
     "argument 1 \"a\": type Tensor[] expected, Tensor?[] found"},
    {"foo(int[] a) -> ()", "foo(int[2]? a) -> ()",
     "argument 1 \"a\": type int[] expected, int[2]? found"},
    {"foo(int a) -> ()", "foo(int[] a) -> ()", "argument 1 \"a\": type int expected, int[] found"},
    {"foo(ScalarType a) -> ()", "foo(int a) -> ()",
     "argument 1 \"a\": type ScalarType expected, int found"},
    {"foo(Layout a) -> ()", "foo(SymInt a) -> ()",
     "argument 1 \"a\": type Layout expected, SymInt found"},
    {"foo(int a) -> (Tensor, int)", "foo(int a) -> (Tensor, bool)",
     "return 2: type int expected, bool found"},
    {"foo(int a) -> int", "foo(bool a) -> bool", "argument 1 \"a\": type int expected, bool found"},
};

Test(schema_compare, compatible_looks_at_counts_and_real_types)
{
    for (size_t i = 0; i < COUNT(compatible_rows); i++) {
        expect_compared(kwi_schema_compatible, &compatible_rows[i]);
    }
}

static void expect_relation(const char *a, const char *b, kw_schema_relation relation,
                            const char *reason)
{
    char buffer[256] = "before";
    kw_schema *expected = parse(a);
    kw_schema *found = parse(b);
    cr_expect_eq(kw_schema_compare(expected, found, buffer, sizeof buffer), relation);
    cr_expect_str_eq(buffer, reason);
    cr_expect_eq(kw_schema_compare(expected, found, NULL, 0), relation);
    kw_schema_destroy(expected);
    kw_schema_destroy(found);
}

Test(schema_compare, relation_is_told_with_what_differs_first)
{
    expect_relation("foo(int a=1) -> int", "foo( int a = 1 ) -> (int)", KW_SCHEMA_EQUAL, "");
    expect_relation("foo(SymInt a=1) -> int", "foo(int a=1) -> int", KW_SCHEMA_COMPATIBLE,
                    "argument 1 \"a\": type SymInt expected, int found");
    expect_relation("foo(int a=1) -> int", "kernel(int _0) -> int _0", KW_SCHEMA_COMPATIBLE,
                    "name foo expected, kernel found");
    expect_relation("foo(int a) -> int", "bar(int a) -> float", KW_SCHEMA_DIFFERENT,
                    "return 1: type int expected, float found");
}

Test(schema_compare, reason_is_cut_to_the_buffer)
{
    char buffer[16];
    kw_schema *a = parse("foo(int a) -> ()");
    kw_schema *b = parse("foo(float a) -> ()");
    cr_expect_eq(kw_schema_compare(a, b, buffer, sizeof buffer), KW_SCHEMA_DIFFERENT);
    cr_expect_str_eq(buffer, "argument 1 \"...");
    kw_schema_destroy(a);
    kw_schema_destroy(b);
}
