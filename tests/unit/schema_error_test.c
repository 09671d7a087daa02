// Schemas that do not parse: each with its status, the byte it fails at, and what is expected
// there.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A caret, which the language does not have, stands before the byte that the error names.
typedef struct error_row {
    const char *marked;
    const char *phrase; // of the sentence
} error_row;

static const error_row rows[] = {
    // The declaration.
    {"^", "expected an operator name but found the end"},
    {"   ^", "an operator name but found the end"},
    {"# only a comment^", "an operator name but found the end"},
    {"^(Tensor x) -> ()", "an operator name but found \"(\""},
    {"^1foo(Tensor x) -> ()", "an operator name but found a number"},
    {"^::foo(Tensor x) -> ()", "an operator name"},
    {"^-> ()", "an operator name but found \"->\""},
    {"foo^", "expected '(' but found the end"},
    {"ns::foo.bar^", "expected '('"},
    {"foo ^\n(Tensor x) -> ()", "found the end of the line"},
    {"foo()^", "expected \"->\" but found the end"},
    {"foo() ->^", "a type but found the end"},
    {"foo() ->^\n()", "a type but found the end of the line"},
    {"foo()^\n-> ()", "expected \"->\" but found the end of the line"},
    {"foo(Tensor x) ^Tensor", "expected \"->\""},
    {"foo(Tensor x) ^=> ()", "expected \"->\" but found \"=\""},
    {"foo(Tensor x) ^- > ()", "expected \"->\" but found \"-\""},
    {"foo(Tensor x) ^: ()", "expected \"->\""},
    {"foo(^", "a type but found the end"},
    {"foo(Tensor x^", "',' or ')' but found the end"},
    {"foo(Tensor x ^-> ()", "',' or ')' but found \"->\""},
    {"foo(Tensor x) -> Tensor Tensor ^y", "expected the end but found \"y\""},
    {"foo(Tensor x) -> ()^; bar", "expected the end but found \";\""},
    {"foo(Tensor x) -> ()\n^bar(Tensor y) -> ()", "expected the end but found \"bar\""},
    {"foo() -> ()\n# comment\n\n^x", "expected the end"},
    {"foo() -> ()^)", "expected the end"},
    {"^{foo}() -> ()", "an operator name but found \"{\""},
    // Names.
    {"a::b^::c(Tensor x) -> ()", "expected '('"},
    {"foo.a^.b(Tensor x) -> ()", "expected '('"},
    {"foo:^bar(Tensor x) -> ()", "expected ':'"},
    {"foo::^(Tensor x) -> ()", "an operator name"},
    {"foo::^.bar(Tensor x) -> ()", "an operator name"},
    {"foo.^(Tensor x) -> ()", "an overload name"},
    {"foo^.5(Tensor x) -> ()", "expected '(' but found \".5\""},
    {"foo^-bar(Tensor x) -> ()", "expected '('"},
    {"foo.^default(Tensor x) -> Tensor", "leave it out"},
    {"foo.^__init__(Tensor x) -> Tensor", "two underscores"},
    {"foo . ^__x(Tensor x) -> Tensor", "two underscores"},
    {"^if(Tensor x) -> ()", "an operator name but found \"if\""},
    {"ns::^None(Tensor x) -> ()", "an operator name but found \"None\""},
    {"foo.^in(Tensor x) -> ()", "an overload name but found \"in\""},
    {"^\xc3\xa9t\xc3\xa9(Tensor x) -> ()", "a character outside ASCII"},
    {"fo^\xc3\xb6(Tensor x) -> ()", "a character outside ASCII"},
    // Arguments.
    {"foo(Tensor^) -> ()", "an argument name but found \")\""},
    {"foo(Tensor x,^) -> ()", "a type but found \")\""},
    {"foo(Tensor x, ^, Tensor y) -> ()", "a type but found \",\""},
    {"foo(^, Tensor y) -> ()", "a type but found \",\""},
    {"foo(Tensor x ^Tensor y) -> ()", "',' or ')' but found \"Tensor\""},
    {"foo(Tensor x^; Tensor y) -> ()", "',' or ')' but found \";\""},
    {"foo(Tensor ^if) -> ()", "an argument name but found \"if\""},
    {"foo(Tensor ^in) -> ()", "an argument name"},
    {"foo(Tensor ^def) -> ()", "an argument name"},
    {"foo(Tensor ^class) -> ()", "an argument name"},
    {"foo(Tensor ^None) -> ()", "an argument name"},
    {"foo(Tensor ^NoneType) -> ()", "an argument name"},
    {"foo(Tensor ^Ellipsis) -> ()", "an argument name"},
    {"foo(Tensor ^1x) -> ()", "an argument name but found a number with letters in it"},
    {"foo(Tensor ^1) -> ()", "an argument name but found \"1\""},
    {"foo(Tensor ^\"x\") -> ()", "an argument name"},
    {"foo(Tensor x^\xe2\x82\xac) -> ()", "a character outside ASCII"},
    {"foo(* ^Tensor x) -> ()", "',' or ')' but found \"Tensor\""},
    {"foo(...^, Tensor x) -> ()", "')' after \"...\""},
    {"foo(Tensor x, ...^, *) -> ()", "')' after \"...\""},
    {"foo(Tensor x, ... ^y) -> ()", "')' after \"...\""},
    {"foo(int x=1, ^...) -> ()", "no \"...\" after a default"},
    {"foo(int x=1, *, int y, ^...) -> ()", "no \"...\" after a default"},
    {"foo(^.. Tensor x) -> ()", "a type but found \".\""},
    {"foo(int a=1, int ^b) -> ()", "argument \"b\" follows one with a default"},
    {"foo(Tensor? a=None, Tensor ^b) -> ()", "argument \"b\""},
    {"foo(int a=1, int[]? ^b) -> ()", "argument \"b\""},
    {"foo(int a=1, int[] b, int ^c) -> ()", "argument \"c\""},
    // Types.
    {"foo(^Foo x) -> ()", "a type but found \"Foo\""},
    {"foo(^tensor x) -> ()", "written Tensor"},
    {"foo(^Tuple(int,int) t) -> ()", "a tuple is written in parentheses"},
    {"foo(^List(int) t) -> ()", "a list is written"},
    {"foo(^Optional(int) t) -> ()", "an optional is written"},
    {"foo(^double x) -> ()", "a double is written float"},
    {"foo(^int64_t x) -> ()", "written int or SymInt"},
    {"foo(^vector<int> x) -> ()", "a type but found \"vector\""},
    {"foo(^const Tensor x) -> ()", "a type but found \"const\""},
    {"foo(Tensor^& x) -> ()", "an argument name but found \"&\""},
    {"foo(Tensor^* x) -> ()", "an argument name but found \"*\""},
    {"foo(^t x) -> t", "a type but found \"t\""},
    {"foo(^True x) -> ()", "a type but found \"True\""},
    {"foo(^[] x) -> ()", "a type but found \"[\""},
    {"foo(^? x) -> ()", "a type but found \"?\""},
    {"foo(int[^-1] x) -> ()", "']' or the size of the list"},
    {"foo(int[^a] x) -> ()", "']' or the size of the list"},
    {"foo(int[^1_000] x) -> ()", "a number with letters in it"},
    {"foo(int[^0x2] x) -> ()", "a number with letters in it"},
    {"foo(int[^2.5] x) -> ()", "a size of at most 32 bits but found \"2.5\""},
    {"foo(int[^2j] x) -> ()", "a size of at most 32 bits"},
    {"foo(int[^4294967296] x) -> ()", "a size of at most 32 bits"},
    {"foo(int[^99999999999999999999] x) -> ()", "a size of at most 32 bits"},
    {"foo(int[2 ^x) -> ()", "expected ']'"},
    {"foo(int[2^,3] x) -> ()", "expected ']'"},
    {"foo(int[ ^x) -> ()", "']' or the size of the list"},
    {"foo(int[2]^[] x) -> ()", "an argument name but found \"[\""},
    {"foo(int[2]?^? x) -> ()", "an argument name but found \"?\""},
    {"foo(int[2]^[3] x) -> ()", "an argument name but found \"[\""},
    {"foo(None^? x) -> ()", "no '?' after NoneType"},
    {"foo(NoneType^?[] x) -> ()", "no '?' after NoneType"},
    {"ns::foo(^t x) -> t", "a type but found \"t\""},
    {"aten::foo(^T x) -> T", "a type but found \"T\""},
    {"aten::foo(^_t x) -> ()", "a type but found \"_t\""},
    {"aten2::foo(^t x) -> ()", "a type but found \"t\""},
    {"prim::foo(^if x) -> ()", "a type but found \"if\""},
    // Types made of types.
    {"foo(Dict ^d) -> ()", "'(' and what the type is made of"},
    {"foo(Dict(^) d) -> ()", "a type but found \")\""},
    {"foo(Dict(str^) d) -> ()", "',' and the type of the values"},
    {"foo(Dict(str, int^, int) d) -> ()", "')'"},
    {"foo(Dict(str,^) d) -> ()", "a type but found \")\""},
    {"foo(Dict(^Scalar, int) d) -> ()", "a type that keys can have"},
    {"foo(Dict(^int?, int) d) -> ()", "a type that keys can have"},
    {"foo(Dict(^(int, int), int) d) -> ()", "a type that keys can have"},
    {"foo(Dict(^Layout[], int) d) -> ()", "a type that keys can have"},
    {"aten::foo(Dict(^t, int) d) -> ()", "a type that keys can have"},
    {"foo(Dict(str, int[^2]) d) -> ()", "inside another type a list has no size"},
    {"foo((int[^2], int) d) -> ()", "inside another type a list has no size"},
    {"foo(Union(^) u) -> ()", "a type but found \")\""},
    {"foo(Union(int,^) u) -> ()", "a type but found \")\""},
    {"foo(Union(int ^str) u) -> ()", "',' or ')' but found \"str\""},
    {"foo(Future ^int f) -> ()", "'(' and what the type is made of"},
    {"foo(Future(int^, int) f) -> ()", "expected ')' but found \",\""},
    {"foo(Future(int)^(a) f) -> ()", "an argument name but found \"(\""},
    {"foo(RRef(^) r) -> ()", "a type but found \")\""},
    {"foo(Await(int^] r) -> ()", "expected ')'"},
    {"foo((int,^) t) -> ()", "a type but found \")\""},
    {"foo((int^", "',' or ')' but found the end"},
    {"foo((int ^a) t) -> ()", "',' or ')' but found \"a\""},
    {"foo((int)^(a) t) -> ()", "an argument name but found \"(\""},
    {"foo() -> (int)^?", "expected the end but found \"?\""},
    // Classes.
    {"foo(__torch__.^foo.Bar x) -> ()", "__torch__.torch.classes.namespace.name but found"},
    {"foo(__torch__.torch.^foo.Bar x) -> ()", "__torch__.torch.classes.namespace.name"},
    {"foo(__torch__.torch.classes.a ^x) -> ()", "__torch__.torch.classes.namespace.name"},
    {"foo(__torch__.torch.classes.a.^if x) -> ()", "__torch__.torch.classes.namespace.name"},
    {"foo(__torch__.torch.classes.a.B^.C x) -> ()", "an argument name but found \".\""},
    {"foo(__torch__.torch.classes.a.B^(a) x) -> ()", "an argument name but found \"(\""},
    {"foo(__torch__^ .torch.classes.a.B x) -> ()", "without blanks"},
    {"foo(__torch__.torch.classes.^ a.B x) -> ()", "without blanks"},
    {"foo(^__torch x) -> ()", "a type but found \"__torch\""},
    // Alias annotations.
    {"foo(Tensor(a ^x) -> ()", "')' after the alias annotation"},
    {"foo(Tensor(^) x) -> ()", "an alias set but found \")\""},
    {"foo(Tensor(a|^) x) -> ()", "an alias set"},
    {"foo(Tensor(^|a) x) -> ()", "an alias set but found \"|\""},
    {"foo(Tensor(^1) x) -> ()", "an alias set but found \"1\""},
    {"foo(Tensor(^!) x) -> ()", "an alias set but found \"!\""},
    {"foo(Tensor(*|^a) x) -> ()", "no name after '*'"},
    {"foo(Tensor(a -> b|*|^c) x) -> ()", "no name after '*'"},
    {"foo(Tensor(a!^!) x) -> ()", "')' after the alias annotation"},
    {"foo(Tensor(a -> ^) x) -> ()", "an alias set"},
    {"foo(Tensor(a -> b^!) x) -> ()", "')' after the alias annotation"},
    {"foo(Tensor(a -> b ^-> c) x) -> ()", "')' after the alias annotation"},
    {"foo(Tensor(a^, b) x) -> ()", "')' after the alias annotation"},
    {"foo(Tensor?^(a!) x) -> ()", "an argument name but found \"(\""},
    {"foo(Tensor(a)^(b) x) -> ()", "an argument name but found \"(\""},
    {"foo(Tensor!^! x) -> ()", "an argument name but found \"!\""},
    {"foo(Tensor? x) -> Tensor?^(a)", "expected the end but found \"(\""},
    // Defaults.
    {"foo(int x=^) -> ()", "a constant but found \")\""},
    {"foo(int x=^+1) -> ()", "a constant but found \"+\""},
    {"foo(int x=-^-1) -> ()", "a number but found \"-\""},
    {"foo(int x=-^None) -> ()", "a number but found \"None\""},
    {"foo(int x=-^Mean) -> ()", "a number but found \"Mean\""},
    {"foo(int x=^abc) -> ()", "a constant but found \"abc\""},
    {"foo(str s=^abc) -> ()", "a constant"},
    {"foo(bool x=^true) -> ()", "a constant"},
    {"foo(float x=^inf) -> ()", "a constant"},
    {"foo(float x=^nan) -> ()", "a constant"},
    {"foo(int x=^int32) -> ()", "a constant"},
    {"foo(Layout? x=^int32) -> ()", "a constant"},
    {"foo(ScalarType x=^int31) -> ()", "a constant"},
    {"foo(ScalarType[]? x=^int32) -> ()", "a constant"},
    {"foo(int x=^if) -> ()", "a constant"},
    {"foo(int x=^NoneType) -> ()", "a constant"},
    {"foo(int x=^[1]) -> ()", "a constant but found \"[\""},
    {"foo(int x=1 ^2) -> ()", "',' or ')' but found \"2\""},
    {"foo(int x=1.5^.2) -> ()", "',' or ')' but found \".2\""},
    {"foo(int x=^0b1) -> ()", "a number with letters in it"},
    {"foo(int x=^0x10) -> ()", "a number with letters in it"},
    {"foo(int x=^1_000) -> ()", "a number with letters in it"},
    {"foo(int x=^1e) -> ()", "a number with letters in it"},
    {"foo(int x=^1jj) -> ()", "a number with letters in it"},
    {"foo(int x=^9223372036854775808) -> ()", "an integer of 64 bits"},
    {"foo(int x=-^9223372036854775809) -> ()", "an integer of 64 bits"},
    {"foo(int? x=^9223372036854775808) -> ()", "an integer of 64 bits"},
    {"foo(float x=^1e400) -> ()", "a number that a double can hold"},
    {"foo(int x=^1e400) -> ()", "a number that a double can hold"},
    {"foo(complex c=^1e400j) -> ()", "a number that a double can hold"},
    {"foo(complex c=^1) -> ()", "an imaginary number"},
    {"foo(complex c=^1.5) -> ()", "an imaginary number"},
    {"foo(Device d=^cuda) -> ()", "a string but found \"cuda\""},
    {"foo(Device d=^None) -> ()", "a string but found \"None\""},
    {"foo(Tensor x=^1) -> ()", "None, the only default of this type"},
    {"foo(Generator g=^1) -> ()", "None, the only default of this type"},
    {"foo(Quantizer q=^\"x\") -> ()", "None, the only default of this type"},
    {"foo(Tensor[] x=^None) -> ()", "a list of this type cannot have one"},
    {"foo(Tensor[2] x=^None) -> ()", "a list of this type cannot have one"},
    {"foo(str[] s=^[\"a\"]) -> ()", "a list of this type cannot have one"},
    {"foo(str[] s=^[]) -> ()", "a list of this type cannot have one"},
    {"foo(Tensor[] x=^[]) -> ()", "a list of this type cannot have one"},
    {"foo(Scalar[] s=^[]) -> ()", "a list of this type cannot have one"},
    {"foo(int?[] s=^[]) -> ()", "a list of this type cannot have one"},
    {"foo(int[] x=^None) -> ()", "expected '['"},
    {"foo(int[] x=^1) -> ()", "expected '['"},
    {"foo(int[2] x=^Mean) -> ()", "expected '['"},
    {"foo(int[2] x=^None) -> ()", "a constant of type int for the list"},
    {"foo(int[2] x=^1.5) -> ()", "a constant of type int for the list"},
    {"foo(int[] x=[^1.5]) -> ()", "a constant of type int for the list"},
    {"foo(int[] x=[1, ^True]) -> ()", "a constant of type int for the list"},
    {"foo(float[] x=[^True]) -> ()", "a constant of type float for the list"},
    {"foo(bool[] x=[^1]) -> ()", "a constant of type bool for the list"},
    {"foo(bool[2] x=^\"a\") -> ()", "a constant of type bool for the list"},
    {"foo(int[2] k=[1,^]) -> ()", "a constant but found \"]\""},
    {"foo(int[2] k=[^) -> ()", "a constant but found \")\""},
    {"foo(int[2] k=[1 ^2]) -> ()", "',' or ']'"},
    {"foo(int[2] k=[^[1]]) -> ()", "a constant but found \"[\""},
    {"foo(int[]? x=^[1]) -> ()", "a constant but found \"[\""},
    {"foo(Any a=^None) -> ()", "this type cannot have one"},
    {"foo(Stream s=^None) -> ()", "this type cannot have one"},
    {"foo(NoneType x=^None) -> ()", "this type cannot have one"},
    {"foo(Storage x=^None) -> ()", "this type cannot have one"},
    {"foo(Tensor[]^=[] x) -> ()", "an argument name but found \"=\""},
    // Strings.
    {"foo(str s=^\"unterminated) -> ()", "a string without its end"},
    {"foo(str s=^'unterminated\") -> ()", "a string without its end"},
    {"foo(str s=^\"two\nlines\") -> ()", "a string without its end"},
    {"foo(str s=^\"\"\"three\"\") -> ()", "a string without its end"},
    {"foo(str s=\"a\" ^\"b\") -> ()", "',' or ')' but found"},
    {"foo(str s=\"a^\\x41\") -> ()", "an escape that the language does not have"},
    {"foo(str s=\"a^\\q\") -> ()", "an escape that the language does not have"},
    {"foo(str s=\"^\\8\") -> ()", "an escape that the language does not have"},
    {"foo(str s=\"^\\777\") -> ()", "an escape that the language does not have"},
    {"foo(str s=\"a^\\", "an escape that the language does not have"},
    {"foo(str s=\"\xc3\xa9^\xc3\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"^\xff\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"^\xc0\x80\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"^\xe0\x80\x80\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"^\xed\xa0\x80\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"^\xf4\x90\x80\x80\") -> ()", "a byte that is not UTF-8"},
    {"foo(str s=\"\xf0\x9f\x98\x80^\x80\") -> ()", "a byte that is not UTF-8"},
    {"foo(# \xc3\xa9 ^\xa9\n) -> ()", "a byte that is not UTF-8"},
    // Devices.
    {"foo(Device d=^cuda) -> ()", "a string but found \"cuda\""},
    {"foo(Device d=^None) -> ()", "a string"},
    {"foo(Device d=^\"\") -> ()", "a device, such as"},
    {"foo(Device d=^\"gpu\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cuda:\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cuda:01\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cuda:-1\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cuda:2147483648\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cuda:0:0\") -> ()", "a device, such as"},
    {"foo(Device d=^\"cudacudacudacudacudacudacudacudacuda\") -> ()", "a device, such as"},
    // Returns.
    {"foo(Tensor x) -> (Tensor, ^)", "a type but found \")\""},
    {"foo(Tensor x) -> (Tensor^", "',' or ')' but found the end"},
    {"foo(Tensor x) -> (^", "a type but found the end"},
    {"foo(Tensor x) -> (...^, Tensor)", "')' after \"...\""},
    {"foo(Tensor x) -> ...^, Tensor", "expected the end"},
    {"foo(Tensor x) -> (^*, Tensor)", "a type but found \"*\""},
    {"foo(Tensor x) -> ((Tensor, Tensor)^", "',' or ')' but found the end"},
    {"foo(Tensor x) -> (Tensor a^=None)", "',' or ')' but found \"=\""},
    {"foo(Tensor x) -> Tensor a^=None", "expected the end"},
    {"foo(Tensor x) -> Tensor^, Tensor", "expected the end"},
    {"foo(Tensor x) -> (Tensor ^if)", "',' or ')' but found \"if\""},
    {"foo(Tensor x) -> Tensor ^in", "expected the end but found \"in\""},
    {"foo(Tensor x) -> ^void", "a type but found \"void\""},
    {"foo(Tensor self) -> Tensor^.x", "expected the end"},
    {"foo(Tensor x) -> Tensor^\x01", "a control character"},
    {"foo(Tensor x) -> ()^\xff", "a byte that is not UTF-8"},
};

