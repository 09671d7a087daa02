// Schemas that parse: what is read, where it stands, which arguments carry keys, the C signature.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "schema/c_signature.h"
#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static kw_schema *parse(const char *text)
{
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_schema_parse(text, &schema, &err), KW_OK, "%s\n  %s", text, err.text);
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
    {"foo_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", 3, 1, 3, "ttn>t"},
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
    {"foo(Tensor[]? x) -> ()", 1, 0, 0, "?T>"},
    {"foo(Tensor[2]? x) -> ()", 1, 0, 0, "?T>"},
    {"foo(Tensor?[]? x) -> ()", 1, 0, 0, "?T>"},
    {"foo(Generator g) -> ()", 1, 0, 0, "g>"},
    {"foo(Generator? g) -> ()", 1, 0, 0, "g>"},
    {"foo(Generator[] g, Generator?[] h, Generator[]? i) -> ()", 3, 0, 0, "VV?V>"},
    {"foo() -> Generator", 0, 1, 0, ">v"},
    {"foo(int a, Tensor b, int[] c, Tensor?[] d, Generator? e, Tensor? f) -> ()", 6, 0, 0x2a,
     "itITgt>"},
    {"foo(Any x, Storage s, Stream t, QScheme q, Quantizer z, Capsule c) -> ()", 6, 0, 0,
     "vvvivv>"},
    {"foo(AnyClassType a, AnyEnumType b, None c, NoneType d) -> None", 4, 1, 0, "vvvv>v"},
    // Annotations.
    {"foo(Tensor(a)[] xs) -> Tensor(a)", 1, 1, 1, "T>t"},
    {"foo(Tensor(a!)[] xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor[](a!) xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor[3](a!) xs) -> ()", 1, 0, 1, "T>"},
    {"foo(Tensor(b -> b|c)[](a!) xs, Tensor(c) e) -> (Tensor(b|c)[](a!))", 2, 1, 3, "Tt>v"},
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
    {"foo(int[1]? dim=None) -> ()", 1, 0, 0, "?I>"},
    {"foo(int[2]? k=1) -> ()", 1, 0, 0, "?I>"},
    {"foo(SymInt[] size, SymInt? n=None) -> Tensor", 2, 1, 0, "Y?y>t"},
    {"foo(SymInt[2] s=1) -> ()", 1, 0, 0, "Y>"},
    {"foo(bool[3] mask) -> ()", 1, 0, 0, "B>"},
    {"foo(bool[3] mask=True, bool[] m=[True,False]) -> ()", 2, 0, 0, "BB>"},
    {"foo(float[2] k=0.5, float[] m=[1, 2.5, -3]) -> ()", 2, 0, 0, "DD>"},
    {"foo(complex[] c=[1j, -2.5j]) -> ()", 1, 0, 0, "V>"},
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
    {"foo(str? s=None) -> str?", 1, 1, 0, "s>v"},
    {"foo(ScalarType dtype=float) -> ()", 1, 0, 0, "i>"},
    {"foo(ScalarType dtype=bfloat16, ScalarType[] d=[int32, float]) -> ()", 2, 0, 0, "iI>"},
    {"foo(ScalarType? dtype=None, Layout? layout=None, MemoryFormat? f=None) -> Tensor", 3, 1, 0,
     "?i?i?i>t"},
    {"foo(ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor", 3, 1, 0,
     "?i?i?e>t"},
    {"foo(ScalarType a, Layout b, MemoryFormat c, DeviceIndex d) -> ()", 4, 0, 0, "iiii>"},
    {"foo(MemoryFormat? f=contiguous_format, Layout l=strided) -> ()", 2, 0, 0, "?ii>"},
    {"foo(int reduction=Mean) -> ()", 1, 0, 0, "i>"},
    {"foo(Device d=\"cuda:0\") -> ()", 1, 0, 0, "e>"},
    {"foo(Device? d='cpu') -> ()", 1, 0, 0, "?e>"},
    {"foo(Generator? g=None, *, Tensor(a!) out) -> Tensor(a!)", 2, 1, 2, "gt>t"},
    {"foo(Tensor x=None, Generator g=None, Quantizer q=None) -> ()", 3, 0, 1, "tgv>"},
    {"foo(complex c=2j) -> ()", 1, 0, 0, "c>"},
    {"foo(complex c=-1.5e3j, complex d=None) -> ()", 2, 0, 0, "cc>"},
    {"foo(complex? c=1) -> ()", 1, 0, 0, "?c>"},
    {"foo(Scalar a=1, Scalar b=1.5, Scalar c=True, Scalar d=2j, Scalar? e=None) -> ()", 5, 0, 0,
     "nnnnn>"},
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
    {"foo(Dimname[1] dims, Dimname d) -> ()", 2, 0, 0, "Vs>"},
    {"foo(Dimname d, ConstQuantizerPtr q) -> ()", 2, 0, 0, "si>"},
    {"foo(SymBool b) -> ()", 1, 0, 0, "v>"},
    {"foo(int?[] x) -> ()", 1, 0, 0, "V>"},
    {"foo(float?[] x) -> ()", 1, 0, 0, "V>"},
    {"foo(bool?[] x) -> ()", 1, 0, 0, "V>"},
    {"foo(str[] x) -> ()", 1, 0, 0, "V>"},
    {"foo(float[]? x) -> ()", 1, 0, 0, "?D>"},
    {"foo(int[4294967295] x) -> ()", 1, 0, 0, "I>"},
    // Types made of types.
    {"foo(Dict(str, Tensor) d) -> Dict(str, Tensor)", 1, 1, 0, "v>v"},
    {"foo((int, Tensor) t) -> (int, Tensor)", 1, 2, 0, "v>it"},
    {"foo(Tensor x) -> ((Tensor, Tensor))", 1, 1, 1, "t>v"},
    {"foo(Tensor x) -> ((Tensor, Tensor)[])", 1, 1, 1, "t>v"},
    {"foo(() t, (int)? u, (int, int)[] v) -> (())", 3, 1, 0, "vvV>v"},
    {"foo(Union(int, Tensor) u, Union(str) v) -> ()", 2, 0, 0, "vv>"},
    {"foo(Future(int) f, RRef(Tensor) r, Await(int[]) a) -> ()", 3, 0, 0, "vvv>"},
    {"foo(__torch__.torch.classes.ns.Name x) -> __torch__.torch.classes.ns.Name[]", 1, 1, 0, "v>v"},
    {"foo(int[][] x, int[][4] y, int[]?[] z, Tensor[][] w) -> ()", 4, 0, 0, "VVVV>"},
    {"foo(int[][]? x, Tensor[]?[]? y) -> ()", 2, 0, 0, "?V?V>"},
    {"aten::foo(t x, t1[] y, t? z) -> t", 3, 1, 0, "vVv>v"},
    {"prim::foo(tensor x) -> void", 1, 1, 0, "v>v"},
    {"foo(ScalarType? d=int32, Device e=\"cpu\") -> ()", 2, 0, 0, "?ie>"},
    // Returns.
    {"foo() -> (Tensor)", 0, 1, 0, ">t"},
    {"foo() -> (Tensor, int, float, bool, SymInt, ScalarType)", 0, 6, 0, ">tidbyi"},
    {"foo() -> (Tensor? a, int b)", 0, 2, 0, ">ti"},
    {"foo() -> int?", 0, 1, 0, ">v"},
    {"foo() -> str", 0, 1, 0, ">v"},
    {"foo() -> Tensor[]", 0, 1, 0, ">v"},
    {"foo() -> Scalar", 0, 1, 0, ">n"},
    // Blanks.
    {"  foo( Tensor   x )->Tensor  ", 1, 1, 1, "t>t"},
    {"\n\tfoo(\n  Tensor x, # first\n  Tensor y\n) -> (\n  Tensor\n)\n\n# end\n", 2, 1, 3, "tt>t"},
    {"foo(Tensor\r\nx) -> ()\r\n", 1, 0, 1, "t>"},
    {"foo(Tensor x)->() # trailing", 1, 0, 1, "t>"},
};

