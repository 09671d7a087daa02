// Two schemas: the same declaration, and types that fit together.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef bool (*comparison)(const kwi_schema *a, const kwi_schema *b, kwi_text *reason);

// `reason` NULL: the two are alike.
typedef struct compare_row {
    const char *a;
    const char *b;
    const char *reason;
} compare_row;

static kwi_schema *parse(const char *text)
{
    kwi_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
    return schema;
}

static void expect_compared(comparison compare, const compare_row *row)
{
    char reason[256];
    kwi_text text;
    kwi_text_init(&text, reason, sizeof reason);
    kwi_schema *a = parse(row->a);
    kwi_schema *b = parse(row->b);
    bool alike = row->reason == NULL;
    cr_expect_eq(compare(a, b, &text), alike, "%s\n  %s", row->a, row->b);
    cr_expect_str_eq(reason, alike ? "" : row->reason, "%s\n  %s\n  %s", row->a, row->b, reason);
    cr_expect_eq(compare(a, b, NULL), alike);
    cr_expect_eq(compare(b, a, NULL), alike, "it is symmetric");
    cr_expect(compare(a, a, NULL), "it is reflexive");
    kwi_schema_destroy(a);
    kwi_schema_destroy(b);
}

static const compare_row equal_rows[] = {
    {"foo(Tensor x) -> ()", "foo(Tensor x) -> ()", NULL},
    {"foo(Tensor x) -> ()", "  foo ( Tensor\n\tx )->( ) # comment\n", NULL},
    {"ns::foo.bar(int[2] k=[1,2]) -> ()", "ns :: foo . bar(int [ 2 ] k = [1, 2]) -> ()", NULL},
    {"foo(Tensor(a!) x) -> ()", "foo(Tensor ( a ! ) x) -> ()", NULL},
    {"foo(Tensor x) -> ()", "foo(Tensor y) -> ()", "\"x\" at byte 11 against \"y\" at byte 11"},
    {"foo( Tensor x) -> ()", "foo(Tensor y) -> ()", "\"x\" at byte 12 against \"y\" at byte 11"},
    {"foo(Tensor x) -> ()", "foo(Tensor x) -> Tensor",
     "\"(\" at byte 17 against \"Tensor\" at byte 17"},
    {"foo(int x=1) -> ()", "foo(int x) -> ()", "\"=\" at byte 9 against \")\" at byte 9"},
    {"foo() -> int", "foo() -> int x", "the end at byte 12 against \"x\" at byte 13"},
    {"foo(str s='a b') -> ()", "foo(str s='ab') -> ()",
     "\"'a b'\" at byte 10 against \"'ab'\" at byte 10"},
    {"foo() -> Tensor", "foo() -> (Tensor)", "\"Tensor\" at byte 9 against \"(\" at byte 9"},
    {"foo.a() -> ()", "foo() -> ()", "\".\" at byte 3 against \"(\" at byte 3"},
};

Test(schema_compare, equal_disregards_blanks_and_comments_only)
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
    {"foo(Tensor a) -> ()", "foo(Tensor a, Tensor b) -> ()", "1 argument expected, 2 found"},
    {"foo(int a, int b) -> ()", "foo() -> ()", "2 arguments expected, 0 found"},
    {"foo() -> Tensor", "foo() -> ()", "1 return expected, 0 found"},
    {"foo(Tensor a) -> Tensor", "foo() -> ()", "1 argument expected, 0 found"},
    {"foo(Tensor a) -> Tensor", "foo(int a) -> ()", "1 return expected, 0 found"},
    {"foo(Tensor a, int b) -> ()", "foo(Tensor a, float b) -> ()",
     "argument 2: type int expected, float found"},
    {"foo(Tensor a) -> ()", "foo(Tensor? a) -> ()",
     "argument 1: type Tensor expected, Tensor? found"},
    {"foo(Tensor[] a) -> ()", "foo(Tensor?[] a) -> ()",
     "argument 1: type Tensor[] expected, Tensor?[] found"},
    {"foo(int[] a) -> ()", "foo(int[2]? a) -> ()",
     "argument 1: type int[] expected, int[2]? found"},
    {"foo(int a) -> ()", "foo(int[] a) -> ()", "argument 1: type int expected, int[] found"},
    {"foo(ScalarType a) -> ()", "foo(int a) -> ()",
     "argument 1: type ScalarType expected, int found"},
    {"foo(Layout a) -> ()", "foo(SymInt a) -> ()",
     "argument 1: type Layout expected, SymInt found"},
    {"foo(int a) -> (Tensor, int)", "foo(int a) -> (Tensor, bool)",
     "return 2: type int expected, bool found"},
    {"foo(int a) -> int", "foo(bool a) -> bool", "argument 1: type int expected, bool found"},
};

Test(schema_compare, compatible_looks_at_counts_and_real_types)
{
    for (size_t i = 0; i < COUNT(compatible_rows); i++) {
        expect_compared(kwi_schema_compatible, &compatible_rows[i]);
    }
}