// The parse fails as announced, and leaves nothing behind.
static void expect_failure(const char *text, unsigned offset, const char *phrase)
{
    char place[32];
    snprintf(place, sizeof place, "at byte %u: ", offset);
    uint64_t bytes = kwi_memory_bytes();
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    bool overload =
        strstr(phrase, "leave it out") != NULL || strstr(phrase, "two underscores") != NULL;
    kw_status expected = overload ? KW_BAD_OVERLOAD : KW_MALFORMED_SCHEMA;
    cr_expect_eq(kw_schema_parse(text, &schema, &err), expected, "%s", text);
    cr_expect_eq(err.status, expected, "%s", text);
    cr_expect_null(schema, "%s", text);
    cr_expect_eq(kwi_memory_bytes(), bytes, "%s", text);
    cr_expect_eq(strncmp(err.text, place, strlen(place)), 0, "%s\n  byte %u: %s", text, offset,
                 err.text);
    cr_expect_eq(err.position, offset, "%s\n  byte %u: %s", text, offset, err.text);
    cr_expect(strstr(err.text, phrase) != NULL, "%s\n  \"%s\": %s", text, phrase, err.text);
}

Test(schema_error, malformed_schema_fails_at_its_byte)
{
    cr_assert_geq(COUNT(rows), 190);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        const char *caret = strchr(rows[i].marked, '^');
        cr_assert_not_null(caret);
        snprintf(text, sizeof text, "%.*s%s", (int)(caret - rows[i].marked), rows[i].marked,
                 caret + 1);
        expect_failure(text, (unsigned)(caret - rows[i].marked), rows[i].phrase);
    }
}