Test(schema, accepted_schema_has_its_counts_mask_and_signature)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_schema *schema = parse(rows[i].text);
        cr_expect_eq(schema->arg_count, rows[i].arg_count, "%s", rows[i].text);
        cr_expect_eq(schema->return_count, rows[i].return_count, "%s", rows[i].text);
        cr_expect_eq(schema->tensor_mask, rows[i].tensor_mask, "%s: %" PRIx64, rows[i].text,
                     schema->tensor_mask);
        char code[KWI_C_SIGNATURE_BYTES] = "untouched";
        kwi_c_signature forms;
        kw_status status = kwi_schema_signature(schema, code, sizeof code);
        cr_expect_eq(status, rows[i].code != NULL ? KW_OK : KW_NOT_SUPPORTED, "%s", rows[i].text);
        cr_expect_str_eq(code, rows[i].code != NULL ? rows[i].code : "untouched", "%s",
                         rows[i].text);
        cr_expect_eq(kwi_c_signature_decode(code, &forms, NULL) == KW_OK, rows[i].code != NULL);
        kw_schema_destroy(schema);
    }
}

Test(schema, generators_have_a_mask_of_their_own)
{
    kw_schema *schema =
        parse("foo(Tensor a, Generator b, int c, Generator? d, Generator[] e) -> ()");
    cr_expect_eq(schema->tensor_mask, 0x1);
    cr_expect_eq(schema->generator_mask, 0xa);
    kw_schema_destroy(schema);
    schema = parse("foo(Tensor a, Generator[]? b, Generator?[] c) -> Generator");
    cr_expect_eq(schema->generator_mask, 0);
    kw_schema_destroy(schema);
}

