// Operator names: which are accepted, where others go wrong, and how a name splits.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "schema/name.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct name_row {
    const char *name;
    const char *ns;
    const char *base;
    const char *overload;
} name_row;

static const name_row valid[] = {
    {"foo", "", "foo", ""},
    {"ns::foo", "ns", "foo", ""},
    {"ns::foo.bar", "ns", "foo", "bar"},
    {"foo.bar", "", "foo", "bar"},
    {"_", "", "_", ""},
    {"_a::_b._c", "_a", "_b", "_c"},
    {"foo.x__", "", "foo", "x__"},
    {"foo._", "", "foo", "_"},
    {"foo._default", "", "foo", "_default"},
    {"foo.default_", "", "foo", "default_"},
    {"default", "", "default", ""},
    {"__and__", "", "__and__", ""},
    {"aten::__iand__.Scalar", "aten", "__iand__", "Scalar"},
    {"A9::b0.Z9", "A9", "b0", "Z9"},
    {"iffy::inner.isnt", "iffy", "inner", "isnt"},
    {"print::lambda.try", "print", "lambda", "try"},
    {"inf::nan.self", "inf", "nan", "self"},
};

static void expect_span(const char *text, kwi_span span, const char *expected)
{
    cr_expect_eq(span.length, strlen(expected), "%s", text);
    cr_expect_eq(strncmp(text + span.offset, expected, span.length), 0, "%s", text);
}

Test(schema_name, well_formed_name_splits_into_its_parts)
{
    for (size_t i = 0; i < COUNT(valid); i++) {
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kwi_name_check(valid[i].name, &err), KW_OK, "%s: %s", valid[i].name, err.text);
        kwi_name parts = kwi_name_split(valid[i].name);
        expect_span(valid[i].name, parts.ns, valid[i].ns);
        expect_span(valid[i].name, parts.base, valid[i].base);
        expect_span(valid[i].name, parts.overload, valid[i].overload);
    }
}

// A caret stands before the byte that the error names.
static const char *const malformed[] = {
    "^",
    "^9a",
    "^::foo",
    "^ foo",
    "foo^ ",
    "foo.^",
    "foo.^.bar",
    "foo.a^.b",
    "foo.^9",
    "foo.a^ ",
    "foo.^ a",
    "foo:^",
    "foo:^bar",
    "foo::^",
    "foo::^:bar",
    "foo::^.bar",
    "a::b^::c",
    "a::b.c^::d",
    "a^ ::b",
    "foo^-bar",
    "foo^(Tensor x) -> ()",
    "foo^\n",
    "foo^\xc3\xa9",
    "^\xc3\xa9",
    "foo.^default",
    "ns::foo.^default",
    "foo.^__init__",
    "foo.^__",
    "^if",
    "^None::foo",
    "ns::^class",
    "foo.^in",
    "foo.^NoneType",
};

// Writes the text without its caret and returns where that was.
static unsigned strip_caret(const char *marked, char *text, size_t size)
{
    const char *caret = strchr(marked, '^');
    snprintf(text, size, "%.*s%s", (int)(caret - marked), marked, caret + 1);
    return (unsigned)(caret - marked);
}

Test(schema_name, malformed_name_is_rejected_with_its_byte)
{
    for (size_t i = 0; i < COUNT(malformed); i++) {
        char name[64];
        unsigned offset = strip_caret(malformed[i], name, sizeof name);
        char expected[32];
        snprintf(expected, sizeof expected, "at byte %u: ", offset);
        kw_error err = KW_ERROR_INIT;
        kw_status status = kwi_name_check(name, &err);
        cr_expect(status == KW_MALFORMED_NAME || status == KW_BAD_OVERLOAD, "\"%s\"", name);
        cr_expect_eq(err.status, status);
        cr_expect(strstr(err.text, expected) != NULL, "\"%s\": %s", name, err.text);
        cr_expect_eq(err.position, offset, "\"%s\": %u", name, err.position);
    }
}

Test(schema_name, overload_rules_are_told_apart_from_syntax)
{
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_name_check("foo.default", &err), KW_BAD_OVERLOAD);
    cr_expect(strstr(err.text, "leave it out") != NULL, "%s", err.text);
    cr_expect_eq(kwi_name_check("foo.__x", &err), KW_BAD_OVERLOAD);
    cr_expect(strstr(err.text, "two underscores") != NULL, "%s", err.text);
}

Test(schema_name, length_is_bounded)
{
    char name[KWI_NAME_MAX + 2];
    memset(name, 'x', sizeof name);
    name[KWI_NAME_MAX] = '\0';
    cr_expect_eq(kwi_name_check(name, NULL), KW_OK);
    name[KWI_NAME_MAX] = 'x';
    name[KWI_NAME_MAX + 1] = '\0';
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_name_check(name, &err), KW_MALFORMED_NAME);
    cr_expect(strstr(err.text, "255") != NULL, "%s", err.text);
}

Test(schema_name, missing_name_is_an_invalid_argument)
{
    cr_expect_eq(kwi_name_check(NULL, NULL), KW_INVALID_ARGUMENT);
}

Test(schema_name, every_keyword_is_refused_as_identifier)
{
    static const char *const keywords[] = {
        "if",     "in",       "is",     "not",   "and",    "or",       "for",
        "while",  "else",     "elif",   "def",   "class",  "with",     "as",
        "import", "pass",     "return", "raise", "assert", "del",      "global",
        "break",  "continue", "None",   "True",  "False",  "NoneType", "Ellipsis",
    };
    static const char *const others[] = {
        "from", "print",    "lambda", "try",   "except", "finally", "yield",  "async", "await",
        "exec", "nonlocal", "self",   "dtype", "inf",    "nan",     "Tensor", "IF",    "none"};
    for (size_t i = 0; i < COUNT(keywords); i++) {
        cr_expect(kwi_name_is_keyword(keywords[i], strlen(keywords[i])), "%s", keywords[i]);
        cr_expect(!kwi_name_is_identifier(keywords[i], strlen(keywords[i])), "%s", keywords[i]);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        cr_expect(kwi_name_is_identifier(others[i], strlen(others[i])), "%s", others[i]);
    }
    cr_expect(!kwi_name_is_identifier("", 0));
    cr_expect(!kwi_name_is_identifier("a-b", 3));
    cr_expect(!kwi_name_is_identifier("9", 1));
    cr_expect(kwi_name_is_identifier("ab::c", 2), "the length bounds the identifier");
}