Test(schema_error, error_shows_the_schema)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_schema_parse(" foo(Tensor) -> ()", &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect_str_eq(err.text, "at byte 11: expected an argument name but found \")\", "
                               "in \"foo(Tensor) -> ()\"");
    cr_expect_eq(kw_schema_parse("foo(Tensor) -> ()", &schema, NULL), KW_MALFORMED_SCHEMA);
}

Test(schema_error, missing_text_is_an_invalid_argument)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    err.position = 7;
    cr_expect_eq(kw_schema_parse(NULL, &schema, &err), KW_INVALID_ARGUMENT);
    cr_expect_eq(err.position, KW_NO_POSITION);
    cr_expect_eq(kw_schema_parse_bytes(NULL, 0, &schema, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_schema_parse("foo() -> ()", NULL, NULL), KW_INVALID_ARGUMENT);
    kw_schema_destroy(NULL);
}

// A caret stands for the byte that becomes zero.
Test(schema_error, zero_byte_fails_at_its_place)
{
    static const char *const marked[] = {
        "^foo() -> ()", "foo^() -> ()",          "foo(^) -> ()",       "foo(Tensor^(a) x) -> ()",
        "foo() -> ()^", "foo(str s='a^') -> ()", "foo() -> () # a^\n", "foo(int[2] x=[1^]) -> ()",
    };
    for (size_t i = 0; i < COUNT(marked); i++) {
        char text[64];
        kw_schema *schema = NULL;
        kw_error err = KW_ERROR_INIT;
        size_t length = strlen(marked[i]);
        uint32_t offset = (uint32_t)strcspn(marked[i], "^");
        memcpy(text, marked[i], length);
        text[offset] = '\0';
        cr_expect_eq(kw_schema_parse_bytes(text, length, &schema, &err), KW_MALFORMED_SCHEMA);
        cr_expect_eq(err.position, offset, "%s: %s", marked[i], err.text);
        cr_expect(strstr(err.text, "but found a zero byte") != NULL, "%s", err.text);
    }
}