// An empty one is absent.
static void expect_view(kw_text_view view, const char *expected)
{
    cr_expect_eq(view.length, strlen(expected), "\"%s\", %zu bytes", expected, view.length);
    cr_expect_eq(view.data == NULL, view.length == 0);
    cr_expect(view.length == 0 || memcmp(view.data, expected, view.length) == 0, "\"%s\": \"%.*s\"",
              expected, (int)view.length, view.data);
}

Test(schema, views_lie_in_the_trimmed_text)
{
    kw_schema *schema =
        parse(" \n ns :: foo . out(Tensor(a ! -> a|b) x, float[2](c) k=[ 1, -2.5 ],"
              " *, str s='a b', Tensor!? y=None) -> (Tensor(a) first, int) # end\n");
    cr_expect_str_eq(kwi_schema_text(schema),
                     "ns :: foo . out(Tensor(a ! -> a|b) x, float[2](c) k=[ 1, -2.5 ],"
                     " *, str s='a b', Tensor!? y=None) -> (Tensor(a) first, int)");
    cr_assert_eq(kw_schema_arg_count(schema), 4);
    static const char *const names[] = {"x", "k", "s", "y"};
    static const char *const defaults[] = {"", "[ 1, -2.5 ]", "'a b'", "None"};
    static const char *const aliases[] = {"(a ! -> a|b)", "(c)", "", ""};
    for (uint32_t i = 0; i < 4; i++) {
        const kw_argument argument = kw_schema_arg(schema, i);
        expect_view(argument.name, names[i]);
        expect_view(argument.default_text, defaults[i]);
        expect_view(kw_type_alias(argument.type), aliases[i]);
        cr_expect_eq(argument.keyword_only, i >= 2);
    }
    expect_view(kw_type_alias(kw_type_child(kw_schema_arg(schema, 3).type, 0)), "!");
    cr_assert_eq(kw_schema_return_count(schema), 2);
    expect_view(kw_schema_return(schema, 0).name, "first");
    expect_view(kw_type_alias(kw_schema_return(schema, 0).type), "(a)");
    expect_view(kw_schema_return(schema, 1).name, "");
    expect_view(kw_schema_return(schema, 1).default_text, "");
    kw_schema_destroy(schema);
}

static void expect_name(const char *text, const char *name, const char *ns, const char *base,
                        const char *overload)
{
    kw_schema *schema = parse(text);
    cr_expect_str_eq(kwi_schema_name(schema), name);
    cr_expect_eq(kwi_name_check(kwi_schema_name(schema), NULL), KW_OK);
    expect_view(kw_schema_namespace(schema), ns);
    expect_view(kw_schema_base_name(schema), base);
    expect_view(kw_schema_overload(schema), overload);
    kw_schema_destroy(schema);
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

Test(schema, star_makes_all_later_arguments_keyword_only)
{
    kw_schema *schema = parse("foo(int a, *, int b, *, int c) -> int d");
    cr_expect(!kw_schema_arg(schema, 0).keyword_only);
    cr_expect(kw_schema_arg(schema, 1).keyword_only);
    cr_expect(kw_schema_arg(schema, 2).keyword_only);
    cr_expect(!kw_schema_return(schema, 0).keyword_only);
    kw_schema_destroy(schema);
}

static void expect_dots(const char *text, bool vararg, bool varret)
{
    char code[8] = "before";
    kw_schema *schema = parse(text);
    cr_expect_eq(kw_schema_is_vararg(schema), vararg, "%s", text);
    cr_expect_eq(kw_schema_is_varret(schema), varret, "%s", text);
    cr_expect_eq(kw_schema_c_signature(schema, code, sizeof code), 0, "%s", text);
    cr_expect_str_eq(code, "");
    kw_schema_destroy(schema);
}

Test(schema, dots_set_vararg_and_varret)
{
    expect_dots("foo(int a, ...) -> ()", true, false);
    expect_dots("foo(int a) -> ...", false, true);
    expect_dots("foo(...) -> (int, ...)", true, true);
}

Test(schema, bytes_need_no_zero_behind_them)
{
    static const char text[] = {'f', 'o', 'o', '(', ')', ' ', '-', '>', ' ', 'i', 'n', 't', 'x'};
    kw_schema *schema = NULL;
    cr_assert_eq(kw_schema_parse_bytes(text, sizeof text - 1, &schema, NULL), KW_OK);
    cr_expect_str_eq(kwi_schema_text(schema), "foo() -> int");
    kw_schema_destroy(schema);
}

Test(schema, destroyed_schema_leaves_no_memory)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_schema *schema = parse("ns::foo.bar(Tensor x, int y=1) -> (Tensor, Tensor)");
    cr_expect_gt(kwi_memory_bytes(), bytes);
    kw_schema_destroy(schema);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