Test(schema_error, error_of_an_older_header_has_no_position)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    err.struct_size = (uint32_t)offsetof(kw_error, position);
    err.position = 77;
    cr_expect_eq(kw_schema_parse("foo(", &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect(strstr(err.text, "at byte 4: ") != NULL, "%s", err.text);
    cr_expect_eq(err.position, 77, "nothing is written beyond the caller's struct");
}

Test(schema_error, long_tokens_and_schemas_are_cut_in_the_sentence)
{
    char text[4096];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "foo(", 4);
    kw_error err = KW_ERROR_INIT;
    kw_schema *schema = NULL;
    cr_expect_eq(kw_schema_parse(text, &schema, &err), KW_MALFORMED_SCHEMA);
    cr_expect_lt(strlen(err.text), 400);
    cr_expect(strstr(err.text, "...\"") != NULL, "%s", err.text);
}

// Parses; a failure has a place inside the text, a success parses again to an equal schema.
static void expect_consistent(const char *text)
{
    kw_schema *schema = NULL;
    kw_schema *again = NULL;
    kw_error err = KW_ERROR_INIT;
    char printed[512];
    if (kw_schema_parse(text, &schema, &err) != KW_OK) {
        cr_assert_leq(err.position, strlen(text), "%s: %s", text, err.text);
        return;
    }
    cr_assert_eq(kw_schema_parse(kwi_schema_text(schema), &again, &err), KW_OK, "%s: %s", text,
                 err.text);
    cr_assert(kwi_schema_equal(schema, again, NULL), "%s", text);
    kw_schema_destroy(again);
    cr_assert_lt(kw_schema_format(schema, printed, sizeof printed), sizeof printed);
    cr_assert_eq(kw_schema_parse(printed, &again, &err), KW_OK, "%s: %s", text, err.text);
    cr_assert(kwi_schema_equal(schema, again, NULL), "%s\n  %s", text, printed);
    kw_schema_destroy(again);
    kw_schema_destroy(schema);
}

Test(schema_error, every_cut_and_every_changed_byte_is_handled)
{
    static const char original[] =
        "aten::foo.out(Tensor(a! -> a|*)[2]? x, int?[] y, float z=-1.5e3, "
        "str s='a\\n', int[2] k=[1,2], Dict(str, (int,t)) d, "
        "Union(int,None)[] u, *, Device b='cpu:1', complex c=-1j, "
        "__torch__.torch.classes.a.B e, Tensor(b!) out) -> "
        "(Tensor(a!) r, ...)";
    static const char replacements[] = "()[],:.*=?!|->#'\"\\ \n09ejxN_\x80\x01";
    char text[sizeof original];
    for (size_t i = 0; i < sizeof original; i++) {
        memcpy(text, original, sizeof original);
        text[i] = '\0';
        expect_consistent(text);
        for (size_t k = 0; k < sizeof replacements - 1 && i < sizeof original - 1; k++) {
            text[i] = replacements[k];
            expect_consistent(text);
        }
    }
}
